"""Objects of a model one by one: what stands in one of them is a mark that stands for the other.

A mark is a map with `?`, which no value can be, for `?` has a header in models.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from trundle.engine import referred_class
from trundle.errors import Finding, Place, shown
from trundle.models._errors import ModelCode, ModelError
from trundle.schema import (
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
)

OWNED = "?"
"""The key of a mark: true for an object that stands there, false for the id of one that stands elsewhere."""

CONTENT = "object"
"""The key under which a mark in a bag has the object that stands nowhere else."""

UNKNOWN = "$unknown"
"""Where a nested map has the members that its contract does not name, while it is converted."""

BAG = "$propertyBag"


class Marking:
    """Replaces the objects in the values of one object with marks.

    Args:
        schema: the schema of its class.
        own: takes an object that stands in a value, the class that is meant where the object names none, and its path;
            gives its id.
    """

    def __init__(self, schema: Schema, own: Callable[[Any, str, str], str]) -> None:
        self.schema = schema
        self._own = own

    def value(self, type_: Type, value: Any, path: str) -> Any:
        """A value as it is once it is loaded, with marks.

        Raises:
            ModelError: no value of the type is made of it.
        """
        match type_:
            case Nullable(inner):
                return None if value is None else self.value(inner, value, path)
            case Scalar(kind):
                return _scalar(kind, value, path)
            case ListOf(items):
                listed = value if isinstance(value, list) else [] if value is None else [value]
                return [self.value(items, each, f"{path}[{at}]") for at, each in enumerate(listed)]
            case MapOf(values):
                _expect_map(value, path)
                return {
                    name: self.value(values, each, f"{path}.{name}")
                    for name, each in (value or {}).items()
                }
            case Ref(key):
                definition = self.schema.definitions[key]
                if isinstance(definition, EnumType):
                    return value
                class_name = referred_class(definition)
                if class_name is None:
                    return self.members(definition, value, path)
                return self._reference(class_name, value, path)
            case _:
                return value

    def members(self, definition: ObjectType, value: Any, path: str) -> dict[str, Any]:
        """A map with named keys; the others are kept apart."""
        _expect_map(value, path)
        found: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, each in (value or {}).items():
            declared = definition.property(name)
            if declared is not None:
                found[name] = self.value(declared.type, each, f"{path}.{name}")
            elif definition.additional is not None and name != BAG:
                found[name] = self.value(definition.additional, each, f"{path}.{name}")
            elif name == BAG:
                found[name] = each
            else:
                others[name] = each
        return {**found, UNKNOWN: others} if others else found

    def _reference(self, class_name: str, value: Any, path: str) -> dict[str, Any]:
        if isinstance(value, str):
            return {OWNED: False, "id": value}
        if isinstance(value, Mapping):
            return {OWNED: True, "id": self._own(value, class_name, path)}
        raise unfit(path, "an object or its id", value)


def unfit(path: str, expected: str, found: Any) -> ModelError:
    """The error for a value that does not load; `found` is the value, or what is wrong with it."""
    found = found if isinstance(found, Exception) else shown(found)
    advice = "correct the model; loading and dumping it shows all that is wrong"
    return ModelError([Finding(ModelCode.VALUE, Place(path=path), expected, str(found), advice)])


def is_mark(value: Any) -> bool:
    """Whether a map stands for an object."""
    return isinstance(value, Mapping) and isinstance(value.get(OWNED), bool)


def without_marks(value: Any, owned: Callable[[str], Any]) -> Any:
    """A value with objects and ids where it has marks.

    Args:
        value: the value.
        owned: gives the object that stands where it is marked, by its id.
    """
    if isinstance(value, list):
        return [without_marks(each, owned) for each in value]
    if not isinstance(value, dict):
        return value
    if is_mark(value):
        return owned(value["id"]) if value[OWNED] else value["id"]
    members = {name: each for name, each in value.items() if name != UNKNOWN}
    members |= value.get(UNKNOWN, {})
    return {name: without_marks(each, owned) for name, each in members.items()}


def changed_marks(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A value whose marks of objects that stand in it are changed."""
    if isinstance(value, list):
        return [changed_marks(each, change) for each in value]
    if not isinstance(value, dict):
        return value
    if is_mark(value):
        return change(value) if value[OWNED] else value
    return {name: changed_marks(each, change) for name, each in value.items()}


def id_of_place(path: str) -> str:
    """An id for an object that has none: the same for the same place."""
    return hashlib.blake2b(path.encode(), digest_size=16).hexdigest()


def _scalar(kind: str, value: Any, path: str) -> Any:
    if kind == "boolean":
        return bool(value)
    if kind == "string":
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            return str(value)
        raise unfit(path, "text", value)
    try:
        return int(value)
    except (ValueError, TypeError, OverflowError):
        raise unfit(path, "an integer", value) from None


def _expect_map(value: Any, path: str) -> None:
    if value is not None and not isinstance(value, Mapping):
        raise unfit(path, "a map", value)
    for name in value or {}:
        if not isinstance(name, str):
            raise unfit(path, "a map with texts as keys", name)
