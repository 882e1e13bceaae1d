"""Properties of nested objects that the type around them converts."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

import msgspec

from trundle.runtime._bag import MISSING, has_entries
from trundle.runtime._marks import THERE, marks
from trundle.runtime._objects import (
    ABSENT,
    Absent,
    GeneratedObject,
    Hollow,
    Made,
    Marked,
    Opened,
    all_missing,
)
from trundle.runtime._required_values import if_whole
from trundle.runtime._unmarked import is_empty

Held = TypeVar("Held", bound=GeneratedObject)

Leaf: TypeAlias = "str | tuple[str, *tuple[Leaf, ...]]"
"""An attribute of a nested object that is followed elsewhere; or an object in it, with those of its attributes that are."""

Shown: TypeAlias = Mapping[str, Any] | None
"""What an object that is made shows of what it requires, by attribute."""


def opened(
    holder: Held | Absent | None, class_: type[Held], shown: Shown = None, *, over: bool = False
) -> Held:
    """A copy of a nested object to put something into; a new one where there is none.

    Args:
        holder: the nested object.
        class_: its class.
        shown: what it shows where it is made.
        over: whether one that is made is marked where it is written over a stored object, for a merge to see that
            its writer has no such object.
    """
    if holder is not ABSENT and holder is not None:
        return msgspec.structs.replace(holder)
    made: Any = made_empty(class_, shown)
    if over and marks():
        made.unknown = Made()
    found: Held = made
    return found


def is_there(holder: Held | Absent | None) -> TypeGuard[Held]:
    """Whether a nested object is there, and not null."""
    return holder is not ABSENT and holder is not None


def made_empty(class_: type[Any], shown: Shown = None) -> Any:
    """An object with nothing in it but what it shows anyhow."""
    return class_(**{**all_missing(class_), **copy.deepcopy(dict(if_whole(shown or {}) or {}))})


def solid(holder: Any, value: Any, *leaves: Leaf) -> Any:
    """What was made of a nested object; absent where that has nothing in it but some attributes, one at least.

    Args:
        holder: the nested object.
        value: what was made of it.
        leaves: the attributes that are followed elsewhere.
    """
    if holder is ABSENT or holder is None:
        return value
    if _has_more(holder, leaves):
        return _without(value, leaves) if value is holder else value
    return ABSENT if _is_hollow(holder, leaves) else value


def _has_more(holder: Any, leaves: tuple[Leaf, ...]) -> bool:
    """Whether an object, or one in it, has anything but what is followed elsewhere: an empty object is such a thing."""
    names = _names(leaves)
    for name in holder.__struct_fields__:
        held = getattr(holder, name)
        if held is ABSENT or (name == "property_bag" and not has_entries(held)):
            continue
        if name not in names and not isinstance(held, Marked):
            return True
    return any(
        is_there(held) and (_has_more(held, inner) or not _is_hollow(held, inner))
        for held, inner in _within(holder, leaves)
    )


def _is_hollow(holder: Any, leaves: tuple[Leaf, ...]) -> bool:
    """Whether an object, or one in it, has something that is followed elsewhere, or a mark that says so."""
    own = (each for each in leaves if isinstance(each, str))
    if isinstance(holder.unknown, Hollow) or any(
        getattr(holder, each) is not ABSENT for each in own
    ):
        return True
    return any(
        is_there(held) and _is_hollow(held, inner) for held, inner in _within(holder, leaves)
    )


def _within(holder: Any, leaves: tuple[Leaf, ...]) -> Iterator[tuple[Any, tuple[Leaf, ...]]]:
    """What is at the attributes that are no leaves themselves, each with the leaves in it."""
    for each in leaves:
        if not isinstance(each, str):
            name, *inner = each
            yield getattr(holder, name), tuple(inner)


def _names(leaves: tuple[Leaf, ...]) -> list[str]:
    """The attributes of a nested object itself that are followed elsewhere, or have such in them."""
    return [each if isinstance(each, str) else each[0] for each in leaves]


def _without(value: Any, leaves: tuple[Leaf, ...]) -> Any:
    """An object that is passed on as it is, without the attributes that are followed elsewhere."""
    return without_attributes(value, _names(leaves))


def without_attributes(value: Any, names: Iterable[str]) -> Any:
    """A nested object with some attributes absent; any other value as it is."""
    if not isinstance(value, GeneratedObject):
        return value
    return msgspec.structs.replace(value, **dict.fromkeys(names, ABSENT))


def without_leaves(holder: Any, *leaves: Leaf) -> Any:
    """A nested object without the attributes that are followed elsewhere; absent where it has nothing else."""
    found = solid(holder, holder, *leaves)
    return found if found is ABSENT or found is None else _without(found, leaves)


def stripped(holder: Any, *leaves: Leaf) -> Any:
    """Like `without_leaves`, of an object that is an entry of the bag.

    One that is written over a stored object is marked as there where it has nothing else.
    """
    found = without_leaves(holder, *leaves)
    if holder is ABSENT or not marks():
        return found
    return THERE if found is ABSENT else _opened(holder, found, leaves)


def solid_or_marked(holder: Any, value: Any, *leaves: Leaf) -> Any:
    """Like `solid`; but what is written over a stored object is there and marked where `solid` has it absent.

    The merge must see that a writer has the object: the stored one may hold what the writer cannot see.
    """
    found = solid(holder, value, *leaves)
    if value is ABSENT or not marks():
        return found
    if found is not ABSENT:
        return _opened(holder, found, leaves)
    value.unknown = Hollow()
    return value


def _opened(holder: Any, found: Any, leaves: tuple[Leaf, ...]) -> Any:
    """What was made of an object, marked where something in it is elsewhere.

    The writer may be shown the object for this alone, with what its version requires. The merge must see where an edit removes it.
    """
    there = is_there(found) and found.unknown is ABSENT and is_there(holder)
    if there and _is_hollow(holder, leaves):
        found.unknown = Opened()
    return found


def presence(holder: object) -> bool | Absent | None:
    """Whether a nested object is there: true, null where it is null, or absent."""
    if holder is ABSENT or holder is THERE:
        return cast("Absent", holder)  # `stash` takes what is marked as there for absent
    return None if holder is None else True


def null_presence(holder: object) -> Absent | None:
    """Null where a nested object is null, else absent; one that is written over a stored object is marked as there."""
    if holder is None:
        return None
    return cast("Absent", THERE) if holder is not ABSENT and marks() else ABSENT


def said(there: Any, value: Any, class_: type[Any], shown: Shown = None) -> Any:
    """A nested object, there or not as its own side said; as others show it where that said nothing, or they have put more into it since.

    Args:
        there: what its own side said: true, null, absent, or `MISSING`.
        value: the object as others show it.
        class_: its class.
        shown: what it shows where it is made.
    """
    if there is MISSING:
        return value
    known = value is not ABSENT and value is not None
    if there is True:
        return value if known else made_empty(class_, shown)
    if known and not is_empty(value) and value != made_empty(class_, shown):
        return value  # another version wrote since what its side has in it, too
    return there
