"""Maps that are lists of elements with a key on the other side, and what identifies the elements of lists."""

from collections.abc import Iterator, Mapping

from trundle.evolution._changes import NamedConversion
from trundle.evolution._discriminating import Meets
from trundle.evolution._lineage import Lineage, object_pairs
from trundle.evolution._threads import Place
from trundle.evolution._values import End, Mismatch, change_between
from trundle.evolution.conversions import ConvertObject, Keyed, loosens, relate
from trundle.evolution.steps import Chain, NotNull, Optional, ToList, ToMap, Values, ValueStep
from trundle.schema import (
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Schema,
    Type,
)
from trundle.version import ApiVersion

_CONDITION = ("type", "status")
_ABOUT_CONDITIONS = {"lastTransitionTime", "message", "reason", "severity"}


def relate_keyed(
    rule: NamedConversion, types: tuple[Type, Type], schemas: tuple[Schema, Schema], meets: Meets
) -> Keyed | None:
    """How a map and a list with a key convert; None where the two types are not such a pair.

    Args:
        rule: `map-to-list` or `list-to-map`, with the key and perhaps the property that has the value.
        types: the older and the newer type.
        schemas: the schemas that references resolve in.
        meets: whether two named definitions are the same thing.
    """
    map_older = rule.name == "map-to-list"
    map_type, list_type = (_bare(each) for each in (types if map_older else types[::-1]))
    schema = schemas[1 if map_older else 0]
    if not isinstance(map_type, MapOf) or not isinstance(list_type, ListOf):
        return None
    element = _object(list_type.items, schema)
    if element is None or not _is_text(element.property(rule.key), schema):
        return None
    if rule.value:
        member = element.property(rule.value)
        if member is None or rule.value == rule.key:
            return None
        pair = (map_type.values, member.type)
        item = relate(*(pair if map_older else pair[::-1]), schemas, meets)
        if item is None or loosens(item) or any(object_pairs(item)):
            return None  # objects meet beside each other only, never one level deeper
    else:
        values, items = _bare(map_type.values), _bare(list_type.items)
        inner = _object(values, schemas[0 if map_older else 1])
        if inner is None or inner.property(rule.key) is not None:
            return None
        assert isinstance(values, Ref)
        assert isinstance(items, Ref)
        keys = (values.key, items.key)
        item = ConvertObject(*(keys if map_older else keys[::-1]))
    return Keyed(map_older, rule.key, rule.value, item)


def change_keyed(source: End, target: End, conversion: Keyed, *, up: bool) -> ValueStep | Mismatch:
    """The step from the map to the list, or back."""
    to_list = conversion.map_older == up
    maps, lists = (source, target) if to_list else (target, source)
    map_type, list_type = _bare(maps.type), _bare(lists.type)
    assert isinstance(map_type, MapOf)
    assert isinstance(list_type, ListOf)
    items = _bare(list_type.items)
    if conversion.value:
        element = lists.definition(items)
        assert isinstance(element, ObjectType)
        member = element.property(conversion.value)
        assert member is not None
        items = member.type
    ends = (map_type.values, items) if to_list else (items, map_type.values)
    inner = change_between(source, target, *ends)
    if isinstance(inner, Mismatch):
        return inner
    each = () if inner is None else (Values(inner),)
    keyed = (lists.place, lists.shape, conversion.key, conversion.value)
    steps = (*each, ToList(*keyed)) if to_list else (ToMap(*keyed), *each)
    step: ValueStep = steps[0] if len(steps) == 1 else Chain(steps)
    if not isinstance(source.type, Nullable):
        return step
    return Optional(step) if isinstance(target.type, Nullable) else NotNull(step)


def told_keys(lineage: Lineage) -> Iterator[tuple[Lineage, str]]:
    """The types of elements whose key derives from a map of another version, each with the key's property."""
    for link in lineage.links:
        if isinstance(link.conversion, Keyed):
            place = link.newer if link.conversion.map_older else link.older
            for key in lineage.evolution.objects_in(place.version, lineage.type(place)):
                yield lineage.child(place, key), link.conversion.key


def list_keys(lineage: Lineage, version: ApiVersion) -> Mapping[str, tuple[str, ...]]:
    """By property that is a list: the properties that identify an element.

    These are what the schema declares, else the key of a configured `map-to-list` or `list-to-map`, else `type`
    where the elements are conditions.
    """
    schema = lineage.evolution.schema(version)
    configured: dict[int | None, str] = {
        lineage.thread(place).number: link.conversion.key
        for link in lineage.links
        if isinstance(link.conversion, Keyed)
        for place in (link.older, link.newer)
    }
    found = {}
    for each in lineage.definition(version).properties:
        type_ = _bare(each.type)
        if not isinstance(type_, ListOf):
            continue
        if type_.keys:
            found[each.name] = type_.keys
        elif (thread := _thread(lineage, Place(version, each.name))) in configured:
            found[each.name] = (configured[thread],)
        elif _is_condition(_object(type_.items, schema), schema):
            found[each.name] = _CONDITION[:1]
    return found


def _thread(lineage: Lineage, place: Place) -> int | None:
    """The number of a place's thread; the envelope of a resource has none."""
    followed = place.property in lineage.names(place.version)
    return lineage.thread(place).number if followed else None


def _is_condition(element: ObjectType | None, schema: Schema) -> bool:
    """Whether an object is a condition as Kubernetes, Cluster API or Knative write it."""
    if element is None or not all(_is_text(element.property(each), schema) for each in _CONDITION):
        return False
    return any(each.name in _ABOUT_CONDITIONS for each in element.properties)


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _object(type_: Type, schema: Schema) -> ObjectType | None:
    type_ = _bare(type_)
    found = schema.definitions[type_.key] if isinstance(type_, Ref) else None
    return found if isinstance(found, ObjectType) else None


def _is_text(found: Property | None, schema: Schema) -> bool:
    type_ = _bare(found.type) if found is not None else None
    definition = schema.definitions[type_.key] if isinstance(type_, Ref) else type_
    return isinstance(definition, Scalar | EnumType) and definition.kind == "string"
