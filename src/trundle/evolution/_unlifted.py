"""Types with nothing lifted, by which paths are followed from version to version."""

from collections.abc import Mapping
from functools import cached_property

from trundle.evolution._declared import Declared
from trundle.evolution._linking import Group, groups_of, link_places, meeting_objects
from trundle.evolution._threads import Place
from trundle.evolution._type_versions import TypeVersions
from trundle.schema import ListOf, Nullable, ObjectType, Ref, Type
from trundle.version import ApiVersion


class BareLineage(TypeVersions):
    """A type as its properties lead from version to version by themselves, without what rules lift."""

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
            return self._children[place, type_.key]
        return None

    @cached_property
    def _children(self) -> Mapping[tuple[Place, str], "BareLineage"]:
        return {
            member: self.evolution.once(nested_bare, self.evolution, nodes)
            for members in meeting_objects(self, link_places(self))
            for nodes in [tuple(sorted((place.version, key) for place, key in members))]
            for member in members
        }


def nested_bare(evolution: Declared, nodes: tuple[tuple[ApiVersion, str], ...]) -> BareLineage:
    """The bare lineage of a nested type."""
    return BareLineage(evolution, dict(nodes))
