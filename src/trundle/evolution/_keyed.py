"""Maps that are lists of elements with a key on the other side."""

from trundle.evolution._changes import NamedConversion
from trundle.evolution._discriminating import Meets
from trundle.evolution.conversions import ConvertObject, Keyed, loosens, object_pairs, relate
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
    map_type, list_type = (bare(each) for each in (types if map_older else types[::-1]))
    schema = schemas[1 if map_older else 0]
    if not isinstance(map_type, MapOf) or not isinstance(list_type, ListOf):
        return None
    element = object_of(list_type.items, schema)
    if element is None or not is_text(element.property(rule.key), schema):
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
        values, items = bare(map_type.values), bare(list_type.items)
        inner = object_of(values, schemas[0 if map_older else 1])
        if inner is None or inner.property(rule.key) is not None:
            return None
        assert isinstance(values, Ref)
        assert isinstance(items, Ref)
        keys = (values.key, items.key)
        item = ConvertObject(*(keys if map_older else keys[::-1]))
    return Keyed(map_older, rule.key, rule.value, item)


def bare(type_: Type) -> Type:
    """A type without null."""
    return type_.inner if isinstance(type_, Nullable) else type_


def object_of(type_: Type, schema: Schema) -> ObjectType | None:
    """The object that a type refers to, with or without null; None where it is anything else."""
    type_ = bare(type_)
    found = schema.definitions[type_.key] if isinstance(type_, Ref) else None
    return found if isinstance(found, ObjectType) else None


def is_text(found: Property | None, schema: Schema) -> bool:
    """Whether a property is there and is a text, or an enum of texts."""
    type_ = bare(found.type) if found is not None else None
    definition = schema.definitions[type_.key] if isinstance(type_, Ref) else type_
    return isinstance(definition, Scalar | EnumType) and definition.kind == "string"
