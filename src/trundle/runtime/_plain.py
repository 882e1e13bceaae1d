"""Dictionaries to objects and back without a detour over text.

The way over JSON is the careful way: what comes out is what that comes to, to the last detail. Free-form data is JSON within objects, so that
alone is written and read as text. `from_plain` gives None where anything about a document is unusual.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from trundle.runtime._by_class import table
from trundle.runtime._class_fields import struct_type
from trundle.runtime._documents import kept_apart
from trundle.runtime._json import decoder, encode
from trundle.runtime._writing import finite, named_by_text

_Preparer: TypeAlias = Callable[[Any], Any]
"""Makes a plain value ready for msgspec: it is JSON throughout, and its free-form data is text."""

_text = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
"""Free-form data as the way over JSON writes it."""


class _UnusualError(Exception):
    """A value that is no plain JSON, or where msgspec could not determine that."""


def from_plain(value: Any, class_: type[Any]) -> Any:
    """A dictionary as an object of a class, which shares nothing with it; None where anything is unusual."""
    decoder(class_)
    try:
        made = msgspec.convert(_object(class_)(value), class_)
        data = encode(made)
    except (_UnusualError, msgspec.MsgspecError, RecursionError, TypeError, ValueError):
        return None
    place = data.find(b"$")
    return None if kept_apart(data, place) else made


def to_plain(value: Any, careful: Callable[[Any], bytes], *, hooked: bool) -> Any:
    """An object as plain values.

    Args:
        value: the object.
        careful: the way over JSON: writes an object that has properties apart, and finds what JSON cannot have.
        hooked: whether hooks may have made what JSON cannot have.
    """
    try:
        data = encode(value)
    except UnicodeEncodeError:
        return json.loads(careful(value))
    if kept_apart(data, data.find(b"$")) or (hooked and b"null" in data and not finite(value)):
        return json.loads(careful(value))
    return msgspec.to_builtins(value, enc_hook=_free_form)


def _free_form(value: Any) -> Any:
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return json.loads(
            bytes(value)
        )  # half a surrogate pair, or a number beyond what msgspec reads


def _free(value: Any) -> msgspec.Raw:
    data = _text(value).encode()
    if not named_by_text(value):
        raise _UnusualError
    if b"\\ud" in data:
        msgspec.json.decode(data)  # refuses half a surrogate pair
    return msgspec.Raw(data)


def _number(value: Any) -> Any:
    if type(value) is float and value - value != 0:
        raise _UnusualError
    return value


def _object(class_: type[Any]) -> _Preparer:
    """The preparer of objects of a class; it looks its parts up when it is first used, for they may recurse."""
    found = _OBJECTS.get(class_)
    if found is None:
        found = _OBJECTS[class_] = _made(class_)
    return found


_OBJECTS: dict[type[Any], _Preparer] = table()


def _made(class_: type[Any]) -> _Preparer:
    parts: list[tuple[str, _Preparer]] | None = None

    def prepare(value: Any) -> Any:
        nonlocal parts
        if parts is None:
            parts = _parts(class_)
        if type(value) is not dict:
            return _no_dict(value)
        made = value
        for name, prepared in parts:
            old = value.get(name, _NOTHING)
            if old is _NOTHING:
                continue
            new = prepared(old)
            if new is not old:
                if made is value:
                    made = value.copy()
                made[name] = new
        return made

    return prepare


_NOTHING: Any = object()


def _no_dict(value: Any) -> Any:
    if value is None:
        return value
    raise _UnusualError


def _parts(class_: type[Any]) -> list[tuple[str, _Preparer]]:
    found = ((field.encode_name, _preparer(field.type)) for field in struct_type(class_).fields)
    return [(name, prepared) for name, prepared in found if prepared is not None]


def _preparer(type_: inspect.Type) -> _Preparer | None:
    """How values of a type are made ready; None where msgspec sees all that matters."""
    match type_:
        case inspect.RawType() | inspect.AnyType():
            return _free
        case inspect.FloatType():
            return _number
        case inspect.StructType(cls):
            return _object(cls)
        case inspect.ListType(item_type=item):
            return _items(_preparer(item))
        case inspect.DictType(value_type=value):
            return _members(_preparer(value))
        case inspect.UnionType(types):
            return _union(types)
        case _:
            return None


def _items(item: _Preparer | None) -> _Preparer:
    def prepare(value: Any) -> Any:
        if type(value) is not list:
            return _no_dict(value)
        return value if item is None else list(map(item, value))

    return prepare


def _members(member: _Preparer | None) -> _Preparer:
    def prepare(value: Any) -> Any:
        if type(value) is not dict:
            return _no_dict(value)
        if member is None:
            return value
        return {name: member(each) for name, each in value.items()}

    return prepare


def _union(types: tuple[inspect.Type, ...]) -> _Preparer | None:
    """The preparer of a union: that of its variant, where JSON kinds or a tag say which one a value is."""
    lists = [each for each in types if isinstance(each, inspect.ListType)]
    maps = [each for each in types if isinstance(each, inspect.DictType)]
    objects = {
        each.tag: _object(each.cls) for each in types if isinstance(each, inspect.StructType)
    }
    free = any(isinstance(each, inspect.RawType | inspect.AnyType) for each in types)
    if not lists and not maps and not objects and not free:
        return _number if any(isinstance(each, inspect.FloatType) for each in types) else None
    listed = _preparer(lists[0]) if len(lists) == 1 else None
    mapped = _preparer(maps[0]) if len(maps) == 1 else None
    field = next((each.tag_field for each in types if isinstance(each, inspect.StructType)), None)

    def prepare(value: Any) -> Any:
        if free:
            raise _UnusualError
        kind = type(value)
        if kind is list and listed is not None:
            return listed(value)
        if kind is dict and objects:
            prepared = next(iter(objects.values())) if len(objects) == 1 else None
            prepared = prepared or objects.get(value.get(field))
            if prepared is not None:
                return prepared(value)
        elif kind is dict and mapped is not None:
            return mapped(value)
        if kind in _SCALARS:
            return _number(value)
        raise _UnusualError

    return prepare


_SCALARS = frozenset({str, int, float, bool, type(None)})
