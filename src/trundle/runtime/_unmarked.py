"""Merged values without what conversions mark for a merge: hollow objects, and entries that no writer needs."""

from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.runtime._bag import NoEntry, has_entries, tidy
from trundle.runtime._bases import StorageObject
from trundle.runtime._entries import Entry
from trundle.runtime._objects import ABSENT, GeneratedObject, Hollow


def without_marks(value: Any, names: Iterable[str] | None = None) -> Any:
    """A merged value without the marks of what writers left unsaid.

    Args:
        value: the value; it is changed.
        names: of an object the attributes that may have marks in them, beside its bag; all where left out.
    """
    if isinstance(value, StorageObject) and value.property_bag is not ABSENT:
        kept: Any = {
            name: {
                version: entry
                for version, entry in versions.items()
                if not isinstance(entry, NoEntry)
            }
            for name, versions in value.property_bag.items()
        }
        value.property_bag = kept
        tidy(value)
    if isinstance(value, GeneratedObject):
        without_hollow(value)
        for name in value.__struct_fields__ if names is None else names:
            without_marks(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            without_marks(item)
    elif isinstance(value, dict):
        for item in value.values():
            without_marks(item)
    elif isinstance(value, Entry):
        without_marks(value.value)
    return value


def without_hollow(value: Any) -> Any:
    """A value without the objects that are there only for a merge to see them; absent where it is one itself."""
    if not isinstance(value, GeneratedObject):
        return value
    for name in value.__struct_fields__:
        held = getattr(value, name)
        if isinstance(held, GeneratedObject) and without_hollow(held) is ABSENT:
            setattr(value, name, ABSENT)
    if not isinstance(value.unknown, Hollow):
        return value
    value.unknown = ABSENT
    return ABSENT if is_empty(value) else value


def is_empty(value: Any) -> bool:
    """Whether an object has nothing in it but such marks."""
    members = zip(value.__struct_fields__, msgspec.structs.astuple(value), strict=True)
    return all(
        held is ABSENT or (name == "property_bag" and not has_entries(held))
        for name, held in members
    )
