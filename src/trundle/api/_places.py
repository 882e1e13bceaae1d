"""The places of a version's schema: what it says of the values at each."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._openapi import definition
from trundle.schema import ObjectType

_METADATA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}
"""What is said of the metadata of objects."""
_HEAD = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": _METADATA,
}
RULES = "x-kubernetes-validations"
"""Where a schema has its rules in CEL."""


class Place:
    """A place of a schema.

    Attributes:
        type: the type of its values, e.g. `object`; empty where there may be any.
        format: the format of its texts; empty where there may be any.
        is_free: whether the schema says nothing of its properties.
        is_map: whether it is a map rather than an object with properties of its own.
        rules: the rules about its values, as the schema writes them.
        keys: by which properties elements of the list are the same as before; empty where they are not compared.
    """

    def __init__(self, schema: Mapping[str, Any], served: ServedVersion) -> None:
        self._served = served
        self._schema = schema
        self._inner: dict[str, Place] = {}
        self.type: str = schema.get("type", "")
        self.rules: Sequence[Mapping[str, Any]] = _rules_of(schema)
        self.format: str = schema.get("format", "")
        self.is_free = "additionalProperties" not in schema and "properties" not in schema
        self.is_map = "additionalProperties" in schema and "properties" not in schema
        keyed = schema.get("x-kubernetes-list-type") == "map"
        self.keys: Sequence[str] = schema.get("x-kubernetes-list-map-keys", ()) if keyed else ()

    def member(self, name: str) -> "Place | None":
        """The place of a property or of a value of a map; None where the schema has none."""
        declared = self._schema.get("properties", {}).get(name)
        if declared is not None:
            return self._at(f".{name}", declared)
        others = self._schema.get("additionalProperties")
        return self._at("*", others) if isinstance(others, Mapping) else None

    def element(self) -> "Place | None":
        """The place of the elements of a list."""
        items = self._schema.get("items")
        return self._at("[]", items) if isinstance(items, Mapping) else None

    def key(self, element: Any) -> Any:
        """What an element of a list with keys is the same by."""
        if not isinstance(element, Mapping):
            return None
        return tuple(repr(element.get(each)) for each in self.keys)

    def _at(self, key: str, schema: Mapping[str, Any]) -> "Place":
        if key not in self._inner:
            self._inner[key] = Place(_expanded(schema, self._served), self._served)
        return self._inner[key]

    def filled(self, value: Any) -> Any:
        """A value with the defaults of the schema, also in place of null where that may not be."""
        if isinstance(value, dict):
            return self._filled_object(value)
        element = self.element() if isinstance(value, list) else None
        return value if element is None else [element.filled(each) for each in value]

    def _filled_object(self, value: Mapping[str, Any]) -> dict[str, Any]:
        places = {name: self.member(name) for name in value}
        found = {
            name: each if (inner := places[name]) is None else inner.filled(each)
            for name, each in value.items()
        }
        for name, declared in self._schema.get("properties", {}).items():
            is_null = found.get(name) is None and not declared.get("nullable")
            if "default" in declared and (name not in found or is_null):
                inner = self.member(name)
                default = copy.deepcopy(declared["default"])
                found[name] = default if inner is None else inner.filled(default)
        return found


def root_of(served: ServedVersion) -> Place:
    """The place of whole objects of a version."""
    schema = definition(served.root, served, lambda each: each)
    return Place({**schema, "properties": {**schema.get("properties", {}), **_HEAD}}, served)


def first_status(kind: ServedKind, served: ServedVersion) -> Any:
    """The status that an object of a version has before any is written; None where it then has none.

    An API server leaves out the status that a client gives a new object, and fills in defaults where it reads what it stored.
    """
    return root_of(served).filled({}).get("status") if kind.keeps_status(served) else None


def _expanded(schema: Mapping[str, Any], served: ServedVersion) -> Mapping[str, Any]:
    """A schema with the definitions that it refers to, and with what it says beside them."""
    found: dict[str, Any] = {}
    for each in (schema, *schema.get("allOf", ())):
        if "$ref" in each:
            found |= definition(each["$ref"], served, lambda key: key)
            known = served.schema.definitions[each["$ref"]]
            if isinstance(known, ObjectType) and known.embedded:
                found["properties"] = {
                    **_HEAD,
                    **found.get("properties", {}),
                    "metadata": _METADATA,
                }
    rules = [*_rules_of(found), *_rules_of(schema)]
    once = [each for place, each in enumerate(rules) if each not in rules[:place]]
    return {**found, **schema, RULES: once}


def _rules_of(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rules in CEL of a schema; `trundle check` notes what is none."""
    found = schema.get(RULES)
    every = found if isinstance(found, list) else []
    return [each for each in every if isinstance(each, dict) and isinstance(each.get("rule"), str)]
