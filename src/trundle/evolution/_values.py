"""How a value of one place and shape becomes a value of another, straight, without going hop by hop."""

import enum
from collections.abc import Callable, Iterator
from typing import Literal

from trundle.evolution._discriminating import tag_text
from trundle.evolution._lineage import Lineage
from trundle.evolution._paths import join_path
from trundle.evolution._spelling import spellings
from trundle.evolution._straight import alike
from trundle.evolution._threads import ByConversion, Place
from trundle.evolution.conversions import MapValues, beside_nulls
from trundle.evolution.steps import (
    Case,
    Cases,
    Elsewhere,
    Fit,
    FromFreeForm,
    Items,
    Listed,
    MapText,
    NotNull,
    Optional,
    PlanKey,
    Shape,
    Single,
    ToEnum,
    ToFreeForm,
    ToObject,
    Values,
    ValueStep,
)
from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Type,
    Union,
)
from trundle.version import ApiVersion


class Mismatch(enum.Enum):
    """Two types that nothing leads between."""

    MISMATCH = enum.auto()


MISMATCH: Literal[Mismatch.MISMATCH] = Mismatch.MISMATCH


class End:
    """One end of a change of value: a place of a lineage, in one shape."""

    __slots__ = ("_definitions", "lineage", "place", "shape")

    def __init__(self, lineage: Lineage, place: Place, shape: Shape) -> None:
        self.lineage = lineage
        self.place = place
        self.shape = shape
        self._definitions = lineage.evolution.schema(place.version).definitions

    @property
    def type(self) -> Type:
        """The type of what is written at the place; storage admits null wherever a version of its thread does."""
        return self._type(self.lineage.admits_null)

    @property
    def given(self) -> Type:
        """The type of what is read at the place, which may be null where only a write must not be."""
        return self._type(self.lineage.nullable)

    def _type(self, null: Callable[[Place], bool]) -> Type:
        type_ = self.lineage.type(self.place)
        if self.shape.kind == "api" or isinstance(type_, Nullable):
            return type_
        return Nullable(type_) if null(self.place) else type_

    def definition(self, type_: Type) -> ObjectType | EnumType | None:
        """The definition that a type refers to, if it is a reference."""
        if not isinstance(type_, Ref):
            return None
        return self._definitions[type_.key]

    def child(self, type_: Ref) -> Lineage:
        """The lineage of an object within the place."""
        return self.lineage.child(self.place, type_.key)


def change_value(source: End, target: End) -> ValueStep | Mismatch | None:
    """The step between two ends; None where the value itself will do."""
    return _Changing(source, target).step(source.given, target.type)


def change_between(
    source: End, target: End, older: Type, newer: Type
) -> ValueStep | Mismatch | None:
    """The step between two types that are within a list or map at two ends."""
    return _Changing(source, target).nested(older, newer)


def own_letter_case(end: End) -> ValueStep | None:
    """The step that gives a text, not null, the letter case of its enum; None where the end is no enum of texts."""
    given = end.given
    type_ = given.inner if isinstance(given, Nullable) else given
    found = end.definition(type_)
    if not isinstance(found, EnumType) or found.kind != "string":
        return None
    return ToEnum(found.values)


def beside_null(step: ValueStep, source: End, target: End) -> ValueStep:
    """A step between two ends that knows no null: null is null where both admit it, else absent."""
    if not isinstance(source.given, Nullable):
        return step
    return Optional(step) if isinstance(target.type, Nullable) else NotNull(step)


def elsewhere(typed: End, free: End) -> Elsewhere | None:
    """What the side with free-form data has in other places of the nested object that stands at a typed end."""
    lineage, place = typed.lineage, typed.place
    names = []
    for name in lineage.leaves(place):
        leaf = lineage.thread(Place(place.version, join_path((*lineage.path(place), name))))
        derived = (
            lineage.thread(each.inputs[0])
            for each in lineage.derivations.get(leaf.number, ())
            if isinstance(each.how, ByConversion)
        )
        if any(each.at(free.place.version) is not None for each in (leaf, *derived)):
            names.append(name)
    return Elsewhere(place, tuple(names)) if names else None


class _Changing:
    def __init__(self, source: End, target: End) -> None:
        self.source = source
        self.target = target

    def step(self, source: Type, target: Type) -> ValueStep | Mismatch | None:
        if isinstance(source, Ref) and isinstance(target, Ref):
            return self._definitions(source, target)
        if isinstance(source, Scalar) and isinstance(target, Scalar):
            return self._scalars(source.kind, target.kind)
        free = _is_free_form(source), _is_free_form(target)
        if free == (True, False):
            typed = self.target
            return FromFreeForm(typed.place, target, typed.shape, elsewhere(typed, self.source))
        if free == (False, True):
            return ToFreeForm(elsewhere(self.source, self.target))
        if isinstance(source, Nullable) or isinstance(target, Nullable):
            inner = self.step(
                source.inner if isinstance(source, Nullable) else source,
                target.inner if isinstance(target, Nullable) else target,
            )
            if isinstance(inner, Mismatch):
                return inner
            if isinstance(source, Nullable) and not isinstance(target, Nullable | FreeForm):
                return NotNull(inner)
            return None if inner is None else Optional(inner)
        match source, target:
            case (FreeForm(), FreeForm()):
                return None
            case (Union(), _) | (_, Union()):
                return self._unions(source, target)
            case (ListOf(items), ListOf(others)):
                inner = self.nested(items, others)
                return inner if inner is None or isinstance(inner, Mismatch) else Items(inner)
            case (ListOf(items), _):
                inner = self.step(items, target)
                return inner if isinstance(inner, Mismatch) else Single(inner)
            case (_, ListOf(others)):
                inner = self.step(source, others)
                return inner if isinstance(inner, Mismatch) else Listed(inner)
            case (MapOf(values), MapOf(others)):
                inner = self.nested(values, others)
                return inner if inner is None or isinstance(inner, Mismatch) else Values(inner)
            case (Ref(), _) | (_, Ref()):
                return self._definitions(source, target)
            case _:
                return MISMATCH

    def nested(self, source: Type, target: Type) -> ValueStep | Mismatch | None:
        """The step of an element or a map's value, which cannot pass on a null that does not fit."""
        if isinstance(source, Nullable) and not isinstance(target, Nullable | FreeForm):
            inner = self.step(source.inner, target)
            return inner if isinstance(inner, Mismatch) else NotNull(inner)
        return self.step(source, target)

    @staticmethod
    def _scalars(kind: str, other: str) -> ValueStep | Mismatch | None:
        if kind == other or (kind, other) == ("integer", "number"):
            return None
        return Fit(("integer",)) if (kind, other) == ("number", "integer") else MISMATCH

    def _definitions(self, source: Type, target: Type) -> ValueStep | Mismatch | None:
        one, other = self.source.definition(source), self.target.definition(target)
        if isinstance(one, ObjectType) and isinstance(other, ObjectType):
            assert isinstance(source, Ref)
            assert isinstance(target, Ref)
            return self._objects(source, target)
        kind = one.kind if isinstance(one, EnumType) else getattr(source, "kind", None)
        wanted = other.kind if isinstance(other, EnumType) else getattr(target, "kind", None)
        if kind is None or wanted is None or kind != wanted:
            return MISMATCH
        if isinstance(one, EnumType) and isinstance(other, EnumType):
            renamed = self.source.place.property == "apiVersion" and one.values != other.values
            if renamed and len(one.values) == len(other.values) == 1:
                return MapText(((one.values[0], other.values[0]),))
            respelled = kind == "string" and (self._shows_its_own() or self._respelled(one, other))
            return ToEnum(other.values) if respelled else None
        if isinstance(other, EnumType) and kind == "string":
            return ToEnum(other.values)
        return None

    def _shows_its_own(self) -> bool:
        """Whether the target shows its own letter case of texts that are stored, or shown, as they were written."""
        own = self.target.lineage.own_texts.get(self.target.place)
        if own is None or self.target.shape.kind != "api":
            return False
        source = self.source
        return source.shape.kind == "storage" or source.lineage.own_texts.get(source.place) != own

    def _respelled(self, one: EnumType, other: EnumType) -> bool:
        """Whether texts take the letter case of the other enum."""
        places = self.target.lineage.respelled
        number = places.get(self.source.place)
        joined = number is not None and number == places.get(self.target.place)
        return joined and spellings([one]) != spellings([other])

    def _objects(self, source: Ref, target: Ref) -> ValueStep | Mismatch | None:
        ours, theirs = self.source.child(source), self.target.child(target)
        if ours is not theirs:
            return MISMATCH
        one, other = self.source.shape, self.target.shape
        if ours.stable or one == other:
            return None
        if one.kind == other.kind == "api" and alike(ours, one.version, other.version):
            return None
        step = ToObject(PlanKey(ours, self.source.shape, self.target.shape))
        discriminator = _discriminator(ours, one.version, other.version)
        if discriminator is None:
            return step
        name, texts = discriminator
        fixed = _tag_text(ours, one.version)
        if name != ours.definition(one.version).tag or fixed is None:
            case = Case(source, step, discriminator=discriminator)
        elif fixed.casefold() in {text.casefold() for text in texts}:
            return step
        else:
            case = Case(source, None, lacking=True)
        return Cases(self.source.place, self.source.shape, (case,))

    def _unions(self, source: Type, target: Type) -> ValueStep | Mismatch | None:
        ours = source.variants if isinstance(source, Union) else (source,)
        theirs = target.variants if isinstance(target, Union) else (target,)
        cases = []
        candidates = _Candidates(self.target, theirs)
        for variant in ours:
            steps = (self._variant(variant, each) for each in candidates.of(self.source, variant))
            found = next((step for step in steps if not isinstance(step, Mismatch)), MISMATCH)
            cases.append(_case(variant, found))
        if all(case.lacking for case in cases):
            return MISMATCH
        if all(case.step is None and not (case.lacking or case.discriminator) for case in cases):
            return None
        return Cases(self.source.place, self.source.shape, tuple(cases))

    def _variant(self, variant: Type, candidate: Type) -> ValueStep | Mismatch | None:
        if isinstance(variant, ListOf) != isinstance(candidate, ListOf):
            return MISMATCH
        step = self.step(variant, candidate)
        return MISMATCH if isinstance(step, FromFreeForm | ToFreeForm) else step


class _Candidates:
    """The variants of a union, by what may become one of them: an object fits its own lineage alone."""

    def __init__(self, end: End, variants: tuple[Type, ...]) -> None:
        self._variants = variants
        self._objects: dict[Lineage, list[int]] = {}
        self._others: list[int] = []
        for place, each in enumerate(variants):
            lineage = _object(end, each)
            known = self._others if lineage is None else self._objects.setdefault(lineage, [])
            known.append(place)

    def of(self, end: End, variant: Type) -> Iterator[Type]:
        """The variants that a variant of the other end may become, in order."""
        if isinstance(variant, Nullable | Union):
            return iter(self._variants)
        lineage = _object(end, variant)
        own = [] if lineage is None else self._objects.get(lineage, [])
        return (self._variants[place] for place in sorted((*own, *self._others)))


def _object(end: End, type_: Type) -> Lineage | None:
    """The lineage of the object that a type refers to, if it is one."""
    if isinstance(type_, Ref) and isinstance(end.definition(type_), ObjectType):
        return end.child(type_)
    return None


def discriminators(lineage: Lineage, version: ApiVersion) -> tuple[str, ...]:
    """The properties of a version's objects by which other versions distinguish variants, though it does not itself."""
    found = (_discriminator(lineage, version, other) for other in lineage.nodes if other != version)
    names = {discriminator[0] for discriminator in found if discriminator is not None}
    return tuple(sorted(names - {lineage.definition(version).tag}))


def _discriminator(
    lineage: Lineage, version: ApiVersion, other: ApiVersion
) -> tuple[str, tuple[str, ...]] | None:
    """The property that another version's tag comes from, and the texts that fit it.

    None where the other version has no tag, or this one no such property.
    """
    tag, text = lineage.definition(other).tag, _tag_text(lineage, other)
    if tag is None or text is None:
        return None
    place = Place(other, tag)
    found = lineage.thread(place).at(version) or Place(version, tag)
    texts = {text}
    for each in lineage.derivations.get(lineage.thread(place).number, ()):
        own = lineage.thread(each.inputs[0]).at(version)
        if own is None or not isinstance(each.how, ByConversion):
            continue
        found = own
        conversion = beside_nulls(each.how.conversion)
        if isinstance(conversion, MapValues):
            texts.update(conversion.sources(text, up=each.how.up))
    if lineage.definition(version).property(found.property) is None:
        return None
    return found.property, tuple(sorted(texts))


def _tag_text(lineage: Lineage, version: ApiVersion) -> str | None:
    """The text that distinguishes a lineage's objects from other variants in a version."""
    definitions = lineage.evolution.schema(version).definitions
    return tag_text(lineage.definition(version), definitions)


def _case(variant: Type, step: ValueStep | Mismatch | None) -> Case:
    if isinstance(step, Mismatch):
        return Case(variant, None, lacking=True)
    if isinstance(step, Cases):
        (case,) = step.cases
        return case
    return Case(variant, step)


def _is_free_form(type_: Type) -> bool:
    """Whether a type is any JSON, which is so with null and without."""
    return isinstance(type_.inner if isinstance(type_, Nullable) else type_, FreeForm)
