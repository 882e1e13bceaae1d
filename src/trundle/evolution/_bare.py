"""Lineages with nothing lifted, by which paths are followed from version to version."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from trundle.evolution._changes import TypeChanges
from trundle.evolution._lineage import Lineage
from trundle.evolution._linking import Group, groups_of
from trundle.evolution._paths import Path
from trundle.evolution._threads import Place
from trundle.schema import ListOf, Nullable, ObjectType, Ref, Type
from trundle.version import ApiVersion


class BareLineage(Lineage):
    """A lineage as its properties lead from version to version by themselves.

    Args:
        lineage: the same with all that rules lift.
    """

    def __init__(self, lineage: Lineage) -> None:
        super().__init__(lineage.evolution, lineage.nodes, labels=lineage.labels)
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
    def nested_changes(self) -> tuple[TypeChanges, ...]:
        """None."""
        return ()

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

    def nested(self, place: Place) -> "BareLineage | None":
        """The lineage of a nested object; None where a property is anything else."""
        type_ = self.type(place)
        type_ = type_.inner if isinstance(type_, Nullable) else type_
        return self._of(place, type_)

    def elements(self, place: Place) -> "BareLineage | None":
        """The lineage of the objects in a list, or in lists in it; None where a property is anything else."""
        type_ = self.type(place)
        while isinstance(type_, Nullable | ListOf):
            type_ = type_.inner if isinstance(type_, Nullable) else type_.items
        return self._of(place, type_)

    def _of(self, place: Place, type_: Type) -> "BareLineage | None":
        definitions = self.evolution.schema(place.version).definitions
        if isinstance(type_, Ref) and isinstance(definitions[type_.key], ObjectType):
            return self.inside(place, type_.key)
        return None

    def _make_child(self, members: Iterable[tuple[Place, str]]) -> Lineage:
        return self.evolution.lineage({place.version: key for place, key in members})
