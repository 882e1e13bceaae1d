"""What a schema has against a document, in the words of an API server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema_rs
import msgspec

from trundle.api._documents import text_of
from trundle.api._status import Cause, type_cause

_SAYS: Mapping[str, Callable[[str, Any], str]] = {
    "pattern": lambda field, limit: f"{field} in body should match '{limit}'",
    "minimum": lambda field, limit: f"{field} in body should be greater than or equal to {limit}",
    "maximum": lambda field, limit: f"{field} in body should be less than or equal to {limit}",
    "exclusiveMinimum": lambda field, limit: f"{field} in body should be greater than {limit}",
    "exclusiveMaximum": lambda field, limit: f"{field} in body should be less than {limit}",
    "multipleOf": lambda field, limit: f"{field} in body should be a multiple of {limit}",
    "minLength": lambda field, limit: f"{field} in body should be at least {limit} chars long",
    "minItems": lambda field, limit: f"{field} in body should have at least {limit} items",
    "minProperties": lambda field, limit: (
        f"{field} in body should have at least {limit} properties"
    ),
    "uniqueItems": lambda field, _: f"{field} in body shouldn't contain duplicates",
}
_OF_TEXTS = ("maxLength", "minLength", "pattern")
"""What is looked at in this order; what is wrong first is said."""
_MOST_OF = ("maxItems", "maxProperties")


def causes_of(
    errors: Sequence[jsonschema_rs.ValidationError], patterns: Mapping[str, str]
) -> Iterator[Cause]:
    """Errors of the library in Kubernetes' words; of what is wrong with a text, the first."""
    first: dict[tuple[str | int, ...], int] = {}
    for each in errors:
        if each.kind.name in _OF_TEXTS:
            place, rank = tuple(each.instance_path), _OF_TEXTS.index(each.kind.name)
            first[place] = min(rank, first.get(place, rank))
    for each in errors:
        name = each.kind.name
        if name not in _OF_TEXTS or first[tuple(each.instance_path)] == _OF_TEXTS.index(name):
            yield from _causes(each, patterns)


def invalid_value(field: str, value: Any, why: str) -> Cause:
    """A value of a document that an API server refuses: it shows the value as JSON."""
    return Cause("FieldValueInvalid", field, f"Invalid value: {text_of(value).decode()}: {why}")


def _causes(error: jsonschema_rs.ValidationError, patterns: Mapping[str, str]) -> Iterator[Cause]:
    """An error of the library in Kubernetes' words; with patterns as the schema writes them, by what is made of them."""
    place = field_path(error.instance_path)
    kind: Any = error.kind
    keyword = kind.name
    value = _as_text(error.instance) if _is_scalar(error.instance) else ""
    limit = getattr(kind, "limit", getattr(kind, "pattern", getattr(kind, "format", "")))
    limit = patterns.get(limit, limit) if keyword == "pattern" else limit
    if keyword in {"anyOf", "oneOf"}:
        yield from _of_alternatives(error, patterns)
    elif keyword == "not":
        yield _of_whole(f'"{place}" must not validate the schema (not)')
    elif keyword == "required":
        inner = f"{place}.{kind.property}" if place else str(kind.property)
        yield Cause("FieldValueRequired", inner, "Required value")
    elif keyword == "type":
        yield type_cause(place, error.instance, " or ".join(kind.types))
    elif keyword == "format":
        said = f"Invalid value: {value}: {place} in body must be of type {limit}: {value}"
        yield Cause("FieldValueTypeInvalid", place, said)
    elif keyword == "enum":
        texts = (each if isinstance(each, str) else _as_text(each) for each in kind.options)
        known = ", ".join(map(_as_text, texts))
        yield Cause(
            "FieldValueNotSupported",
            place,
            f"Unsupported value: {_as_text(error.instance)}: supported values: {known}",
        )
    elif keyword == "maxLength":
        yield Cause("FieldValueTooLong", place, f"Too long: may not be more than {limit} bytes")
    elif keyword in _MOST_OF:
        items = "item" if limit == 1 else "items"
        said = f"Too many: {_length(error.instance)}: must have at most {limit} {items}"
        yield Cause("FieldValueTooMany", place, said)
    elif keyword in _SAYS:
        shown = value or str(_length(error.instance))
        yield Cause(
            "FieldValueInvalid", place, f"Invalid value: {shown}: {_SAYS[keyword](place, limit)}"
        )
    else:
        yield Cause("FieldValueInvalid", place, f"Invalid value: {error.message}")


def _of_alternatives(
    error: jsonschema_rs.ValidationError, patterns: Mapping[str, str]
) -> Iterator[Cause]:
    """What is wrong where one of several schemas has to hold, and what the one that fits best has against the value."""
    kind: Any = error.kind
    place = field_path(error.instance_path)
    alternatives: list[list[jsonschema_rs.ValidationError]] = kind.context
    holding = sum(not each for each in alternatives)
    if types := _types(error):
        yield type_cause(place, error.instance, ",".join(types))
        return
    if kind.name == "oneOf":
        found = f"Found {holding} valid alternatives" if holding else "Found none valid"
        yield _of_whole(f'"{place}" must validate one and only one schema (oneOf). {found}')
    else:
        yield _of_whole(f'"{place}" must validate at least one schema (anyOf)')
    if not holding:
        yield from causes_of(min(alternatives, key=len), patterns)


def _of_whole(said: str) -> Cause:
    """A cause that names its place itself, as those of API servers do."""
    return Cause("FieldValueInvalid", "<nil>", f'Invalid value: "": {said}')


def _length(value: Any) -> int:
    return len(value)


def _types(error: jsonschema_rs.ValidationError) -> list[str]:
    """The types of which a value may be one, where all that is wrong is its type."""
    found: list[str] = []
    kind: Any = error.kind
    for each in (inner for some in getattr(kind, "context", ()) for inner in some):
        if each.instance_path != error.instance_path:
            return []
        if each.kind.name in {"anyOf", "oneOf"}:
            types = _types(each)
            if not types:
                return []
            found += types
        elif each.kind.name == "type":
            found += each.kind.types
        else:
            return []
    return [each for each in found if each != "null"]


def field_path(path: Sequence[str | int]) -> str:
    """A place in a document as messages of API servers have it."""
    found = ""
    for each in path:
        found += f"[{each}]" if isinstance(each, int) else f".{each}" if found else each
    return found


def _as_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, dict | list)
