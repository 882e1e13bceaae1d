"""Property bags where a package has none: what a later release keeps in types that never changed before it.

A type that is the same in all versions of a package has no property bag there. A later release in which it changes
keeps one in it. The package carries that along as an unknown property, and shows it to no client.
"""

import operator
from typing import Any

import msgspec

from trundle.runtime._bag import encode
from trundle.runtime._objects import ABSENT, BAG, GeneratedObject

_BAG = f'{BAG}"'.encode()


class _Met:
    """Whether this process has read any such bag; until then nothing needs to be looked through for them."""

    def __init__(self) -> None:
        self.any = False


_MET = _Met()


def note_bags() -> None:
    """Notes that such a bag was read; nothing else puts one into an object."""
    _MET.any = True


def without_bags(value: Any) -> Any:
    """An API object without the bags of a later release in it; the object itself where there are none."""
    return _shown(value) if _MET.any and _BAG in encode(value) else value


def _shown(value: Any) -> Any:
    if isinstance(value, GeneratedObject):
        changed = {
            name: shown
            for name in value.__struct_fields__
            if (shown := _shown(member := getattr(value, name))) is not member
        }
        if value.unknown is not ABSENT:
            left = {name: each for name, each in value.unknown.items() if not is_bag(name)}
            if len(left) < len(value.unknown):
                changed["unknown"] = left or ABSENT
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, list):
        items = [_shown(each) for each in value]
        return value if all(map(operator.is_, items, value)) else items
    if isinstance(value, dict):
        members = {name: _shown(each) for name, each in value.items()}
        same = all(map(operator.is_, members.values(), value.values()))
        return value if same else members
    return value


def is_bag(name: str) -> bool:
    """Whether a property is a bag; its name has more `$` where a property has the name of a bag."""
    return name.startswith("$") and f"${name.lstrip('$')}" == BAG
