"""Maps that are lists of elements with a key in another version."""

from collections.abc import Callable
from typing import Any

import msgspec

from trundle.runtime._bag import MISSING, unstash
from trundle.runtime._bases import StorageObject
from trundle.runtime._entries import BagEntry
from trundle.runtime._merge import merge
from trundle.runtime._objects import ABSENT, all_missing


def to_list(members: dict[str, Any], class_: type[Any], key: str, value: str = "") -> list[Any]:
    """The members of a map as elements of a list, in their order.

    Args:
        members: the map.
        class_: the class of the elements.
        key: the attribute that gets a member's key.
        value: the attribute that gets the member; where it is empty, the member itself is the element.
    """
    if not value:
        replace = msgspec.structs.replace
        return [
            replace(member, **{key: name}) for name, member in members.items() if member is not None
        ]
    return [
        class_(**{**all_missing(class_), key: name, value: member})
        for name, member in members.items()
    ]


def to_map(items: list[Any], key: str, value: str = "") -> dict[str, Any]:
    """The elements of a list as members of a map, in their order; the inverse of `to_list`.

    An element without a key or value has no place there, and of several with one key only the first has.
    """
    members: dict[str, Any] = {}
    for item in items:
        name = None if item is None else getattr(item, key)
        if not isinstance(name, str) or name in members:
            continue
        if not value:
            members[name] = msgspec.structs.replace(item, **{key: ABSENT})
        elif (member := getattr(item, value)) is not ABSENT:
            members[name] = member
    return members


def keep_elements(
    stored: StorageObject,
    entries: tuple[BagEntry[Any], ...],
    value: Any,
    seen: Callable[[Any], Any],
    key: str,
    member: str = "",
) -> Any:
    """A list derived from a map, with what only a stale entry of the list still has.

    An element that the map has no place for stays behind its neighbour, unless one of its key was removed from the
    map. What an element has beside key and value stays with its key.

    Args:
        stored: the object whose bag has the entry.
        entries: where the list may have been stashed.
        value: the list as derived from the map now.
        seen: the map as derived from the list when that was stashed.
        key: the attribute of the elements that has the map's key.
        member: the attribute that has the map's value, if there is one.
    """
    kept = MISSING if value is ABSENT else unstash(stored, entries, stale=True)
    if not isinstance(kept, list) or not isinstance(value, list):
        return value
    before = {getattr(item, key): item for item in seen(kept)}
    places, following = _placed(kept, key, set(before), {getattr(item, key) for item in value})
    result = following.pop(None, [])
    for item in value:
        name = getattr(item, key)
        if name in places:
            had = before.get(name) or msgspec.structs.replace(item, **{member: ABSENT})
            result.append(merge(kept[places[name]], had, item))
        else:
            result.append(item)
        result.extend(following.pop(name, ()))
    for left in following.values():
        result.extend(left)
    return result


def _placed(
    kept: list[Any], key: str, before: set[str], now: set[str]
) -> tuple[dict[str, int], dict[str | None, list[Any]]]:
    """Where the element of each key stands, and which elements without a place in the map follow it."""
    places: dict[str, int] = {}
    following: dict[str | None, list[Any]] = {}
    last: str | None = None
    for place, item in enumerate(kept):
        name = getattr(item, key)
        if isinstance(name, str) and name not in places and name in before | now:
            places[name] = place
            last = name
        elif name not in before or name in now:
            following.setdefault(last, []).append(item)
    return places, following
