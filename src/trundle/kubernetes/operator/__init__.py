"""What a release carries, put into a cluster: applied in an order that works, pruned, and kept up to date by channel."""

from trundle.kubernetes.operator._applying import Applied, Applier, Leftover, plan_of
from trundle.kubernetes.operator._converting import converting
from trundle.kubernetes.operator._following import parts_in
from trundle.kubernetes.operator._installations import Installations
from trundle.kubernetes.operator._leadership import Leadership
from trundle.kubernetes.operator._manifests import operator_manifests, operator_recipe
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._operator import Look, Operator
from trundle.kubernetes.operator._ordering import Part, leaving, ordered, parts_of
from trundle.kubernetes.operator._wanted import APPROVE, SpecError, Wanted, wanted_of

__all__ = [
    "APPROVE",
    "Applied",
    "Applier",
    "Installations",
    "Leadership",
    "Leftover",
    "Look",
    "Objects",
    "Operator",
    "Part",
    "SpecError",
    "Wanted",
    "converting",
    "leaving",
    "operator_manifests",
    "operator_recipe",
    "ordered",
    "parts_in",
    "parts_of",
    "plan_of",
    "wanted_of",
]
