"""Expressions: what the steps of a plan assign, derived from the source object."""

from typing import TypeAlias

import msgspec

from trundle.evolution._neighbours import Neighbours
from trundle.evolution._threads import Place
from trundle.evolution._value_steps import Shape, ToList, ValueStep


class Read(msgspec.Struct, frozen=True):
    """A property of the source, or a lifted one by its path."""

    property: str


class PlannedEntry(msgspec.Struct, frozen=True):
    """One entry of the property bag, and what its value goes through."""

    place: Place
    step: ValueStep | None


class Unstash(msgspec.Struct, frozen=True):
    """The first entry of the bag that is there and not stale.

    Attributes:
        entries: the entries of one thread, the one that is written first.
        witness: what an entry must have accompanied to be current; None where nothing can make it stale.
        stale: whether stale entries count, too.
    """

    entries: tuple[PlannedEntry, ...]
    witness: "Witness | None"
    stale: bool = False


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
    """What the source cannot see and the stored object may hold, derived from the stored object."""

    value: "Expression"


class Leaf(msgspec.Struct, frozen=True):
    """A property of a nested object that the type around the object follows.

    Attributes:
        name: what the nested object calls it.
        place: where it is.
        leaves: what is followed elsewhere of an object that itself stays within the nested object in all versions;
            such an object counts only where it has one of them. Empty for any other property.
    """

    name: str
    place: Place
    leaves: tuple["Leaf", ...] = ()


class Solid(msgspec.Struct, frozen=True):
    """What is made of a nested object of the source; absent where all that this has in it is followed elsewhere.

    Attributes:
        holder: the nested object of the source.
        value: what is made of it.
        place: where the nested object is in the source.
        leaves: its properties that are followed by the type around it.
    """

    holder: "Expression"
    value: "Expression"
    place: Place
    leaves: tuple[Leaf, ...]


class Presence(msgspec.Struct, frozen=True):
    """Whether a nested object is there: true, null where it is null, or absent.

    Attributes:
        value: the object.
        only_null: whether null alone is said, and absent of all else.
    """

    value: "Expression"
    only_null: bool = False


class Said(msgspec.Struct, frozen=True):
    """A nested object, which is there or not as its own side said.

    Attributes:
        said: the entry with its presence.
        value: the object as other sides show it.
        place: where it is.
        shape: the shape that it has.
    """

    said: Unstash
    value: "Expression"
    place: Place
    shape: Shape


class KeepPlaces(msgspec.Struct, frozen=True):
    """A list or map derived from another thread, with the elements that only a stale entry still has.

    Attributes:
        value: the value derived from the other thread.
        entries: the entries that the list or map may have been stashed at, in the shape of `value`.
        hidden: the conversion of an element to the side it derives from, which may lose it on the way; an
            element that is lost keeps its place.
    """

    value: "Expression"
    entries: tuple[PlannedEntry, ...]
    hidden: ValueStep


class Refill(msgspec.Struct, frozen=True):
    """Data derived from another thread, with what only a stale entry still has inside of it.

    Free-form data has no bags. What an object in it has beyond it is in the entry of the whole value,
    which an edit of the free-form data makes stale. So is what free-form data has beyond a type, in the entry of the
    free-form data.

    Attributes:
        value: the value derived from the other thread.
        entries: the entries that the whole value may have been stashed at, in the shape of `value`.
        seen: what a value of that shape goes through to the other thread and back.
    """

    value: "Expression"
    entries: tuple[PlannedEntry, ...]
    seen: ValueStep


class HookRefill(msgspec.Struct, frozen=True):
    """What a hook writes, with what only a stale entry still has inside of it.

    Attributes:
        value: what the hook writes now.
        entries: the entries that the whole value may have been stashed at, in the shape of `value`.
        before: what the hook writes for what its other method makes of the entries.
        witness: what an entry must have accompanied to count: what that method makes of the entries.
    """

    value: "Expression"
    entries: tuple[PlannedEntry, ...]
    before: "Expression"
    witness: "Witness"


class KeepElements(msgspec.Struct, frozen=True):
    """A list derived from a map, with what only a stale entry of the list still has.

    A map has no place for elements without a key, nor for what an element has beside key and value.

    Attributes:
        value: the list derived from the map.
        entries: the entries that the list may have been stashed at, in the shape of `value`.
        seen: what a list of that shape goes through to the map and back.
        keyed: how the map became the list.
    """

    value: "Expression"
    entries: tuple[PlannedEntry, ...]
    seen: ValueStep
    keyed: ToList


class First(msgspec.Struct, frozen=True):
    """The first of some expressions that is not absent."""

    options: tuple["Expression", ...]


class Witness(msgspec.Struct, frozen=True, cache_hash=True):
    """What is on the other side of an entry: places, and expressions of the stored object.

    Attributes:
        places: the places.
        values: what the stored object has there.
        last_is_new: whether entries of earlier releases accompany all of these values but the last.
    """

    places: tuple[Place, ...]
    values: tuple["Expression | None", ...]
    last_is_new: bool = False


Expression: TypeAlias = (
    Read
    | Unstash
    | Change
    | HookOutput
    | HookRefill
    | Hidden
    | KeepElements
    | KeepPlaces
    | Presence
    | Refill
    | Said
    | Solid
    | First
)
