"""A class in a version as a `Schema`: its inputs with their types, contracts and defaults, and its parents."""

from collections.abc import Callable
from typing import Any

from trundle.engine._written import written
from trundle.engine.contracts import Chain
from trundle.engine.expressions import Code, Expression, Listing, Mapped, Scalar
from trundle.engine.schemas._inputs import (
    Described,
    Input,
    chain_in,
    constant,
    inputs,
    lengths,
    takes_null,
)
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Resource,
    Schema,
    SchemaNote,
    Type,
)
from trundle.schema import Scalar as ScalarType
from trundle.version import ApiVersion

OWNED = "?"
"""The property of a reference by which an object says that it owns the other one."""

_REFERENCE = "reference to "
_NAME_PROPERTY = "classname"
_ENVELOPE = ("apiVersion", _NAME_PROPERTY)
_SCALARS: dict[str, Any] = {
    "string": ScalarType("string"),
    "int": ScalarType("integer"),
    "bool": ScalarType("boolean"),
}
_KINDS: dict[type, Any] = {bool: "boolean", int: "integer", str: "string"}


def class_schema(type_: Described) -> Schema:
    """A class in a version as a schema.

    Its properties are what models give: types, contracts (among their constraints), defaults. An object stands in another one as
    a reference, an object with its `id`; the definition is called after the class that the contract names. What an
    object of that class has is in the schema of its own class.
    """
    return _Builder(type_).schema()


def referred_class(definition: ObjectType) -> str | None:
    """The class that the contract of a reference names; None for what is no reference."""
    found = definition.name.removeprefix(_REFERENCE)
    return None if found == definition.name else found


class _Builder:
    def __init__(self, type_: Described) -> None:
        self.type = type_
        self.source = f"{type_.declaration.file}:{type_.declaration.line}"
        self.definitions: dict[str, ObjectType | EnumType] = {}
        self.notes: list[SchemaNote] = []

    def schema(self) -> Schema:
        type_ = self.type
        properties = []
        for each in inputs(type_):
            if each.name in _ENVELOPE:
                note = f"{each.name} names the version or class of an object, and does not convert"
                self.notes.append(SchemaNote(self.source, note))
            else:
                properties.append(self._property(each))
        name = type_.class_name
        parents = [parent.label for parent in type_.parents]
        root = ObjectType(
            name,
            named=True,
            properties=tuple(properties),
            source=self.source,
            constraints=(("extends", parents),) if parents else (),
        )
        version = ApiVersion.of_package(type_.version)
        resource = Resource(name, name, name_property=_NAME_PROPERTY)
        definitions = {name: root, **dict(sorted(self.definitions.items()))}
        return Schema(version, definitions, (resource,), (self.source,), tuple(self.notes))

    def _property(self, each: Input) -> Property:
        limits: list[tuple[str, Any]] = [("contract", written(each.written))]
        default: Any = ABSENT
        if each.default is not None:
            try:
                default = constant(each.default)
            except ValueError:
                limits.append(("default", "an expression"))
        if each.contract is None:
            return Property(each.name, FreeForm(), default=default, constraints=tuple(limits))
        if isinstance(each.contract, Listing):
            _, least, most = lengths(each.contract)
            limits += [("maxItems", most)] if most is not None else []
            limits += [("minItems", least)] if least else []
        is_required = each.default is None and not takes_null(each.contract, each.full)
        place = f"{self.type.class_name}.{each.name}"
        found = self._type(each.contract, each.full, place)
        if default is None and not isinstance(found, FreeForm):
            default = ABSENT if not isinstance(found, Nullable) else None
        return Property(each.name, found, is_required, default, "", tuple(sorted(limits)))

    def _type(self, code: Code, full: Callable[[str], str], place: str) -> Type:
        match code:
            case Scalar(value):
                return self._constant(value, place)
            case Expression():
                chain = chain_in(code, full)
                return FreeForm() if chain is None else self._of_chain(chain)
            case Listing():
                items = {self._type(each, full, place) for each in lengths(code)[0]}
                return ListOf(items.pop() if len(items) == 1 else FreeForm())
            case Mapped():
                return self._map(code, full, place)

    def _constant(self, value: Any, place: str) -> Type:
        kind = _KINDS.get(type(value))
        if kind is None:
            return FreeForm()
        self.definitions[place] = EnumType(place, False, kind, (value,), source=self.source)
        return Ref(place)

    def _of_chain(self, chain: Chain) -> Type:
        conversion = next(iter(chain.conversions), None)
        if conversion is None or conversion.method == "template":
            return FreeForm()
        found: Type
        if conversion.method == "class":
            found = Ref(self._reference(conversion.type))
        else:
            found = _SCALARS[conversion.method]
        return found if chain.takes_null is False or chain.fallback else Nullable(found)

    def _reference(self, name: str) -> str:
        key = f"{_REFERENCE}{name}"
        parts = (Property(OWNED, ScalarType("boolean")), Property("id", ScalarType("string")))
        self.definitions[key] = ObjectType(key, True, parts, source=self.source)
        return key

    def _map(self, mapped: Mapped, full: Callable[[str], str], place: str) -> Type:
        named = [(key.value, each) for key, each in mapped.entries if isinstance(key, Scalar)]
        others = [each for key, each in mapped.entries if isinstance(key, Expression)]
        rest = self._type(others[0], full, place) if others else None
        if not named:
            return MapOf(FreeForm() if rest is None else rest)
        if not all(isinstance(name, str) for name, _ in named):
            return FreeForm()
        properties = tuple(
            Property(
                str(name),
                self._type(each, full, f"{place}.{name}"),
                required=not takes_null(each, full),
            )
            for name, each in sorted(named, key=lambda pair: str(pair[0]))
        )
        self.definitions[place] = ObjectType(place, False, properties, rest, source=self.source)
        return Ref(place)
