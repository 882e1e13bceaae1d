"""Where lifted properties are in generated classes: the attributes and classes that lead to them."""

from typing import NamedTuple

from trundle.codegen._classes import ClassPath
from trundle.codegen._types import TypeRenderer
from trundle.evolution import METADATA, Lineage, Place, Shape, join_path
from trundle.schema import Nullable, ObjectType, Ref


class Holder(NamedTuple):
    """A nested object on the way to a lifted property: where it is, its attribute, and its class."""

    place: Place
    attribute: str
    class_: ClassPath


def way_to(
    types: TypeRenderer, lineage: Lineage, place: Place, shape: Shape
) -> tuple[tuple[Holder, ...], str]:
    """The nested objects that hold a lifted property in a shape, the outermost first, and its attribute."""
    version = place.version
    *outer, last = lineage.path(place)
    definition = lineage.definition(version)
    found = []
    for depth, name in enumerate(outer, start=1):
        attribute = types.names(version, definition)[name]
        holder = Place(version, name if depth == 1 else join_path(tuple(outer[:depth])))
        definition = held_object(lineage, holder)
        found.append(Holder(holder, attribute, class_at(types, lineage, holder, shape)))
    return tuple(found), types.names(version, definition)[last]


def attribute_at(types: TypeRenderer, lineage: Lineage, place: Place) -> str:
    """What a hook's record calls a property: its attribute, or those that lead to a lifted one."""
    version, definition = place.version, lineage.definition(place.version)
    if lineage.is_metadata(place):
        return METADATA
    path = lineage.path(place)
    found = []
    for depth, name in enumerate(path, start=1):
        found.append(types.names(version, definition)[name])
        if depth < len(path):
            inner = path[0] if depth == 1 else join_path(path[:depth])
            definition = held_object(lineage, Place(version, inner))
    return "__".join(found)


def held_object(lineage: Lineage, place: Place) -> ObjectType:
    """The definition of the nested object at a place."""
    return lineage.evolution.schema(place.version).object(_key(lineage, place))


def class_at(types: TypeRenderer, lineage: Lineage, place: Place, shape: Shape) -> ClassPath:
    """The class of the nested object at a place."""
    key = _key(lineage, place)
    if shape.kind == "api":
        return types.classes.api(place.version, key)
    return types.classes.storage(lineage.child(place, key), place.version)


def _key(lineage: Lineage, place: Place) -> str:
    type_ = lineage.type(place)
    type_ = type_.inner if isinstance(type_, Nullable) else type_
    assert isinstance(type_, Ref)
    return type_.key


def element_key(lineage: Lineage, place: Place) -> str:
    """The definition of the elements of a list or map of objects at a place, by its key."""
    (key,) = lineage.evolution.objects_in(place.version, lineage.type(place))
    return key
