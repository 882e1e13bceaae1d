"""What changed within one API version from one release to the next: what clients of it write and read.

Both releases have the same API version, so its two shapes are compared as two versions that follow each other. Whether a value
of one type fits another is asked of the conversion between them, by which objects convert as well.
"""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

import msgspec

from trundle.evolution import ADDITIONAL, Evolution, Lineage, Place
from trundle.evolution.conversions import (
    ByVariant,
    CallHook,
    Conversion,
    ConvertObject,
    ConvertScalar,
    EachItem,
    EachValue,
    EnumText,
    Keyed,
    MapValues,
    Narrow,
    NullFits,
    Same,
    Unwrap,
    Wrap,
    exact,
)
from trundle.packages import ChangeCode, ReleaseChange, judged, major, minor
from trundle.report import lineages, spell
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    Property,
    Ref,
    Resource,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.version import ApiVersion

_BEFORE, _NOW = ApiVersion.parse("v1"), ApiVersion.parse("v2")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def contract_changes(before: Schema, now: Schema) -> Iterator[ReleaseChange]:
    """What clients of an API version that both releases have can notice; resource types that only one has are left out."""
    common = {each.name.casefold() for each in before.resources}
    common &= {each.name.casefold() for each in now.resources}
    evolution = Evolution((_as(before, _BEFORE, common), _as(now, _NOW, common)))
    groups, groups_now = _groups(before), _groups(now)
    for resource in evolution.resources:
        one, other = resource.resources[_BEFORE], resource.resources[_NOW]
        place = f"{resource.name} in {now.version}"
        was, is_ = (each[resource.name.casefold()] for each in (groups, groups_now))
        if was != is_:
            text = f"its API group {was or 'none'} is now {is_ or 'none'}"
            yield major(ChangeCode.GROUP, place, text)
        if one.scope != other.scope:
            text = f"its scope {one.scope or 'none'} is now {other.scope or 'none'}"
            yield major(ChangeCode.SCOPE, place, text)
        if {one.status_apart, other.status_apart} == {True, False}:
            text = "a subresource" if other.status_apart else "written with the object"
            yield major(ChangeCode.STATUS, place, f"its status is now {text}")
        yield from _scale_changes(one, other, place)
    for lineage in lineages(evolution, (_BEFORE, _NOW)):
        yield from _type_changes(lineage, str(now.version))


def _scale_changes(before: Resource, now: Resource, place: str) -> Iterator[ReleaseChange]:
    if before.scaling == now.scaling:
        return
    if before.scaling is None:
        yield minor(ChangeCode.SCALE, place, "it now has the subresource scale")
    elif now.scaling is None:
        yield major(ChangeCode.SCALE, place, "it no longer has the subresource scale")
    else:
        yield major(ChangeCode.SCALE, place, "its subresource scale is now about other properties")


def _groups(schema: Schema) -> Mapping[str, str]:
    return {each.name.casefold(): each.group for each in schema.resources}


def _as(schema: Schema, version: ApiVersion, names: set[str]) -> Schema:
    """A schema as another version, with some of its resource types, which are the same ones in whatever group."""
    resources = tuple(
        msgspec.structs.replace(each, hub=False, kept=False, group="")
        for each in schema.resources
        if each.name.casefold() in names
    )
    return msgspec.structs.replace(schema, version=version, resources=resources)


def _type_changes(lineage: Lineage, version: str) -> Iterator[ReleaseChange]:
    name = lineage.definition(_NOW).name
    ours, theirs = set(lineage.names(_BEFORE)), set(lineage.names(_NOW))

    def called(property_name: str) -> str:
        spoken = "further properties" if property_name == ADDITIONAL else property_name
        return f"{name}.{spoken} in {version}"

    for each in sorted(ours - theirs):
        yield major(ChangeCode.PROPERTY_REMOVED, called(each), "the property is removed")
    for each in sorted(theirs - ours):
        if lineage.property(Place(_NOW, each)).required:
            yield major(ChangeCode.REQUIRED, called(each), "the property is new, and required")
        else:
            yield minor(ChangeCode.PROPERTY_ADDED, called(each), "the property is new")
    links = {each.older: each for each in lineage.links if each.older.version == _BEFORE}
    for each in sorted(ours & theirs):
        link = links.get(Place(_BEFORE, each))
        conversion: Conversion | None = Same() if link is None else link.conversion
        yield from _property_changes(lineage, each, conversion, called(each))


def _property_changes(
    lineage: Lineage, name: str, conversion: Conversion | None, place: str
) -> Iterator[ReleaseChange]:
    before, now = Place(_BEFORE, name), Place(_NOW, name)
    one, other = lineage.property(before), lineage.property(now)
    if other.required and not one.required:
        yield major(ChangeCode.REQUIRED, place, "the property is required now")
    if one.required and not other.required:
        yield minor(ChangeCode.OPTIONAL, place, "the property is optional now")
    yield from _fit_changes(lineage, (before, now), conversion, place)
    yield from _value_changes(lineage, (before, now), place)
    yield from _constraint_changes(one, other, place)
    if one.default != other.default:
        was, is_ = ("none" if x is ABSENT else repr(x) for x in (one.default, other.default))
        yield judged(ChangeCode.DEFAULT_CHANGED, place, f"its default {was} is now {is_}")


def _fit_changes(
    lineage: Lineage, places: tuple[Place, Place], conversion: Conversion | None, place: str
) -> Iterator[ReleaseChange]:
    """How far what was valid still is, and what is valid now was."""
    one, other = (lineage.type(each) for each in places)
    schemas = (lineage.evolution.schema(_BEFORE), lineage.evolution.schema(_NOW))
    was, is_ = (spell(each, schema) for each, schema in zip((one, other), schemas, strict=True))
    text = f"its type {was} is now {is_}"
    if conversion is None:
        yield major(ChangeCode.TYPE_CHANGED, place, text)
        return
    nulls = isinstance(one, Nullable), isinstance(other, Nullable)
    kinds, kinds_before = (dict(lineage.property(each).constraints) for each in places[::-1])
    fits = (
        admits(conversion, up=True)
        and nulls != (True, False)
        and _has_kinds(one, schemas[0], other, kinds)
    )
    fitted = (
        admits(conversion, up=False)
        and nulls != (False, True)
        and _has_kinds(other, schemas[1], one, kinds_before)
    )
    if not fits:
        yield major(ChangeCode.NARROWED, place, text)
    elif not fitted:
        yield minor(ChangeCode.WIDENED, place, text)


def admits(conversion: Conversion, *, up: bool) -> bool:
    """Whether each value of one side is valid on the other; values of enums apart.

    `up` is the way from the older side to the newer.
    """
    match conversion:
        case EachItem(inner) | EachValue(inner):
            return admits(inner, up=up)
        case NullFits(inner, older, newer):
            return admits(inner, up=up) and (newer if up else older)
        case ByVariant(older, newer, variants):
            fitting = [each for each in variants if (each.up if up else each.down)]
            covered = {each.older if up else each.newer for each in fitting}
            return len(covered) == len(older if up else newer) and all(
                admits(each.conversion, up=up) for each in variants
            )
        case EnumText():
            return True
        case Same() | ConvertObject() | Narrow():
            return exact(conversion, up=up)
        case MapValues() | Wrap() | Unwrap() | ConvertScalar() | Keyed() | CallHook():
            return False  # rules and hooks make these, and there are none within one API version
        case _:
            assert_never(conversion)


def _has_kinds(type_: Type, schema: Schema, other: Type, constraints: Mapping[str, Any]) -> bool:
    """Whether values of a type have the JSON types that another type's free-form values are limited to, in lists and maps, too."""
    match type_, other:
        case Nullable(inner), _:
            return _has_kinds(inner, schema, other, constraints)
        case _, Nullable(inner):
            return _has_kinds(type_, schema, inner, constraints)
        case FreeForm(), FreeForm():
            return True  # That is a change of a keyword.
        case _, FreeForm():
            limits = constraints.get("type")
            named = {limits} if isinstance(limits, str) else set(limits or ())
            wider = {"integer"} if "number" in named else set()
            return not named or _json_types(type_, schema) <= named | wider
        case (ListOf(inner), ListOf(outer)) | (MapOf(inner), MapOf(outer)):
            keyword = "items" if isinstance(type_, ListOf) else "additionalProperties"
            limits = constraints.get(keyword)
            return _has_kinds(inner, schema, outer, limits if isinstance(limits, dict) else {})
        case _:
            return True


def _json_types(type_: Type, schema: Schema) -> frozenset[str]:
    """The JSON types of a type's values, null apart."""
    match type_:
        case FreeForm():
            return frozenset({"array", "boolean", "integer", "number", "object", "string"})
        case Nullable(inner):
            return _json_types(inner, schema)
        case Scalar(kind):
            return frozenset({kind})
        case ListOf():
            return frozenset({"array"})
        case MapOf():
            return frozenset({"object"})
        case Union(variants):
            return frozenset().union(*(_json_types(each, schema) for each in variants))
        case Ref(key):
            definition = schema.definitions[key]
            return frozenset({definition.kind if isinstance(definition, EnumType) else "object"})
        case _:
            assert_never(type_)


def _value_changes(
    lineage: Lineage, places: tuple[Place, Place], place: str
) -> Iterator[ReleaseChange]:
    """Values of enums that are new or gone, also where an enum is now plain text or was."""
    one, other = (_values(lineage, each) for each in places)
    if one is None and other is not None:
        text = f"only {_listed(other)} are valid now"
        yield major(ChangeCode.NARROWED, place, text)
    if one is not None and other is None:
        yield minor(ChangeCode.WIDENED, place, "any value is valid now")
    if one is None or other is None:
        return
    if gone := [each for each in one if each not in other]:
        yield major(ChangeCode.VALUE_REMOVED, place, f"the values {_listed(gone)} are removed")
    if new := [each for each in other if each not in one]:
        yield minor(ChangeCode.VALUE_ADDED, place, f"the values {_listed(new)} are new")


def _listed(values: list[Any] | tuple[Any, ...]) -> str:
    return ", ".join(str(each) for each in values)


def _values(lineage: Lineage, place: Place) -> tuple[Any, ...] | None:
    """The values that a place admits, in it or in its list or map; None where they are not listed."""
    return _values_of(lineage.type(place), lineage.evolution.schema(place.version))


def _values_of(type_: Type, schema: Schema) -> tuple[Any, ...] | None:
    match type_:
        case Nullable(inner) | ListOf(inner) | MapOf(inner):
            return _values_of(inner, schema)
        case Ref(key):
            definition = schema.definitions[key]
            return definition.values if isinstance(definition, EnumType) else None
        case _:
            return None


def _constraint_changes(one: Property, other: Property, place: str) -> Iterator[ReleaseChange]:
    """Validation keywords that admit less, more, or something else."""
    before, now = dict(one.constraints), dict(other.constraints)
    if one.type != other.type:  # What becomes of free-form values is a change of the type.
        before, now = _without_types(before), _without_types(now)
    for keyword in sorted(before.keys() | now.keys()):
        was, is_ = before.get(keyword), now.get(keyword)
        if was == is_:
            continue
        text = f"its {keyword} {'none' if was is None else was} is now {'none' if is_ is None else is_}"
        if is_ is None or _looser(keyword, was, is_):
            yield minor(ChangeCode.CONSTRAINT_WIDENED, place, text)
        elif was is None or _looser(keyword, is_, was):
            yield major(ChangeCode.CONSTRAINT_NARROWED, place, text)
        else:
            yield judged(ChangeCode.CONSTRAINT_CHANGED, place, text)


def _without_types(constraints: Mapping[str, Any]) -> dict[str, Any]:
    """Validation keywords without the `type` of free-form values, in lists and maps neither."""
    found = {key: value for key, value in constraints.items() if key != "type"}
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = _without_types(found[key])
    return {key: value for key, value in found.items() if value != {}}


def _looser(keyword: str, was: Any, is_: Any) -> bool:
    """Whether a bound admits more than it did."""
    if not all(isinstance(each, int | float) and not isinstance(each, bool) for each in (was, is_)):
        return False
    return bool((keyword in _LOWER and is_ < was) or (keyword in _UPPER and is_ > was))
