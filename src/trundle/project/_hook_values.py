"""Values as hooks of packages see them: an object is its id, whether it stands there or elsewhere.

In plans an object in a property is a reference, a map with its id that says whether the object stands there. A method of a package gets the id and may
give it back at another place, in a list or in a map; the object itself is carried by its own class.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from trundle.engine.schemas import OWNED, referred_class
from trundle.schema import ListOf, MapOf, Nullable, ObjectType, Ref, Schema, Type, Union

_ID = "id"


class HookValue(msgspec.Struct, frozen=True):
    """The type of a value that a hook gets or gives.

    Attributes:
        type: the type.
        schema: the schema that it is of.
    """

    type: Type
    schema: Schema


class References:
    """The references of one call: what a hook gives back is as it was given."""

    def __init__(self) -> None:
        self._known: dict[str, list[Any]] = {}

    def as_ids(self, value: Any, of: HookValue) -> Any:
        """A value of a plan with ids in place of references."""
        return _replaced(value, of.type, of.schema, self._id_of)

    def with_references(self, value: Any, of: HookValue) -> Any:
        """A value that a hook gives with references in place of ids."""
        return _replaced(value, of.type, of.schema, self._reference_to)

    def _id_of(self, value: Any) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get(_ID), str):
            return None
        self._known.setdefault(value[_ID], []).append(value)
        return value[_ID]

    def _reference_to(self, value: Any) -> Any:
        """The next reference with an id; one to an object elsewhere where all of them are given back."""
        if not isinstance(value, str):
            return value
        left = self._known.get(value)
        return left.pop(0) if left else {OWNED: False, _ID: value}


def _replaced(value: Any, type_: Type, schema: Schema, replace: Any) -> Any:
    """A value of a type with its references replaced; what does not fit the type stays."""
    match type_:
        case Nullable(inner) if value is not None:
            return _replaced(value, inner, schema, replace)
        case ListOf(items) if isinstance(value, list):
            return [_replaced(each, items, schema, replace) for each in value]
        case MapOf(values) if isinstance(value, Mapping):
            return {name: _replaced(each, values, schema, replace) for name, each in value.items()}
        case Ref(key) if isinstance(definition := schema.definitions[key], ObjectType):
            if referred_class(definition) is not None:
                return replace(value)
            if not isinstance(value, Mapping):
                return value
            return _members_replaced(value, definition, schema, replace)
        case Union(variants):
            for each in variants:
                if (found := _replaced(value, each, schema, replace)) != value:
                    return found
    return value


def _members_replaced(
    value: Mapping[str, Any], definition: ObjectType, schema: Schema, replace: Any
) -> dict[str, Any]:
    found = {}
    for name, each in value.items():
        declared = definition.property(name)
        type_ = definition.additional if declared is None else declared.type
        found[name] = each if type_ is None else _replaced(each, type_, schema, replace)
    return found
