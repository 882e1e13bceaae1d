"""What an API object shows where a required property has no value."""

from collections.abc import Mapping
from typing import Any, assert_never

from trundle.evolution._changes import TypeChanges
from trundle.evolution._declared import Declared
from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.schema import (
    ABSENT,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Union,
)
from trundle.version import ApiVersion

_RESTRICTING = frozenset(
    {
        "const",
        "contains",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "not",
        "pattern",
    }
)
_COMPOSING = frozenset(
    {"allOf", "anyOf", "dependentSchemas", "if", "not", "oneOf", "x-kubernetes-validations"}
)
"""What may refuse an object that has its required properties alone."""


def default_of(lineage: Lineage, place: Place, changes: TypeChanges | None) -> Any:
    """The configured default, the schema's, else the type's zero value where that is valid.

    Returns plain JSON, or `ABSENT` where the property is optional or nothing fits.
    """
    zeros = _Zeros(lineage.evolution, place.version)
    return zeros.of_property(lineage.property(place), changes, ())


def required_values(
    evolution: Declared, version: ApiVersion, definition: ObjectType
) -> Mapping[str, Any]:
    """What objects of a type in which no version changes anything show of what they require, by property, as plain JSON."""
    zeros = _Zeros(evolution, version)
    shown = {
        each.name: zeros.of_property(each, None, ())
        for each in definition.properties
        if each.required and each.name != definition.tag
    }
    return {name: value for name, value in shown.items() if value is not ABSENT}


class _Zeros:
    """The zero values of one version's types."""

    def __init__(self, evolution: Declared, version: ApiVersion) -> None:
        self._evolution = evolution
        self._version = version
        self._definitions = evolution.schema(version).definitions

    def of_property(
        self, declared: Property, changes: TypeChanges | None, trail: tuple[str, ...]
    ) -> Any:
        if changes is not None and declared.name in changes.default:
            return changes.default[declared.name]
        if not declared.required:
            return ABSENT
        if declared.default is not ABSENT:
            return declared.default
        found = self._definition(declared)
        if found is None:
            return zero_value(declared)
        key, definition = found
        limits = dict(declared.constraints)
        if key in trail or _COMPOSING & limits.keys():
            return ABSENT
        value = self._of_object(definition, (*trail, key))
        return value if value is ABSENT or len(value) >= limits.get("minProperties", 0) else ABSENT

    def _definition(self, declared: Property) -> tuple[str, ObjectType] | None:
        """The object that a property's type is."""
        if not isinstance(declared.type, Ref):
            return None
        found = self._definitions[declared.type.key]
        return (declared.type.key, found) if isinstance(found, ObjectType) else None

    def _of_object(self, definition: ObjectType, trail: tuple[str, ...]) -> Any:
        """An object with its required properties at theirs; absent where one of them has none.

        What contains itself has no end, and a resource inside another is not made of nothing.
        """
        limits = dict(definition.constraints)
        if definition.embedded or definition.tag is not None or _COMPOSING & limits.keys():
            return ABSENT
        changes = self._evolution.changes(self._version, definition.name)
        found = {}
        for each in definition.properties:
            value = self.of_property(each, changes, trail)
            if value is not ABSENT:
                found[each.name] = value
            elif each.required:
                return ABSENT
        return found if len(found) >= limits.get("minProperties", 0) else ABSENT


def zero_value(declared: Property) -> Any:
    """The zero value of a property's type where validation admits it, else `ABSENT`; objects have none here."""
    limits = dict(declared.constraints)
    if limits.keys() & _RESTRICTING:
        return ABSENT
    match declared.type:
        case Nullable():
            return None
        case Scalar("string", format=None):
            return "" if not limits.get("minLength") else ABSENT
        case Scalar("integer" | "number"):
            low, high = limits.get("minimum", 0), limits.get("maximum", 0)
            return 0 if low <= 0 <= high else ABSENT
        case Scalar("boolean"):
            return False
        case ListOf():
            return [] if not limits.get("minItems") else ABSENT
        case MapOf() | FreeForm():
            return {} if not limits.get("minProperties") else ABSENT
        case Scalar() | Ref() | Union():
            return ABSENT
        case _:
            assert_never(declared.type)
