"""Documents: where places are in them, and writing them with nothing left out."""

import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from trundle.errors import expectation
from trundle.runtime._by_class import once
from trundle.runtime._class_fields import fields_of
from trundle.runtime._errors import ConversionError
from trundle.runtime._objects import ABSENT, ADDITIONAL, BAG, UNKNOWN, GeneratedObject

MARKS = ("property_bag", "written_with")
"""Attributes that only stored documents have; others may have properties under their names in documents."""

OTHERS = ("unknown", "additional_properties")
"""Attributes whose members are among an object's own in documents."""


@once
def own_names(class_: Any) -> tuple[str, ...]:
    """What stored objects of a class have that no property is: under which names in documents."""
    if "property_bag" not in class_.__struct_fields__:
        return ()
    held = (each for each in (*MARKS, "unknown") if each in class_.__struct_fields__)
    return tuple(wire_name(class_, each) for each in held)


def is_bag(name: str) -> bool:
    """Whether a property is a bag; its name has more `$` where a property has the name of a bag."""
    return name.startswith("$") and f"${name.lstrip('$')}" == BAG


def declares(class_: Any, name: str) -> bool:
    """Whether a name in a document is one that a class has a property for, so that it cannot be an unknown one."""
    if is_bag(name):
        return False
    return "additional_properties" in class_.__struct_fields__ or name in _declared(class_)


@once
def _declared(class_: Any) -> frozenset[str]:
    apart = (*MARKS, *OTHERS)
    names = zip(class_.__struct_fields__, class_.__struct_encode_fields__, strict=True)
    tag = class_.__struct_config__.tag_field
    return frozenset(encoded for name, encoded in names if name not in apart) | {tag}


def names_twice(value: GeneratedObject) -> list[str]:
    """The names that both a property of an object and an additional one have."""
    additional = getattr(value, "additional_properties", ABSENT)
    return [] if additional is ABSENT else sorted(_declared(type(value)) & additional.keys())


def has_additional(class_: Any) -> bool:
    """Whether objects of a class, or within them, may have additional properties."""
    waiting, seen = [class_], set()
    for type_ in waiting:
        waiting.extend(typing.get_args(type_))
        if type_ in seen or not (isinstance(type_, type) and issubclass(type_, GeneratedObject)):
            continue
        seen.add(type_)
        fields = fields_of(type_)
        if any(each.name == "additional_properties" for each in fields):
            return True
        waiting.extend(each.type for each in fields)
    return False


def wire_name(class_: Any, attribute: str) -> str:
    """The name of an attribute in documents."""
    place = class_.__struct_fields__.index(attribute)
    name: str = class_.__struct_encode_fields__[place]
    return name


def stored_name(name: str, own: tuple[str, ...]) -> str:
    """How a property that no class declares is spelt in a stored object.

    One that is spelt as something of the store's own, with any number of `$` before it, gets one more.
    """
    return f"${name}" if any(_spelt_like(name, each) for each in own) else name


def plain_name(name: str, own: tuple[str, ...]) -> str:
    """The property that is spelt like this in a stored object."""
    return name[1:] if any(_spelt_like(name, each) for each in own) else name


def _spelt_like(name: str, own: str) -> bool:
    return name.endswith(own) and not name.removesuffix(own).strip("$")


def member_path(path: str, name: str) -> str:
    """JSON path of a member of an object."""
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{_quoted(name)}]"


def _quoted(name: str) -> str:
    return msgspec.json.encode(name).decode()


def kept_apart(data: bytes, place: int) -> bool:
    """Whether a document has what objects keep apart, at its first `$` or after; that is found at once."""
    return place >= 0 and (data.find(_UNKNOWN, place) >= 0 or data.find(_ADDITIONAL, place) >= 0)


def may_hold_unknown(data: bytes) -> bool:
    """Like `may_be_kept_apart`, of an object no class of which has additional properties."""
    place = data.find(b"$")
    return (place >= 0 and data.find(_UNKNOWN, place) >= 0) or (b"\\" in data and _ESCAPED in data)


_UNKNOWN, _ADDITIONAL = UNKNOWN.encode(), ADDITIONAL.encode()
_ESCAPED = b"\\u0024"


def may_be_kept_apart(data: bytes) -> bool:
    """Whether a document may have what objects keep apart, with its `$` escaped or not."""
    return kept_apart(data, data.find(b"$")) or (b"\\" in data and _ESCAPED in data)


def write_value(value: Any, *, stored: bool = True) -> bytes:
    """The compact JSON of a value, with unknown and additional properties in their places.

    Args:
        value: an object, or a list or map of some.
        stored: whether objects of storage classes are written as a store keeps them.
    """
    data = msgspec.json.encode(value)
    return (
        msgspec.json.encode(_tree(value, stored=stored))
        if kept_apart(data, data.find(b"$"))
        else data
    )


def same_content(one: Any, other: Any) -> bool:
    """Whether two values say the same as JSON, whatever the order of their members and the white space."""
    if msgspec.json.encode(one) == msgspec.json.encode(other):
        return True
    try:
        return _in_order(write_value(one)) == _in_order(write_value(other))
    except msgspec.DecodeError:
        return False


def _in_order(data: bytes) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(data), order="sorted")


def without_bags(value: Any) -> Any:
    """A value as other versions may see it: what its bags hold is for those who stashed it."""
    if isinstance(value, GeneratedObject):
        members = {
            name: ABSENT if name == "property_bag" else without_bags(getattr(value, name))
            for name in value.__struct_fields__
        }
        return type(value)(**members)
    if isinstance(value, list):
        return [without_bags(item) for item in value]
    if isinstance(value, dict):
        return {name: without_bags(item) for name, item in value.items()}
    return value


def _tree(value: Any, *, stored: bool) -> Any:
    """A value with its objects as maps of all their members, as JSON has them."""
    if isinstance(value, GeneratedObject):
        members = _object_members(value, stored=stored)
        return {name: _tree(each, stored=stored) for name, each in members}
    if isinstance(value, dict):
        return {name: _tree(each, stored=stored) for name, each in value.items()}
    if isinstance(value, list):
        return [_tree(each, stored=stored) for each in value]
    return value


def _object_members(value: GeneratedObject, *, stored: bool) -> Iterator[tuple[str, Any]]:
    config = value.__struct_config__
    if config.tag is not None and config.tag_field is not None:
        yield config.tag_field, config.tag
    others: dict[str, Any] = {}
    apart: dict[str, Any] = {}
    class_ = type(value)
    own = own_names(class_) if stored else ()
    for name, encoded in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        member = getattr(value, name)
        if member is ABSENT:
            continue
        if name == "unknown":
            others.update((each, member[each]) for each in member if not declares(class_, each))
            if encoded in own:
                apart = {each: member[each] for each in member if declares(class_, each)}
        elif name in OTHERS:
            if twice := names_twice(value):
                reason = expectation(
                    f"additional properties of {class_.__name__} under names of their own",
                    f"{twice[0]!r}, which is a property",
                    "set the property",
                )
                raise ConversionError(reason)
            others.update(member)
        else:
            yield encoded, member
    for name, member in others.items():
        yield stored_name(name, own), member
    if apart:
        yield wire_name(class_, "unknown"), apart


def find_path(root: Any, wanted: object) -> str | None:
    """JSON path of an object within another; None where it is not there."""
    waiting: list[tuple[Any, str]] = [(root, "$")]
    while waiting:
        value, path = waiting.pop()
        if value is wanted:
            return path
        if isinstance(value, GeneratedObject):
            names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            waiting.extend(
                (getattr(value, name), member_path(path, encoded)) for name, encoded in names
            )
        elif isinstance(value, dict):
            waiting.extend((member, member_path(path, str(name))) for name, member in value.items())
        elif isinstance(value, list):
            waiting.extend((item, f"{path}[{place}]") for place, item in enumerate(value))
    return None
