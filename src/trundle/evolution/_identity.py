"""Which definitions of which versions are the same all the way down."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar, assert_never

from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.version import ApiVersion

Item = TypeVar("Item", bound=Hashable)


def partition(
    items: Iterable[Item], own: Mapping[Item, Hashable], parts: Mapping[Item, tuple[Item, ...]]
) -> dict[Item, int]:
    """Numbers items so that two have the same number exactly when they are alike all the way down.

    Args:
        items: the items, in an order that decides the numbers.
        own: what an item is by itself.
        parts: the items that an item refers to, in order; cycles are fine.
    """
    ordered = list(items)
    number = _numbered(ordered, own)
    count = len(set(number.values()))
    while True:
        number = _numbered(
            ordered,
            {item: (number[item], tuple(number[part] for part in parts[item])) for item in ordered},
        )
        grown = len(set(number.values()))
        if grown == count:
            return number
        count = grown


def _numbered(items: list[Item], keys: Mapping[Item, Hashable]) -> dict[Item, int]:
    seen: dict[Hashable, int] = {}
    return {item: seen.setdefault(keys[item], len(seen)) for item in items}


def identities(schemas: Iterable[Schema]) -> dict[tuple[ApiVersion, str], int]:
    """Numbers all definitions; those with the same number have identical closures.

    Documentation, formats and validation keywords are left out: they do not change what a value is.
    """
    items: list[tuple[ApiVersion, str]] = []
    own: dict[tuple[ApiVersion, str], Hashable] = {}
    parts: dict[tuple[ApiVersion, str], tuple[tuple[ApiVersion, str], ...]] = {}
    for schema in schemas:
        for key, definition in schema.definitions.items():
            item = (schema.version, key)
            items.append(item)
            own[item] = own_signature(definition)
            types = _types(definition)
            parts[item] = tuple((schema.version, ref) for each in types for ref in references(each))
    return partition(items, own, parts)


def _types(definition: ObjectType | EnumType) -> tuple[Type, ...]:
    if isinstance(definition, EnumType):
        return ()
    types = tuple(each.type for each in definition.properties)
    return types if definition.additional is None else (*types, definition.additional)


def own_signature(definition: ObjectType | EnumType) -> Hashable:
    """What a definition is by itself; what it refers to is left out."""
    if isinstance(definition, EnumType):
        values = tuple(sorted((type(value).__name__, value) for value in definition.values))
        return ("enum", definition.name, definition.named, definition.kind, values)
    return (
        "object",
        definition.name,
        definition.named,
        definition.embedded,
        definition.tag,
        tuple(
            (each.name, each.required, _shape(each.type), repr(each.default))
            for each in definition.properties
        ),
        None if definition.additional is None else _shape(definition.additional),
    )


def _shape(type_: Type) -> Hashable:
    match type_:
        case Ref():
            return "ref"
        case ListOf(items, keys):
            return ("list", keys, _shape(items))
        case MapOf(values):
            return ("map", _shape(values))
        case Nullable(inner):
            return ("nullable", _shape(inner))
        case Union(variants):
            return ("union", tuple(_shape(each) for each in variants))
        case Scalar(kind):
            return ("Scalar", kind)
        case FreeForm():
            return ("FreeForm", "")
        case _:
            assert_never(type_)


def references(type_: Type) -> Iterator[str]:
    """The keys of all definitions that a type names, in order."""
    match type_:
        case Ref(key):
            yield key
        case ListOf(items):
            yield from references(items)
        case MapOf(values):
            yield from references(values)
        case Nullable(inner):
            yield from references(inner)
        case Union(variants):
            for each in variants:
                yield from references(each)
        case Scalar() | FreeForm():
            return
        case _:
            assert_never(type_)
