"""Filling in the defaults that a schema declares, as an API server does for structural schemas.

A class says the defaults of its properties in `__defaults__`. They are filled in where the object is there, and then
inside of what was filled in. A document that is written over a stored object gets none where its writer was shown none:
writing back what one read changes nothing.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import member_path
from trundle.runtime._json import decoder
from trundle.runtime._lenience import Tolerated
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._tables import leading_to
from trundle.runtime._validation import read_value

_text = msgspec.json.Encoder(order="deterministic").encode


class _Default(NamedTuple):
    attribute: str
    name: str
    type: Any
    json: str


class _Filling(NamedTuple):
    """What filling in looks at in objects of a class: its own defaults, and where further ones may be."""

    own: tuple[_Default, ...]
    within: tuple[tuple[str, str], ...]


def fill_in(value: Any, seen: Any = None, path: str = "$") -> Iterator[Tolerated]:
    """Fills in what is missing in an object and all within it; gives what was filled in.

    Args:
        value: an object of a generated class that belongs to the caller, or lists or maps of these.
        seen: what the writer was shown of the stored object that it is written over; what both lack stays absent.
        path: where it is in its document.
    """
    if isinstance(value, GeneratedObject):
        filling = _filling(type(value))
        shown = seen if type(seen) is type(value) else None
        for each in filling.own:
            if getattr(value, each.attribute) is not ABSENT:
                continue
            if shown is not None and getattr(shown, each.attribute) is ABSENT:
                continue
            if (made := _made(each)) is not ABSENT:
                setattr(value, each.attribute, made)
                default = f"the default `{each.json}`"
                yield Tolerated(member_path(path, each.name), default, "nothing", "filled in")
        for attribute, name in filling.within:
            member = getattr(value, attribute)
            if member is not ABSENT:
                yield from fill_in(member, getattr(shown, attribute, None), member_path(path, name))
    elif isinstance(value, list):
        for place, (item, shown) in enumerate(zip(value, _shown(value, seen), strict=True)):
            yield from fill_in(item, shown, f"{path}[{place}]")
    elif isinstance(value, dict):
        known = seen if isinstance(seen, dict) else {}
        for name, item in value.items():
            yield from fill_in(item, known.get(name), member_path(path, name))


def _shown(items: list[Any], seen: Any) -> list[Any]:
    """What the writer was shown of each element of a list: the one at its place, or an equal one where there are more or less by now."""
    if not isinstance(seen, list):
        return [None] * len(items)
    if len(seen) == len(items):
        return seen
    known = {_text(each): each for each in seen}  # To compare each with each would take minutes
    return [known.get(_text(each)) for each in items]


def _made(default: _Default) -> Any:
    """A default as a value of its own; it may lack what is filled in next, and is absent where it is of no use."""
    try:
        return decoder(default.type).decode(default.json)
    except msgspec.ValidationError:
        value, findings = read_value(default.json.encode(), default.type, strict=False)
        return ABSENT if findings else value


@once
def _filling(class_: Any) -> _Filling:
    declared, leading = class_.__defaults__, leading_to(class_, "__defaults__")
    fields = fields_of(class_)
    return _Filling(
        tuple(
            _Default(field.name, field.encode_name, field.type, declared[field.name])
            for field in fields
            if field.name in declared
        ),
        tuple((field.name, field.encode_name) for field in fields if field.name in leading),
    )
