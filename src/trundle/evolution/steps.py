"""The records a plan is made of: steps, the expressions they assign, and the changes of value within."""

from typing import Any, Literal, TypeAlias, assert_never

import msgspec

from trundle.evolution._lineage import Lineage, Place
from trundle.evolution._neighbours import Neighbours
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


# How one value becomes another, once it is there. `None` stands for the value itself.


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
        telling: a property and the texts that the target tells the variant by, where the source admits
            others, too; with one of these the target lacks it.
    """

    variant: Type
    step: "ValueStep | None"
    lacking: bool = False
    telling: tuple[str, tuple[str, ...]] | None = None


class Cases(msgspec.Struct, frozen=True):
    """A value of a union, by variant; one that the target lacks becomes absent."""

    place: Place
    source: Shape
    cases: tuple[Case, ...]


class Listed(msgspec.Struct, frozen=True):
    """A single value becomes a list of one."""

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


class ToFreeForm(msgspec.Struct, frozen=True):
    """A typed value becomes plain JSON."""


class FromFreeForm(msgspec.Struct, frozen=True):
    """Plain JSON becomes a typed value where it fits, else absent."""

    place: Place
    type: Type
    shape: Shape


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
    """A hand-written property converter."""

    use: str
    method: str
    between: Neighbours


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
                case.lacking or case.telling or (case.step and may_lack(case.step))
                for case in cases
            )
        case NotNull() | Fit() | CallScalar() | FromFreeForm() | CallConverter() | Single():
            return True
        case Optional(inner):
            return may_lack(inner)
        case Chain(steps):
            return any(may_lack(each) for each in steps)
        case Items() | Values() | Listed():
            return False  # these leave out what is absent within
        case ToEnum(partly=partly):
            return bool(partly)
        case ToObject() | ToFreeForm() | MapText() | ToList() | ToMap():
            return False
        case _:
            assert_never(step)


# Expressions: what a step assigns, told from the source object.


class Read(msgspec.Struct, frozen=True):
    """A property of the source, or a lifted one by its path."""

    property: str


class Entry(msgspec.Struct, frozen=True):
    """One entry of the property bag, and what its value goes through."""

    place: Place
    step: ValueStep | None


class Unstash(msgspec.Struct, frozen=True):
    """The first entry of the bag that is there and not stale.

    Attributes:
        entries: the entries of one thread, the one that is written first.
        witness: what an entry must have accompanied to be current; None where nothing can make it stale.
    """

    entries: tuple[Entry, ...]
    witness: "Witness | None"


class Change(msgspec.Struct, frozen=True):
    """A value that goes through a step."""

    value: "Expression"
    step: ValueStep


class HookCall(msgspec.Struct, frozen=True):
    """A call of a hook's method with a record of inputs; absent inputs are None."""

    use: str
    method: str
    between: Neighbours
    up: bool
    inputs: tuple[tuple[Place, "Expression | None"], ...]


class HookOutput(msgspec.Struct, frozen=True):
    """One output of a hook's call, and what it goes through."""

    call: HookCall
    output: Place
    step: ValueStep | None


class Hidden(msgspec.Struct, frozen=True):
    """What the source cannot see and the stored object may hold, told from the stored object."""

    value: "Expression"


class Solid(msgspec.Struct, frozen=True):
    """What is made of a nested object of the source; absent where all that this has in it is followed elsewhere.

    Attributes:
        holder: the nested object of the source.
        value: what is made of it.
        place: where the nested object stands in the source.
        leaves: its properties that are followed by the type around it.
    """

    holder: "Expression"
    value: "Expression"
    place: Place
    leaves: tuple[str, ...]


class Presence(msgspec.Struct, frozen=True):
    """Whether a nested object is there: true, null where it is null, or absent."""

    value: "Expression"


class Said(msgspec.Struct, frozen=True):
    """A nested object, which is there or not as its own side said.

    Attributes:
        said: the entry with its presence.
        value: the object as other sides show it.
        place: where it stands.
        shape: the shape that it has.
    """

    said: Unstash
    value: "Expression"
    place: Place
    shape: Shape


class KeepPlaces(msgspec.Struct, frozen=True):
    """A list or map that another thread tells, with the elements that only a stale entry still has.

    Attributes:
        value: what the other thread tells.
        entries: the entries that the list or map may have been stashed at, in the shape of `value`.
        hidden: what an element goes through to the side that tells it, which may lose it on the way; an
            element that is lost keeps its place.
    """

    value: "Expression"
    entries: tuple[Entry, ...]
    hidden: ValueStep


class Refill(msgspec.Struct, frozen=True):
    """Typed data that free-form data tells, with what only a stale entry still has inside of it.

    Free-form data has no bags. What an object in it has beyond it stands in the entry of the whole value,
    which an edit of the free-form data makes stale.

    Attributes:
        value: what the free-form data tells.
        entries: the entries that the whole value may have been stashed at, in the shape of `value`.
        seen: what a value of that shape goes through to the free-form data and back.
    """

    value: "Expression"
    entries: tuple[Entry, ...]
    seen: ValueStep


class KeepElements(msgspec.Struct, frozen=True):
    """A list that a map tells, with what only a stale entry of the list still has.

    A map has no place for elements without a key, nor for what an element has beside key and value.

    Attributes:
        value: what the map tells.
        entries: the entries that the list may have been stashed at, in the shape of `value`.
        seen: what a list of that shape goes through to the map and back.
        keyed: how the map became the list.
    """

    value: "Expression"
    entries: tuple[Entry, ...]
    seen: ValueStep
    keyed: ToList


class First(msgspec.Struct, frozen=True):
    """The first of some expressions that is not absent."""

    options: tuple["Expression", ...]


class Witness(msgspec.Struct, frozen=True):
    """What stands on the other side of an entry: places, and expressions of the stored object."""

    places: tuple[Place, ...]
    values: tuple["Expression | None", ...]


Expression: TypeAlias = (
    Read
    | Unstash
    | Change
    | HookOutput
    | Hidden
    | KeepElements
    | KeepPlaces
    | Presence
    | Refill
    | Said
    | Solid
    | First
)

# Steps: what a plan does, in alphabetical order of the target property.


class Assign(msgspec.Struct, frozen=True):
    """A property of the target; absent where `value` is None.

    Attributes:
        property: the property of the target, or the path of a lifted one; that is put into the object that
            holds it, which is made where there is none.
        value: what it becomes.
        default: what an API object shows where the value is absent though required; `ABSENT` for nothing.
    """

    property: str
    value: Expression | None
    default: Any = msgspec.UNSET


class Stash(msgspec.Struct, frozen=True):
    """An entry of the target's property bag.

    Attributes:
        entry: the property and the version whose shape the value has.
        value: what is stashed.
        witness: what makes the entry stale when it changes.
        derived: how the value would be told without the entry; the entry is left out where that is the same.
        aliases: the other places that the same thread may have been stashed under.
        spoken: properties of the source of which one must be there for an absent value to be noted; a
            stored object of another side's making says nothing about what its writers could not see.
    """

    entry: Place
    value: Expression
    witness: Witness | None
    derived: Expression | None
    aliases: tuple[Place, ...]
    spoken: tuple[str, ...] = ()


Step: TypeAlias = Assign | Stash


class Carried(msgspec.Struct, frozen=True):
    """Entries of a stored object that travel on to another storage shape, and what they accompany.

    Attributes:
        places: where one thread may have been stashed, the place that counts first.
        before: what makes such an entry stale in the source.
        after: what makes it stale in the target.
    """

    places: tuple[Place, ...]
    before: Witness | None
    after: Witness | None

    @property
    def same(self) -> bool:
        """Whether an entry accompanies the same places before and after."""
        before, after = self.before, self.after
        return before is not None and after is not None and before.places == after.places


class Plan(msgspec.Struct, frozen=True):
    """How one object becomes another, as an ordered list of steps.

    Attributes:
        key: what it converts.
        steps: assignments in alphabetical order of the target's properties, then entries of the bag.
        consumed: places whose entries the steps take up; all other entries of the bag travel on.
        carried: what those that travel on accompany.
    """

    key: PlanKey
    steps: tuple[Step, ...]
    consumed: tuple[Place, ...] = ()
    carried: tuple[Carried, ...] = ()
