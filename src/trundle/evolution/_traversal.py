"""The parts of a plan's records: the one place that knows what each expression and change of value holds.

Every search of a plan walks these, so that no search misses a record.
"""

from collections.abc import Iterator
from typing import assert_never

from trundle.evolution import steps


def operands(value: steps.Expression) -> tuple[steps.Expression, ...]:
    """The expressions that one is made of, in the order in which they are read.

    The witness of an entry is not among them: it decides whether the entry counts, and is no part of the value.
    """
    match value:
        case steps.Read() | steps.Unstash():
            return ()
        case steps.Change(inner) | steps.Hidden(inner):
            return (inner,)
        case steps.KeepElements(inner) | steps.KeepPlaces(inner) | steps.Refill(inner):
            return (inner,)
        case steps.HookRefill(inner, _, before):
            return (inner, before)
        case steps.Presence(inner):
            return (inner,)
        case steps.Solid(holder, inner):
            return (holder, inner)
        case steps.Said(said, inner):
            return (said, inner)
        case steps.HookOutput(call=call):
            return tuple(each for _, each in call.inputs if each is not None)
        case steps.First(options):
            return options
        case _:
            assert_never(value)


def changes_in(value: steps.Expression) -> tuple[steps.ValueStep, ...]:
    """The changes of value that an expression itself makes, apart from those of its operands."""
    match value:
        case steps.Change(_, step):
            return (step,)
        case steps.HookOutput(step=step):
            return () if step is None else (step,)
        case steps.Unstash(entries) | steps.HookRefill(_, entries):
            return tuple(each.step for each in entries if each.step is not None)
        case (
            steps.KeepElements(_, entries, step)
            | steps.KeepPlaces(_, entries, step)
            | steps.Refill(_, entries, step)
        ):
            return (*(each.step for each in entries if each.step is not None), step)
        case (
            steps.Read()
            | steps.Hidden()
            | steps.Presence()
            | steps.Said()
            | steps.Solid()
            | steps.First()
        ):
            return ()
        case _:
            assert_never(value)


def expressions_in(value: steps.Expression) -> Iterator[steps.Expression]:
    """An expression and all that it is made of."""
    yield value
    for each in operands(value):
        yield from expressions_in(each)


def inner_changes(step: steps.ValueStep) -> tuple[steps.ValueStep, ...]:
    """The changes of value that one consists of, or applies to what is inside of a value."""
    match step:
        case steps.Items(inner) | steps.Values(inner) | steps.Optional(inner):
            return (inner,)
        case steps.NotNull(inner) | steps.Listed(inner) | steps.Single(inner):
            return () if inner is None else (inner,)
        case steps.Cases(cases=cases):
            return tuple(case.step for case in cases if case.step is not None)
        case steps.Chain(parts):
            return parts
        case (
            steps.ToObject()
            | steps.ToList()
            | steps.ToMap()
            | steps.ToFreeForm()
            | steps.FromFreeForm()
            | steps.KnownPart()
            | steps.Fit()
            | steps.ToEnum()
            | steps.MapText()
            | steps.CallScalar()
            | steps.CallConverter()
        ):
            return ()
        case _:
            assert_never(step)


def changes_within(step: steps.ValueStep) -> Iterator[steps.ValueStep]:
    """A change of value and all that it consists of."""
    yield step
    for each in inner_changes(step):
        yield from changes_within(each)


def calls_hook(expression: steps.Expression) -> bool:
    """Whether hand-written code has a part in an expression."""
    return any(
        isinstance(each, steps.HookOutput)
        or any(
            isinstance(inner, steps.CallConverter)
            for step in changes_in(each)
            for inner in changes_within(step)
        )
        for each in expressions_in(expression)
    )
