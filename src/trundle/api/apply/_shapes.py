"""What decides how fields are owned and merged: which lists are sets or maps, and which objects are one value.

A shape is what OpenAPI and Kubernetes' extensions say of a place, without anything else. A place may have several forms, as
free-form data has. See https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from trundle.api.apply._fields import Json, keyed, member, name_of, valued
from trundle.errors import Kind, TrundleError, expectation

LIST_TYPE, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-map-type"

Form: TypeAlias = Literal["scalar", "list", "map", "any"]
ScalarForm: TypeAlias = Literal["numeric", "string", "boolean", "untyped"]


@dataclass(frozen=True, eq=False, slots=True)
class ListShape:
    """The shape of a list.

    Attributes:
        items: the shape of its elements.
        kind: `atomic` where the list is one value, `set` where elements are distinguished by their value, `map` where
            by the values of keys.
        keys: the keys of a `map`.
    """

    items: "Shape"
    kind: Literal["atomic", "set", "map"] = "atomic"
    keys: tuple[str, ...] = ()

    @property
    def atomic(self) -> bool:
        """Whether the list is one value."""
        return self.kind == "atomic"


@dataclass(frozen=True, eq=False, slots=True)
class MapShape:
    """The shape of an object or map.

    Attributes:
        fields: the shapes of named fields.
        others: the shape of all other members; none where there may be no others.
        atomic: whether the object is one value.
    """

    fields: "Mapping[str, Shape]" = field(default_factory=dict)
    others: "Shape | None" = None
    atomic: bool = False

    def at(self, name: str) -> "Shape | None":
        """The shape of a member; none where there may be no such member."""
        return self.fields.get(name, self.others)


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """The shape of the values at a place: the forms that they may have.

    Attributes:
        scalar: which scalars may be there.
        list: which lists may be there.
        map: which objects may be there.
        default: what a key counts as where an element of a list lacks it; none where there is no default.
    """

    scalar: ScalarForm | None = None
    list: ListShape | None = None
    map: MapShape | None = None
    default: Json = None

    @property
    def free_form(self) -> bool:
        """Whether anything may be there, member by member."""
        return self.map is not None and not self.map.fields and self.map.others is FREE_FORM

    @property
    def atomic(self) -> bool:
        """Whether a list or object there is one value."""
        shape = self.map or self.list
        return shape is not None and shape.atomic

    def form(self, value: Json) -> Form:
        """Which form a value has; `any` where it has none of several."""
        found = _form(value)
        if found == "map" and self.map is not None:  # Most values have the only form that there is.
            return "map"
        forms: dict[Form, object] = {"scalar": self.scalar, "list": self.list, "map": self.map}
        if found is not None and forms[found] is not None:
            return found
        possible = [name for name, shape in forms.items() if shape is not None]
        return possible[0] if len(possible) == 1 else "any"

    def handled(self, form: Form) -> ListShape | MapShape | None:
        """The shape of the values of a form; none for those that are one value."""
        match form:
            case "list":
                return self.list
            case "map" | "any":
                return self.map
            case "scalar":
                return None


class ElementError(TrundleError):
    """An element that cannot be in its list.

    Attributes:
        expected: what should be there.
        found: what is there instead.
    """

    kind = Kind.REFUSED

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expectation(expected, found))
        self.expected, self.found = expected, found


NOTHING = Shape("untyped")
"""What a shape does not admit, and is there nevertheless: a value as a whole."""
UNTYPED = Shape("untyped")
"""Any value, as one."""
FREE_FORM = Shape("untyped")
"""Any value: each member of an object by itself, a list as one."""


for _shape, _atomic in ((UNTYPED, True), (FREE_FORM, False)):
    object.__setattr__(_shape, "list", ListShape(UNTYPED))
    object.__setattr__(_shape, "map", MapShape(others=_shape, atomic=_atomic))


def element_of(shape: ListShape, value: Json) -> str:
    """The path element of a list's element, for a list that is a set or map.

    Raises:
        ElementError: it has no keys, or cannot be in a set.
    """
    if shape.kind == "set":
        if isinstance(value, dict | list) or value is None:
            raise ElementError("a scalar, in a list that is a set", _said(value))
        return valued(value)
    if not isinstance(value, dict):
        raise ElementError("an object, in a list with keys", _said(value))
    known = keys_of(shape, value)
    if not known:
        raise ElementError(f"a value for {' or '.join(shape.keys)}", "none")
    return keyed(known)


def keys_of(shape: ListShape, value: dict[str, Json]) -> dict[str, Json]:
    """The values of the keys of a list's element, defaults among them; without those that have none."""
    keys = {name: value.get(name, _default(shape, name)) for name in shape.keys}
    return {name: key for name, key in keys.items() if key is not None or name in value}


def elements(shape: ListShape, values: Iterable[Json]) -> dict[str, "list[Json]"]:
    """The elements of a list that is a set or map, by their path element; duplicates stand together."""
    found: dict[str, list[Json]] = {}
    for value in values:
        found.setdefault(element_of(shape, value), []).append(value)
    return found


def under(shape: Shape | None, element: str) -> Shape | None:
    """The shape at a path element under a place; none where the shape has nothing there."""
    if shape is None:
        return None
    name = name_of(element)
    if name is not None:
        return None if shape.map is None else shape.map.at(name)
    return shape.list.items if shape.list is not None and element.startswith("k:") else None


def is_field(shape: Shape | None, element: str) -> bool:
    """Whether a path element is a field that the shape names."""
    name = name_of(element)
    return (
        name is not None
        and shape is not None
        and shape.map is not None
        and name in shape.map.fields
    )


def whole(shape: MapShape) -> Shape:
    """The shape of whole objects, with what all of them have."""
    return Shape(map=MapShape({**shape.fields, **COMMON}, shape.others, shape.atomic))


def refer_to(shape: MapShape, others: Shape) -> None:
    """Completes a shape that contains itself by that of its other members."""
    object.__setattr__(shape, "others", others)


def shape_of(schema: Mapping[str, Any], *, open_: bool = False) -> Shape:
    """The shape that an OpenAPI v3 schema without references says.

    Args:
        schema: the schema.
        open_: whether objects that are not closed may have members that their schema does not name.
    """
    open_ = open_ or schema.get("x-kubernetes-preserve-unknown-fields") is True
    default = schema.get("default")
    match schema.get("type", ""):
        case "object":
            return Shape(map=_map(schema, open_=open_), default=default)
        case "array":
            return Shape(list=_list(schema, open_=open_), default=default)
        case "integer" | "number":
            return Shape("numeric", default=default)
        case "boolean":
            return Shape("boolean", default=default)
        case "string":
            plain = schema.get("format", "") in ("", "byte")
            return Shape("string" if plain else "untyped", default=default)
        case _:
            return Shape("untyped", _list(schema, open_=open_), _map(schema, open_=open_), default)


def _map(schema: Mapping[str, Any], *, open_: bool) -> MapShape:
    properties = schema.get("properties") or {}
    fields = {name: shape_of(each, open_=open_) for name, each in properties.items()}
    if schema.get("x-kubernetes-embedded-resource") is True:
        fields |= COMMON
    others: Shape | None
    match schema.get("additionalProperties"):
        case None:
            others = FREE_FORM if open_ or not fields else None
        case Mapping() as values:
            others = shape_of(values, open_=open_)
        case allowed:
            others = FREE_FORM if allowed else None
    return MapShape(fields, others, schema.get(MAP_TYPE) == "atomic")


def _list(schema: Mapping[str, Any], *, open_: bool) -> ListShape:
    items = schema.get("items")
    shape = UNTYPED if items is None else shape_of(items, open_=open_)
    match schema.get(LIST_TYPE):
        case "set":
            return ListShape(shape, "set")
        case "map":
            return ListShape(shape, "map", tuple(schema.get("x-kubernetes-list-map-keys") or ()))
        case _:
            return ListShape(shape)


def _default(shape: ListShape, name: str) -> Json:
    found = under(shape.items, member(name))
    return None if found is None else found.default


def _form(value: Json) -> Literal["scalar", "list", "map"] | None:
    match value:
        case dict():
            return "map"
        case list():
            return "list"
        case None:
            return None
        case _:
            return "scalar"


def _said(value: Json) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return "a scalar"


_TEXT, _TIME, _NUMBER, _BOOLEAN = (
    Shape("string"),
    Shape("untyped"),
    Shape("numeric"),
    Shape("boolean"),
)
_TEXTS = Shape(map=MapShape(others=_TEXT))
_OWNER = MapShape(
    {
        "apiVersion": _TEXT,
        "blockOwnerDeletion": _BOOLEAN,
        "controller": _BOOLEAN,
        "kind": _TEXT,
        "name": _TEXT,
        "uid": _TEXT,
    },
    atomic=True,
)
_METADATA = Shape(
    map=MapShape(
        {
            "annotations": _TEXTS,
            "creationTimestamp": _TIME,
            "deletionGracePeriodSeconds": _NUMBER,
            "deletionTimestamp": _TIME,
            "finalizers": Shape(list=ListShape(_TEXT, "set")),
            "generateName": _TEXT,
            "generation": _NUMBER,
            "labels": _TEXTS,
            "managedFields": Shape(list=ListShape(UNTYPED)),
            "name": _TEXT,
            "namespace": _TEXT,
            "ownerReferences": Shape(list=ListShape(Shape(map=_OWNER), "map", ("uid",))),
            "resourceVersion": _TEXT,
            "selfLink": _TEXT,
            "uid": _TEXT,
        }
    )
)
COMMON: dict[str, Shape] = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}
"""What all objects have; `metadata` is as Kubernetes' OpenAPI has it."""
