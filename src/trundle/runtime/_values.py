"""Changes of scalar values that generated conversions call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

import msgspec

from trundle.runtime._documents import member_path, wire_name, without_bags, write_value
from trundle.runtime._json import decoder
from trundle.runtime._lenience import Lenience
from trundle.runtime._nested import without_attributes, without_leaves
from trundle.runtime._objects import ABSENT, Absent, FreeForm, GeneratedObject
from trundle.runtime._placed import Placed, is_placing, placed
from trundle.runtime._validation import read_leniently, read_value

Value = TypeVar("Value")
Made = TypeVar("Made")

_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
}


_PLAIN_KINDS: Mapping[type[Any], tuple[str, ...]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    str: ("string",),
}


def fit(value: Any, *kinds: str) -> Any:
    """The value where it is of one of some kinds, else absent."""
    for kind in _PLAIN_KINDS.get(type(value), ()):
        if kind in kinds:
            return value
    return value if any(_KINDS[kind](value) for kind in kinds) else ABSENT


@overload
def convert_each(function: Callable[[Value], Made], items: Sequence[Value]) -> list[Made]: ...
@overload
def convert_each(
    function: Callable[[Value], Made], items: Sequence[Value] | Absent
) -> list[Made] | Absent: ...
def convert_each(
    function: Callable[[Value], Made], items: Sequence[Value] | Absent
) -> list[Made] | Absent:
    """The elements of a list, converted one by one; absent where the list is."""
    if items is ABSENT:
        return ABSENT
    made = list(map(function, items))
    if isinstance(items, Wrapped):
        return WrappedAmongOthers(made)
    return Placed(made, items.whole, items.places) if type(items) is Placed else made


@overload
def to_free_form(value: Any) -> FreeForm: ...
@overload
def to_free_form(value: Any, *elsewhere: str) -> FreeForm | Absent: ...
def to_free_form(value: Any, *elsewhere: str) -> FreeForm | Absent:
    """A typed value as free-form data.

    Args:
        value: the value.
        elsewhere: the attributes of a nested object that are in other places beside the free-form data. They are left
            out of it, and an object that has nothing else is absent.
    """
    whole: Any = without_leaves(value, *elsewhere) if elsewhere else value
    if isinstance(whole, Absent):
        return whole
    return msgspec.Raw(write_value(without_bags(whole), stored=False))


def from_free_form(value: FreeForm | None, type_: Any, *elsewhere: str) -> Any:
    """Free-form data as a typed value where it fits, else absent.

    Args:
        value: the free-form data.
        type_: the type.
        elsewhere: the attributes of a nested object that are in other places beside the free-form data. They may be
            missing in it, and are left out of the object.
    """
    data = b"null" if value is None else value
    if elsewhere:
        return _but_elsewhere(bytes(data), type_, elsewhere)
    try:
        if any(each in bytes(data) for each in _OWN):
            return _from_odd_form(bytes(data), type_)
        return decoder(type_).decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return ABSENT


def known_part(value: FreeForm, type_: Any, *elsewhere: str) -> Any:
    """What of free-form data a type knows, as a typed value; absent where that does not fit.

    Args:
        value: the free-form data.
        type_: the type.
        elsewhere: the attributes of a nested object that are left out of it.
    """
    read = read_leniently(bytes(value), type_, _KNOWN, stored=False)
    return ABSENT if read.findings else without_attributes(read.value, elsewhere)


def _but_elsewhere(data: bytes, type_: Any, elsewhere: tuple[str, ...]) -> Any:
    """Like `from_free_form`, of an object that may lack some attributes, and is left without them."""
    read = read_leniently(data, type_, Lenience(missing=True), stored=False)
    if read.findings:
        return ABSENT
    if not isinstance(read.value, GeneratedObject):
        return read.value
    missing = {member_path("$", wire_name(type(read.value), each)) for each in elsewhere}
    if any(each.path not in missing for each in read.tolerated):
        return ABSENT
    return without_attributes(read.value, elsewhere)


_KNOWN = Lenience(missing=True, unknown="prune")
_OWN = (b"$propertyBag", b"$writtenWith", b"$unknown", b"$additional", b"\\u0024")
"""What names something that is no property in an object, its `$` escaped or not."""


def _from_odd_form(data: bytes, type_: Any) -> Any:
    """Like `from_free_form`, of data that may have members called like something of an object's own."""
    found, findings = read_value(data, type_, strict=True, stored=False)
    return ABSENT if findings else found


def has_text(value: Any, *texts: str) -> bool:
    """Whether a property has a text that distinguishes a variant; ignores letter case, accepts an absent property."""
    if isinstance(value, str):
        return value.casefold() in {text.casefold() for text in texts}
    return value is ABSENT


def to_enum(value: str, own: Mapping[str, str], partly: Mapping[str, str] | None = None) -> Any:
    """Text in the enum's own letter case; unknown text stays.

    Args:
        value: the text.
        own: the enum's values by their case-folded form; those that it spells in two ways also as they are.
        partly: values that only some versions spell so; one in another letter case becomes absent.
    """
    if partly is not None and partly.get(value.casefold(), value) != value:
        return ABSENT
    found = own.get(value)
    return own.get(value.casefold(), value) if found is None else found


def map_text(value: Value, values: Mapping[str, str]) -> Value | str:
    """A configured value's counterpart; any other value, an absent one too, stays."""
    return values.get(value, value) if isinstance(value, str) else value


def present(values: Iterable[Value | Absent], items: Any = None) -> list[Value]:
    """The elements of a list that are not absent.

    Args:
        values: the elements.
        items: the list that they are converted from, one by one.
    """
    if isinstance(items, Wrapped):
        return WrappedAmongOthers(value for value in values if value is not ABSENT)
    if not is_placing(items):
        return [value for value in values if value is not ABSENT]
    found = [(place, value) for place, value in enumerate(values) if value is not ABSENT]
    return placed([value for _, value in found], [place for place, _ in found], items)


def present_members(members: Iterable[tuple[str, Value | Absent]]) -> dict[str, Value]:
    """The members of a map whose values are not absent."""
    return {name: value for name, value in members if value is not ABSENT}


def through(value: Any, *steps: Callable[[Any], Any]) -> Any:
    """A value after some steps; what is absent stays absent."""
    for step in steps:
        if value is ABSENT:
            return ABSENT
        value = step(value)
    return value


def take_named(members: Mapping[str, Value] | Absent, name: str) -> Value | Absent:
    """One of the additional properties of an object, by its name."""
    return ABSENT if members is ABSENT else members.get(name, ABSENT)


def other_members(members: Mapping[str, Value] | Absent, names: tuple[str, ...]) -> Any:
    """The additional properties of an object but some; absent where none is left."""
    if members is ABSENT or not any(name in members for name in names):
        return members
    return {name: value for name, value in members.items() if name not in names} or ABSENT


def with_named(
    members: Mapping[str, Any] | Absent,
    *named: tuple[str, Any],
    like: Mapping[str, Any] | Absent = ABSENT,
) -> Any:
    """Additional properties with others that are there; absent where there is none at all.

    Args:
        members: the additional properties.
        named: the others by their names.
        like: additional properties whose order all these have; what is not among them comes behind.
    """
    added = {name: value for name, value in named if value is not ABSENT}
    if not added:
        return members
    found = added if members is ABSENT else {**members, **added}
    return (
        found if like is ABSENT else {name: found[name] for name in like if name in found} | found
    )


class Wrapped(list[Value]):
    """A list of one that stands for the first element of a stored list."""


class WrappedAmongOthers(Wrapped[Value]):
    """One that was converted further, to a version whose lists may have elements that the one with the single value lacks."""


def single(values: Any) -> Any:
    """The first element of a list, else absent."""
    return values[0] if isinstance(values, list) and values else ABSENT


def present_or_none(value: Value | Absent) -> Value | None:
    """A value, or None where it is absent."""
    return None if value is ABSENT else value
