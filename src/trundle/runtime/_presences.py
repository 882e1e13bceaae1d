"""Nested objects into which rules lead: what an edit of one version removes with them, and what it leaves of them to others."""

import typing
from typing import Any

import msgspec

from trundle.runtime._bag import (
    NoEntry,
    WatchedPresence,
    accompany,
    current,
    entries_of,
    fill,
    put_entry,
)
from trundle.runtime._bases import StorageObject
from trundle.runtime._by_class import once
from trundle.runtime._entries import Derive, Stashing, made_entry, place_of
from trundle.runtime._json import same
from trundle.runtime._marks import marks, unmarked
from trundle.runtime._matching import attributes_of
from trundle.runtime._nested import made_empty
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._places import attribute_of, holds_object, set_value, value_at
from trundle.runtime._unmarked import is_empty

Path = tuple[str, ...]


def watch(
    target: Any,
    place: tuple[str, str],
    holder: Path,
    *,
    witness: Derive,
    derived: Derive,
    aliases: tuple[tuple[str, str], ...] = (),
) -> None:
    """Notes in what is written over a stored object whether a nested one is there to versions of which the writer says nothing.

    Args:
        target: the storage object, complete but for its bag.
        place: the entry that says it where the stored object does not.
        holder: the path of the nested object.
        witness: what the entry accompanies.
        derived: whether the nested object is there without the entry.
        aliases: the other places of the entry.
    """
    if not marks():
        return
    with unmarked():
        value = derived(target)
    mark = WatchedPresence(value, there=holds_object(target, holder), holder=holder)
    mark.stashing = Stashing(witness, derived, aliases=aliases)
    put_entry(target, place, mark)


def keep_presences(result: Any, stored: Any, before: Any, after: Any) -> None:
    """Keeps nested objects there, or not, to versions of which an edit says nothing.

    What moves into a stored object makes it more than other versions see of it. To these it stays what it was, where the writer
    has not made or removed it, and its own object shows them the same as before.

    Args:
        result: the merged object.
        stored: the stored object.
        before: the object as the writer sees it.
        after: what the writer makes of that.
    """
    ours = entries_of(before)
    for place, new in entries_of(after).items():
        old = ours.get(place)
        if not isinstance(new, NoEntry) or not isinstance(old, NoEntry) or not new.holder:
            continue
        if new.own and new.value is True:
            continue  # the writer sees the object by what is in it, whatever an entry says
        if old.there is new.there and same(old.value, new.value):
            _keep(result, stored, place, new)


def _keep(result: Any, stored: Any, place: tuple[str, str], mark: NoEntry) -> None:
    """Lets a nested object be there or not as it was before the edit."""
    places = (place, *map(place_of, mark.stashing.aliases))
    had = _presence(stored, places, mark)
    if same(had, _presence(result, places, mark)):
        return
    kept = {each: entry for each, entry in entries_of(result).items() if each not in places}
    fill(result, kept)
    if had is not ABSENT:
        _restore(result, stored, mark.holder, empty=had is True)
    assert mark.stashing.derived is not None
    if same(had, mark.stashing.derived(result)):
        return
    entry = made_entry(had, ABSENT, mark.stashing)
    fill(result, {**kept, place: entry})
    accompany(result, [entry])


def _presence(holder: Any, places: tuple[tuple[str, str], ...], mark: NoEntry) -> Any:
    """Whether a nested object of a stored one is there to the versions that share an entry."""
    entries = entries_of(holder)
    for entry in (entries[place] for place in places if place in entries):
        if current(holder, entry, mark.stashing.witness):
            raw = isinstance(entry.value, msgspec.Raw)
            return msgspec.json.decode(entry.value) if raw else entry.value
    assert mark.stashing.derived is not None
    return mark.stashing.derived(holder)


def _restore(result: Any, stored: Any, path: Path, *, empty: bool) -> None:
    """Puts an empty object, else null, where an edit has removed an object with the last that it moved into it."""
    had, around = value_at(stored, path), value_at(result, path[:-1]) if path[:-1] else result
    if not isinstance(had, GeneratedObject) or value_at(result, path) is not ABSENT:
        return
    class_: Any = type(around)
    attribute = attribute_of(around, path[-1])
    if attribute is None:
        return
    if empty:
        set_value(result, path, made_empty(type(had)))
    elif _admits_null(class_, attribute):
        set_value(result, path, None)


@once
def _admits_null(class_: Any, attribute: str) -> bool:
    """Whether an attribute of a class may be null."""
    types = {each.name: each.type for each in msgspec.structs.fields(class_)}
    return type(None) in typing.get_args(types[attribute])


def drop_removed(result: Any, before: Any, after: Any) -> None:
    """Drops what other versions have in a nested object that the writer removes, and that stays for what some have outside of it."""
    gone = [
        path
        for path in dict.fromkeys(path for path, _ in _tables(result))
        if holds_object(before, path)
        and not holds_object(after, path)
        and not _writes_free_form_object(after, path)
    ]
    if not gone:
        return
    staying = dict(result.__staying__)
    for path in gone:
        held = value_at(result, path)
        if path in staying and isinstance(held, GeneratedObject):
            set_value(result, path, _left(held, path, staying))
    if result.property_bag is not ABSENT:
        removed = {
            place for path, places in result.__entries_within__ if path in gone for place in places
        }
        entries = entries_of(result)
        if removed & entries.keys():
            fill(result, {place: each for place, each in entries.items() if place not in removed})


def _writes_free_form_object(written: Any, path: Path) -> bool:
    """Whether a writer has an object there as free-form data that the stored version cannot express. It removes nothing then."""
    for start in range(len(path)):
        around = value_at(written, path[:start]) if start else written
        if not isinstance(around, StorageObject):
            continue
        places = dict(around.__entries_as_free_form__).get(path[start:], ())
        entries = entries_of(around)
        for entry in (entries[place] for place in places if place in entries):
            if isinstance(entry.value, msgspec.Raw):
                return bytes(entry.value).startswith(b"{")
    return False


def _tables(result: Any) -> Any:
    return (*result.__entries_within__, *result.__staying__)


def _left(held: GeneratedObject, path: Path, staying: dict[Path, Path]) -> Any:
    """What stays of a nested object that is removed; absent where that is nothing."""
    left = msgspec.structs.replace(held)
    for name, attribute in attributes_of(type(held)).items():
        value = getattr(held, attribute)
        if value is ABSENT or name in staying[path]:
            continue
        inner = (*path, name)
        kept: Any = ABSENT
        if inner in staying and isinstance(value, GeneratedObject):
            kept = _left(value, inner, staying)
        setattr(left, attribute, kept)
    return ABSENT if is_empty(left) else left
