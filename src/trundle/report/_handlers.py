"""How a plan handles a property: the last column of the change table, read off the plan's steps."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, assert_never

from trundle.evolution import Lineage, Place, PlanKey, Shape, plan, steps
from trundle.report._matched_properties import Meeting, definition_pairs
from trundle.version import ApiVersion

Handler: TypeAlias = Literal["Copy value", "Skip", "Property Bag", "Rename", "Convert", "Hook"]

_ORDER: tuple[Handler, ...] = ("Copy value", "Convert", "Hook")


class Handling:
    """How objects of one API version become stored objects of another.

    Args:
        lineage: the type.
        older: the version of the API objects.
        newer: the version whose storage type they become.
    """

    def __init__(self, lineage: Lineage, older: ApiVersion, newer: ApiVersion) -> None:
        self._lineage = lineage
        self._assigned: dict[str, steps.Expression | None] = {}
        self._stashed: set[str] = set()
        for step in plan(PlanKey(lineage, Shape("api", older), Shape("storage", newer))).steps:
            match step:
                case steps.Assign(property=name, value=value):
                    self._assigned[name] = value
                case steps.Stash(value=steps.Presence()):
                    continue  # whether a nested object is there, which is no property
                case steps.Stash(entry=entry):
                    if entry.property not in lineage.followed(entry.version):
                        continue  # how a text was spelled, beside its value
                    own = lineage.thread(entry).at(older)
                    if own is not None:
                        self._stashed.add(own.property)
                case _:
                    assert_never(step)

    def of(self, meeting: Meeting) -> Handler:
        """What the plan does with a property."""
        older, newer = meeting.older, meeting.newer
        value = None if newer is None else self._assigned[newer.property]
        if value is None:
            if older is None:
                return "Skip"
            return "Property Bag" if older.property in self._stashed else "Convert"
        handler = handler_of(value)
        if handler == "Copy value" and older is not None and newer is not None:
            return "Rename" if self._renamed(older, newer) else handler
        return handler

    def _renamed(self, older: Place, newer: Place) -> bool:
        """Whether a configured rename joins two places, of the property or of its type."""
        if older.property != newer.property:
            return True
        pairs = definition_pairs(self._lineage, older, newer)
        return any(one.named and other.named for one, other in pairs)


def handler_of(value: steps.Expression) -> Handler:
    """What an expression does to derive a value: copy, convert or call a hook."""
    match value:
        case steps.Read() | steps.Unstash():
            return "Copy value"
        case steps.Change(value=inner, step=step):
            return _strongest((handler_of(inner), handler_of_step(step)))
        case steps.HookOutput():
            return "Hook"
        case steps.Hidden(value=inner) | steps.KeepElements(value=inner):
            return handler_of(inner)
        case steps.KeepPlaces(value=inner) | steps.Refill(value=inner):
            return handler_of(inner)
        case steps.HookRefill(value=inner):
            return handler_of(inner)
        case steps.Presence():
            return "Convert"
        case steps.Said(value=inner) | steps.Solid(value=inner):
            return handler_of(inner)
        case steps.First(options=options):
            return handler_of(options[0])
        case _:
            assert_never(value)


def handler_of_step(step: steps.ValueStep) -> Handler:
    """What a change of value amounts to; an object that converts member by member is copied."""
    match step:
        case steps.ToObject():
            return "Copy value"
        case steps.Items(item=inner) | steps.Values(value=inner) | steps.Optional(inner=inner):
            return handler_of_step(inner)
        case steps.Cases(cases=cases):
            if any(case.lacking for case in cases):
                return "Convert"
            return _strongest(handler_of_step(case.step) for case in cases if case.step)
        case steps.Chain(steps=parts):
            return _strongest(map(handler_of_step, parts))
        case steps.CallConverter():
            return "Hook"
        case (
            steps.Listed()
            | steps.NotNull()
            | steps.Single()
            | steps.ToFreeForm()
            | steps.FromFreeForm()
            | steps.KnownPart()
            | steps.Fit()
            | steps.ToEnum()
            | steps.MapText()
            | steps.ToList()
            | steps.ToMap()
            | steps.CallScalar()
        ):
            return "Convert"
        case _:
            assert_never(step)


def _strongest(handlers: Iterable[Handler]) -> Handler:
    return max(handlers, key=_ORDER.index, default="Copy value")
