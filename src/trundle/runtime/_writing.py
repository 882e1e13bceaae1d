"""Writing objects as documents."""

from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.runtime._bag import encode
from trundle.runtime._documents import kept_apart, write_value
from trundle.runtime._errors import Finding
from trundle.runtime._objects import Entry, GeneratedObject

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
        if isinstance(each, GeneratedObject | Entry):
            members: Any = msgspec.structs.astuple(each)
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


def not_finite(value: Any, path: str = "$") -> Iterator[Finding]:
    """Every number that JSON cannot have."""
    if isinstance(value, float):
        if value - value != 0:
            yield Finding(path, f"Expected a finite number, got `{value}`")
    elif isinstance(value, GeneratedObject | Entry):
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
