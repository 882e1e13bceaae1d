"""What an API object shows where a required property has no value."""

from typing import Any, assert_never

from trundle.evolution._changes import TypeChanges
from trundle.evolution._lineage import Lineage, Place
from trundle.schema import (
    ABSENT,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    Property,
    Ref,
    Scalar,
    Union,
)

_ZEROS = {"boolean": False, "integer": 0, "number": 0, "string": ""}
_RESTRICTING = frozenset(
    {"const", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "not", "pattern"}
)


def default_of(lineage: Lineage, place: Place, changes: TypeChanges | None) -> Any:
    """The configured default, the schema's, else the type's zero value where that is valid.

    Returns plain JSON, or `ABSENT` where the property is optional or nothing fits.
    """
    if changes is not None and place.property in changes.default:
        return changes.default[place.property]
    declared = lineage.property(place)
    if not declared.required:
        return ABSENT
    if declared.default is not ABSENT:
        return declared.default
    return zero_value(declared)


def zero_value(declared: Property) -> Any:
    """The zero value of a property's type where validation admits it, else `ABSENT`."""
    limits = dict(declared.constraints)
    if limits.keys() & _RESTRICTING:
        return ABSENT
    match declared.type:
        case Nullable():
            return None
        case Scalar("string", format=None):
            return "" if not limits.get("minLength") else ABSENT
        case Scalar("integer" | "number" as kind):
            low, high = limits.get("minimum", 0), limits.get("maximum", 0)
            return _ZEROS[kind] if low <= 0 <= high else ABSENT
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
