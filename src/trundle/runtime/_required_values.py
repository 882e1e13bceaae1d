"""What required properties show where nothing provides them: a whole object shows a value, a partial one nothing.

An API object is partial where it, or an object within it, lacks what its own version requires. Kubernetes hands
such objects to conversion webhooks, to convert what one manager owns.

A type that is the same in all versions of a package is stored as it is, and no conversion fills in anything in it. A later
release may store less in it, for a version that requires less. What it shows then stands in a table of its class.
"""

import contextlib
import copy
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import member_path, wire_name
from trundle.runtime._json import decoder
from trundle.runtime._met import Met
from trundle.runtime._objects import ABSENT, GeneratedObject, all_missing
from trundle.runtime._tables import leading_to

Shown = TypeVar("Shown")
"""The type of what is shown."""


class Converting:
    """An API object that is being converted to another version without a store, as long as the context is open.

    Whether it is partial is found out when a value is to be shown for the first time, and only then, unless it is said.
    """

    __slots__ = ("_before", "_partial", "_value")

    def __init__(self, value: Any, *, partial: bool | None = None) -> None:
        self._value = value
        self._partial = partial

    def __enter__(self) -> None:
        self._before = _CONVERTING.set(self)

    def __exit__(self, *error: object) -> None:
        _CONVERTING.reset(self._before)

    def is_partial(self) -> bool:
        """Whether the object is partial."""
        if self._partial is None:
            self._partial = _is_partial(self._value)
        return self._partial


_CONVERTING: ContextVar[Converting | None] = ContextVar("CONVERTING", default=None)
"""What is being converted; None where the source is what a store keeps, which is whole."""


def if_whole(value: Shown) -> Shown:
    """A value that a required property shows where nothing provides it; absent where a partial object is converted."""
    converting = _CONVERTING.get()
    if converting is None or not converting.is_partial():
        return value
    return ABSENT  # type: ignore[return-value]


@contextlib.contextmanager
def nothing_filled_in() -> Iterator[None]:
    """Shows nothing for what is required and lacking, as long as the context is open."""
    with Converting(None, partial=True):
        yield


def lacking(value: Any) -> tuple[str, ...]:
    """The JSON paths of what an object, and those within it, lack of what their classes require."""
    found: list[str] = []
    waiting = [("$", value)]
    for path, each in waiting:
        if isinstance(each, GeneratedObject):
            for name in each.__struct_fields__:
                place = member_path(path, wire_name(type(each), name))
                member = getattr(each, name)
                if member is ABSENT and name in all_missing(type(each)):
                    found.append(place)
                else:
                    waiting.append((place, member))
        elif isinstance(each, list):
            waiting.extend((f"{path}[{at}]", member) for at, member in enumerate(each))
        elif isinstance(each, dict):
            waiting.extend((member_path(path, str(key)), member) for key, member in each.items())
    return tuple(sorted(found))


def _is_partial(value: Any) -> bool:
    waiting = [value]
    for each in waiting:
        if isinstance(each, GeneratedObject):
            if any(getattr(each, name) is ABSENT for name in all_missing(type(each))):
                return True
            waiting.extend(getattr(each, name) for name in each.__struct_fields__)
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
    return False


_MET = Met()
"""Objects that lack what their class has in its table."""


def note_missing(class_: type[Any], attribute: str) -> None:
    """Notes that an object was read without an attribute that its class requires."""
    if attribute in class_.__required__:
        _MET.any = True


def may_lack_required() -> bool:
    """Whether any object may lack what its class has in its table."""
    return _MET.any


def with_required(value: Any) -> Any:
    """A value with what the objects in it require and lack; the value itself where nothing is lacking."""
    return _with_required(value) if _MET.any else value


def _with_required(value: Any) -> Any:
    if isinstance(value, GeneratedObject):
        class_ = type(value)
        changed = {
            name: if_whole(copy.deepcopy(shown))
            for name, shown in _table(class_).items()
            if getattr(value, name) is ABSENT
        }
        for name in leading_to(class_, "__required__"):
            member = getattr(value, name)
            if (seen := _with_required(member)) is not member:
                changed[name] = seen
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, list | dict):
        made: Any = None
        for key, member in enumerate(value) if isinstance(value, list) else value.items():
            if (seen := _with_required(member)) is not member:
                made = copy.copy(value) if made is None else made
                made[key] = seen
        return value if made is None else made
    return value


@once
def _table(class_: type[Any]) -> dict[str, Any]:
    """What objects of a class show of what they require."""
    types = {each.name: each.type for each in fields_of(class_)}
    return {name: decoder(types[name]).decode(shown) for name, shown in class_.__required__.items()}
