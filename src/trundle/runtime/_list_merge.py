"""Writing an edit of a list over a stored list: which elements are the same, and where those stand that the writer cannot see."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, TypeAlias

from trundle.runtime._matching import attributes_of, keys_of, match, match_first, removed_keys
from trundle.runtime._nested import made_empty
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._placed import places_in
from trundle.runtime._values import Wrapped

Merge: TypeAlias = Callable[[Any, Any, Any], Any]
"""Gives a stored value with the difference between two others applied to it."""


def merge_lists(
    stored: list[Any],
    before: list[Any],
    after: list[Any],
    keys: tuple[str, ...],
    merge: Merge,
) -> list[Any]:
    """Merges element by element; elements that the writer cannot see stay behind their neighbours.

    Args:
        stored: the stored list.
        before: what the writer sees of it.
        after: what the writer makes of that.
        keys: the declared keys of the elements; empty for none.
        merge: merges an element.
    """
    wrapped = isinstance(before, Wrapped) and isinstance(after, Wrapped)
    seen: list[int | None]
    if wrapped:
        seen = [_first_like(each, stored) for each in before]
    elif len(stored) == len(before):
        seen = [*range(len(stored))]
    else:
        seen = [
            *(
                places_in(stored, before)
                or _by_class(before, stored)
                or match_first(before, stored, keys)
                or match(before, stored, keys)
            )
        ]
    matched = [0 if before else None for _ in after] if wrapped else match(after, before, keys)
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
    same_key = _first_of_keys(stored, hidden, keys)
    ours = keys_of(after, keys) if same_key else [None] * len(after)
    merged: list[tuple[Any, int | None]] = []
    for value, old, key in zip(after, matched, ours, strict=True):
        kept = None if old is None else seen[old]
        if old is not None and kept is not None:
            merged.append((merge(stored[kept], before[old], value), kept))
        elif key is not None and key in same_key:
            kept = same_key.pop(key)
            hidden.remove(kept)
            visible.add(kept)
            merged.append((_in_place_of(stored[kept], value, keys, merge), kept))
        else:
            merged.append((value, None))
    return beside_hidden(merged, stored, hidden, visible)


def _first_of_keys(
    stored: list[Any], hidden: Iterable[int], keys: tuple[str, ...]
) -> dict[Hashable, int]:
    """Where the first of the elements that a writer cannot see stands, by its declared key."""
    known = keys_of(stored, keys) if keys else ()
    found: dict[Hashable, int] = {}
    for place in hidden if keys else ():
        if known[place] is not None:
            found.setdefault(known[place], place)
    return found


def _in_place_of(kept: Any, value: Any, keys: tuple[str, ...], merge: Merge) -> Any:
    """A new element in place of one with its key that its writer cannot see, as a list has a key once.

    What the other one has stays where the new one says nothing else, as what an element has beside what is a map for its writer;
    where both say something, the other one gives way.
    """
    if type(kept) is not type(value) or not isinstance(value, GeneratedObject):
        return value
    empty = made_empty(type(value))
    for name in map(attributes_of(type(value)).get, keys):
        if name is not None:
            setattr(empty, name, getattr(value, name))
    said = (
        getattr(kept, name)
        for name in value.__struct_fields__
        if name != "property_bag" and getattr(empty, name) != getattr(value, name)
    )
    return merge(kept, empty, value) if all(each is ABSENT for each in said) else value


def add_to_unseen(stored: list[Any], added: list[Any], keys: tuple[str, ...]) -> list[Any]:
    """A new list before the elements of a stored one of which its writer sees nothing: not even that there is one.

    New elements come first, where what its version makes of a list reads them. Those that have the declared key of a new element
    give way to it.
    """
    given = {*keys_of(added, keys)} - {None} if keys else set()
    known = keys_of(stored, keys) if given else [None] * len(stored)
    hidden = [each for each, key in zip(stored, known, strict=True) if key not in given]
    return [*added, *hidden]


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


def _first_like(single: Any, stored: list[Any]) -> int | None:
    """Where the element stands of which a writer has the single value: the first one that may be it; None where there is none.

    The version with the list of which it is the first may lack those before it, such as null or other variants.
    """
    kinds = map(type, stored)
    return next((place for place, kind in enumerate(kinds) if kind is type(single)), None)


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
