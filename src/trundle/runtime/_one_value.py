"""What a client writes takes the place of what others have of the same value, even where these cannot express it."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.runtime._bag import entries_of, fill
from trundle.runtime._entries import Entry
from trundle.runtime._json import same
from trundle.runtime._matching import attributes_of
from trundle.runtime._objects import ABSENT, GeneratedObject

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
    own = _property(value, path)
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
    if None not in theirs and _property(result, path) is not ABSENT:
        _set_property(result, path, ABSENT)
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
    own = _property(result, path)
    if isinstance(own, dict) and (gone := new & own.keys() - theirs.get(None, {}).keys()):
        _set_property(result, path, {key: each for key, each in own.items() if key not in gone})
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


def _property(value: Any, path: tuple[str, ...]) -> Any:
    """A property of an object or of one inside of it; absent where there is none."""
    for name in path:
        attribute = _attribute(value, name)
        value = ABSENT if attribute is None else getattr(value, attribute)
    return value if path else ABSENT


def _set_property(result: Any, path: tuple[str, ...], value: Any) -> None:
    """Sets a property that is there, on copies of the objects that hold it."""
    attribute = _attribute(result, path[0])
    assert attribute is not None
    if len(path) > 1:
        inner = msgspec.structs.replace(getattr(result, attribute))
        _set_property(inner, path[1:], value)
        value = inner
    setattr(result, attribute, value)


def _attribute(value: Any, name: str) -> str | None:
    if not isinstance(value, GeneratedObject):
        return None
    return attributes_of(type(value)).get(name)
