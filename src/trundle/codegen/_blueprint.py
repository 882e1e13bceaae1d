"""What a generated package consists of, before any of it is rendered."""

from collections.abc import Iterable, Iterator

from trundle.codegen._classes import Classes, StorageNode
from trundle.codegen._needed_plans import needed_plans, straight_plans
from trundle.codegen._straight import STRAIGHT
from trundle.evolution import Evolution, PlanKey


class Blueprint:
    """The plans and classes of a package; the package and its tests are generated from one.

    Args:
        evolution: the versions, with configured changes and hooks.
        horizon: how many GA versions are served; None for all.
        straight: how many of the newest served versions of a resource type convert straight to each other.

    Attributes:
        evolution: the versions.
        served: the versions that clients are meant to use.
        plans: all plans by their keys, in a fixed order.
        classes: all classes, with their modules.

    Raises:
        ChangeError: a configured change or hook does not fit the schemas.
    """

    def __init__(
        self, evolution: Evolution, horizon: int | None = None, straight: int = STRAIGHT
    ) -> None:
        self.evolution = evolution
        self.served = evolution.served(horizon)
        self.plans = needed_plans(evolution, straight_plans(evolution, self.served, straight))
        self.classes = Classes(evolution, self.served, storage_nodes(self.plans))


def storage_nodes(plans: Iterable[PlanKey]) -> Iterator[StorageNode]:
    """The storage types that plans read and make."""
    for key in plans:
        for shape in (key.source, key.target):
            if shape.kind == "storage":
                yield StorageNode(key.lineage, shape.version)
