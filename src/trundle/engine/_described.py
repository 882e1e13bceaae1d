"""How messages name the values of expressions."""

from collections.abc import Iterable, Mapping
from typing import Any

from trundle.engine._scene import ObjectValue, TypeValue
from trundle.errors import shortened, shown


def described(value: Any) -> str:
    """What a value is, in the words of a message: in few of them, and without going through it."""
    match value:
        case ObjectValue():
            return f"the object {shortened(value.id)}"
        case TypeValue():
            return f"the type {value.name}"
        case Mapping():
            return "a map"
        case Iterable() if not isinstance(value, str | bytes):
            return "a list"
    return shown(value)
