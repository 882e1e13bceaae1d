"""One resource type apart from all others: the input that its proof needs, as plain data."""

from collections.abc import Iterable, Mapping

import msgspec

from trundle.evolution import Evolution, HookDeclaration, ResourceLineage, TypeChanges
from trundle.schema import (
    ABSENT,
    EnumType,
    ObjectType,
    Resource,
    Schema,
)
from trundle.version import ApiVersion

_NAMING = ("apiVersion", "kind", "type")


class Part(msgspec.Struct, frozen=True):
    """A resource type with what it reaches, in some versions, under the changes and hooks between them.

    Attributes:
        resource: its name, as the newest version writes it.
        schemas: one for each version, with this resource type alone.
        changes: the configured changes.
        hooks: the hooks.
    """

    resource: str
    schemas: tuple[Schema, ...]
    changes: tuple[TypeChanges, ...] = ()
    hooks: tuple[HookDeclaration, ...] = ()

    @property
    def versions(self) -> Mapping[str, Schema]:
        """The schema of each version, by the version's name."""
        return {each.version.text: each for each in self.schemas}

    def evolution(self) -> Evolution:
        """How the resource type evolves."""
        return Evolution(self.schemas, self.changes, self.hooks)

    def between(self, versions: Iterable[str]) -> "Part":
        """The part of some versions alone, where nothing is required but what tells variants apart."""
        chosen = {ApiVersion.parse(each) for each in versions}
        return Part(
            self.resource,
            tuple(_lenient(each) for each in self.schemas if each.version in chosen),
            tuple(
                msgspec.structs.replace(each, default={})
                for each in self.changes
                if each.version in chosen
            ),
            tuple(
                each
                for each in self.hooks
                if each.reference.older in chosen and each.reference.newer in chosen
            ),
        )


def part_of(evolution: Evolution, resource: ResourceLineage) -> Part:
    """One resource type of an evolution, in all its versions."""
    names = set()
    schemas = []
    for version, own in resource.resources.items():
        schemas.append(_alone(evolution.schema(version), own))
        names |= {(version, each.name) for each in schemas[-1].definitions.values()}
    return Part(
        resource.name,
        tuple(schemas),
        tuple(each for each in evolution.all_changes if (each.version, each.type) in names),
        tuple(
            each
            for each in evolution.hooks.declarations
            if (each.reference.older, each.reference.type) in names
        ),
    )


def _alone(schema: Schema, resource: Resource) -> Schema:
    """A version with just one resource type, and what that reaches."""
    reached: set[str] = set()
    waiting = [resource.root]
    while waiting:
        key = waiting.pop()
        if key in reached:
            continue
        reached.add(key)
        definition = schema.definitions[key]
        if isinstance(definition, EnumType):
            continue
        for each in definition.properties:
            waiting.extend(Evolution.definitions_in(each.type))
        if definition.additional is not None:
            waiting.extend(Evolution.definitions_in(definition.additional))
    definitions = {key: each for key, each in schema.definitions.items() if key in reached}
    return Schema(schema.version, definitions, (resource,), schema.sources)


def _lenient(schema: Schema) -> Schema:
    definitions = {key: _optional(each) for key, each in schema.definitions.items()}
    return Schema(schema.version, definitions, schema.resources, schema.sources)


def _optional(definition: ObjectType | EnumType) -> ObjectType | EnumType:
    """A definition that requires nothing but what tells it from others."""
    if isinstance(definition, EnumType):
        return definition
    properties = tuple(
        each
        if each.name in {definition.tag, *_NAMING}
        else msgspec.structs.replace(each, required=False, default=ABSENT)
        for each in definition.properties
    )
    return msgspec.structs.replace(definition, properties=properties)
