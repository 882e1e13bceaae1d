"""Writing one version's edit over a stored object, without touching what that version cannot see.

Three storage objects take part: what is **stored**, what it was **before** the edit as the writer sees it,
and what it is **after**. Whatever differs between before and after is the edit; all else stays as stored.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, TypeAlias

import msgspec

from trundle.runtime._bag import (
    NoEntry,
    accompany,
    current,
    digest,
    entries_of,
    entry_value,
    fill,
    tidy,
)
from trundle.runtime._bases import StorageObject
from trundle.runtime._documents import OTHERS
from trundle.runtime._entries import Aliases, BagEntry, Entry, Stashing, place_of
from trundle.runtime._entry_values import as_json, read_like
from trundle.runtime._free_form import merge_free_form
from trundle.runtime._json import encode, same
from trundle.runtime._matching import attributes_of, keys_of, match, match_first, removed_keys
from trundle.runtime._nested import made_empty
from trundle.runtime._objects import ABSENT, GeneratedObject, Hollow, Made
from trundle.runtime._one_value import take_place
from trundle.runtime._placed import places_in
from trundle.runtime._unmarked import is_empty, without_hollow
from trundle.runtime._values import Wrapped, has_text

Place: TypeAlias = tuple[str, str]
"""A property, and the version whose shape it has."""


def merge(stored: Any, before: Any, after: Any) -> Any:
    """The stored value with the difference between two others applied to it."""
    if before == after and same(before, after):  # 1 and 1.0 are equal, too
        return stored
    return _merge_different(stored, before, after)


def _merge_different(stored: Any, before: Any, after: Any) -> Any:
    """Like `merge`, of values that are known to differ: comparing them costs most of what merging does."""
    if isinstance(stored, GeneratedObject) and (after is ABSENT or before is ABSENT):
        known = after if before is ABSENT else before
        if isinstance(known, GeneratedObject) and type(known.unknown) is Made:
            return _merge_made(stored, before, after)
    if isinstance(after, GeneratedObject):
        if before is ABSENT:  # the writer made one, and is not shown that there is one already
            if _is_another_variant(stored, after):
                return without_hollow(after)
            before = made_empty(type(after))
        if type(after) is type(stored) is type(before):
            return merge_objects(stored, before, after)
        return without_hollow(after)
    if isinstance(after, list) and isinstance(before, list) and isinstance(stored, list):
        return merge_lists(stored, before, after, ())
    if isinstance(after, dict) and isinstance(before, dict) and isinstance(stored, dict):
        return _merge_maps(stored, before, after)
    if isinstance(after, msgspec.Raw):
        return _merge_free_form(stored, before, after)
    return without_hollow(after)


def _is_another_variant(stored: Any, after: Any) -> bool:
    """Whether a stored object is of another variant than the one that takes its place, though both have one class."""
    if type(stored) is not type(after) or not isinstance(stored, StorageObject):
        return False
    pairs = (
        (getattr(each, name) for each in (stored, after)) for name in stored.__discriminators__
    )
    return any(isinstance(theirs, str) and not has_text(ours, theirs) for ours, theirs in pairs)


def _merge_made(stored: Any, before: Any, after: Any) -> Any:
    """Like `merge`, of an object that the writer does not have: only what is in it may differ.

    One that the edit empties goes, because it is there for what is in it. One that was empty before stays: its own side
    has written it so.
    """
    ours, theirs = (_empty(type(stored)) if each is ABSENT else each for each in (before, after))
    if type(ours) is not type(stored) or type(theirs) is not type(stored):
        return without_hollow(after)
    merged = merge_objects(stored, ours, theirs)
    emptied = after is ABSENT and is_empty(merged) and not is_empty(stored)
    return ABSENT if emptied else merged


def _empty(class_: type[Any]) -> Any:
    empty = made_empty(class_)
    empty.unknown = Made()
    return empty


def merge_objects(stored: Any, before: Any, after: Any) -> Any:
    """Like `merge`, of three objects of one class; the stored one itself where there is no difference."""
    different = _different(before, after)
    same_bags = not isinstance(stored, StorageObject) or _same_bags(
        before.property_bag, after.property_bag
    )
    if same_bags and not different:
        return stored
    result = msgspec.structs.replace(stored)
    for name in different:
        merge_attribute(result, name, getattr(before, name), getattr(after, name))
    if isinstance(stored, StorageObject):
        if stored.__entries_within__ and stored.property_bag is not ABSENT:
            _drop_removed(result, before, after)
        take_place(result, before, after)
        if not same_bags:
            _merge_bags(result, stored, before, after)
        else:
            tidy(result)
    return without_hollow(result) if isinstance(result.unknown, Hollow) else result


def _drop_removed(result: Any, before: Any, after: Any) -> None:
    """Drops the entries of what other versions have in a nested object that the writer removes."""
    gone = {
        place
        for path, places in result.__entries_within__
        if _holds_object(before, path) and not _holds_object(after, path)
        for place in places
    }
    if gone:
        kept = {place: each for place, each in entries_of(result).items() if place not in gone}
        fill(result, kept)


def _holds_object(value: Any, path: tuple[str, ...]) -> bool:
    """Whether an object has a nested one that its writer has, too."""
    for name in path:
        if not isinstance(value, GeneratedObject):
            return False
        value = getattr(value, attributes_of(type(value))[name])
    return isinstance(value, GeneratedObject) and type(value.unknown) is not Made


def merge_attribute(result: Any, name: str, before: Any, after: Any) -> None:
    """Applies the difference between two values of an attribute to the stored value that an object has."""
    kept = getattr(result, name)
    keys = result.__list_keys__.get(name, ())
    if keys and all(isinstance(each, list) for each in (before, after, kept)):
        setattr(result, name, merge_lists(kept, before, after, keys))
    elif name in OTHERS:
        # There is no map that a writer could make or remove: it adds and removes the members that it sees.
        mine, ours, theirs = (each or {} for each in (kept, before, after))
        empty = after if isinstance(after, Hollow) else ABSENT
        setattr(result, name, _merge_maps(mine, ours, theirs) or empty)
    else:
        setattr(result, name, _merge_different(kept, before, after))


def _different(one: Any, other: Any) -> list[str]:
    """The attributes but the bag that differ between two objects of one class.

    What Python takes for equal may still be spelt differently, as 1 and 1.0 are; that is seldom so, and found
    out at once.
    """
    ours, theirs, found = [], [], []
    members = zip(
        one.__struct_fields__,
        msgspec.structs.astuple(one),
        msgspec.structs.astuple(other),
        strict=True,
    )
    equal = []
    for name, before, after in members:
        if before is after or name == "property_bag":
            continue
        if before != after:
            found.append(name)
        elif type(before) is not str or type(after) is not str:
            equal.append(name)
            ours.append(before)
            theirs.append(after)
    if equal and encode(ours) != encode(theirs):
        found.extend(
            name
            for name, before, after in zip(equal, ours, theirs, strict=True)
            if not same(before, after)
        )
    return found


def _merge_free_form(stored: Any, before: Any, after: msgspec.Raw) -> msgspec.Raw:
    return merge_free_form(
        stored, before, after, lambda mine, ours, theirs: merge_lists(mine, ours, theirs, ())
    )


def _merge_maps(stored: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Any:
    """Merges member by member; those that the writer cannot see stay, behind the others."""
    merged = {
        key: merge(stored[key], before[key], value) if key in stored and key in before else value
        for key, value in after.items()
    }
    hidden = stored.keys() - before.keys() - merged.keys()
    return {**merged, **{key: value for key, value in stored.items() if key in hidden}}


def _merge_bags(result: Any, stored: Any, before: Any, after: Any) -> None:
    """Takes the entries that the edit changed, and makes each accompany the merged object."""
    ours, theirs = entries_of(before), entries_of(after)
    merged = entries_of(result)
    made: list[Entry] = []
    changed: list[tuple[Place, Any, Any, NoEntry]] = []
    unsaid: list[tuple[Place, NoEntry]] = []
    for place, either in {**ours, **theirs}.items():
        old, new = ours.get(place), theirs.get(place)
        if isinstance(new, NoEntry) and isinstance(old, NoEntry) and same(old.value, new.value):
            unsaid.append((place, new))
            continue
        if old is not None and new is not None and _same_entry(old, new):
            continue
        known = _taken(stored, merged, place, either.stashing.aliases)
        if isinstance(new, NoEntry):
            changed.append((place, known, old, new))
        elif new is not None:
            entry = _merged_entry(stored, known, old, new, declared_keys(stored, place[0]))
            if entry.value is not ABSENT or new.value is ABSENT:
                merged[place] = entry
                made.append(entry)
    fill(result, merged)
    if changed:
        accompany(result, made)
        _add_needed(result, stored, merged, changed, made)
    for place, mark in unsaid:
        _drop_revived(result, stored, merged, place, mark)
    fill(result, merged)
    accompany(result, made)
    lost = [each for each in unsaid if _is_lost(result, stored, *each)]
    for place, mark in lost:
        _taken(stored, merged, place, mark.stashing.aliases)
        merged[place] = _merged_entry(stored, None, None, mark, ())
        made.append(merged[place])
    if lost:
        fill(result, merged)
        accompany(result, made)


def _is_lost(result: Any, stored: Any, place: Place, mark: NoEntry) -> bool:
    """Whether a stored object had by itself what a writer left as it was, and the merged one has not.

    Both are right by themselves, as what is seen and what is written are; what the writer cannot see makes the difference.
    That may be null where the writer's version admits none; the mark then has it, too.
    """
    if mark.stashing.derived is None:
        return False
    had = mark.stashing.derived(stored)
    if not same(had, mark.value) and not (had is None and mark.value is ABSENT):
        return False
    places = (place, *map(place_of, mark.stashing.aliases))
    entries = (entries_of(result).get(each) for each in places)
    if any(each is not None and current(result, each, mark.stashing.witness) for each in entries):
        return False
    mark.value = had
    return _is_needed(result, mark)


def _add_needed(
    result: Any,
    stored: Any,
    merged: dict[Place, Any],
    changed: list[tuple[Place, Any, Any, NoEntry]],
    made: list[Entry],
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
            mark.value = _merged_part(had, old.value, mark.value, declared_keys(stored, place[0]))
        waiting.append((place, mark))
    while waiting:
        needed = next((each for each in waiting if _is_needed(result, each[1])), None)
        if needed is None:
            return
        waiting.remove(needed)
        place, mark = needed
        merged[place] = _merged_entry(stored, None, None, mark, ())
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


def _same_bags(one: Any, other: Any) -> bool:
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


def _merged_entry(stored: Any, known: Any, old: Any, new: Any, keys: tuple[str, ...]) -> Entry:
    value = new.value
    witness = new.stashing.witness
    derive = None if old is None else old.stashing.derived
    if known is not None and old is not None and current(stored, known, witness):
        value = _merged_value(known.value, old.value, new.value, keys)
    elif derive is not None:  # the writer saw a part of what the object derived without an entry
        value = _merged_part(derive(stored), old.value, new.value, keys)
    merged = Entry(without_hollow(value), new.beside)
    merged.stashing = Stashing(witness, aliases=new.stashing.aliases)
    return merged


def _merged_value(known: Any, old: Any, new: Any, keys: tuple[str, ...]) -> Any:
    """An entry's value with an edit applied, where the entry itself holds an object."""
    if isinstance(new, msgspec.Raw):
        return _merge_free_form(known, old, new)
    if not isinstance(new, GeneratedObject | list | dict):
        return new
    if not isinstance(known, msgspec.Raw):
        return _merge_keyed(known, old, new, keys)
    known = read_like(known, old, new)
    return new if known is None else as_json(_merge_keyed(known, old, new, keys))


def _merge_keyed(stored: Any, before: Any, after: Any, keys: tuple[str, ...]) -> Any:
    """Like `merge`, of lists by the declared keys of their elements, if they have some."""
    if keys and all(isinstance(each, list) for each in (stored, before, after)):
        return merge_lists(stored, before, after, keys)
    return merge(stored, before, after)


def _merged_part(had: Any, old: Any, new: Any, keys: tuple[str, ...]) -> Any:
    """An object, list or map of which a writer may see but a part, with an edit applied."""
    if isinstance(new, msgspec.Raw):
        return _merge_free_form(had, old, new)
    if isinstance(had, msgspec.Raw):
        had = read_like(had, old, new)
    one, two, three = map(_kind, (had, old, new))
    if one is two is three and issubclass(one, GeneratedObject | list | dict):
        return as_json(_merge_keyed(had, old, new, keys))
    return new


def _kind(value: Any) -> type[Any]:
    """The class of a value; that of a list that knows more than its elements is `list`."""
    return list if isinstance(value, list) else type(value)


def merge_lists(
    stored: list[Any], before: list[Any], after: list[Any], keys: tuple[str, ...]
) -> list[Any]:
    """Merges element by element; elements that the writer cannot see stay behind their neighbours."""
    wrapped = isinstance(before, Wrapped) and isinstance(after, Wrapped)
    seen: list[int | None]
    if wrapped or len(stored) == len(before):
        both = min(len(stored), len(before))
        seen = [*range(both), *[None] * (len(before) - both)]
    else:
        seen = [
            *(
                places_in(stored, before)
                or _by_class(before, stored)
                or match_first(before, stored, keys)
                or match(before, stored, keys)
            )
        ]
    matched = [0] if wrapped else match(after, before, keys)
    if len(stored) == len(before) and None not in matched:
        return [
            merge(stored[place], before[place], value)
            for value, place in zip(after, matched, strict=True)
            if place is not None
        ]
    visible = {place for place in seen if place is not None}
    gone = removed_keys(before, after, keys)
    hidden = [place for place in range(len(stored)) if place not in visible]
    if gone:  # a map has but one element of a key; with it, those that repeat the key go
        known = keys_of(stored, keys)
        hidden = [place for place in hidden if known[place] not in gone]
    merged: list[tuple[Any, int | None]] = []
    for value, old in zip(after, matched, strict=True):
        kept = None if old is None else seen[old]
        if old is None or kept is None:
            merged.append((value, None))
        else:
            merged.append((merge(stored[kept], before[old], value), kept))
    return beside_hidden(merged, stored, hidden, visible)


def beside_hidden(
    values: Iterable[tuple[Any, int | None]],
    stored: list[Any],
    hidden: Iterable[int],
    visible: Collection[int],
) -> list[Any]:
    """Elements together with those of a stored list that their writer cannot see.

    Args:
        values: each element, with its place in the stored list, or None for a new one.
        stored: the stored list.
        hidden: the places of those that stay, in order; each stays behind its neighbour.
        visible: the places of what the writer sees.
    """
    following: dict[int, list[Any]] = {}
    for place in hidden:
        following.setdefault(_predecessor(place, visible), []).append(stored[place])
    result = following.pop(-1, [])
    for value, kept in values:
        result.append(value)
        if kept is not None:
            result.extend(following.pop(kept, []))
    for _, each in sorted(following.items()):
        result.extend(each)
    return result


def _by_class(before: list[Any], stored: list[Any]) -> list[int | None] | None:
    """Where what a writer sees stands among all elements, if it sees all objects of some classes."""
    if not all(isinstance(item, GeneratedObject) for item in before):
        return None
    seen = Counter(map(type, before))
    every = Counter(map(type, stored))
    places = [place for place, item in enumerate(stored) if every[type(item)] == seen[type(item)]]
    same_order = [type(stored[place]) for place in places] == [type(item) for item in before]
    return [*places] if same_order else None


def _predecessor(place: int, visible: Collection[int]) -> int:
    return next((each for each in range(place - 1, -1, -1) if each in visible), -1)
