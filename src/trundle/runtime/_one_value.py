"""What a client writes takes the place of what others have of the same value, even where these cannot express it."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.runtime._bag import entries_of, fill
from trundle.runtime._entries import Entry
from trundle.runtime._json import same
from trundle.runtime._objects import ABSENT
from trundle.runtime._places import set_value, value_at

Threads: TypeAlias = tuple[tuple[tuple[str, str], ...], ...]
"""The entries that have one value in one shape each, by thread."""
Held: TypeAlias = dict[int | None, Any]
"""What an object has of one value: by number of the thread what an entry has, and by None its own property's."""


def take_place(result: Any, before: Any, after: Any) -> None:
    """Removes from a merged object what its writer's edit has replaced, and what the merge could not see.

    The writer is not shown a value that its version cannot express, and what it writes instead may be nothing that the
    version with that value can express. So the difference of the two says nothing about that value.

    Args:
        result: the stored object with the edit applied, but for its bag; it is changed.
        before: what the writer sees, in the stored shape.
        after: what it writes.
    """
    for path, threads in result.__entries_of_one_value__:
        ours, theirs = (_held(each, path, threads) for each in (before, after))
        if all(number in ours and same(each, ours[number]) for number, each in theirs.items()):
            continue
        if all(isinstance(each, dict) for each in theirs.values()):
            _remove_members(result, path, threads, (ours, theirs))
        else:
            _remove_values(result, path, threads, theirs)


def _held(value: Any, path: tuple[str, ...], threads: Threads) -> Held:
    """What an object has of one value."""
    found: Held = {}
    own = value_at(value, path)
    if own is not ABSENT:
        found[None] = own
    entries = entries_of(value)
    for number, places in enumerate(threads):
        for entry in (entries[place] for place in places if place in entries):
            if entry.value is not ABSENT:
                found[number] = entry.value
    return found


def _remove_values(result: Any, path: tuple[str, ...], threads: Threads, theirs: Held) -> None:
    """Removes a value that the stored shape has, and those of entries that nothing makes stale."""
    if None not in theirs and value_at(result, path) is not ABSENT:
        set_value(result, path, ABSENT)
    entries = entries_of(result)
    gone = {
        place
        for number, places in enumerate(threads)
        for place in places
        if number not in theirs and place in entries
        if entries[place].beside is None or entries[place].beside is ABSENT
    }
    if gone:
        fill(result, {place: each for place, each in entries.items() if place not in gone})


def _remove_members(
    result: Any, path: tuple[str, ...], threads: Threads, held: tuple[Held, Held]
) -> None:
    """Removes the members of maps that the writer says in another shape."""
    ours, theirs = held
    new = {
        key
        for number, members in theirs.items()
        for key, value in members.items()
        if not (isinstance(had := ours.get(number), dict) and key in had and same(had[key], value))
    }
    own = value_at(result, path)
    if isinstance(own, dict) and (gone := new & own.keys() - theirs.get(None, {}).keys()):
        set_value(result, path, {key: each for key, each in own.items() if key not in gone})
    entries = entries_of(result)
    changed = {}
    for number, places in enumerate(threads):
        for place in places:
            members = _members(entries.get(place))
            left: Any = {
                key: each
                for key, each in members.items()
                if key not in new or key in theirs.get(number, ())
            }
            if len(left) < len(members):
                raw = isinstance(entries[place].value, msgspec.Raw)
                value = msgspec.Raw(msgspec.json.encode(left)) if raw else left
                changed[place] = Entry(value, entries[place].beside)
    if changed:
        fill(result, {**entries, **changed})


def _members(entry: Any) -> Mapping[str, Any]:
    """The members of a map that an entry has; none where it has another value."""
    value = ABSENT if entry is None else entry.value
    if isinstance(value, msgspec.Raw) and bytes(value).startswith(b"{"):
        return msgspec.json.decode(value, type=dict[str, msgspec.Raw])
    return value if isinstance(value, dict) else {}
