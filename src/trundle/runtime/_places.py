"""What is at a path of nested objects."""

from typing import Any

import msgspec

from trundle.runtime._matching import attributes_of
from trundle.runtime._objects import ABSENT, GeneratedObject, Made


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    """A property of an object or of one inside of it; absent where there is none."""
    for name in path:
        attribute = attribute_of(value, name)
        value = ABSENT if attribute is None else getattr(value, attribute)
    return value if path else ABSENT


def set_value(result: Any, path: tuple[str, ...], value: Any) -> None:
    """Sets a property of an object that is there, on copies of the objects that hold it."""
    attribute = attribute_of(result, path[0])
    assert attribute is not None
    if len(path) > 1:
        inner = msgspec.structs.replace(getattr(result, attribute))
        set_value(inner, path[1:], value)
        value = inner
    setattr(result, attribute, value)


def attribute_of(value: Any, name: str) -> str | None:
    """The attribute of an object for a property; None where it has none, or is no object."""
    if not isinstance(value, GeneratedObject):
        return None
    return attributes_of(type(value)).get(name)


def holds_object(value: Any, path: tuple[str, ...]) -> bool:
    """Whether an object has a nested one that its writer has, too."""
    found = value_at(value, path)
    return isinstance(found, GeneratedObject) and type(found.unknown) is not Made
