"""The shapes of resources as `trundle.schema` models them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from trundle.api.apply._fields import Json
from trundle.api.apply._shapes import (
    COMMON,
    FREE_FORM,
    LIST_TYPE,
    MAP_TYPE,
    UNTYPED,
    ListShape,
    MapShape,
    ScalarForm,
    Shape,
    refer_to,
    whole,
)
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
    ScalarKind,
    Schema,
    Type,
    Union,
)

_SCALARS: dict[ScalarKind, ScalarForm] = {
    "boolean": "boolean",
    "integer": "numeric",
    "number": "numeric",
    "string": "string",
}


def resource_shape(schema: Schema, resource: Resource) -> Shape:
    """The shape of whole objects of a resource, in the version of its schema.

    Lists and objects have the Kubernetes extensions of their schema; a list without any is one value, as in Kubernetes.
    """
    return whole(_Reader(schema).object(resource.root))


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._known: dict[str, MapShape] = {}

    def object(self, key: str) -> MapShape:
        """The shape of a definition, which may refer to itself."""
        if key not in self._known:
            definition = self._schema.object(key)
            atomic = dict(definition.constraints).get(MAP_TYPE) == "atomic"
            fields: dict[str, Shape] = {}
            self._known[key] = MapShape(fields, atomic=atomic)
            fields |= {each.name: self._property(each) for each in definition.properties}
            if definition.embedded:
                fields |= COMMON
            if definition.additional is not None:
                refer_to(self._known[key], self._shape(definition.additional))
        return self._known[key]

    def _property(self, found: Property) -> Shape:
        default = None if found.default is ABSENT else found.default
        return self._shape(found.type, dict(found.constraints), default)

    def _shape(
        self, found: Type, said: Mapping[str, Json] = MappingProxyType({}), default: Json = None
    ) -> Shape:
        match found:
            case Scalar(kind):
                return Shape(_SCALARS[kind], default=default)
            case FreeForm():
                return UNTYPED if said.get(MAP_TYPE) == "atomic" else FREE_FORM
            case Ref(key):
                definition = self._schema.definitions[key]
                if isinstance(definition, EnumType):
                    return Shape(_SCALARS[definition.kind], default=default)
                return Shape(map=self._map(self.object(key), said), default=default)
            case MapOf(values):
                return Shape(
                    map=self._map(MapShape(others=self._shape(values)), said), default=default
                )
            case ListOf(items, keys):
                return Shape(list=self._list(self._shape(items), keys, said), default=default)
            case Nullable(inner):
                return self._shape(inner, said, default)
            case Union(variants):
                return _joined([self._shape(each, said, default) for each in variants])
            case _:
                assert_never(found)

    def _map(self, shape: MapShape, said: Mapping[str, Json]) -> MapShape:
        if said.get(MAP_TYPE) != "atomic" or shape.atomic:
            return shape
        return MapShape(shape.fields, shape.others, atomic=True)

    def _list(self, items: Shape, keys: tuple[str, ...], said: Mapping[str, Json]) -> ListShape:
        match said.get(LIST_TYPE, "map" if keys else "atomic"):
            case "map":
                return ListShape(items, "map", keys)
            case "set":
                return ListShape(items, "set")
            case _:
                return ListShape(items)


def _joined(variants: list[Shape]) -> Shape:
    """The shape of values that are of one of several types; several types of lists or of objects are free-form data."""
    scalars = {each.scalar for each in variants if each.scalar is not None}
    lists = [each.list for each in variants if each.list is not None]
    maps = [each.map for each in variants if each.map is not None]
    return Shape(
        "untyped" if len(scalars) > 1 else next(iter(scalars), None),
        lists[0] if len(lists) == 1 else FREE_FORM.list if lists else None,
        maps[0] if len(maps) == 1 else FREE_FORM.map if maps else None,
        variants[0].default,
    )
