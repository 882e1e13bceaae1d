"""Whether a document has each of its members once, seen from the object that was read from it."""

import types
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import OTHERS
from trundle.runtime._json import encode
from trundle.runtime._objects import ABSENT, GeneratedObject

_FREE = msgspec.Raw
_SIMPLE = frozenset({str, int, bool, float, type(None), msgspec.UnsetType, _FREE})
_COMPOUND = (list, dict, types.UnionType, typing.Union)
_NAMES = ("api_version", "kind", "type")
"""Attributes by which an object says what it is. A class has two of them, which the text is known to have."""
_NAMED_BY = 2


def has_members_once(
    value: GeneratedObject, data: bytes, has_repeated: Callable[[bytes], bool]
) -> bool:
    """Whether a text has each of its members once.

    The object has the last member of each name, and no other. Written anew, it has a colon for each member, and those in
    strings; so the text has more of them just where it has members that the object lacks. Free-form data is written as
    it came, and looked at by itself. What may have a member that its text lacks is not judged by the object, nor is a text
    with an escaped colon.

    Args:
        value: what was read, with nothing kept apart; its text has both names of the object.
        data: the text that it was read from.
        has_repeated: finds members that stand several times in any JSON.

    Raises:
        UnicodeDecodeError: free-form data is no UTF-8. All else is, or it could not have been read.
    """
    class_ = type(value)
    found: list[Any] = []
    for name in _holders(class_):
        _collect(getattr(value, name), found)
    free = encode(found)
    if not free.isascii():
        free.decode()
    if not _adds_nothing(class_) or (b"\\" in data and b"\\u003" in data):
        return not has_repeated(data)
    if encode(value).count(b":") != data.count(b":"):
        return False
    return not (found and has_repeated(free))


def _collect(value: Any, found: list[Any]) -> None:
    """Adds all free-form data of a value."""
    kind = type(value)
    if kind is _FREE:
        found.append(value)
    elif kind is list:
        for each in value:
            _collect(each, found)
    elif kind is dict:
        for each in value.values():
            _collect(each, found)
    elif isinstance(value, GeneratedObject):
        for name in _holders(kind):
            _collect(getattr(value, name), found)


@once
def _holders(class_: type[Any]) -> tuple[str, ...]:
    """The attributes of a class that may hold free-form data, or objects that do."""
    return tuple(
        each.name
        for each in fields_of(class_)
        if each.name not in OTHERS and _FREE in _within(each.type)
    )


@once
def _adds_nothing(class_: type[Any]) -> bool:
    """Whether whatever an object of a class has was in its text, but for the names of the object itself."""
    own = [field for field in fields_of(class_) if field.name not in OTHERS]
    filled = [each.name for each in own if not each.required and each.default is not ABSENT]
    below = frozenset[Any]().union(*(_within(field.type) for field in own))
    return (
        class_ not in below
        and class_.__struct_config__.tag is None
        and all(map(_is_plain, below))
        and len(filled) <= _NAMED_BY
        and all(name in _NAMES for name in filled)
    )


def _is_plain(type_: Any) -> bool:
    """Whether values of a type are written with the colons that they were read with."""
    if typing.get_origin(type_) is not None:
        return typing.get_origin(type_) in _COMPOUND
    if not (isinstance(type_, type) and issubclass(type_, GeneratedObject)):
        return type_ in _SIMPLE
    fields = fields_of(type_)
    untagged = type_.__struct_config__.tag is None  # A tag that a text lacks is written.
    return untagged and all(each.required or each.default is ABSENT for each in fields)


def _within(type_: Any) -> frozenset[Any]:
    """A type and all that values of it consist of, but what objects keep apart."""
    waiting, seen = [type_], set()
    for each in waiting:
        if each in seen:
            continue
        seen.add(each)
        waiting.extend(typing.get_args(each))
        if isinstance(each, type) and issubclass(each, GeneratedObject):
            waiting.extend(field.type for field in fields_of(each) if field.name not in OTHERS)
    return frozenset(seen)
