"""Values of entries as what they are merged with: their JSON is read with the classes that the other values have."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from trundle.runtime._documents import write_value
from trundle.runtime._json import decoder
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._unmarked import without_marks


def read_like(known: msgspec.Raw, *values: Any) -> Any:
    """An entry's JSON read with the classes of the values that it meets; None where it is of another kind.

    An element of a list or map that is of none of these classes stays JSON, as no code here can see it, and so
    does free-form data, whose spelling is its own.
    """
    first = next((each for each in reversed(values) if each is not ABSENT), None)
    try:
        if isinstance(first, GeneratedObject):
            return decoder(type(first)).decode(known)
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
    if not classes and not plain:
        return part
    try:
        return decoder(dict[str, msgspec.Raw]).decode(part)
    except msgspec.ValidationError:
        return msgspec.json.decode(part) if plain else part


def as_json(value: Any) -> Any:
    """A merged value, as JSON where some of it stayed plain: each caller reads it with its own type."""
    if any(isinstance(item, dict | msgspec.Raw) for item in _items(value)):
        return msgspec.Raw(write_value(without_marks(value)))
    return value
