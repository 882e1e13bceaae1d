"""Writing an edit over the bag of a stored object: which entries the edit changes, needs, or makes stale."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle.runtime._bag import (
    NoEntry,
    WatchedPresence,
    accompany,
    current,
    digest,
    entries_of,
    entry_value,
    fill,
)
from trundle.runtime._bases import StorageObject
from trundle.runtime._entries import (
    Aliases,
    BagEntry,
    Derive,
    Entry,
    MadeEntry,
    Stashing,
    made_entry,
    place_of,
)
from trundle.runtime._entry_values import as_json, read_like
from trundle.runtime._json import same
from trundle.runtime._matching import attributes_of
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._unmarked import without_hollow

Place: TypeAlias = tuple[str, str]
"""A property, and the version whose shape it has."""


class Merges(NamedTuple):
    """How the values of entries are merged, each of what is stored, what it was before and what it is after.

    Attributes:
        keyed: merges any values; lists by declared keys of their elements, which are given last.
        free_form: merges free-form data.
    """

    keyed: Callable[[Any, Any, Any, tuple[str, ...]], Any]
    free_form: Callable[[Any, Any, msgspec.Raw], msgspec.Raw]


def merge_bags(
    result: Any, stored: Any, before: Any, after: Any, merges: Merges
) -> list[MadeEntry]:
    """Takes the entries that the edit changed, and makes each accompany the merged object; gives them.

    Args:
        result: the merged object, whose bag is that of the stored one so far.
        stored: the stored object.
        before: the object as the writer sees it.
        after: what the writer makes of that.
        merges: merges the values of entries.
    """
    ours, theirs = entries_of(before), entries_of(after)
    merged = entries_of(result)
    made: list[MadeEntry] = []
    changed: list[tuple[Place, Any, Any, NoEntry]] = []
    unsaid: list[tuple[Place, NoEntry]] = []
    presences: list[tuple[Place, NoEntry]] = []
    for place, either in {**ours, **theirs}.items():
        old, new = ours.get(place), theirs.get(place)
        if isinstance(either, WatchedPresence):
            if old is not None and new is not None and not same(old.value, new.value):
                _taken(stored, merged, place, either.stashing.aliases)
            presences.append((place, either))
            continue
        if isinstance(new, NoEntry) and isinstance(old, NoEntry) and _says_the_same(old, new):
            (presences if new.stashing.holder else unsaid).append((place, new))
            continue
        left = old is not None and new is not None and _same_entry(old, new)
        if left and not _is_renewed(stored, place, ours, theirs):
            continue
        known = _taken(stored, merged, place, either.stashing.aliases)
        if isinstance(new, NoEntry):
            changed.append((place, known, old, new))
        elif new is not None:
            entry = _merged_entry(stored, known, old, new, declared_keys(stored, place[0]), merges)
            if entry.value is not ABSENT or new.value is ABSENT:
                merged[place] = entry
                made.append(entry)
    fill(result, merged)
    if changed:
        accompany(result, made)
        _add_needed(result, stored, merged, changed, made, merges)
    for place, mark in (*unsaid, *presences):
        _drop_revived(result, stored, merged, place, mark)
    fill(result, merged)
    accompany(result, made)
    return made


def renew_left(result: Any, stored: Any, before: Any, after: Any) -> None:
    """Lets entries that a writer leaves as they were accompany what they do from now on, where its edit changed that.

    A writer may remove an object in which others have what it has beside it itself: as an entry, or as what a hook makes of it.
    """
    ours = entries_of(before)
    renewed: list[MadeEntry] = []
    for place, new in entries_of(after).items():
        old, witness = ours.get(place), new.stashing.witness
        if witness is None or old is None or not _same_entry(old, new):
            continue
        places = (place, *map(place_of, new.stashing.aliases))
        if _current_in(result, places, witness) is not None:
            continue
        known = _current_in(stored, places, witness)
        if known is not None:
            value = entries_of(stored)[known].value
        elif witness(stored) != witness(result):  # It was made of what is removed.
            known, value = place, new.value
        else:
            continue
        if value is ABSENT:
            continue
        kept = {each: entry for each, entry in entries_of(result).items() if each not in places}
        renewed.append(_made(new, value))
        fill(result, {**kept, known: renewed[-1]})
    accompany(result, renewed)


def _current_in(holder: Any, places: Iterable[Place], witness: Derive) -> Place | None:
    """The first place of some at which an object has a current entry."""
    entries = entries_of(holder)
    return next(
        (each for each in places if each in entries and current(holder, entries[each], witness)),
        None,
    )


def _is_renewed(
    stored: Any, place: Place, ours: Mapping[Place, Any], theirs: Mapping[Place, Any]
) -> bool:
    """Whether a writer leaves what a hook made for it, of a stale entry, and changes another entry of a hook.

    What is within a value that the hook makes may follow from that one (`refill_by_hook`); the writer's own does not, from now on. Any
    other edit says nothing of the value, which may be one that the writer's version shows because it requires it.
    """
    new = theirs[place]
    if not new.stashing.hooked or not isinstance(new.value, _WITH_PARTS):
        return False
    known = entries_of(stored)
    places = (place, *map(place_of, new.stashing.aliases))
    stale = any(
        each in known and not current(stored, known[each], new.stashing.witness) for each in places
    )
    return stale and any(
        each.stashing.hooked and not _is_left(ours.get(other), theirs.get(other))
        for other, each in {**ours, **theirs}.items()
    )


_WITH_PARTS = (GeneratedObject, list, dict, msgspec.Raw)


def _is_left(old: Any, new: Any) -> bool:
    """Whether a writer leaves an entry, or what it leaves unsaid, as it was."""
    if isinstance(old, NoEntry) and isinstance(new, NoEntry):
        return _says_the_same(old, new)
    return old is not None and new is not None and _same_entry(old, new)


def _says_the_same(old: NoEntry, new: NoEntry) -> bool:
    """Whether a writer leaves the same unsaid before and after an edit; of an object that it makes or removes it says so."""
    return same(old.value, new.value) and old.there is new.there


def _add_needed(
    result: Any,
    stored: Any,
    merged: dict[Place, Any],
    changed: list[tuple[Place, Any, Any, NoEntry]],
    made: list[MadeEntry],
    merges: Merges,
) -> None:
    """Makes the entries that a writer needs none for by itself, where the merged object would derive another value.

    What it derives for one may come from an entry that another needs, so all are asked again for each that is made.
    """
    waiting: list[tuple[Place, NoEntry]] = []
    for place, known, old, mark in changed:
        derived = mark.stashing.derived
        if derived is not None and old is not None:  # the writer sees but a part of what was had
            kept = known is not None and current(stored, known, mark.stashing.witness)
            had = known.value if kept else derived(stored)
            keys = declared_keys(stored, place[0])
            mark.value = _merged_value(had, old.value, mark.value, keys, merges)
        waiting.append((place, mark))
    while waiting:
        needed = next((each for each in waiting if _is_needed(result, each[1])), None)
        if needed is None:
            return
        waiting.remove(needed)
        place, mark = needed
        merged[place] = _made(mark, mark.value)
        made.append(merged[place])
        fill(result, merged)
        accompany(result, made)


def _is_needed(result: Any, mark: NoEntry) -> bool:
    """Whether a merged object would derive another value than a writer has."""
    derived = mark.stashing.derived
    return (
        _derived_by_hook(result, mark) if derived is None else not same(derived(result), mark.value)
    )


def _taken(stored: Any, merged: dict[Place, Any], place: Place, aliases: Aliases) -> Any:
    """What is stored of an entry, in the shape that it has at a place; it is taken from there and from all others."""
    known = merged.pop(place, None)
    for alias in aliases:
        other = merged.pop(place_of(alias), None)
        if known is None and other is not None:
            known = other
            if isinstance(alias, BagEntry) and alias.convert is not None:
                value = entry_value(stored, alias, other)
                known = Entry(value if value is ABSENT else alias.convert(value), other.beside)
    return known


def _derived_by_hook(result: Any, mark: NoEntry) -> bool:
    """Whether a hook would derive a value from the merged object where a writer wants none."""
    witness = mark.stashing.witness
    derives = witness is not None and digest(witness(result)) is not None
    return derives and mark.stashing.hooked


def _drop_revived(
    result: Any, stored: Any, merged: dict[Place, Any], place: Place, mark: NoEntry
) -> None:
    """Drops stale entries that the edit would make current, though their own side says otherwise."""
    witness = mark.stashing.witness
    for known in (place, *map(place_of, mark.stashing.aliases)):
        entry = merged.get(known)
        if (
            entry is not None
            and current(result, entry, witness)
            and not current(stored, entry, witness)
        ):
            del merged[known]


def same_bags(one: Any, other: Any) -> bool:
    """Whether two bags have the same entries, and no mark of what a writer left unsaid."""
    if one is ABSENT or other is ABSENT:
        return one is other
    if one.keys() != other.keys():
        return False
    for name, entries in one.items():
        others = other[name]
        if entries.keys() != others.keys():
            return False
        for version, entry in entries.items():
            if not _same_entry(entry, others[version]):
                return False
    return True


def _same_entry(one: Any, other: Any) -> bool:
    if isinstance(one, NoEntry) or isinstance(other, NoEntry):
        return False
    return same(one.value, other.value) and one.beside == other.beside


def declared_keys(stored: StorageObject, name: str) -> tuple[str, ...]:
    """The declared keys of elements that an entry has of a property, where the stored object has a list of that name."""
    class_ = type(stored)
    return class_.__list_keys__.get(attributes_of(class_).get(name, ""), ())


def _merged_entry(
    stored: Any, known: Any, old: Any, new: Any, keys: tuple[str, ...], merges: Merges
) -> MadeEntry:
    value = new.value
    witness = new.stashing.witness
    derive = None if old is None else old.stashing.derived
    if known is not None and old is not None and current(stored, known, witness):
        value = _merged_value(known.value, old.value, new.value, keys, merges)
    elif derive is not None:  # the writer saw a part of what the object derived without an entry
        value = _merged_value(derive(stored), old.value, new.value, keys, merges)
    return _made(new, value)


def _made(new: Any, value: Any) -> MadeEntry:
    """An entry for what a writer has, with a value."""
    noted = Stashing(new.stashing.witness, aliases=new.stashing.aliases)
    return made_entry(without_hollow(value), new.beside, noted)


def _merged_value(had: Any, old: Any, new: Any, keys: tuple[str, ...], merges: Merges) -> Any:
    """An object, list or map of which a writer may see but a part, with an edit applied."""
    if isinstance(new, msgspec.Raw):
        return merges.free_form(had, old, new)
    if not isinstance(new, GeneratedObject | list | dict):
        return new
    if isinstance(had, msgspec.Raw):
        had = read_like(had, old, new)
    return new if had is None else as_json(merges.keyed(had, old, new, keys))
