"""Lineages with nothing lifted, by which paths are followed from version to version."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from trundle.evolution._lineage import Lineage, Place
from trundle.evolution._linking import Group, groups_of
from trundle.evolution._paths import Path
from trundle.version import ApiVersion


class BareLineage(Lineage):
    """A lineage as its properties lead from version to version by themselves.

    Args:
        lineage: the same with all that rules lift.
    """

    def __init__(self, lineage: Lineage) -> None:
        super().__init__(lineage.evolution, lineage.nodes)
        self._origin = lineage

    @cached_property
    def bare(self) -> "BareLineage":
        """This lineage."""
        return self

    @cached_property
    def envelope(self) -> tuple[str, ...]:
        """The properties of a root object that name it."""
        return self._origin.envelope

    def lifted(self, version: ApiVersion) -> Mapping[str, Path]:
        """Nothing."""
        del version
        return {}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The names of each property by version, renames included."""
        return tuple(groups_of(self))

    @cached_property
    def numbers(self) -> Mapping[Place, int]:
        """By place the number of its group."""
        return {
            Place(version, name): number
            for number, group in enumerate(self.groups)
            for version, name in group.items()
        }

    def inside(self, place: Place, key: str) -> "BareLineage":
        """The lineage of a nested object, with nothing lifted."""
        return self.child(place, key).bare

    def _make_child(self, members: Iterable[tuple[Place, str]]) -> Lineage:
        return self.evolution.lineage({place.version: key for place, key in members})
