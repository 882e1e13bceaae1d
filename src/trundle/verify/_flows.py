"""What becomes of each value in a plan: where it comes from, and what it goes through on its way."""

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from trundle.evolution import Lineage, PlanKey, inner_changes
from trundle.evolution.steps import (
    CallConverter,
    CallScalar,
    Cases,
    Chain,
    Change,
    Expression,
    First,
    Fit,
    FromFreeForm,
    Hidden,
    HookOutput,
    Items,
    KeepElements,
    KeepPlaces,
    Listed,
    MapText,
    NotNull,
    Optional,
    Presence,
    Read,
    Refill,
    Said,
    Single,
    Solid,
    ToEnum,
    ToFreeForm,
    ToList,
    ToMap,
    ToObject,
    Unstash,
    Values,
    ValueStep,
)
from trundle.schema import EnumType, Ref, Type


class Datum(NamedTuple):
    """A value that an object holds: a property, or an entry of the bag, which has a version."""

    name: str
    version: str | None = None


class Flow(NamedTuple):
    """How a value comes to be: from where, through which steps, and whether a hook has a part in it."""

    source: Datum
    steps: tuple[ValueStep, ...]
    hooked: bool = False

    def losses(self, lineage: Lineage) -> tuple[str, ...]:
        """Why a value may not come through as it is; nothing where every value does."""
        found = [reason for step in self.steps for reason in losses(step, lineage)]
        if self.hooked:
            found.append("a hook makes it of other values")
        return tuple(dict.fromkeys(found))


def flows(value: Expression | None, after: tuple[ValueStep, ...] = ()) -> Iterator[Flow]:
    """All ways on which an expression may get its value."""
    match value:
        case Read(name):
            yield Flow(Datum(name), after)
        case Unstash(entries):
            for entry in entries:
                steps = after if entry.step is None else (entry.step, *after)
                yield Flow(Datum(entry.place.property, entry.place.version.text), steps)
        case Change(inner, step):
            yield from flows(inner, (step, *after))
        case KeepElements(inner) | KeepPlaces(inner) | Refill(inner):
            yield from flows(inner, after)
        case Solid(_, inner) | Said(_, inner):
            yield from flows(inner, after)
        case First(options):
            for each in options:
                yield from flows(each, after)
        case HookOutput(call=call):
            for _, given in call.inputs:
                for flow in flows(given, after):
                    yield flow._replace(hooked=True)
        case Hidden() | Presence() | None:
            return
        case _:
            assert_never(value)


def losses(step: ValueStep, lineage: Lineage) -> Iterator[str]:
    """Why a step may not bring a value over as it is."""
    reason = _reason(step)
    if reason:
        yield reason
    if isinstance(step, Cases):
        for case in step.cases:
            if case.lacking:
                name = type_name(lineage, step.place.version.text, case.variant)
                yield f"the variant {name} has no counterpart there"
    for each in inner_changes(step):
        yield from losses(each, lineage)


def _reason(step: ValueStep) -> str:
    """Why a step itself, apart from those within, may not bring a value over as it is."""
    match step:
        case NotNull():
            return "null has no place there"
        case Single():
            return "of a list there is room for its first element"
        case Fit(kinds):
            return f"only what is {' or '.join(kinds)} has a place there"
        case FromFreeForm():
            return "only what fits the type has a place there"
        case ToEnum():
            return "text takes the letter case of the enum"
        case MapText(pairs):
            one = len({newer for _, newer in pairs}) < len(pairs)
            return "several values become one" if one else ""
        case CallScalar(name):
            return f"only what {name} can convert has a place there"
        case ToMap(key=key):
            return f"only elements with a {key} of their own have a place there"
        case CallConverter(method=method):
            return f"the hook {method} converts it"
        case Items() | Values() | Optional() | Listed() | Cases() | Chain():
            return ""  # what is within has reasons of its own
        case ToObject() | ToFreeForm() | ToList():
            return ""
        case _:
            assert_never(step)


def type_name(lineage: Lineage, version: str, type_: Type) -> str:
    """A type as a person names it."""
    schema = next(each for each in lineage.evolution.schemas if each.version.text == version)
    definition = schema.definitions.get(type_.key) if isinstance(type_, Ref) else None
    if definition is None or isinstance(definition, EnumType):
        return type(type_).__name__.lower() if definition is None else definition.name
    return definition.name


def nested(step: ValueStep | None, path: str = "") -> Iterator[tuple[PlanKey, str]]:
    """The plans of the objects within a value, and where they stand."""
    match step:
        case ToObject(plan):
            yield plan, path
        case Items(inner) | Listed(inner):
            yield from nested(inner, f"{path}[*]")
        case Values(inner):
            yield from nested(inner, f"{path}.*")
        case Optional(inner) | NotNull(inner) | Single(inner):
            yield from nested(inner, path)
        case Cases(cases=cases):
            for case in cases:
                yield from nested(case.step, path)
        case Chain(steps):
            for each in steps:
                yield from nested(each, path)
        case ToFreeForm() | FromFreeForm() | Fit() | ToEnum() | MapText():
            return
        case ToList() | ToMap() | CallScalar() | CallConverter() | None:
            return
        case _:
            assert_never(step)
