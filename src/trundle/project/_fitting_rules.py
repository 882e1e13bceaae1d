"""Which types the rules about single properties fit, on both sides of a pair of neighbours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from trundle.evolution import (
    KEYED_CONVERSIONS,
    Evolution,
    Lineage,
    NamedConversion,
    Neighbours,
    Place,
    TypeChanges,
    path_of,
    relate_keyed,
)
from trundle.report import spell
from trundle.schema import (
    EnumType,
    ListOf,
    Nullable,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)

Fits: TypeAlias = Callable[["Sides"], bool]
"""Whether a rule fits the two types of a property."""


def property_rules(changes: TypeChanges) -> Iterator[tuple[str, str, str, Fits]]:
    """The rules about one property: rule, older and newer name, and whether it fits a pair."""
    names = {**changes.rename, **changes.wrap, **changes.unwrap, **changes.move}
    for older, newer in changes.rename.items():
        yield "rename", older, newer, lambda _: True
    for older, newer in changes.wrap.items():
        yield "wrap", older, newer, lambda each: not each.older_is_list and each.newer_is_list
    for older, newer in changes.unwrap.items():
        yield "unwrap", older, newer, lambda each: each.older_is_list and not each.newer_is_list
    for older, values in changes.values.items():
        yield "values", older, names.get(older, older), _values_fit(values)
    for older in changes.convert:
        conversion = changes.conversion(older)
        assert conversion is not None
        yield "convert", older, names.get(older, older), _conversion_fits(conversion)
    for older, variant in changes.variant.items():
        yield "variant", older, names.get(older, older), _variant_fits(variant)
    for older in changes.keep:
        yield "keep", older, older, lambda each: each.spelled[0] != each.spelled[1]


class Sides:
    """The two types of a property at a pair of neighbours."""

    def __init__(self, evolution: Evolution, lineage: Lineage, older: Place, newer: Place) -> None:
        self.pair = Neighbours(older.version, newer.version)
        self.schemas = evolution.schema(older.version), evolution.schema(newer.version)
        self.types = _type(lineage, older), _type(lineage, newer)
        self.meets = evolution.meets(older.version, newer.version, lineage.nodes)

    @property
    def older_is_list(self) -> bool:
        """Whether the older side is a list."""
        return isinstance(self.types[0], ListOf)

    @property
    def newer_is_list(self) -> bool:
        """Whether the newer side is a list."""
        return isinstance(self.types[1], ListOf)

    @property
    def spelled(self) -> tuple[str, str]:
        """Both types, as messages spell them."""
        return spell(self.types[0], self.schemas[0]), spell(self.types[1], self.schemas[1])

    @property
    def kinds(self) -> tuple[str, str]:
        """The scalar kinds; an enum counts as its values do."""
        return _kind(self.types[0], self.schemas[0]), _kind(self.types[1], self.schemas[1])


def _type(lineage: Lineage, place: Place) -> Type:
    path = path_of(lineage.bare, place.version, place.property)
    inside = len(path) > 1
    return _plain(lineage.type_inside(place.version, path) if inside else lineage.type(place))


def _plain(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _kind(type_: Type, schema: Schema) -> str:
    found = schema.definitions.get(type_.key) if isinstance(type_, Ref) else type_
    return found.kind if isinstance(found, Scalar | EnumType) else ""


def _values_fit(values: Mapping[str, str]) -> Fits:
    def fits(sides: Sides) -> bool:
        if sides.kinds != ("string", "string"):
            return False
        older, newer = (
            _enum_values(type_, schema)
            for type_, schema in zip(sides.types, sides.schemas, strict=True)
        )
        return (older is None or set(values) <= older) and (
            newer is None or set(values.values()) <= newer
        )

    return fits


def _enum_values(type_: Type, schema: Schema) -> set[str] | None:
    found = schema.definitions[type_.key] if isinstance(type_, Ref) else None
    return {str(each) for each in found.values} if isinstance(found, EnumType) else None


def _conversion_fits(conversion: NamedConversion) -> Fits:
    if conversion.name in KEYED_CONVERSIONS:
        return lambda sides: (
            relate_keyed(conversion, sides.types, sides.schemas, sides.meets) is not None
        )
    words = conversion.name.split("-to-")

    def fits(sides: Sides) -> bool:
        return all(
            _kinds(type_, schema) in _ADMITTED[word]
            for word, type_, schema in zip(words, sides.types, sides.schemas, strict=True)
        )

    return fits


def _kinds(type_: Type, schema: Schema) -> set[str]:
    """The scalar kinds of a type, or of all variants of a union."""
    variants = type_.variants if isinstance(type_, Union) else (type_,)
    return {_kind(_plain(each), schema) for each in variants}


_NUMBERS = ({"integer"}, {"number"})


_ADMITTED: Mapping[str, Sequence[set[str]]] = {
    "api-version": ({"string"},),
    "boolean": ({"boolean"},),
    "bytes": _NUMBERS,
    "disabled": ({"boolean"},),
    "duration": ({"string"},),
    "enabled": ({"boolean"},),
    "go-duration": ({"string"},),
    "group": ({"string"},),
    "integer": ({"integer"},),
    "number": _NUMBERS,
    "quantity": ({"string"}, {"integer", "string"}),
    "seconds": _NUMBERS,
    "string": ({"string"},),
}
"""What a side of a named conversion may be: one scalar kind, or a union of some."""


def _variant_fits(variant: str) -> Fits:
    def fits(sides: Sides) -> bool:
        newer = sides.types[1]
        variants = newer.variants if isinstance(newer, Union) else ()
        names = {
            sides.schemas[1].definitions[each.key].name
            for each in variants
            if isinstance(each, Ref)
        }
        return variant in names and not isinstance(sides.types[0], Union)

    return fits
