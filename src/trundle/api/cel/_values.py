"""Values as rules in CEL see them."""

import base64
import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from trundle.api._places import Place
from trundle.runtime import read_duration

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
_LEAST, _MOST = -(2**63), 2**63 - 1


def seen_value(place: Place, value: Any) -> Any:
    """A value of a place as rules see it: with escaped names, and times that can be compared.

    What the schema does not declare, and what is null in an object, is not there.

    Raises:
        ValueError: it is none of its format.
    """
    match value:
        case dict():
            return _object(place, value)
        case list():
            element = place.element()
            return [
                _plain(each) if element is None else seen_value(element, each) for each in value
            ]
        case str():
            return _text(value, place.format)
        case int() | float() if place.type == "number" and not isinstance(value, bool):
            return float(value)
        case float() if place.type == "integer" and value.is_integer():
            return int(value)
        case _:
            return _plain(value)


def _object(place: Place, value: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, each in value.items():
        inner = place.member(name)
        called = name if place.is_map or place.is_free else _escaped(name)
        if each is not None and called is not None and (inner or place.is_free):
            found[called] = seen_value(inner, each) if inner else _plain(each)
    return found


def _escaped(name: str) -> str | None:
    """A property's name in rules; None where it has none.

    Source: https://kubernetes.io/docs/reference/using-api/cel/#escaping
    """
    if name in _RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda match: _ESCAPES[match.group()], name)


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
        raise ValueError(f"{text} is no duration such as 1h30m")
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
