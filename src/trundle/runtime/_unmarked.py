"""Merged values without what conversions mark for a merge: hollow objects, and entries that no writer needs."""

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import msgspec

from trundle.runtime._bag import NoEntry, has_entries, tidy
from trundle.runtime._bases import StorageObject
from trundle.runtime._objects import ABSENT, GeneratedObject, Hollow, Marked, Opened


def without_marks(value: Any, beside: Any = None, names: Iterable[str] | None = None) -> Any:
    """A merged value without the marks of what writers left unsaid; absent where it is an object that is such a mark.

    Args:
        value: the value; it is changed.
        beside: what it was merged with. A merge passes on what an edit does not change, and there are no marks in that.
        names: of an object the attributes that may have marks in them, beside its bag; all where left out.
    """
    if value is beside:
        return value
    gone = value
    hollow: list[tuple[Any, Any, str]] = []
    waiting: list[tuple[Any, Any, Any, str]] = [(value, beside, None, "")]
    for held, known, holder, attribute in waiting:
        if isinstance(held, GeneratedObject):
            if isinstance(held.unknown, Hollow):
                hollow.append((held, holder, attribute))
            elif isinstance(held.unknown, Opened):
                held.unknown = ABSENT
            others = known if type(known) is type(held) else None
            if isinstance(held, StorageObject):
                bag: Any = held.property_bag
                if bag is not ABSENT and bag is not getattr(others, "property_bag", None):
                    waiting.extend((each, None, None, "") for each in _without_marks(held))
            within = held.__struct_fields__ if names is None or held is not value else names
            for name in within:
                part = getattr(held, name)
                if name != "property_bag" and isinstance(part, _HOLDERS):
                    other = getattr(others, name, None)
                    if part is not other:
                        waiting.append((part, other, held, name))
        else:
            waiting.extend(
                (item, other, None, "")
                for item, other in _items(held, known)
                if item is not other and isinstance(item, _HOLDERS)
            )
    for held, holder, attribute in reversed(hollow):  # what is within an object stands behind it
        held.unknown = ABSENT
        if is_empty(held):
            if holder is not None:
                setattr(holder, attribute, ABSENT)
            elif held is value:
                gone = ABSENT
    return gone


_HOLDERS = (GeneratedObject, list, dict)


def _items(value: Any, beside: Any) -> Iterable[tuple[Any, Any]]:
    """What is in a list or a map, each with what it was merged with, where that is known."""
    if isinstance(value, list):
        known = beside if isinstance(beside, list) and len(beside) == len(value) else repeat(None)
        return zip(value, known, strict=False)
    if isinstance(value, dict):
        others = beside if isinstance(beside, dict) else {}
        return ((item, others.get(name)) for name, item in value.items())
    return ()


def _without_marks(value: StorageObject) -> list[Any]:
    """Drops the entries of a bag that are marks, or hold one; gives what the others hold that may have marks in it."""
    bag: Any = value.property_bag
    entries = [(at, name, entry) for at in bag.values() for name, entry in at.items()]
    marks = [
        (at, name)
        for at, name, entry in entries
        if isinstance(entry, NoEntry)
        or (isinstance(entry.value, GeneratedObject) and without_hollow(entry.value) is ABSENT)
    ]
    for at, name in marks:
        del at[name]
    if marks:
        tidy(value)
    return [entry.value for _, _, entry in entries if isinstance(entry.value, _HOLDERS)]


def without_hollow(value: Any) -> Any:
    """A value without the objects that are there only for a merge to see them; absent where it is one itself."""
    if not isinstance(value, GeneratedObject):
        return value
    for name in value.__struct_fields__:
        held = getattr(value, name)
        if isinstance(held, GeneratedObject) and without_hollow(held) is ABSENT:
            setattr(value, name, ABSENT)
    if not isinstance(value.unknown, Marked):
        return value
    mark, value.unknown = value.unknown, ABSENT
    return ABSENT if isinstance(mark, Hollow) and is_empty(value) else value


def is_empty(value: Any) -> bool:
    """Whether an object has nothing in it but such marks."""
    members = zip(value.__struct_fields__, msgspec.structs.astuple(value), strict=True)
    return all(
        held is ABSENT or (name == "property_bag" and not has_entries(held))
        for name, held in members
    )
