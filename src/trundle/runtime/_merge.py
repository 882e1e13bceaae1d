"""Writing one version's edit over a stored object, without touching what that version cannot see.

Three storage objects take part: what is **stored**, what it was **before** the edit as the writer sees it,
and what it is **after**. Whatever differs between before and after is the edit; all else stays as stored.
"""

from typing import Any

import msgspec

from trundle.runtime._bag import accompany, tidy
from trundle.runtime._bag_merge import Merges, merge_bags, renew_left, same_bags
from trundle.runtime._bases import StorageObject
from trundle.runtime._documents import OTHERS
from trundle.runtime._free_form import merge_free_form
from trundle.runtime._json import encode, same
from trundle.runtime._list_merge import add_to_unseen, merge_lists
from trundle.runtime._nested import made_empty
from trundle.runtime._objects import ABSENT, GeneratedObject, Hollow, Made
from trundle.runtime._one_value import take_place
from trundle.runtime._presences import NOTHING, drop_removed, keep_presences, removed_by
from trundle.runtime._unmarked import is_empty, without_hollow
from trundle.runtime._values import Wrapped, has_text


def merge(stored: Any, before: Any, after: Any) -> Any:
    """The stored value with the difference between two others applied to it."""
    if before == after and same(before, after):  # 1 and 1.0 are equal, too
        return stored
    return _merge_different(stored, before, after)


def _merge_different(stored: Any, before: Any, after: Any, keys: tuple[str, ...] = ()) -> Any:
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
        elif stored is ABSENT and type(before) is type(after) and type(before.unknown) is Made:
            # What its writer is shown elsewhere is what its version requires, and no edit.
            stored = made_empty(type(after))
        if type(after) is type(stored) is type(before):
            merged = merge_objects(stored, before, after)
            elsewhere = isinstance(after.unknown, Hollow)  # all that the writer has in it
            emptied = elsewhere and merged is not ABSENT and is_empty(merged)
            return ABSENT if emptied and not is_empty(stored) else merged
        return without_hollow(after)
    if isinstance(after, list) and isinstance(before, list) and isinstance(stored, list):
        return merge_lists(stored, before, after, keys, merge)
    if _is_unseen(stored, before, after):
        return add_to_unseen(stored, after, keys)
    if (
        isinstance(after, dict)
        and isinstance(stored, dict)
        and (before is ABSENT or isinstance(before, dict))
    ):
        return _merge_maps(stored, {} if before is ABSENT else before, after)
    if isinstance(after, msgspec.Raw):
        return _merge_free_form(stored, before, after)
    return without_hollow(after)


def _is_unseen(stored: Any, before: Any, after: Any) -> bool:
    """Whether a writer makes a list where there is one that it is not shown, as of what its version has a single value for."""
    lists = isinstance(stored, list) and isinstance(after, list)
    return lists and before is ABSENT and type(after) is not Wrapped


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
    alike = not isinstance(stored, StorageObject) or same_bags(
        before.property_bag, after.property_bag
    )
    if alike and not different:
        return stored
    result = msgspec.structs.replace(stored)
    gone = removed_by(stored, before, after) if isinstance(stored, StorageObject) else NOTHING
    for name in different:
        merge_attribute(result, name, getattr(before, name), getattr(after, name))
    if isinstance(stored, StorageObject):
        drop_removed(result, stored, before, after, gone)
        take_place(result, before, after)
        made = [] if alike else merge_bags(result, stored, before, after, _MERGES)
        kept = keep_presences(result, stored, before, after, gone)
        if kept:
            accompany(result, made)
        renew_left(result, stored, before, after)
        tidy(result)
    return without_hollow(result) if isinstance(result.unknown, Hollow) else result


def merge_attribute(result: Any, name: str, before: Any, after: Any) -> None:
    """Applies the difference between two values of an attribute to the stored value that an object has."""
    kept = getattr(result, name)
    if name in OTHERS:
        # There is no map that a writer could make or remove: it adds and removes the members that it sees.
        mine, ours, theirs = (each or {} for each in (kept, before, after))
        empty = after if isinstance(after, Hollow) else ABSENT
        setattr(result, name, _merge_maps(mine, ours, theirs) or empty)
    else:
        keys = result.__list_keys__.get(name, ())
        setattr(result, name, _merge_different(kept, before, after, keys))


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
        stored, before, after, lambda mine, ours, theirs: merge_lists(mine, ours, theirs, (), merge)
    )


def _merge_maps(stored: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Any:
    """Merges member by member; those that the writer cannot see stay, behind the others."""
    merged = {
        key: merge(stored[key], before[key], value) if key in stored and key in before else value
        for key, value in after.items()
    }
    hidden = stored.keys() - before.keys() - merged.keys()
    return {**merged, **{key: value for key, value in stored.items() if key in hidden}}


def _merge_keyed(stored: Any, before: Any, after: Any, keys: tuple[str, ...]) -> Any:
    """Like `merge`, of lists by the declared keys of their elements, if they have some."""
    if before == after and same(before, after):
        return stored
    return _merge_different(stored, before, after, keys)


_MERGES = Merges(_merge_keyed, _merge_free_form)
