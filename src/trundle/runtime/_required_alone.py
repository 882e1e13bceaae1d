"""Objects that an edit leaves with nothing but what their version requires.

A version shows what it requires where nothing is stored, and an edit that leaves that alone does not write it. Where an edit takes
everything else out of an object of which nothing that is required is stored, what is required is all that its writer has of it, and so it
is written.
"""

import typing
from collections.abc import Callable
from typing import Any

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._objects import ABSENT, GeneratedObject, all_missing
from trundle.runtime._required_values import nothing_filled_in


def without_filled(seen: Any, value: Any, view: Callable[[], Any]) -> Any:
    """What a writer sees, without what such objects only show; all of it where there are none.

    Args:
        seen: what the writer sees, an object of an API class.
        value: what it writes.
        view: converts the stored object to that class once more.

    Raises:
        HookError: a hook needs what is required.
    """
    if not _leaves_some(seen, value):
        return seen
    with nothing_filled_in():
        provided = view()
    return _without_filled(seen, value, provided)


def _leaves_some(seen: Any, value: Any) -> bool:
    """Whether an edit leaves any nested object with nothing but what its class requires."""
    for name in _nested(type(value)):
        ours, theirs = getattr(seen, name), getattr(value, name)
        if not _are_alike(ours, theirs) or ours == theirs:
            continue
        if _is_left_so(ours, theirs) or _leaves_some(ours, theirs):
            return True
    return False


def _without_filled(seen: Any, value: Any, provided: Any) -> Any:
    changed = {}
    for name in _nested(type(value)):
        ours, theirs, known = (getattr(each, name) for each in (seen, value, provided))
        if not _are_alike(ours, theirs) or not _are_alike(ours, known):
            continue
        made = _without_filled(ours, theirs, known)
        if _is_left_so(ours, theirs):
            required = _required(type(ours))
            if all(getattr(known, each) is ABSENT for each in required):  # else it is there anyway
                made = msgspec.structs.replace(made, **dict.fromkeys(required, ABSENT))
        if made is not ours:
            changed[name] = made
    return msgspec.structs.replace(seen, **changed) if changed else seen


def _are_alike(one: Any, other: Any) -> bool:
    return isinstance(one, GeneratedObject) and type(one) is type(other)


def _is_left_so(seen: Any, value: Any) -> bool:
    """Whether an edit takes something out of an object and leaves nothing in it but what its class requires."""
    required = _required(type(value))
    taken = False
    for name in value.__struct_fields__ if required else ():
        if name not in required:
            if getattr(value, name) is not ABSENT:
                return False
            taken = taken or getattr(seen, name) is not ABSENT
    return taken


@once
def _nested(class_: Any) -> tuple[str, ...]:
    """The attributes of a class that may have an object in which something is required, or one around such an object."""
    return tuple(
        field.name
        for field in fields_of(class_)
        if any(_requires(each) for each in (field.type, *typing.get_args(field.type)))
    )


def _requires(type_: Any) -> bool:
    """Whether objects of a class, or nested ones, require anything; no type but a class does."""
    waiting = [type_]
    for each in waiting:
        if isinstance(each, type) and issubclass(each, GeneratedObject):
            if _required(each):
                return True
            held = (
                x for field in fields_of(each) for x in (field.type, *typing.get_args(field.type))
            )
            waiting += [x for x in held if x not in waiting]
    return False


@once
def _required(class_: Any) -> frozenset[str]:
    """The attributes that a class requires."""
    return frozenset(all_missing(class_))
