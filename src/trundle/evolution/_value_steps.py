"""How one value becomes another, once it is there: the changes of value within a plan, as data.

`None` stands for the value itself.
"""

from typing import Literal, TypeAlias, assert_never

import msgspec

from trundle.evolution._lineage import Lineage
from trundle.evolution._neighbours import Neighbours
from trundle.evolution._threads import Place
from trundle.schema import Type
from trundle.version import ApiVersion


class Shape(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """What an object is shaped like: the API type or the storage type of a version."""

    kind: Literal["api", "storage"]
    version: ApiVersion

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"


class PlanKey(msgspec.Struct, frozen=True, cache_hash=True):
    """Which plan: a lineage, and the shapes that it leads from and to."""

    lineage: Lineage
    source: Shape
    target: Shape


class ToObject(msgspec.Struct, frozen=True):
    """An object, by a plan of its own."""

    plan: PlanKey


class Items(msgspec.Struct, frozen=True):
    """Each element of a list."""

    item: "ValueStep"


class Values(msgspec.Struct, frozen=True):
    """Each value of a map."""

    value: "ValueStep"


class Optional(msgspec.Struct, frozen=True):
    """A value that may be null; null stays null."""

    inner: "ValueStep"


class NotNull(msgspec.Struct, frozen=True):
    """An element or a map's value that may be null where the target's may not; null becomes absent."""

    inner: "ValueStep | None"


class Case(msgspec.Struct, frozen=True):
    """One variant of the source: which it is, and what becomes of it; None where the target lacks it.

    Attributes:
        variant: the variant.
        step: what becomes of it; None for the value itself.
        lacking: whether the target has no such variant.
        discriminator: a property and the texts by which the target distinguishes the variant, where the source admits
            others, too; with one of these the target lacks it.
    """

    variant: Type
    step: "ValueStep | None"
    lacking: bool = False
    discriminator: tuple[str, tuple[str, ...]] | None = None


class Cases(msgspec.Struct, frozen=True):
    """A value of a union, by variant; one that the target lacks becomes absent."""

    place: Place
    source: Shape
    cases: tuple[Case, ...]


class Listed(msgspec.Struct, frozen=True):
    """A single value becomes a list of one; one that becomes absent makes no list."""

    item: "ValueStep | None"


class ToList(msgspec.Struct, frozen=True):
    """The members of a map become a list of elements that have their keys.

    Attributes:
        place: the property that has the list.
        shape: the shape of the elements.
        key: the property of an element that has the key.
        value: the property that has the member; empty where the member itself is the element.
    """

    place: Place
    shape: Shape
    key: str
    value: str


class ToMap(msgspec.Struct, frozen=True):
    """The elements of a list become members of a map, by their keys; the inverse of `ToList`.

    An element without a key has no place there, and of several with one key only the first has.
    """

    place: Place
    shape: Shape
    key: str
    value: str


class Single(msgspec.Struct, frozen=True):
    """A list becomes its first element; an empty one becomes absent."""

    item: "ValueStep | None"


class Elsewhere(msgspec.Struct, frozen=True):
    """Properties of a nested object that the side with free-form data has in other places.

    Attributes:
        place: where the nested object is.
        names: what it calls them.
    """

    place: Place
    names: tuple[str, ...]


class ToFreeForm(msgspec.Struct, frozen=True):
    """A typed value becomes plain JSON; an object without what is elsewhere there, absent where it has nothing else."""

    elsewhere: Elsewhere | None = None


class FromFreeForm(msgspec.Struct, frozen=True):
    """Plain JSON becomes a typed value where it fits, else absent; an object may lack what is elsewhere, and lets it go."""

    place: Place
    type: Type
    shape: Shape
    elsewhere: Elsewhere | None = None


class KnownPart(msgspec.Struct, frozen=True):
    """Plain JSON becomes a typed value with what of it the type knows; absent where that does not fit."""

    place: Place
    type: Type
    shape: Shape
    elsewhere: Elsewhere | None = None


class Fit(msgspec.Struct, frozen=True):
    """A scalar stays where it is of one of some kinds, else it becomes absent."""

    kinds: tuple[str, ...]


class ToEnum(msgspec.Struct, frozen=True):
    """Text takes the enum's own letter case; unknown text stays.

    Attributes:
        values: the enum's values.
        partly: values of which some versions only make a text in another letter case their own. Such a text
            becomes absent, because the versions do not agree on it.
    """

    values: tuple[str, ...]
    partly: tuple[str, ...] = ()


class MapText(msgspec.Struct, frozen=True):
    """Configured values become others; all other values stay."""

    values: tuple[tuple[str, str], ...]


class CallScalar(msgspec.Struct, frozen=True):
    """A named scalar conversion; a value that it cannot convert becomes absent.

    Attributes:
        name: the conversion.
        property: the property that has the value, for notes.
        integer: whether the target admits integers only.
        version: the version that a bare group gets.
    """

    name: str
    property: str
    integer: bool = False
    version: str = ""


class CallConverter(msgspec.Struct, frozen=True):
    """A hand-written property converter, from the value at one place to that at another."""

    use: str
    method: str
    between: Neighbours
    input: Place
    output: Place


class Chain(msgspec.Struct, frozen=True):
    """One step after the other; what becomes absent stays absent."""

    steps: tuple["ValueStep", ...]


ValueStep: TypeAlias = (
    ToObject
    | Items
    | Values
    | Optional
    | NotNull
    | Cases
    | Listed
    | Single
    | ToList
    | ToMap
    | ToFreeForm
    | FromFreeForm
    | KnownPart
    | Fit
    | ToEnum
    | MapText
    | CallScalar
    | CallConverter
    | Chain
)


def may_lack(step: ValueStep) -> bool:
    """Whether a step may make a value absent, so that a list must leave it out."""
    match step:
        case Cases(cases=cases):
            return any(
                case.lacking or case.discriminator or (case.step and may_lack(case.step))
                for case in cases
            )
        case Listed(inner):
            return inner is not None and may_lack(inner)
        case NotNull() | Fit() | CallScalar() | CallConverter() | Single():
            return True
        case FromFreeForm() | KnownPart():
            return True
        case Optional(inner):
            return may_lack(inner)
        case Chain(steps):
            return any(may_lack(each) for each in steps)
        case Items() | Values():
            return False  # these leave out what is absent within
        case ToEnum(partly=partly):
            return bool(partly)
        case ToFreeForm(elsewhere):
            return elsewhere is not None
        case ToObject() | MapText() | ToList() | ToMap():
            return False
        case _:
            assert_never(step)
