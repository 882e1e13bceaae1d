"""What API objects hold, and their clients must not see: bags of a later release, and what others wrote unknown.

An unknown property that was written by way of one version may have the name that another version has a property
for. The two are different things: a store keeps both, and each version sees its own.

A type that is the same in all versions of a package has no property bag there. A later release in which it changes
keeps one in it. The package carries that along as an unknown property, and shows it to no client.
"""

import operator
from typing import Any

import msgspec

from trundle.runtime._documents import declares, find_path, is_bag, member_path
from trundle.runtime._errors import PlacedError
from trundle.runtime._json import encode
from trundle.runtime._met import Met
from trundle.runtime._objects import ABSENT, UNKNOWN, GeneratedObject
from trundle.runtime._required_values import with_required

_UNKNOWN = f'{UNKNOWN}"'.encode()


_MET = Met()
"""Bags of later releases, and unknown properties."""


def note_hidden() -> None:
    """Notes that a bag of a later release or an unknown property was read; nothing else puts one into an object."""
    _MET.any = True


def shown(value: Any) -> Any:
    """An API object as its clients see it: with what its version requires, and without what is hidden from them."""
    return with_required(without_hidden(value))


def without_hidden(value: Any) -> Any:
    """An API object without what is hidden from its clients; the object itself where nothing is."""
    return _without_hidden(value) if _MET.any and _UNKNOWN in encode(value) else value


def clash_in(value: Any) -> PlacedError | None:
    """The error about an unknown property that came along to an API object which has a property of its name."""
    if not _MET.any or _UNKNOWN not in encode(value):
        return None
    waiting = [value]
    for each in waiting:
        if isinstance(each, GeneratedObject):
            for name in each.unknown or ():
                if declares(type(each), name):
                    return _clash(value, each, name)
            waiting.extend(getattr(each, name) for name in each.__struct_fields__)
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
    return None


def _clash(root: Any, holder: Any, name: str) -> PlacedError:
    error = PlacedError(
        f"the document's version does not know the property {name!r}, but the version it is converted to has a "
        "property of that name, which means something else; remove it from the document, or prune unknown properties",
        holder,
    )
    error.path = member_path(find_path(root, holder) or "$", name)
    return error


def _without_hidden(value: Any) -> Any:
    if isinstance(value, GeneratedObject):
        changed = {
            name: seen
            for name in value.__struct_fields__
            if (seen := _without_hidden(member := getattr(value, name))) is not member
        }
        if value.unknown is not ABSENT:
            left = {
                name: each
                for name, each in value.unknown.items()
                if not is_bag(name) and not declares(type(value), name)
            }
            if len(left) < len(value.unknown):
                changed["unknown"] = left or ABSENT
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, list):
        items = [_without_hidden(each) for each in value]
        return value if all(map(operator.is_, items, value)) else items
    if isinstance(value, dict):
        members = {name: _without_hidden(each) for name, each in value.items()}
        same = all(map(operator.is_, members.values(), value.values()))
        return value if same else members
    return value
