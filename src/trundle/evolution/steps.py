"""The records a plan is made of: steps, the expressions they assign, and the changes of value within."""

from typing import Any, TypeAlias

import msgspec

from trundle.evolution._expressions import (
    Change,
    Expression,
    First,
    Hidden,
    HookCall,
    HookOutput,
    HookRefill,
    KeepElements,
    KeepPlaces,
    Leaf,
    PlannedEntry,
    Presence,
    Read,
    Refill,
    Said,
    Solid,
    Unstash,
    Witness,
)
from trundle.evolution._threads import Place
from trundle.evolution._value_steps import (
    CallConverter,
    CallScalar,
    Case,
    Cases,
    Chain,
    Elsewhere,
    Fit,
    FromFreeForm,
    Items,
    KnownPart,
    Listed,
    MapText,
    NotNull,
    Optional,
    PlanKey,
    Shape,
    Single,
    ToEnum,
    ToFreeForm,
    ToList,
    ToMap,
    ToObject,
    Values,
    ValueStep,
    may_lack,
)

__all__ = [
    "Assign",
    "CallConverter",
    "CallScalar",
    "CarriedEntries",
    "Case",
    "Cases",
    "Chain",
    "Change",
    "Elsewhere",
    "Expression",
    "First",
    "Fit",
    "FromFreeForm",
    "Hidden",
    "HookCall",
    "HookOutput",
    "HookRefill",
    "Items",
    "KeepElements",
    "KeepPlaces",
    "KnownPart",
    "Leaf",
    "Listed",
    "MapText",
    "NotNull",
    "Optional",
    "Plan",
    "PlanKey",
    "PlannedEntry",
    "Presence",
    "Read",
    "Refill",
    "Said",
    "Shape",
    "Single",
    "Solid",
    "Stash",
    "Step",
    "ToEnum",
    "ToFreeForm",
    "ToList",
    "ToMap",
    "ToObject",
    "Unstash",
    "ValueStep",
    "Values",
    "Watched",
    "Witness",
    "may_lack",
]


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
        derived: how the value would be derived without the entry; the entry is left out where that is the same.
        aliases: the other places that the same thread may have been stashed under, each with what the value goes
            through to be merged with this one.
        spoken: properties of the source of which one must be there for an absent value to be noted; a
            stored object of another side's making says nothing about what its writers could not see.
        holder: where the target has the nested object of which the entry says whether it is there, and which a put keeps
            for those versions as its edit leaves it; None for all other entries.
        own: whether the source is one of those versions.
    """

    entry: Place
    value: Expression
    witness: Witness | None
    derived: Expression | None
    aliases: tuple[PlannedEntry, ...]
    spoken: tuple[str, ...] = ()
    holder: Place | None = None
    own: bool = False


Step: TypeAlias = Assign | Stash


class CarriedEntries(msgspec.Struct, frozen=True):
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


class Watched(msgspec.Struct, frozen=True):
    """Whether a stored object has a nested one, to versions of which the source of a plan says nothing.

    A put keeps this where its edit says nothing of it either.

    Attributes:
        entry: the entry that says it where the stored object does not.
        holder: where the nested object is in the target.
        witness: what makes the entry stale when it changes.
        derived: whether the nested object is there without the entry.
        aliases: the other places of the entry.
    """

    entry: Place
    holder: Place
    witness: Witness
    derived: Expression
    aliases: tuple[PlannedEntry, ...]


class Plan(msgspec.Struct, frozen=True):
    """How one object becomes another, as an ordered list of steps.

    Attributes:
        key: what it converts.
        steps: assignments in alphabetical order of the target's properties, then entries of the bag.
        consumed: places whose entries the steps take up; all other entries of the bag travel on.
        carried: what those that travel on accompany.
        watched: whether nested objects are there to versions of which the steps say nothing.
    """

    key: PlanKey
    steps: tuple[Step, ...]
    consumed: tuple[Place, ...] = ()
    carried: tuple[CarriedEntries, ...] = ()
    watched: tuple[Watched, ...] = ()
