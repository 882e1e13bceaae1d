"""The places of a version's schema that rules are about, and values as CEL sees them there."""

import base64
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from trundle.api._kinds import ServedVersion
from trundle.api._openapi import definition
from trundle.runtime import read_duration
from trundle.schema import ObjectType

_RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void"),
        "while",
    }
)
_NAME = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)
_ESCAPED = re.compile(r"__|[./-]")
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_METADATA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}
"""What rules see of the metadata of objects."""
_HEAD = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": _METADATA,
}
_RULES = "x-kubernetes-validations"
_LEAST, _MOST = -(2**63), 2**63 - 1


def escaped(name: str) -> str | None:
    """A property's name in rules; None where it has none.

    Source: https://kubernetes.io/docs/reference/using-api/cel/#escaping
    """
    if name in _RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group()], name)


class Place:
    """A place of a schema.

    Attributes:
        type: the type of its values, e.g. `object`; empty where there may be any.
        is_map: whether it is a map rather than an object with properties of its own.
        rules: the rules about its values, as the schema writes them.
        keys: by which properties elements of the list are the same as before; empty where they are not compared.
    """

    def __init__(self, schema: Mapping[str, Any], served: ServedVersion) -> None:
        self._served = served
        self._schema = schema
        self._inner: dict[str, Place] = {}
        self.type: str = schema.get("type", "")
        self.rules: Sequence[Mapping[str, Any]] = schema.get(_RULES, ())
        self.is_map = "additionalProperties" in schema and "properties" not in schema
        keyed = schema.get("x-kubernetes-list-type") == "map"
        self.keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ()) if keyed else ()

    def member(self, name: str) -> "Place | None":
        """The place of a property or of a value of a map; None where the schema has none."""
        declared = self._schema.get("properties", {}).get(name)
        if declared is not None:
            return self._at(f".{name}", declared)
        others = self._schema.get("additionalProperties")
        return self._at("*", others) if isinstance(others, Mapping) else None

    def element(self) -> "Place | None":
        """The place of the elements of a list."""
        items = self._schema.get("items")
        return self._at("[]", items) if isinstance(items, Mapping) else None

    def key(self, element: Any) -> Any:
        """What an element of a list with keys is the same by."""
        if not isinstance(element, Mapping):
            return None
        return tuple(repr(element.get(each)) for each in self.keys)

    def _at(self, key: str, schema: Mapping[str, Any]) -> "Place":
        if key not in self._inner:
            self._inner[key] = Place(_expanded(schema, self._served), self._served)
        return self._inner[key]

    def value(self, value: Any) -> Any:
        """A value as CEL sees it: with escaped names, and times that can be compared.

        Raises:
            ValueError: it is none of its format.
        """
        match value:
            case dict():
                return self._object(value)
            case list():
                element = self.element()
                return [_plain(each) if element is None else element.value(each) for each in value]
            case str():
                return _text(value, self._schema.get("format", ""))
            case int() | float() if self.type == "number" and not isinstance(value, bool):
                return float(value)
            case float() if self.type == "integer" and value.is_integer():
                return int(value)
            case _:
                return _plain(value)

    def _object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        declared = self._schema.get("properties", {})
        found = {}
        for name, each in value.items():
            if each is None:  # As where it is absent, for API servers.
                continue
            place = self.member(name)
            called = escaped(name) if name in declared else name
            if called is not None and (place is not None or not declared):
                found[called] = _plain(each) if place is None else place.value(each)
        return found


def root_of(served: ServedVersion) -> Place:
    """The place of whole objects of a version."""
    schema = definition(served.root, served, lambda each: each)
    return Place({**schema, "properties": {**schema.get("properties", {}), **_HEAD}}, served)


def _expanded(schema: Mapping[str, Any], served: ServedVersion) -> Mapping[str, Any]:
    """A schema with the definitions that it refers to, and with what it says beside them."""
    found: dict[str, Any] = {}
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            found |= definition(each["$ref"], served, lambda key: key)
            known = served.schema.definitions[each["$ref"]]
            if isinstance(known, ObjectType) and known.embedded:
                found["properties"] = {
                    **_HEAD,
                    **found.get("properties", {}),
                    "metadata": _METADATA,
                }
    rules = [*found.get(_RULES, ()), *schema.get(_RULES, ())]
    once = [each for place, each in enumerate(rules) if each not in rules[:place]]
    return {**found, **schema, _RULES: once}


def _text(value: str, form: str) -> Any:
    match form:
        case "date-time":
            found = Timestamp()
            found.FromJsonString(value)
            return found
        case "date":
            day = dt.date.fromisoformat(value)
            return Timestamp(seconds=(day - dt.date(1970, 1, 1)).days * 86400)
        case "duration":
            return _duration(value)
        case "byte":
            return base64.b64decode(value)
        case _:
            return value


def _duration(text: str) -> Any:
    seconds = read_duration(text)
    if seconds is None:
        raise ValueError(f"expected a duration such as 1h30m, found {text}")
    nanos = int(seconds * 10**9)
    sign = -1 if nanos < 0 else 1
    return Duration(seconds=sign * (abs(nanos) // 10**9), nanos=sign * (abs(nanos) % 10**9))


def _plain(value: Any) -> Any:
    """A value without a schema: whole numbers that CEL has no integer for are as near as may be."""
    match value:
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case int() if not _LEAST <= value <= _MOST:
            return float(value)
        case _:
            return value
