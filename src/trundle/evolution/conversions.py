"""How a value of one type becomes a value of another: the table of section 5 of the design, as data.

`relate` compares two types that meet and returns a conversion, or None where the change of type is one
that only a rule or a hook can bridge. A conversion is one of a closed union of frozen records. Each knows
whether it is exact: whether a value that went over comes back the same.
"""

from collections.abc import Iterator
from typing import TypeAlias, assert_never

import msgspec

from trundle.evolution._changes import EXACT_CONVERSIONS
from trundle.evolution._discriminating import Meets, contradict, discriminators, likeness_of
from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)


class Same(msgspec.Struct, frozen=True):
    """The value itself."""


class ConvertObject(msgspec.Struct, frozen=True):
    """An object, member by member."""

    older: str
    newer: str


class EachItem(msgspec.Struct, frozen=True):
    """A list, element by element."""

    item: "Conversion"


class EachValue(msgspec.Struct, frozen=True):
    """A map, value by value."""

    value: "Conversion"


class Variant(msgspec.Struct, frozen=True):
    """Two variants that meet.

    Attributes:
        older: the position among the variants of the older side's union.
        newer: the position among those of the newer side's.
        conversion: how one becomes the other.
        up: whether each value of the older fits the newer; one that is distinguished by a text fits with that only.
        down: whether each value of the newer fits the older.
    """

    older: int
    newer: int
    conversion: "Conversion"
    up: bool = True
    down: bool = True


class NullFits(msgspec.Struct, frozen=True):
    """An element or a map's value that only one side lets be null; a null has no place on the other."""

    inner: "Conversion"
    older: bool
    newer: bool


class ByVariant(msgspec.Struct, frozen=True):
    """A union, by variant; a side that is no union counts as a union of one."""

    older: tuple[Type, ...]
    newer: tuple[Type, ...]
    variants: tuple[Variant, ...]


class Narrow(msgspec.Struct, frozen=True):
    """One side admits every value of the other; the way to the narrow side checks that the value fits."""

    older: Type
    newer: Type


class EnumText(msgspec.Struct, frozen=True):
    """Text or an enum on each side; reading as an enum gives the enum's own letter case."""

    older: tuple[str, ...] | None
    newer: tuple[str, ...] | None


class MapValues(msgspec.Struct, frozen=True):
    """Configured values become others; all other values stay."""

    values: tuple[tuple[str, str], ...]

    def sources(self, text: str, *, up: bool) -> tuple[str, ...]:
        """The values that become a text on the way up, or down."""
        pairs = self.values if up else tuple((newer, older) for older, newer in self.values)
        return tuple(one for one, other in pairs if other.casefold() == text.casefold())


class Wrap(msgspec.Struct, frozen=True):
    """A single value on the older side is a list of one on the newer."""

    item: "Conversion"


class Unwrap(msgspec.Struct, frozen=True):
    """A list on the older side is a single value on the newer."""

    item: "Conversion"


class ConvertScalar(msgspec.Struct, frozen=True):
    """A named scalar conversion, see `SCALAR_CONVERSIONS`; `version` is what a bare group gets."""

    name: str
    version: str = ""


class Keyed(msgspec.Struct, frozen=True):
    """A map on one side is a list of elements with a key on the other.

    Attributes:
        map_older: whether the older side has the map.
        key: the property of the elements that has the map's key.
        value: the property that has the map's value; empty where the element itself is the value.
        item: how the values convert.
    """

    map_older: bool
    key: str
    value: str
    item: "Conversion"


class CallHook(msgspec.Struct, frozen=True):
    """A hand-written property converter: a method for each way, either of them optional."""

    use: str
    up: str | None
    down: str | None


Conversion: TypeAlias = (
    Same
    | ConvertObject
    | EachItem
    | EachValue
    | NullFits
    | ByVariant
    | Narrow
    | EnumText
    | MapValues
    | Wrap
    | Unwrap
    | ConvertScalar
    | Keyed
    | CallHook
)


def exact(conversion: Conversion, *, up: bool) -> bool:
    """Whether every value that goes one way comes back the same from there.

    `up` is the way from the older side to the newer.
    """
    match conversion:
        case Same() | ConvertObject():
            return True
        case EachItem(inner) | EachValue(inner):
            return exact(inner, up=up)
        case NullFits(inner, older, newer):
            return exact(inner, up=up) and (newer if up else older)
        case ByVariant(older, newer, variants):
            fitting = [each for each in variants if (each.up if up else each.down)]
            covered = {each.older if up else each.newer for each in fitting}
            return len(covered) == len(older if up else newer) and all(
                exact(each.conversion, up=up) for each in variants
            )
        case Narrow(older, newer):
            return isinstance(newer if up else older, FreeForm) or _wider(
                newer if up else older, older if up else newer
            )
        case Keyed(map_older, item=item):
            return up == map_older and exact(item, up=up)
        case Wrap(item):
            return up and exact(item, up=up)
        case Unwrap(item):
            return not up and exact(item, up=up)
        case EnumText() | MapValues() | ConvertScalar() | CallHook():
            return False
        case _:
            assert_never(conversion)


def always_fits(conversion: Conversion, *, up: bool) -> bool:
    """Whether every value has something on the other side, be it another text or a list without some elements.

    `up` is the way from the older side to the newer.
    """
    match conversion:
        case EnumText() | MapValues() | EachItem() | EachValue():
            return True
        case Wrap(item):
            return up and always_fits(item, up=up)
        case Unwrap(item):
            return not up and always_fits(item, up=up)
        case NullFits(inner, older, newer):
            return always_fits(inner, up=up) and (newer if up else older)
        case Same() | ConvertObject() | ByVariant() | Narrow() | Keyed():
            return exact(conversion, up=up)
        case ConvertScalar(name):
            return name in EXACT_CONVERSIONS
        case CallHook():
            return False
        case _:
            assert_never(conversion)


def loosens(conversion: Conversion) -> bool:
    """Whether one side of a conversion is free-form data, whatever it is in."""
    match conversion:
        case Narrow(older, newer):
            return isinstance(older, FreeForm) or isinstance(newer, FreeForm)
        case EachItem(inner) | EachValue(inner) | NullFits(inner) | Wrap(inner) | Unwrap(inner):
            return loosens(inner)
        case Keyed(item=inner):
            return loosens(inner)
        case (
            Same()
            | ConvertObject()
            | ByVariant()
            | EnumText()
            | MapValues()
            | ConvertScalar()
            | CallHook()
        ):
            return False
        case _:
            assert_never(conversion)


def lossless(conversion: Conversion) -> bool:
    """Whether a conversion is exact both ways."""
    return exact(conversion, up=True) and exact(conversion, up=False)


def relate(
    older: Type, newer: Type, schemas: tuple[Schema, Schema], meets: Meets
) -> Conversion | None:
    """The conversion between two types that meet; None for a change of type.

    Args:
        older: a type of the first schema.
        newer: a type of the second schema.
        schemas: the schemas that references resolve in.
        meets: whether two named definitions are the same thing; decides about renamed types.
    """
    found = _Relating(schemas[0], schemas[1], meets).types(older, newer)
    nulls = isinstance(older, Nullable), isinstance(newer, Nullable)
    if found is None or lossless(found) or nulls[0] == nulls[1]:
        return found
    return NullFits(found, *nulls)


class _Relating:
    def __init__(self, older: Schema, newer: Schema, meets: Meets) -> None:
        self.older = older
        self.newer = newer
        self.meets = meets

    def types(self, older: Type, newer: Type) -> Conversion | None:
        older = older.inner if isinstance(older, Nullable) else older
        newer = newer.inner if isinstance(newer, Nullable) else newer
        match older, newer:
            case (FreeForm(), FreeForm()):
                return Same()
            case (FreeForm(), _) | (_, FreeForm()):
                return Narrow(older, newer)
            case (Scalar(one), Scalar(other)):
                return self._scalars(one, other)
            case (ListOf(one_items), ListOf(other_items)):
                item = self.nested(one_items, other_items)
                return item and (Same() if item == Same() else EachItem(item))
            case (MapOf(one_values), MapOf(other_values)):
                value = self.nested(one_values, other_values)
                return value and (Same() if value == Same() else EachValue(value))
            case (Union(), _) | (_, Union()):
                return self._unions(older, newer)
            case (Ref(), _) | (_, Ref()):
                return self._definitions(older, newer)
            case _:
                return None

    def nested(self, older: Type, newer: Type) -> Conversion | None:
        """How elements and values relate, whose nulls a list or map cannot leave out."""
        inner = self.types(older, newer)
        nulls = isinstance(older, Nullable), isinstance(newer, Nullable)
        return inner if inner is None or nulls[0] == nulls[1] else NullFits(inner, *nulls)

    @staticmethod
    def _scalars(older: str, newer: str) -> Conversion | None:
        if older == newer:
            return Same()
        if {older, newer} == {"integer", "number"}:
            return Narrow(Scalar(older), Scalar(newer))  # type: ignore[arg-type]
        return None

    def _definitions(self, older: Type, newer: Type) -> Conversion | None:
        one = self.older.definitions[older.key] if isinstance(older, Ref) else older
        other = self.newer.definitions[newer.key] if isinstance(newer, Ref) else newer
        match one, other:
            case (ObjectType(), ObjectType()):
                assert isinstance(older, Ref)
                assert isinstance(newer, Ref)
                if not self.meets(one, other) or contradict(one, other, self.older, self.newer):
                    return None
                met = variant(older, newer, (one, other))
                return (
                    met.conversion if met.up and met.down else ByVariant((older,), (newer,), (met,))
                )
            case (EnumType(), EnumType()):
                same_kind = one.kind == other.kind
                return Same() if same_kind and self.meets(one, other) else None
            case (EnumType(kind=kind), Scalar(other_kind)):
                return self._enum_and_scalar(kind, other_kind, one.values, None)
            case (Scalar(other_kind), EnumType(kind=kind)):
                return self._enum_and_scalar(kind, other_kind, None, other.values)
            case _:
                return None

    @staticmethod
    def _enum_and_scalar(
        kind: str, other: str, older: tuple[str, ...] | None, newer: tuple[str, ...] | None
    ) -> Conversion | None:
        if kind != other:
            return None
        return EnumText(older, newer) if kind == "string" else Same()

    def _unions(self, older: Type, newer: Type) -> Conversion | None:
        ours = older.variants if isinstance(older, Union) else (older,)
        theirs = newer.variants if isinstance(newer, Union) else (newer,)
        met: dict[int, Variant] = {}
        for pair in sorted(self._pairs(ours, theirs), key=_best_first):
            taken = {each.newer for each in met.values()}
            if pair.older not in met and pair.newer not in taken:
                met[pair.older] = self._met(pair.older, pair.newer, pair.conversion)
        if not met:
            return None
        variants = tuple(each for _, each in sorted(met.items()))
        if len(ours) == len(theirs) == len(met) and all(
            each.conversion == Same() for each in variants
        ):
            return Same()
        return ByVariant(ours, theirs, variants)

    def _pairs(self, ours: tuple[Type, ...], theirs: tuple[Type, ...]) -> Iterator["_Pair"]:
        """All pairs of variants that may meet."""
        one_tags = discriminators(ours, self.older)
        other_tags = discriminators(theirs, self.newer)
        for older, one in enumerate(ours):
            for newer, other in enumerate(theirs):
                pair = self._objects(one, other)
                if pair is None:
                    conversion = self.types(one, other)
                    if conversion is not None and not loosens(conversion):
                        yield _Pair(older, newer, conversion)
                    continue
                likeness = likeness_of(*pair, one_tags[older], other_tags[newer], self.meets)
                if likeness is not None:
                    assert isinstance(one, Ref)
                    assert isinstance(other, Ref)
                    yield _Pair(older, newer, ConvertObject(one.key, other.key), likeness)

    def _objects(self, older: Type, newer: Type) -> tuple[ObjectType, ObjectType] | None:
        """The definitions of two variants, where both are objects."""
        one = self.older.definitions.get(older.key) if isinstance(older, Ref) else None
        other = self.newer.definitions.get(newer.key) if isinstance(newer, Ref) else None
        if isinstance(one, ObjectType) and isinstance(other, ObjectType):
            return one, other
        return None

    def _met(self, older: int, newer: int, conversion: Conversion) -> Variant:
        if not isinstance(conversion, ConvertObject):
            return Variant(older, newer, conversion)
        found = variant(
            Ref(conversion.older),
            Ref(conversion.newer),
            (self.older.object(conversion.older), self.newer.object(conversion.newer)),
        )
        return msgspec.structs.replace(found, older=older, newer=newer)


class _Pair(msgspec.Struct, frozen=True):
    """Two variants that may meet, by their positions; of several that may, the most alike do."""

    older: int
    newer: int
    conversion: Conversion
    likeness: tuple[int, ...] = ()


def _best_first(pair: _Pair) -> tuple[tuple[int, ...], bool, int, int]:
    likeness = tuple(-each for each in pair.likeness)
    return likeness, not lossless(pair.conversion), pair.older, pair.newer


def variant(older: Ref, newer: Ref, definitions: tuple[ObjectType, ObjectType]) -> Variant:
    """How two objects meet, each as a union of one; a side with a tag of its own takes no other text."""
    one, other = (each.tag for each in definitions)
    fits = one == other
    return Variant(
        0,
        0,
        ConvertObject(older.key, newer.key),
        up=fits or other is None,
        down=fits or one is None,
    )


def _wider(wide: Type, narrow: Type) -> bool:
    return (
        isinstance(wide, Scalar)
        and isinstance(narrow, Scalar)
        and (wide.kind, narrow.kind) == ("number", "integer")
    )


def beside_nulls(conversion: Conversion) -> Conversion:
    """What becomes of all values but null."""
    return conversion.inner if isinstance(conversion, NullFits) else conversion


def object_pairs(conversion: Conversion | None) -> Iterator[ConvertObject]:
    """All pairs of object types that meet within a conversion."""
    match conversion:
        case ConvertObject():
            yield conversion
        case EachItem(inner) | EachValue(inner) | NullFits(inner) | Wrap(inner) | Unwrap(inner):
            yield from object_pairs(inner)
        case Keyed(item=inner):
            yield from object_pairs(inner)
        case ByVariant(variants=variants):
            for each in variants:
                yield from object_pairs(each.conversion)
        case Same() | Narrow() | EnumText() | MapValues() | ConvertScalar() | CallHook() | None:
            return
        case _:
            assert_never(conversion)
