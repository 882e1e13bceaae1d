"""The definitions of a schema that lead from one to the next."""

from collections.abc import Iterator
from typing import assert_never

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


def reached(schema: Schema, root: str) -> dict[str, ObjectType | EnumType]:
    """The definitions that a definition reaches, itself first, by their keys."""
    found: dict[str, ObjectType | EnumType] = {}
    waiting = [root]
    while waiting:
        key = waiting.pop(0)
        if key in found:
            continue
        found[key] = definition = schema.definitions[key]
        if isinstance(definition, ObjectType):
            types = [each.type for each in definition.properties]
            types += [] if definition.additional is None else [definition.additional]
            waiting += [name for each in types for name in keys_in(each)]
    return found


def keys_in(type_: Type) -> Iterator[str]:
    """The keys of the definitions that a type names, in the order of its text."""
    match type_:
        case Ref(key):
            yield key
        case ListOf(inner) | MapOf(inner) | Nullable(inner):
            yield from keys_in(inner)
        case Union(variants):
            for each in variants:
                yield from keys_in(each)
        case Scalar() | FreeForm():
            return
        case _:
            assert_never(type_)
