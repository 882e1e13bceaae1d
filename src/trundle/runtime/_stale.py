"""What only a stale entry still has, beside what is derived from the other side."""

from collections.abc import Callable
from typing import Any

import msgspec

from trundle.runtime._bag import MISSING, unstash
from trundle.runtime._bag_merge import declared_keys
from trundle.runtime._bases import StorageObject
from trundle.runtime._entries import BagEntry, Derive
from trundle.runtime._errors import BagError, HookError
from trundle.runtime._list_merge import beside_hidden
from trundle.runtime._matching import match
from trundle.runtime._merge import merge
from trundle.runtime._objects import ABSENT


def keep_places(
    stored: StorageObject,
    entries: tuple[BagEntry[Any], ...],
    value: Any,
    hidden: Callable[[Any], bool],
) -> Any:
    """A list or map derived from the other side, with what only a stale entry still has.

    An element that the other side cannot have keeps its place behind its neighbour. Where the other side
    has removed the whole list or map, or has null in its place, that is so for all of it.

    Args:
        stored: the object whose bag has the entry.
        entries: where the list or map may have been stashed.
        value: the list or map as derived from the other side.
        hidden: whether the other side cannot have an element.
    """
    if value is ABSENT or value is None:
        return value
    kept = unstash(stored, entries, stale=True)
    if isinstance(kept, dict):
        members = value if isinstance(value, dict) else {}
        left = {name: each for name, each in kept.items() if name not in members and hidden(each)}
        return {**members, **left} if left else value
    if not isinstance(kept, list):
        return value
    visible = [place for place, each in enumerate(kept) if not hidden(each)]
    if len(visible) == len(kept):
        return value
    items = value if isinstance(value, list) else []
    shown = [_without_bags(each) for each in items]
    found = match(
        shown, [kept[place] for place in visible], declared_keys(stored, entries[0].property)
    )
    places = [None if each is None else visible[each] for each in found]
    others = [place for place in range(len(kept)) if place not in visible]
    return beside_hidden(zip(items, places, strict=True), kept, others, visible)


def _without_bags(value: Any) -> Any:
    """What a value shows: what other versions keep beside it is no reason for it to be another one."""
    if isinstance(value, list):
        return [_without_bags(each) for each in value]
    if isinstance(value, dict):
        return {name: _without_bags(each) for name, each in value.items()}
    if not isinstance(value, StorageObject):
        return value
    shown = {name: _without_bags(getattr(value, name)) for name in value.__struct_fields__}
    return msgspec.structs.replace(value, **{**shown, "property_bag": ABSENT})


def refill(
    stored: StorageObject,
    entries: tuple[BagEntry[Any], ...],
    value: Any,
    seen: Callable[[Any], Any],
) -> Any:
    """Data derived from the other side, with what only a stale entry still has inside of it.

    Free-form data has no bags, so that whatever an object within it has beyond it is in the entry of the
    whole, and so is what free-form data has beyond a type. Where the other side has been edited since, the rest of the
    entry still belongs to its objects.

    Args:
        stored: the object whose bag has the entry.
        entries: where the whole value may have been stashed.
        value: the value that the other side gives now.
        seen: the value that it gave when the entry was stashed.
    """
    if value is ABSENT:
        return ABSENT
    kept = unstash(stored, entries, stale=True)
    return value if kept is MISSING or kept is ABSENT else merge(kept, seen(kept), value)


def refill_by_hook(
    stored: StorageObject,
    entries: tuple[BagEntry[Any], ...],
    witness: Derive,
    value: Any,
    wrote: Callable[[Any], Any],
) -> Any:
    """Data that a hook writes, with what only a stale entry still has inside of it.

    Where a method of the hook refuses what is in the entry, or the entry cannot be read, the hook's value is all there is.

    Args:
        stored: the object whose bag has the entry.
        entries: where the whole value may have been stashed.
        witness: what the hook's other method makes of the entries; one counts if it accompanied just that.
        value: the value that the hook writes now.
        wrote: the value that it wrote when the entry was stashed, of the object.
    """
    if value is ABSENT:
        return ABSENT
    try:
        kept = unstash(stored, entries, witness)
        return value if kept is MISSING else merge(kept, wrote(stored), value)
    except (BagError, HookError):
        return value
