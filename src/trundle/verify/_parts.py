"""One resource type apart from all others: the input that its proof needs, as plain data."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from trundle.evolution import Evolution, HookDeclaration, ResourceLineage, TypeChanges
from trundle.schema import (
    ABSENT,
    EnumType,
    ObjectType,
    Resource,
    Schema,
)
from trundle.verify._literals import Mentioned
from trundle.verify.oracle import HookedType, World
from trundle.version import ApiVersion

_FEW = 2
"""So many texts of other versions' enums are tried in each type."""
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
        """The part of some versions alone, where nothing is required but what distinguishes variants."""
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
            each for each in evolution.hooks if (each.reference.older, each.reference.type) in names
        ),
    )


def world_of(part: Part, hub: str) -> World:
    """What the oracle is to know of a resource type: schemas, rules and places of hooks, as plain data."""
    return World(
        {each.version.text: each for each in sorted(part.schemas, key=lambda each: each.version)},
        hub,
        {(each.version.text, each.type): _rules(each) for each in part.changes},
        tuple(_hooked(each) for each in part.hooks),
    )


def _rules(changes: TypeChanges) -> dict[str, Any]:
    """The rules of a type as plain data."""
    names = [name for name in changes.__struct_fields__ if name not in {"version", "type", "where"}]
    return {name: msgspec.to_builtins(getattr(changes, name)) for name in names}


def texts_of_others(part: Part) -> Mapping[str, Mentioned]:
    """Texts that an enum lists in one version and not in another, in another letter case, by type."""
    listed: dict[str, dict[str, dict[str, None]]] = {}
    for schema in part.schemas:
        for definition in schema.definitions.values():
            for each in definition.properties if isinstance(definition, ObjectType) else ():
                enums = [schema.definitions[key] for key in Evolution.definitions_in(each.type)]
                texts = [
                    str(text)
                    for enum in enums
                    if isinstance(enum, EnumType) and enum.kind == "string"
                    for text in enum.values
                ]
                own = listed.setdefault(definition.name, {}).setdefault(each.name, {})
                own.setdefault("\n".join(texts))
    found: dict[str, Mentioned] = {}
    for name, properties in listed.items():
        apart = {
            text: None
            for ways in properties.values()
            for text in set().union(*(each.split("\n") for each in ways))
            if text and not all(text in each.split("\n") for each in ways)
        }
        if apart:
            found[name] = Mentioned(tuple(text.swapcase() for text in sorted(apart)[:_FEW]))
    return found


def enum_texts_of(schema: Schema) -> frozenset[tuple[str, str]]:
    """The names of properties, each with a text that an enum of it lists."""
    return frozenset(
        (each.name, str(text))
        for definition in schema.definitions.values()
        for each in (definition.properties if isinstance(definition, ObjectType) else ())
        for key in Evolution.definitions_in(each.type)
        if isinstance(enum := schema.definitions[key], EnumType)
        for text in enum.values
    )


def _hooked(declaration: HookDeclaration) -> HookedType:
    reference = declaration.reference
    ways = {
        name: (tuple(each.reads), tuple(each.writes)) for name, each in declaration.assign.items()
    }
    nothing: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    return HookedType(
        reference.type,
        reference.older.text,
        reference.newer.text,
        ways.get("assign_to", nothing),
        ways.get("assign_from", nothing),
        bool(declaration.converters),
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
    """A definition that requires nothing but what distinguishes it from others."""
    if isinstance(definition, EnumType):
        return definition
    properties = tuple(
        each
        if each.name in {definition.tag, *_NAMING}
        else msgspec.structs.replace(each, required=False, default=ABSENT)
        for each in definition.properties
    )
    return msgspec.structs.replace(definition, properties=properties)
