"""The named conversions of scalars, and notes of the values that they cannot convert."""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

import msgspec

from trundle.runtime._durations import (
    read_duration,
    read_go_duration,
    write_go_duration,
    write_iso_duration,
)
from trundle.runtime._numbers import LONGEST, Exact, fit_finite, from_number, to_number
from trundle.runtime._objects import ABSENT
from trundle.runtime._quantities import read_quantity, write_bytes, write_quantity


class Unconverted(NamedTuple):
    """A value that a named conversion has no counterpart for; it is absent on the other side.

    Attributes:
        rule: the name of the conversion.
        property: the property that has the value.
        value: the value.
    """

    rule: str
    property: str
    value: Any

    def paths(self, document: Any) -> tuple[str, ...]:
        """The JSON paths at which a property of this name has this value, in the order of the document."""
        return tuple(_paths(document, "$", self))


_NOTES: ContextVar[list[Unconverted] | None] = ContextVar("_NOTES", default=None)
"""Where values without counterpart are recorded, while a caller asks for them."""


@contextlib.contextmanager
def unconverted() -> Iterator[list[Unconverted]]:
    """Collects the values that named conversions have no counterpart for, while the block runs.

    Yields:
        A list that grows, each value once.
    """
    notes: list[Unconverted] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def convert_scalar(
    name: str, value: Any, property_: str = "", *, integer: bool = False, version: str = ""
) -> Any:
    """What a named conversion makes of a value; absent where the value has no counterpart.

    Args:
        name: the conversion, as `SCALAR_CONVERSIONS` of `trundle.evolution` has it.
        value: the value.
        property_: the property that has it, for notes.
        integer: whether the other side admits integers only.
        version: the version that a bare group gets, for `group-to-api-version`.
    """
    found = _group_at(value, version) if name == _VERSIONED else _CONVERSIONS[name](value)
    if integer and type(found) is float:
        found = int(found) if found.is_integer() else ABSENT
    if found is ABSENT and (notes := _NOTES.get()) is not None:
        note = Unconverted(name, property_, value)
        if note not in notes:
            notes.append(note)
    return found


def _paths(value: Any, path: str, note: Unconverted) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            place = f"{path}.{name}" if _PLAIN.fullmatch(name) else f"{path}[{name!r}]"
            if name == note.property and _same(member, note.value):
                yield place
            yield from _paths(member, place, note)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths(item, f"{path}[{number}]", note)


_PLAIN = re.compile(r"[A-Za-z_$][\w$-]*", re.ASCII)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


_INTEGER = re.compile(r"-?(0|[1-9]\d*)", re.ASCII)
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)


def _string_to_integer(value: Any) -> Any:
    if not isinstance(value, str) or len(value) > LONGEST or not _INTEGER.fullmatch(value):
        return ABSENT
    return int(value)


def _string_to_number(value: Any) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return ABSENT
    return _string_to_integer(value) if _INTEGER.fullmatch(value) else fit_finite(float(value))


def _to_text(value: Any) -> Any:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _string_to_boolean(value: Any) -> Any:
    return {"true": True, "false": False}.get(value, ABSENT) if isinstance(value, str) else ABSENT


def _negated(value: Any) -> Any:
    return not value if isinstance(value, bool) else ABSENT


_Reads = Callable[[Any], Exact | None]
_Writes = Callable[[Exact], Any]


def _through(reads: _Reads, writes: _Writes) -> Callable[[Any], Any]:
    """From one form of an exact number to another."""

    def convert(value: Any) -> Any:
        exact = reads(value)
        if exact is None:
            return ABSENT
        written = writes(exact)
        return ABSENT if written is None else written

    return convert


def _text(reads: Callable[[str], Exact | None]) -> _Reads:
    return lambda value: reads(value) if isinstance(value, str) else None


def _quantity(value: Any) -> Exact | None:
    """Quantities may be written as integers, too, where the schema admits these."""
    return read_quantity(
        value if isinstance(value, str) else str(value) if type(value) is int else ""
    )


def _integer(value: Exact) -> Any:
    return value if isinstance(value, int) else ABSENT


_VERSIONED = "group-to-api-version"


def _group(value: Any) -> Any:
    """The group of an `apiVersion`; that of the core is empty."""
    match value.split("/") if isinstance(value, str) else ():
        case [version] if version:
            return ""
        case [group, version] if group and version:
            return group
        case _:
            return ABSENT


def _group_at(value: Any, version: str = "") -> Any:
    """The `apiVersion` of a group at a version; the core group has version v1 only."""
    if value == "":
        return "v1"
    if not version or not isinstance(value, str) or "/" in value:
        return ABSENT
    return f"{value}/{version}"


_duration, _go_duration = _text(read_duration), _text(read_go_duration)

_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "api-version-to-group": _group,
    "boolean-to-string": _to_text,
    "bytes-to-quantity": _through(from_number, write_bytes),
    "disabled-to-enabled": _negated,
    "duration-to-go-duration": _through(_duration, write_go_duration),
    "duration-to-seconds": _through(_duration, to_number),
    "enabled-to-disabled": _negated,
    "go-duration-to-duration": _through(_go_duration, write_iso_duration),
    "go-duration-to-seconds": _through(_go_duration, to_number),
    _VERSIONED: _group_at,
    "integer-to-quantity": _through(from_number, write_quantity),
    "integer-to-string": _to_text,
    "number-to-quantity": _through(from_number, write_quantity),
    "number-to-string": _to_text,
    "quantity-to-bytes": _through(_quantity, _integer),
    "quantity-to-integer": _through(_quantity, _integer),
    "quantity-to-number": _through(_quantity, to_number),
    "seconds-to-duration": _through(from_number, write_iso_duration),
    "seconds-to-go-duration": _through(from_number, write_go_duration),
    "string-to-boolean": _string_to_boolean,
    "string-to-integer": _string_to_integer,
    "string-to-number": _string_to_number,
}
