"""The types that a resource type reaches at one version, as the page shows them."""

from typing import Any, NamedTuple

import msgspec

from trundle.report import keys_in, reached, spell
from trundle.schema import ABSENT, EnumType, ObjectType, Property, Schema


class ShownProperty(NamedTuple):
    """A property of a shown type.

    Attributes:
        name: its name.
        type: its type in words.
        leads_to: the keys and names of the types that its type names.
        required: whether an object must have it.
        default: its default as JSON; None where it has none.
        doc: its description; may be empty.
        constraints: what further holds of its values, as JSON by keyword.
    """

    name: str
    type: str
    leads_to: tuple[tuple[str, str], ...]
    required: bool
    default: str | None
    doc: str
    constraints: tuple[tuple[str, str], ...]


class ShownDefinition(NamedTuple):
    """A type that a resource type reaches.

    Attributes:
        key: what addresses call it.
        name: its name.
        doc: its description; may be empty.
        properties: of an object.
        additional: the type of further properties in words; empty where there are none.
        values: of an enum, as JSON.
    """

    key: str
    name: str
    doc: str
    properties: tuple[ShownProperty, ...] = ()
    additional: str = ""
    values: tuple[str, ...] = ()


def shown_definitions(schema: Schema, root: str) -> tuple[ShownDefinition, ...]:
    """The types that a resource type reaches, its own first, then in the order in which properties lead to them."""
    return tuple(_shown(schema, key, each) for key, each in reached(schema, root).items())


def _shown(schema: Schema, key: str, definition: ObjectType | EnumType) -> ShownDefinition:
    if isinstance(definition, EnumType):
        values = tuple(map(_json, definition.values))
        return ShownDefinition(key, definition.name, definition.doc, values=values)
    additional = "" if definition.additional is None else spell(definition.additional, schema)
    properties = tuple(_shown_property(schema, each) for each in definition.properties)
    return ShownDefinition(key, definition.name, definition.doc, properties, additional)


def _shown_property(schema: Schema, declared: Property) -> ShownProperty:
    return ShownProperty(
        declared.name,
        spell(declared.type, schema),
        tuple((key, schema.definitions[key].name) for key in dict.fromkeys(keys_in(declared.type))),
        declared.required,
        None if declared.default is ABSENT else _json(declared.default),
        declared.doc,
        tuple((name, _json(value)) for name, value in declared.constraints),
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
