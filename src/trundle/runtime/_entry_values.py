"""Values of entries as what they are merged with: their JSON is read with the classes that the other values have."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from trundle.runtime._documents import write_value
from trundle.runtime._json import decoder, encode
from trundle.runtime._objects import ABSENT, UNKNOWN, GeneratedObject
from trundle.runtime._unmarked import without_marks
from trundle.runtime._validation import read_value

_HOLDS_UNKNOWN = f'{UNKNOWN}":{{"'.encode()


def read_like(known: msgspec.Raw, *values: Any) -> Any:
    """An entry's JSON read with the classes of the values that it meets; None where it is of another kind.

    An element of a list or map that is of none of these classes stays JSON, as no code here can see it, and so
    does free-form data, whose spelling is its own.
    """
    first = next((each for each in reversed(values) if each is not ABSENT), None)
    if isinstance(first, GeneratedObject):
        return _read_object(known, type(first))
    try:
        kind = decoder(list[msgspec.Raw] if isinstance(first, list) else dict[str, msgspec.Raw])
        parts = kind.decode(known)
    except msgspec.ValidationError:
        return None
    types = dict.fromkeys(type(item) for each in values for item in _items(each))
    classes = [each for each in types if issubclass(each, GeneratedObject)]
    plain = not classes and any(each is not msgspec.Raw for each in types)
    if isinstance(parts, dict):
        return {name: _read_part(part, classes, plain=plain) for name, part in parts.items()}
    return [_read_part(part, classes, plain=plain) for part in parts]


def _read_object(known: msgspec.Raw, class_: type[Any]) -> Any:
    """An object of a class; what a later release keeps in it is unknown there, and stays. None where it is no such object."""
    try:
        return decoder(class_).decode(known)
    except msgspec.ValidationError:
        if not _has_tag(known, class_):
            return None
        value, findings = read_value(bytes(known), class_, strict=False)
        return None if findings else value


def _has_tag(known: msgspec.Raw, class_: type[Any]) -> bool:
    """Whether JSON is an object with the text that distinguishes a class from other variants."""
    config = class_.__struct_config__
    try:
        members = decoder(dict[str, msgspec.Raw]).decode(known)
    except msgspec.ValidationError:
        return False
    tag = members.get(config.tag_field) if config.tag_field else None
    return config.tag_field is None or (tag is not None and msgspec.json.decode(tag) == config.tag)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _read_part(part: msgspec.Raw, classes: Sequence[Any], *, plain: bool) -> Any:
    for class_ in classes:
        try:
            return decoder(class_).decode(part)
        except msgspec.ValidationError:
            continue
    for class_ in classes:
        found = _read_object(part, class_)
        if found is not None:
            return found
    if not classes and not plain:
        return part
    try:
        return decoder(dict[str, msgspec.Raw]).decode(part)
    except msgspec.ValidationError:
        return msgspec.json.decode(part) if plain else part


def as_json(value: Any) -> Any:
    """A merged value, as JSON where some of it stayed plain or unknown: each release reads it with its own type."""
    plain = any(isinstance(item, dict | msgspec.Raw) for item in _items(value))
    if plain or (value is not ABSENT and _HOLDS_UNKNOWN in encode(value)):
        without_marks(value)
        return msgspec.Raw(write_value(value))
    return value
