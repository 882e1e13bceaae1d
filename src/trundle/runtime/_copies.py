"""Copies of objects for callers: what a caller gets shares nothing with what it gave.

Conversions pass on whatever they need not change. That is safe as long as an object is not changed while it
is converted, so one copy is made, where an object leaves the package. Texts, numbers and free-form data cannot
be changed, and are not copied.
"""

import operator
import typing
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from trundle.runtime._by_class import table
from trundle.runtime._class_fields import fields_of
from trundle.runtime._entries import Entry, MadeEntry, PropertyBag, StoredEntry
from trundle.runtime._objects import ABSENT, GeneratedObject

Copier: TypeAlias = Callable[[Any], Any]
"""Copies a value of one type."""

_FIXED = frozenset({str, int, float, bool, type(None), msgspec.UnsetType, msgspec.Raw})
"""The types whose values cannot be changed."""

_COPIERS: dict[type[Any], Copier] = table()


def own(value: Any) -> Any:
    """A copy of an object in which nothing that can be changed belongs to another object as well.

    Entries of property bags are copied without what they noted for a merge.
    """
    try:
        return _copier(type(value))(value)
    except (TypeError, AttributeError, RecursionError):
        return _copy_any(value)  # it is deep, or not what its class declares


def _copier(class_: type[Any]) -> Copier:
    """The function that copies objects of a generated class."""
    found = _COPIERS.get(class_)
    if found is None:
        _COPIERS[class_] = _copy_any  # for objects of the class within themselves
        found = _COPIERS[class_] = _copier_of_objects(class_)
    return found


def _copier_of_objects(class_: type[Any]) -> Copier:
    parts = tuple(
        (field.name, _copier_of(field.type))
        for field in fields_of(class_)
        if field.name != "unknown" and not _fixed(field.type)
    )
    if not parts:
        return _copy_flat
    get = operator.attrgetter("unknown", *(name for name, _ in parts))
    copiers = tuple((place, *part) for place, part in enumerate(parts, 1))

    def copy_object(value: Any) -> Any:
        members = get(value)
        result = replace(value) if members[0] is ABSENT else _copy_flat(value)
        for place, name, copier in copiers:
            member = members[place]
            if member is not ABSENT and member is not None:
                setattr(result, name, copier(member))
        return result

    return copy_object


def _copy_flat(value: Any) -> Any:
    """A copy of an object of which only the unknown properties could be changed."""
    if value.unknown is ABSENT:
        return replace(value)
    return replace(value, unknown=value.unknown.copy())


def _copier_of(type_: Any) -> Copier:
    """The function that copies values of a type that are neither absent nor null."""
    if type_ == PropertyBag | msgspec.UnsetType:
        return _copy_bag
    origin = typing.get_origin(type_)
    if origin in (list, dict):
        return _copier_of_items(origin, typing.get_args(type_)[-1])
    changeable = [each for each in typing.get_args(type_) if not _fixed(each)]
    if len(changeable) == 1:
        return _copier_of(changeable[0])
    if isinstance(type_, type) and issubclass(type_, GeneratedObject):
        return _copier(type_)
    return _copy_any


def _copier_of_items(origin: Any, items: Any) -> Copier:
    """The function that copies lists or maps of a type of items."""
    if _fixed(items):
        return list.copy if origin is list else dict.copy
    if not (isinstance(items, type) and issubclass(items, GeneratedObject)):
        return _copy_any
    one = _copier(items)
    if origin is list and one is _copy_flat:
        return lambda value: [
            replace(each) if each.unknown is ABSENT else _copy_flat(each) for each in value
        ]
    if origin is list:
        return lambda value: [one(each) for each in value]
    return lambda value: {name: one(each) for name, each in value.items()}


def _fixed(type_: Any) -> bool:
    """Whether no value of a type can be changed."""
    if typing.get_origin(type_) in (list, dict):
        return False
    parts = typing.get_args(type_)
    return all(_fixed(each) for each in parts) if parts else type_ in _FIXED


def _copy_bag(bag: Any) -> Any:
    return {
        name: {version: _copy_entry(entry) for version, entry in versions.items()}
        for name, versions in bag.items()
    }


def _copy_entry(entry: Any) -> Any:
    if isinstance(entry, StoredEntry):
        return replace(entry)
    value = entry.value
    return Entry(value if type(value) in _FIXED else _copy_any(value), entry.beside)


def _copy_any(value: Any) -> Any:
    """Copies a value by what it is, and not by what its class declares."""
    if type(value) in _FIXED:
        return value
    result = _shallow(value)
    waiting = [result]
    for each in waiting:
        for key, member in _members(each):
            if type(member) in _FIXED:
                continue
            made = _shallow(member)
            if isinstance(each, msgspec.Struct):
                setattr(each, str(key), made)
            else:
                each[key] = made
            waiting.append(made)
    return result


def _members(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, msgspec.Struct):
        return [(name, getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _shallow(value: Any) -> Any:
    if isinstance(value, MadeEntry):
        return Entry(value.value, value.beside)
    if isinstance(value, msgspec.Struct):
        return replace(value)
    if isinstance(value, list):
        return list(value)
    return dict(value) if isinstance(value, dict) else value
