"""What a release carries, put into a cluster: applied in an order that works, pruned, and kept up to date by channel."""

from trundle.kubernetes.operator._applying import Applied, Applier, Leftover, plan_of
from trundle.kubernetes.operator._delivering import parts_in
from trundle.kubernetes.operator._installations import Installations
from trundle.kubernetes.operator._leadership import Leadership
from trundle.kubernetes.operator._manifests import operator_manifests, operator_recipe
from trundle.kubernetes.operator._migrating import Migrations
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._operator import Operator
from trundle.kubernetes.operator._ordering import Part, leaving, ordered, parts_of
from trundle.kubernetes.operator._releases import OtherReleaseError
from trundle.kubernetes.operator._replicas import Replica, Replicas
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schedule import Look, Pace
from trundle.kubernetes.operator._schemas import SchemaLoader
from trundle.kubernetes.operator._serving import Records
from trundle.kubernetes.operator._wanted import APPROVE, SpecError, Wanted, wanted_of
from trundle.kubernetes.operator._webhooks import Webhooks

__all__ = [
    "APPROVE",
    "Applied",
    "Applier",
    "Installations",
    "Leadership",
    "Leftover",
    "Look",
    "Migrations",
    "Objects",
    "Operator",
    "OtherReleaseError",
    "Pace",
    "Part",
    "Records",
    "Replica",
    "Replicas",
    "Rolling",
    "SchemaLoader",
    "SpecError",
    "Wanted",
    "Webhooks",
    "leaving",
    "operator_manifests",
    "operator_recipe",
    "ordered",
    "parts_in",
    "parts_of",
    "plan_of",
    "wanted_of",
]
