"""What a release carries, put into a cluster: applied in an order that works, and pruned."""

from trundle.kubernetes.operator._applying import Applied, Applier, plan_of
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import Part, leaving, ordered, parts_of

__all__ = ["Applied", "Applier", "Objects", "Part", "leaving", "ordered", "parts_of", "plan_of"]
