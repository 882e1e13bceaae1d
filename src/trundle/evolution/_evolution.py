"""The whole of a project's versions: where lineages, changes and hooks are looked up."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from trundle.evolution._changes import NamedConversion, TypeChanges
from trundle.evolution._hooks import HookDeclaration, Hooks
from trundle.evolution._identity import identities, own_signature, references
from trundle.evolution._labels import written_labels
from trundle.evolution._lineage import Lineage, Nodes
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._settle import settle
from trundle.evolution._straight import alike
from trundle.evolution._threads import ENVELOPE, Place
from trundle.schema import EnumType, ListOf, Nullable, ObjectType, Resource, Schema, Type
from trundle.version import ApiVersion


class ResourceLineage(msgspec.Struct, frozen=True):
    """A resource type through all versions that have it.

    Attributes:
        name: as the newest version writes it.
        resources: the resource of each version.
        root: the lineage of its root object.
    """

    name: str
    resources: Mapping[ApiVersion, Resource]
    root: Lineage

    @property
    def versions(self) -> VersionMap:
        """The versions that have the resource type."""
        return self.root.versions

    def served(self, horizon: int | None) -> tuple[ApiVersion, ...]:
        """The versions in which clients are meant to use it, under a horizon of so many GA versions."""
        return tuple(x for x in self.versions.served(horizon) if self.resources[x].served)


class Evolution:
    """How the resource types of some schemas evolve, under configured changes and hooks.

    Args:
        schemas: one for each version.
        changes: the configured changes.
        hooks: the hooks that were found.
    """

    def __init__(
        self,
        schemas: tuple[Schema, ...],
        changes: tuple[TypeChanges, ...] = (),
        hooks: tuple[HookDeclaration, ...] = (),
    ) -> None:
        self._schemas = {schema.version: schema for schema in settle(schemas)}
        self._changes = {(each.version, each.type): each for each in changes}
        self._lineages: dict[tuple[tuple[ApiVersion, str], ...], Lineage] = {}
        self._stable: dict[Lineage, bool] = {}
        self._alike: dict[tuple[Lineage, ApiVersion, ApiVersion], bool] = {}
        self.hooks = Hooks(hooks)

    @cached_property
    def versions(self) -> VersionMap:
        """The map of all versions."""
        return VersionMap.of(self._schemas)

    @cached_property
    def schemas(self) -> tuple[Schema, ...]:
        """All schemas in ascending order of their versions."""
        return tuple(self._schemas[version] for version in sorted(self._schemas))

    @property
    def all_changes(self) -> tuple[TypeChanges, ...]:
        """All configured changes."""
        return tuple(self._changes.values())

    def as_of(self, version: ApiVersion) -> "Evolution":
        """The evolution as the release of a version had it, without later versions and without hooks."""
        return Evolution(
            tuple(each for each in self.schemas if each.version <= version),
            tuple(each for each in self.all_changes if each.version < version),
        )

    def served(self, horizon: int | None) -> frozenset[ApiVersion]:
        """The versions in which clients are meant to use some resource type.

        Args:
            horizon: how many of the newest GA versions of each are served; all without.
        """
        return frozenset(version for each in self.resources for version in each.served(horizon))

    def schema(self, version: ApiVersion) -> Schema:
        """The schema of a version."""
        return self._schemas[version]

    def changes(self, version: ApiVersion, type_name: str) -> TypeChanges | None:
        """The configured changes of a type from one version to its newer neighbour."""
        return self._changes.get((version, type_name))

    @cached_property
    def resources(self) -> tuple[ResourceLineage, ...]:
        """All resource types in alphabetical order, whatever their letter case."""
        found: dict[str, dict[ApiVersion, Resource]] = {}
        for schema in self.schemas:
            for resource in schema.resources:
                found.setdefault(resource.name.casefold(), {})[schema.version] = resource
        return tuple(
            ResourceLineage(
                resources[max(resources)].name,
                resources,
                self._root(resources),
            )
            for _, resources in sorted(found.items())
        )

    def _root(self, resources: Mapping[ApiVersion, Resource]) -> Lineage:
        versions = VersionMap.stored(
            resources,
            [version for version, each in resources.items() if each.hub],
            [version for version, each in resources.items() if each.kept],
        )
        nodes = {version: each.root for version, each in resources.items()}
        names = {version: self.schema(version).object(key).name for version, key in nodes.items()}
        labels = written_labels(self.hooks.written(), versions, names)
        lineage = Lineage(self, nodes, versions=versions, labels=labels)
        self._roots[id(lineage)] = lineage
        return lineage

    @cached_property
    def _roots(self) -> dict[int, Lineage]:
        return {}

    def is_root(self, lineage: Lineage) -> bool:
        """Whether a lineage is that of a resource's root object."""
        return id(lineage) in self._roots

    @cached_property
    def _envelopes(self) -> Mapping[int, tuple[str, ...]]:
        return {
            id(each.root): ENVELOPE
            if each.resources[max(each.resources)].name_property == "kind"
            else ("apiVersion", "type")
            for each in self.resources
        }

    def envelope(self, lineage: Lineage) -> tuple[str, ...]:
        """The properties of a root object that name it; empty for every other lineage."""
        return self._envelopes.get(id(lineage), ()) if self.is_root(lineage) else ()

    @cached_property
    def key_names(self) -> frozenset[str]:
        """The names of all properties by which some schema or rule finds the elements of a list."""
        types = (
            each.type
            for schema in self.schemas
            for definition in schema.definitions.values()
            if isinstance(definition, ObjectType)
            for each in definition.properties
        )
        listed = (type_.inner if isinstance(type_, Nullable) else type_ for type_ in types)
        declared = {key for each in listed if isinstance(each, ListOf) for key in each.keys}
        ruled = {
            each.key
            for changes in self.all_changes
            for each in changes.convert.values()
            if isinstance(each, NamedConversion)
        }
        return frozenset(declared | ruled)

    @cached_property
    def said_stored(self) -> tuple[ApiVersion, ...]:
        """Versions in whose shape some resource type is said to be stored, newest first."""
        said = {version for each in self.resources for version in each.versions.kept}
        return tuple(sorted(said, reverse=True))

    def lineage(self, nodes: Nodes) -> Lineage:
        """The lineage of a nested type; the same nodes give the same lineage."""
        key = tuple(sorted(nodes.items()))
        if key not in self._lineages:
            self._lineages[key] = Lineage(self, nodes)
        return self._lineages[key]

    def objects_in(self, version: ApiVersion, type_: Type) -> tuple[str, ...]:
        """The keys of the objects that a type names, in order, without duplicates."""
        definitions = self._schemas[version].definitions
        keys = (key for key in references(type_) if isinstance(definitions[key], ObjectType))
        return tuple(dict.fromkeys(keys))

    @staticmethod
    def definitions_in(type_: Type) -> tuple[str, ...]:
        """The keys of all definitions that a type names, in order, without duplicates."""
        return tuple(dict.fromkeys(references(type_)))

    def own(self, version: ApiVersion, key: str) -> Hashable:
        """What a definition is by itself, without what it refers to."""
        return own_signature(self._schemas[version].definitions[key])

    def meets(
        self, older: ApiVersion, newer: ApiVersion, among: Iterable[ApiVersion]
    ) -> Callable[[ObjectType | EnumType, ObjectType | EnumType], bool]:
        """Whether two definitions that are at the same place are the same thing, by their names.

        A type rename counts where the place itself exists in its version: `among` are those versions. They
        are the same when they share a name, when configured type renames lead from one to the other, when
        one of two objects is unnamed, or when two enums both are.
        """
        between = [version for version in sorted(among) if older <= version < newer]

        def same(one: ObjectType | EnumType, other: ObjectType | EnumType) -> bool:
            name = one.name
            for version in between:
                changes = self._changes.get((version, name))
                if changes is not None and changes.rename_type is not None:
                    name = changes.rename_type
            if name == other.name:
                return True
            if isinstance(one, EnumType):
                return not one.named and not other.named
            return name == one.name and not (one.named and other.named)

        return same

    @cached_property
    def identities(self) -> Mapping[tuple[ApiVersion, str], int]:
        """A number for each definition; the same number means an identical closure."""
        return identities(self.schemas)

    def stable(self, lineage: Lineage) -> bool:
        """Whether a subtree is the same in every version, with no rule or hook anywhere in it.

        Such a subtree is passed on, not copied, and nothing is ever stashed in it.
        """
        found = self._stable.get(lineage)
        if found is None:
            found = self._stable[lineage] = self._find_stable(lineage)
        return found

    def changing(self, lineage: Lineage, place: Place) -> bool:
        """Whether objects at a place of a lineage have other shapes in other versions."""
        keys = self.objects_in(place.version, lineage.type(place))
        return any(not self.stable(lineage.child(place, key)) for key in keys)

    def _find_stable(self, lineage: Lineage) -> bool:
        if self.is_root(lineage) or lineage.given:
            return False
        numbers = {self.identities[node] for node in lineage.nodes.items()}
        return len(numbers) == 1 and not self.ruled(lineage)

    def ruled(self, lineage: Lineage) -> bool:
        """Whether a rule or a hook names a type that is anywhere in a subtree."""
        return any(
            name in self._touched
            for node in lineage.nodes.items()
            for name in self._closure_names(node)
        )

    def alike(self, lineage: Lineage, one: ApiVersion, other: ApiVersion) -> bool:
        """Whether two versions have a subtree in common, so that it is passed on between their API types."""
        key = (lineage, min(one, other), max(one, other))
        if key not in self._alike:
            self._alike[key] = alike(lineage, one, other)
        return self._alike[key]

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Names of types that a rule or a hook names."""
        hooked = {each.reference.type for each in self.hooks.declarations}
        return frozenset(hooked | {each.type for each in self._changes.values()})

    def _closure_names(self, node: tuple[ApiVersion, str]) -> Iterator[str]:
        if not self._touched:
            return
        version, key = node
        seen = {key}
        waiting = [key]
        while waiting:
            definition = self._schemas[version].definitions[waiting.pop()]
            yield definition.name
            if isinstance(definition, ObjectType):
                types = [each.type for each in definition.properties]
                types += [definition.additional] if definition.additional else []
                for found in (ref for each in types for ref in references(each)):
                    if found not in seen:
                        seen.add(found)
                        waiting.append(found)
