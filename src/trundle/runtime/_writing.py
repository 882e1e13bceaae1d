"""Writing objects as documents."""

import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.errors import Finding
from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import kept_apart, member_path, write_value
from trundle.runtime._entries import BaseEntry, StoredEntry
from trundle.runtime._errors import finding
from trundle.runtime._json import encode
from trundle.runtime._objects import GeneratedObject

_SIMPLE = frozenset({str, int, bool, type(None), msgspec.UnsetType, msgspec.Raw})


def written(value: Any) -> bytes:
    """The compact JSON of an object."""
    data = encode(value)
    place = data.find(b"$")
    return write_value(value) if place >= 0 and kept_apart(data, place) else data


def finite(value: Any) -> bool:
    """Whether all numbers are finite: the fast way to know that there is nothing to find."""
    waiting = [value]
    for each in waiting:
        if isinstance(each, GeneratedObject):
            members: Any = [getattr(each, name) for name in _numeric(type(each))]
        elif isinstance(each, BaseEntry):
            members = (each.value,)
        elif isinstance(each, dict):
            members = each.values()
        elif isinstance(each, list):
            members = each
        else:
            members = (each,) if isinstance(each, float) else ()
        for member in members:
            kind = type(member)
            if kind in _SIMPLE:
                continue
            if not isinstance(member, float):
                waiting.append(member)
            elif member - member != 0:
                return False
    return True


@once
def _numeric(class_: type[Any]) -> tuple[str, ...]:
    """The attributes of a class that may hold a number with a fraction, or an object that does."""
    return tuple(field.name for field in fields_of(class_) if _may_hold_fraction(field.type, set()))


def _may_hold_fraction(type_: Any, seen: set[Any]) -> bool:
    if type_ is float or type_ is StoredEntry:  # an entry is of any type
        return True
    types = typing.get_args(type_)
    if isinstance(type_, type) and issubclass(type_, GeneratedObject) and type_ not in seen:
        seen.add(type_)
        types = tuple(field.type for field in fields_of(type_))
    return any(_may_hold_fraction(each, seen) for each in types)


def not_finite(value: Any, path: str = "$") -> Iterator[Finding]:
    """Every number that JSON cannot have."""
    if isinstance(value, float):
        if value - value != 0:
            yield finding(path, "a finite number", f"`{value}`")
    elif isinstance(value, GeneratedObject | BaseEntry):
        for name, encoded in zip(
            value.__struct_fields__, value.__struct_encode_fields__, strict=True
        ):
            yield from not_finite(getattr(value, name), f"{path}.{encoded}")
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from not_finite(member, f"{path}.{name}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from not_finite(item, f"{path}[{place}]")


def named_by_text(value: Any) -> bool:
    """Whether all dictionaries within a plain value name their members by text; JSON writers make text of numbers."""
    waiting = [value]
    for each in waiting:
        if isinstance(each, dict):
            if not all(isinstance(name, str) for name in each):
                return False
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)
    return True


def no_json(value: Any, path: str = "$") -> Iterator[Finding]:
    """Every place of a plain value that JSON cannot have: numbers, objects and keys of other kinds."""
    match value:
        case None | bool() | int() | str():
            return
        case float():
            yield from not_finite(value, path)
        case dict():
            for name, member in value.items():
                if not isinstance(name, str):
                    yield finding(path, "text as the name of each property", f"`{name!r}`")
                yield from no_json(member, member_path(path, str(name)))
        case list() | tuple():
            for place, item in enumerate(value):
                yield from no_json(item, f"{path}[{place}]")
        case _:
            yield finding(path, "plain JSON", f"an object of the class `{type(value).__name__}`")
