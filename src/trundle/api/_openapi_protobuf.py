"""OpenAPI 2.0 documents as protobuf messages, the only form in which kubectl reads them.

The messages are those of `openapi.v2` in github.com/google/gnostic-models; each table names the fields that Trundle's documents have, by
their numbers there. The responses of operations are left out: no client of this form reads them.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the documents are sent as."""

ACCEPTED = "com.github.proto-openapi.spec.v2"
"""What stands in `Accept` of clients that want them."""

_VARINT, _DOUBLE, _BYTES = 0, 1, 2
_SEVEN_BITS = 0x7F

_Field = tuple[int, Callable[[int, Any], bytes]]
"""The number of a field, and how a value of it is written."""


def of_document(document: Mapping[str, Any]) -> bytes:
    """A document as protobuf.

    Args:
        document: the document as it is in JSON.
    """
    return _message(document, _DOCUMENT)


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > _SEVEN_BITS:
        found.append(number & _SEVEN_BITS | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _inner(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _text(number: int, value: Any) -> bytes:
    return _inner(number, str(value).encode())


def _texts(number: int, values: Any) -> bytes:
    return b"".join(_text(number, each) for each in values)


def _flag(number: int, value: Any) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(int(value))


def _whole(number: int, value: Any) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(int(value) & (1 << 64) - 1)


def _real(number: int, value: Any) -> bytes:
    return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    """Any value, as YAML; JSON is YAML."""
    return _inner(number, _inner(2, msgspec.json.encode(value)))


def _anys(number: int, values: Any) -> bytes:
    return b"".join(_any(number, each) for each in values)


def _extensions(number: int, values: Mapping[str, Any]) -> bytes:
    """What of an object is under names that begin with `x-`."""
    return b"".join(
        _inner(number, _text(1, name) + _any(2, each))
        for name, each in values.items()
        if name.startswith("x-")
    )


def _message(values: Mapping[str, Any], fields: Mapping[str, _Field], extensions: int = 0) -> bytes:
    found = b"".join(
        write(number, values[name]) for name, (number, write) in fields.items() if name in values
    )
    return found + _extensions(extensions, values) if extensions else found


def _named(
    number: int, values: Mapping[str, Any], message: Callable[[Any], bytes], inside: int
) -> bytes:
    """A map: entries with a name and a value, in a message of their own."""
    entries = (
        _inner(inside, _text(1, name) + _inner(2, message(each))) for name, each in values.items()
    )
    return _inner(number, b"".join(entries))


def _schema(value: Mapping[str, Any]) -> bytes:
    return _message(value, _SCHEMA, 31)


def _schemas(number: int, values: Any) -> bytes:
    return b"".join(_inner(number, _schema(each)) for each in values)


def _named_schemas(number: int, values: Any) -> bytes:
    return _named(number, values, _schema, 1)


def _additional(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return _inner(number, _flag(2, value))
    return _inner(number, _inner(1, _schema(value)))


def _type(number: int, value: Any) -> bytes:
    return _inner(number, _texts(1, [value] if isinstance(value, str) else value))


def _items(number: int, value: Any) -> bytes:
    return _inner(number, _inner(1, _schema(value)))


def _parameters(number: int, values: Any) -> bytes:
    return b"".join(_inner(number, _inner(1, _parameter(each))) for each in values)


def _parameter(value: Mapping[str, Any]) -> bytes:
    """A parameter: a body, or one of a query or a path."""
    if value["in"] == "body":
        return _inner(1, _message(value, _BODY, 6))
    place, fields = (3, _IN_QUERY) if value["in"] == "query" else (4, _IN_PATH)
    return _inner(2, _inner(place, _message(value, fields)))


def _operation(number: int, value: Any) -> bytes:
    return _inner(number, _message(value, _OPERATION, 13))


def _path(value: Mapping[str, Any]) -> bytes:
    return _message(value, _PATH, 10)


_SCHEMA: Mapping[str, _Field] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _real),
    "maximum": (7, _real),
    "minimum": (9, _real),
    "maxLength": (11, _whole),
    "minLength": (12, _whole),
    "pattern": (13, _text),
    "maxItems": (14, _whole),
    "minItems": (15, _whole),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _whole),
    "minProperties": (18, _whole),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, _type),
    "items": (23, _items),
    "allOf": (24, _schemas),
    "properties": (25, _named_schemas),
    "readOnly": (27, _flag),
    "example": (30, _any),
}
_BODY: Mapping[str, _Field] = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, lambda number, value: _inner(number, _schema(value))),
}
_IN_QUERY: Mapping[str, _Field] = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
}
_IN_PATH: Mapping[str, _Field] = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
}
_OPERATION: Mapping[str, _Field] = {
    "description": (3, _text),
    "operationId": (5, _text),
    "parameters": (8, _parameters),
}
_PATH: Mapping[str, _Field] = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}
_DOCUMENT: Mapping[str, _Field] = {
    "swagger": (1, _text),
    "info": (
        2,
        lambda number, value: _inner(
            number, _message(value, {"title": (1, _text), "version": (2, _text)})
        ),
    ),
    "paths": (8, lambda number, value: _named(number, value, _path, 2)),
    "definitions": (9, _named_schemas),
}
