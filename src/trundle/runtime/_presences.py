"""Nested objects into which rules lead: what an edit of one version removes with them, and what it leaves of them to others."""

import itertools
import typing
from collections.abc import Collection
from typing import Any, NamedTuple

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
from trundle.runtime._class_fields import fields_of
from trundle.runtime._entries import BaseEntry, Derive, Stashing, made_entry, place_of
from trundle.runtime._json import same
from trundle.runtime._marks import marks, unmarked
from trundle.runtime._matching import attributes_of
from trundle.runtime._nested import made_empty
from trundle.runtime._objects import ABSENT, GeneratedObject, Made
from trundle.runtime._places import attribute_of, holds_object, set_value, value_at
from trundle.runtime._unmarked import is_empty

Path = tuple[str, ...]


class Removed(NamedTuple):
    """The nested objects into which rules lead, and that a writer removes.

    Attributes:
        paths: those that the stored shape has, by their paths.
        entries: the entries that keep what is in these and in those that are entries themselves, in all versions that have it.
    """

    paths: Collection[Path] = ()
    entries: frozenset[tuple[str, str]] = frozenset()


NOTHING = Removed()


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
    mark = WatchedPresence(value, there=holds_object(target, holder))
    mark.stashing = Stashing(witness, derived, aliases=aliases, holder=holder)
    put_entry(target, place, mark)


def keep_presences(result: Any, stored: Any, before: Any, after: Any, gone: Removed) -> bool:
    """Keeps nested objects there, or not, to versions of which an edit says nothing, and to the writer what it says of its own.

    What moves into a stored object makes it more than other versions see of it. To these it stays what it was, where the writer
    has not made or removed it, and its own object shows them the same as before. The writer's own stays what it says although what
    it removes within was all that the stored object shows it.

    Args:
        result: the merged object.
        stored: the stored object.
        before: the object as the writer sees it.
        after: what the writer makes of that.
        gone: the nested objects that the writer removes. What is within them goes with them.

    Returns:
        Whether the merged object was changed for that.
    """
    kept = False
    ours = entries_of(before)
    for place, new in entries_of(after).items():
        old = ours.get(place)
        if old is None or not new.stashing.holder or place in gone.entries:
            continue
        if isinstance(new, NoEntry) is isinstance(old, NoEntry) and same(old.value, new.value):
            if isinstance(new, NoEntry) and old.there is not new.there:
                continue
            left = _is_left(before, after, new.stashing.holder)
            kept |= _keep(result, stored, place, new, left=left)
    return _keep_emptied(result, stored, before, after) or kept


def _keep_emptied(result: Any, stored: Any, before: Any, after: Any) -> bool:
    """Lets the writer's own objects be there that the stored object does not have, where the edit removes what the bag has in them."""
    had, kept = entries_of(stored).keys(), entries_of(result).keys()
    changed = False
    for path, places in result.__entries_within__:
        if not any(each in had and each not in kept for each in places):
            continue
        written = value_at(after, path)
        if not holds_object(before, path) or not holds_object(after, path):
            continue
        around = value_at(result, path[:-1]) if path[:-1] else result
        missing = all(value_at(each, path) is ABSENT for each in (stored, result))
        if missing and isinstance(around, GeneratedObject):
            set_value(result, path, made_empty(type(written)))
            changed = True
    return _keep_emptied_entries(result, had, before, after) or changed


def _keep_emptied_entries(
    result: Any, had: Collection[tuple[str, str]], before: Any, after: Any
) -> bool:
    """Like `_keep_emptied`, of objects that are entries themselves, and that were shown for what other entries have in them."""
    kept, ours, theirs = (entries_of(each) for each in (result, before, after))
    emptied = {
        place: made_entry(theirs[place].value, ABSENT, theirs[place].stashing)
        for place, places in result.__entries_within_entries__
        if place not in had and place not in kept
        if any(each in had and each not in kept for each in places)
        if _is_object(ours.get(place)) and _is_object(theirs.get(place))
    }
    for place, entry in emptied.items():
        put_entry(result, place, entry)
    accompany(result, emptied.values())
    return bool(emptied)


def _is_left(before: Any, after: Any, path: Path) -> bool:
    """Whether an edit leaves a nested object alone, with what the bag has in it."""
    if not same(value_at(before, path), value_at(after, path)):
        return False
    ours, theirs = entries_of(before), entries_of(after)
    within = (places for each, places in after.__entries_within__ if each == path)
    return all(ours.get(each) == theirs.get(each) for each in itertools.chain(*within))


def _keep(result: Any, stored: Any, place: tuple[str, str], said: BaseEntry, *, left: bool) -> bool:
    """Lets a nested object be there or not as it was before the edit; whether anything had to be done for that."""
    places = (place, *map(place_of, said.stashing.aliases))
    # A writer sees its own object by what is in it, whatever an entry says; where it has none, a mark leaves open what there is.
    is_open = isinstance(said, NoEntry) and said.value is not True
    shown = _presence(stored, places, said)
    had = said.value if said.stashing.own and not is_open else shown
    now = _presence(result, places, said)
    if same(had, now) or (left and same(shown, now)):
        return False
    kept = {each: entry for each, entry in entries_of(result).items() if each not in places}
    fill(result, kept)
    if had is not ABSENT:
        _restore(result, stored, said.stashing.holder, empty=had is True)
    assert said.stashing.derived is not None
    if not same(had, said.stashing.derived(result)):
        entry = made_entry(had, ABSENT, said.stashing)
        fill(result, {**kept, place: entry})
        accompany(result, [entry])
    return True


def _presence(holder: Any, places: tuple[tuple[str, str], ...], said: BaseEntry) -> Any:
    """Whether a nested object of a stored one is there to the versions that share an entry."""
    entries = entries_of(holder)
    for entry in (entries[place] for place in places if place in entries):
        if current(holder, entry, said.stashing.witness):
            raw = isinstance(entry.value, msgspec.Raw)
            return msgspec.json.decode(entry.value) if raw else entry.value
    assert said.stashing.derived is not None
    return said.stashing.derived(holder)


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
    types = {each.name: each.type for each in fields_of(class_)}
    return type(None) in typing.get_args(types[attribute])


def removed_by(stored: Any, before: Any, after: Any) -> Removed:
    """The nested objects into which rules lead, and that a writer removes.

    Args:
        stored: the stored object.
        before: the object as the writer sees it.
        after: what the writer makes of that; a merge takes out of it what is there only for this.
    """
    paths = [
        path
        for path in dict.fromkeys(path for path, _ in _tables(stored))
        if holds_object(before, path)
        and not holds_object(after, path)
        and not _writes_free_form_object(after, path)
    ]
    ours, theirs = entries_of(before), entries_of(after)
    kept = [
        place
        for place, _ in stored.__entries_within_entries__
        if _is_object(ours.get(place)) and not _is_object(theirs.get(place))
    ]
    rows = [each for path, each in stored.__entries_within__ if path in paths]
    rows += [each for place, each in stored.__entries_within_entries__ if place in kept]
    return Removed(paths, frozenset(itertools.chain.from_iterable(rows)))


def _is_object(entry: BaseEntry | None) -> bool:
    """Whether an entry is there, and has a nested object."""
    return entry is not None and isinstance(entry.value, GeneratedObject)


def drop_removed(result: Any, stored: Any, before: Any, after: Any, gone: Removed) -> None:
    """Drops what other versions have in nested objects that the writer removes, but for what some have outside of them.

    Args:
        result: the merged object.
        stored: the stored object.
        before: the object as the writer sees it.
        after: what the writer makes of that; it may have beside these objects what is in them for others.
        gone: these objects.
    """
    outside = dict(result.__outside__)
    for path in gone.paths:
        stays = outside.get(path, ())
        held = value_at(result, path)
        if path in outside and isinstance(held, GeneratedObject):
            set_value(result, path, _left(held, stays))
        if any(path[:end] in gone.paths for end in range(1, len(path))):
            continue
        for each in ((*path, *inner) for inner in stays):
            if value_at(result, each) is ABSENT:
                _put_back(
                    result, stored, each, _unseen(value_at(stored, each), value_at(before, each))
                )
    if gone.entries and result.property_bag is not ABSENT:
        entries = entries_of(result)
        dropped = gone.entries & entries.keys()
        if dropped:
            written = entries_of(after)
            kept = {
                place: each
                for place, each in entries.items()
                if place not in dropped or not isinstance(written.get(place), NoEntry | None)
            }
            fill(result, kept)


def _put_back(result: Any, stored: Any, path: Path, value: Any) -> None:
    """Puts a value to the path where it is stored, and objects around it; not where the writer has null around it."""
    for end in range(1, len(path)):
        around = value_at(result, path[:end])
        if around is ABSENT and value is not ABSENT:
            set_value(result, path[:end], made_empty(type(value_at(stored, path[:end]))))
        elif not isinstance(around, GeneratedObject):
            return
    set_value(result, path, value)


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
    return (*result.__entries_within__, *result.__outside__)


def _unseen(held: Any, seen: Any) -> Any:
    """What a nested object has that its writer does not see; a null may be what the writer's version shows as nothing.

    An object that the writer has itself goes with what is hidden in it.
    """
    if not isinstance(held, GeneratedObject) or type(held) is not type(seen):
        return held if seen is ABSENT and held is not None else ABSENT
    if type(seen.unknown) is not Made:
        return ABSENT
    left = msgspec.structs.replace(held)
    for attribute in attributes_of(type(held)).values():
        setattr(left, attribute, _unseen(getattr(held, attribute), getattr(seen, attribute)))
    left.unknown = ABSENT
    if isinstance(left, StorageObject):
        left.property_bag = ABSENT
    return ABSENT if is_empty(left) else left


def _left(held: GeneratedObject, paths: Collection[Path]) -> Any:
    """What stays of a nested object that is removed: what is at some paths; absent where that is nothing."""
    left = msgspec.structs.replace(held)
    for name, attribute in attributes_of(type(held)).items():
        value = getattr(held, attribute)
        inner = [path[1:] for path in paths if path[0] == name]
        if value is ABSENT or () in inner:
            continue
        deeper = inner and isinstance(value, GeneratedObject)
        setattr(left, attribute, _left(value, inner) if deeper else ABSENT)
    return ABSENT if is_empty(left) else left
