"""What becomes of each value in a plan: where it comes from, and what it goes through on its way."""

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from trundle.evolution import EXACT_CONVERSIONS, Lineage, PlanKey, inner_changes, steps
from trundle.schema import EnumType, Ref, Type


class Datum(NamedTuple):
    """A value that an object holds: a property, or an entry of the bag, which has a version."""

    name: str
    version: str | None = None


class Flow(NamedTuple):
    """How a value comes to be: from where, through which changes, and whether a hook has a part in it."""

    source: Datum
    changes: tuple[steps.ValueStep, ...]
    hooked: bool = False

    def losses(self, lineage: Lineage) -> tuple[str, ...]:
        """Why a value may not come through as it is; nothing where every value does."""
        found = [reason for step in self.changes for reason in losses(step, lineage)]
        if self.hooked:
            found.append("a hook makes it of other values")
        return tuple(dict.fromkeys(found))


def flows(
    value: steps.Expression | None, after: tuple[steps.ValueStep, ...] = ()
) -> Iterator[Flow]:
    """All ways on which an expression may get its value."""
    match value:
        case steps.Read(name):
            yield Flow(Datum(name), after)
        case steps.Unstash(entries):
            for entry in entries:
                changes = after if entry.step is None else (entry.step, *after)
                yield Flow(Datum(entry.place.property, entry.place.version.text), changes)
        case steps.Change(inner, step):
            yield from flows(inner, (step, *after))
        case steps.KeepElements(inner) | steps.KeepPlaces(inner) | steps.Refill(inner):
            yield from flows(inner, after)
        case steps.HookRefill(inner):
            yield from flows(inner, after)
        case steps.Solid(_, inner) | steps.Said(_, inner):
            yield from flows(inner, after)
        case steps.First(options):
            for each in options:
                yield from flows(each, after)
        case steps.HookOutput(call=call):
            for _, given in call.inputs:
                for flow in flows(given, after):
                    yield flow._replace(hooked=True)
        case steps.Hidden() | steps.Presence() | None:
            return
        case _:
            assert_never(value)


def losses(step: steps.ValueStep, lineage: Lineage) -> Iterator[str]:
    """Why a step may not bring a value over as it is."""
    reason = _reason(step)
    if reason:
        yield reason
    if isinstance(step, steps.Cases):
        for case in step.cases:
            if case.lacking:
                name = type_name(lineage, step.place.version.text, case.variant)
                yield f"the variant {name} has no counterpart there"
    for each in inner_changes(step):
        yield from losses(each, lineage)


def _reason(step: steps.ValueStep) -> str:
    """Why a step itself, apart from those within, may not bring a value over as it is."""
    match step:
        case steps.NotNull():
            return "null has no place there"
        case steps.Single():
            return "of a list there is room for its first element"
        case steps.Fit(kinds):
            return f"only what is {' or '.join(kinds)} has a place there"
        case steps.FromFreeForm():
            return "only what fits the type has a place there"
        case steps.KnownPart():
            return "only what the type knows has a place there"
        case steps.ToEnum():
            return "text takes the letter case of the enum"
        case steps.MapText(pairs):
            one = len({newer for _, newer in pairs}) < len(pairs)
            return "several values become one" if one else ""
        case steps.CallScalar(name):
            whole = name in EXACT_CONVERSIONS
            return "" if whole else f"only what {name} can convert has a place there"
        case steps.ToMap(key=key):
            return f"only elements with a {key} of their own have a place there"
        case steps.CallConverter(method=method):
            return f"the hook {method} converts it"
        case (
            steps.Items()
            | steps.Values()
            | steps.Optional()
            | steps.Listed()
            | steps.Cases()
            | steps.Chain()
        ):
            return ""  # what is within has reasons of its own
        case steps.ToObject() | steps.ToFreeForm() | steps.ToList():
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


def nested(step: steps.ValueStep | None, path: str = "") -> Iterator[tuple[PlanKey, str]]:
    """The plans of the objects within a value, and where they stand."""
    match step:
        case steps.ToObject(plan):
            yield plan, path
        case steps.Items(inner) | steps.Listed(inner):
            yield from nested(inner, f"{path}[*]")
        case steps.Values(inner):
            yield from nested(inner, f"{path}.*")
        case steps.Optional(inner) | steps.NotNull(inner) | steps.Single(inner):
            yield from nested(inner, path)
        case steps.Cases(cases=cases):
            for case in cases:
                yield from nested(case.step, path)
        case steps.Chain(parts):
            for each in parts:
                yield from nested(each, path)
        case (
            steps.ToFreeForm()
            | steps.FromFreeForm()
            | steps.KnownPart()
            | steps.Fit()
            | steps.ToEnum()
            | steps.MapText()
        ):
            return
        case steps.ToList() | steps.ToMap() | steps.CallScalar() | steps.CallConverter() | None:
            return
        case _:
            assert_never(step)
