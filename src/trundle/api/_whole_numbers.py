"""Whole numbers as some clients write them: `2.0` or `1e3` where a version has an integer.

JSON has one kind of numbers, and API servers read `2.0` as the integer that it is. Other numbers stay as they are written.
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from typing import Any

from trundle.api._kinds import ServedVersion
from trundle.schema import EnumType, ListOf, MapOf, Nullable, Ref, Scalar, Schema, Type, Union

_LONGEST = 18
"""How many digits an integer with an exponent may have; a longer one is none that a client means."""


def with_whole_numbers(
    document: dict[str, Any], noted: Iterable[Decimal], served: ServedVersion
) -> dict[str, Any]:
    """A document whose integers are written without a fraction or an exponent.

    Args:
        document: the document.
        noted: the numbers that the client wrote so; the document has no others.
        served: its version.
    """
    if not any(map(_is_whole, noted)):
        return document
    found: dict[str, Any] = _whole(document, Ref(served.root), served.schema)
    return found


def _whole(value: Any, type_: Type, schema: Schema) -> Any:
    """A value of a type with whole numbers; one that is of another type stays as it is."""
    if not isinstance(value, Decimal | dict | list):
        return value
    match type_, value:
        case Scalar("integer"), Decimal():
            return _integer(value)
        case Nullable(inner), _:
            return _whole(value, inner, schema)
        case Union(variants), _:
            if any(isinstance(each, Scalar) and each.kind == "number" for each in variants):
                return value
            return reduce(lambda found, each: _whole(found, each, schema), variants, value)
        case ListOf(items), list():
            return [_whole(each, items, schema) for each in value]
        case MapOf(values), dict():
            return {name: _whole(each, values, schema) for name, each in value.items()}
        case Ref(key), _:
            return _defined(value, key, schema)
    return value


def _defined(value: Any, key: str, schema: Schema) -> Any:
    definition = schema.definitions[key]
    if isinstance(definition, EnumType):
        is_integer = definition.kind == "integer" and isinstance(value, Decimal)
        return _integer(value) if is_integer else value
    if not isinstance(value, dict):
        return value
    types = {each.name: each.type for each in definition.properties}
    found = dict(value)
    for name, each in value.items():
        type_ = types.get(name, definition.additional)
        if type_ is not None:
            found[name] = _whole(each, type_, schema)
    return found


def _integer(value: Decimal) -> Any:
    return int(value) if _is_whole(value) else value


def _is_whole(value: Decimal) -> bool:
    return value.adjusted() < _LONGEST and value == value.to_integral_value()
