"""What schemas, rules and hooks declare about the versions that evolve, as far as no lineage is needed for it."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple

from trundle.evolution._changes import HookDeclaration, NamedConversion, TypeChanges
from trundle.evolution._identity import identities, own_signature, references
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._unions import settle
from trundle.schema import EnumType, ListOf, Nullable, ObjectType, Resource, Schema, Type, group_of
from trundle.version import ApiVersion

_Made = TypeVar("_Made")
_Arguments = TypeVarTuple("_Arguments")


class Declared:
    """The schemas, configured changes and hooks of a project's versions.

    Args:
        schemas: one for each version.
        changes: the configured changes.
        hooks: the hooks that were found.

    Attributes:
        made: what was made once, by the function that made it and its arguments.
    """

    def __init__(
        self,
        schemas: tuple[Schema, ...],
        changes: tuple[TypeChanges, ...] = (),
        hooks: tuple[HookDeclaration, ...] = (),
    ) -> None:
        self._schemas = {schema.version: schema for schema in settle(schemas)}
        self._changes = {(each.version, each.type): each for each in changes}
        self.made: dict[Hashable, Any] = {}
        self.hooks = hooks

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

    def schema(self, version: ApiVersion) -> Schema:
        """The schema of a version."""
        return self._schemas[version]

    def changes(self, version: ApiVersion, type_name: str) -> TypeChanges | None:
        """The configured changes of a type from one version to its newer neighbour."""
        return self._changes.get((version, type_name))

    @cached_property
    def resource_types(self) -> tuple[Mapping[ApiVersion, Resource], ...]:
        """The resource of each version, for all resource types in alphabetical order, whatever their letter case."""
        found: dict[tuple[str, str], dict[ApiVersion, Resource]] = {}
        for schema in self.schemas:
            for resource in schema.resources:
                group = group_of(resource.name, resource.group)
                key = (resource.name.casefold(), group.casefold())
                found.setdefault(key, {})[schema.version] = resource
        return tuple(resources for _, resources in sorted(found.items()))

    @cached_property
    def said_stored(self) -> tuple[ApiVersion, ...]:
        """Versions in whose shape some resource type is said to be stored, newest first."""
        said = {
            version
            for resources in self.resource_types
            for version, each in resources.items()
            if each.hub or each.kept
        }
        return tuple(sorted(said, reverse=True))

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

    def ruled(self, nodes: Mapping[ApiVersion, str]) -> bool:
        """Whether a rule or a hook names a type that is anywhere in the definitions of some versions."""
        return any(
            name in self._touched for node in nodes.items() for name in self._closure_names(node)
        )

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Names of types that a rule or a hook names."""
        hooked = {each.reference.type for each in self.hooks}
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

    def once(self, make: Callable[[*_Arguments], _Made], *arguments: *_Arguments) -> _Made:
        """What a function makes of some arguments, made the first time only and kept as long as these versions."""
        key = (make, arguments)
        if key not in self.made:
            self.made[key] = make(*arguments)
        made: _Made = self.made[key]
        return made
