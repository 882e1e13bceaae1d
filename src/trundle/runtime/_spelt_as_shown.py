"""What a client wrote back in other words: free-form data with other spaces, escapes or digits, or members in another order, but with the same values.

Clients read documents and write them anew, each in its own way. What is spelt otherwise and says the same is no edit.
"""

import copy
import functools
import json
import typing
from decimal import Decimal
from typing import Any

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._objects import GeneratedObject

_read = functools.partial(json.loads, parse_float=Decimal, parse_int=Decimal)
_without_spaces = functools.partial(msgspec.json.format, indent=-1)


def spelt_as_shown(value: Any, seen: Any) -> Any:
    """A value with its free-form data as the writer was shown it, where it says the same; the value itself where nothing is spelt otherwise.

    Args:
        value: an object of a generated class, or what is in one.
        seen: what the writer was shown there.
    """
    if isinstance(value, msgspec.Raw):
        return seen if isinstance(seen, msgspec.Raw) and _says_the_same(value, seen) else value
    if isinstance(value, GeneratedObject):
        if type(seen) is not type(value):
            return value
        changed = {}
        for name in _spellable_in(type(value)):
            member, shown = getattr(value, name), getattr(seen, name)
            if member == shown:
                continue  # The same bytes.
            if (made := spelt_as_shown(member, shown)) is not member:
                changed[name] = made
        return msgspec.structs.replace(value, **changed) if changed else value
    # What is paired wrongly says something else, mostly, and does no harm where it does not.
    if isinstance(value, list) and isinstance(seen, list):
        pairs: Any = enumerate(zip(value, seen, strict=False))
    elif isinstance(value, dict) and isinstance(seen, dict):
        pairs = ((name, (item, seen[name])) for name, item in value.items() if name in seen)
    else:
        return value
    found: Any = value
    for key, (item, shown) in pairs:
        if item != shown and (made := spelt_as_shown(item, shown)) is not item:
            found = copy.copy(value) if found is value else found
            found[key] = made
    return found


@once
def _spellable_in(class_: Any) -> tuple[str, ...]:
    """The attributes of a class that are free-form data, or have some in them."""
    return tuple(field.name for field in fields_of(class_) if _is_spellable(field.type, set()))


def _is_spellable(type_: Any, seen: set[Any]) -> bool:
    if type_ is msgspec.Raw:
        return True
    if isinstance(type_, type) and issubclass(type_, GeneratedObject) and type_ not in seen:
        seen.add(type_)
        fields = fields_of(type_)
        return any(_is_spellable(each.type, seen) for each in fields)
    return any(_is_spellable(each, seen) for each in typing.get_args(type_))


def _says_the_same(one: msgspec.Raw, other: msgspec.Raw) -> bool:
    """Whether free-form data says in other words what other data says."""
    if bytes(one) == bytes(other):
        return False  # It is spelt so already.
    try:
        if _without_spaces(one) == _without_spaces(other):
            return True
        return _same(_read(bytes(one)), _read(bytes(other)))
    except (ValueError, ArithmeticError, RecursionError):
        return False


def _same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same; numbers are compared exactly, and -0 is not 0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one == other and one.is_signed() == other.is_signed()
    return type(one) is type(other) and bool(one == other)
