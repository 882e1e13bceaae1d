"""The parts of a plan's records: the one place that knows what each expression and change of value holds.

Every search of a plan walks these, so that no search misses a record.
"""

from collections.abc import Iterator
from typing import assert_never

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


def operands(value: Expression) -> tuple[Expression, ...]:
    """The expressions that one is made of, in the order in which they are read.

    The witness of an entry is not among them: it decides whether the entry counts, and is no part of the value.
    """
    match value:
        case Read() | Unstash():
            return ()
        case Change(inner) | Hidden(inner):
            return (inner,)
        case KeepElements(inner) | KeepPlaces(inner) | Refill(inner):
            return (inner,)
        case Presence(inner):
            return (inner,)
        case Solid(holder, inner):
            return (holder, inner)
        case Said(said, inner):
            return (said, inner)
        case HookOutput(call=call):
            return tuple(each for _, each in call.inputs if each is not None)
        case First(options):
            return options
        case _:
            assert_never(value)


def changes_in(value: Expression) -> tuple[ValueStep, ...]:
    """The changes of value that an expression itself makes, apart from those of its operands."""
    match value:
        case Change(_, step):
            return (step,)
        case HookOutput(step=step):
            return () if step is None else (step,)
        case Unstash(entries):
            return tuple(each.step for each in entries if each.step is not None)
        case (
            KeepElements(_, entries, step) | KeepPlaces(_, entries, step) | Refill(_, entries, step)
        ):
            return (*(each.step for each in entries if each.step is not None), step)
        case Read() | Hidden() | Presence() | Said() | Solid() | First():
            return ()
        case _:
            assert_never(value)


def expressions_in(value: Expression) -> Iterator[Expression]:
    """An expression and all that it is made of."""
    yield value
    for each in operands(value):
        yield from expressions_in(each)


def inner_changes(step: ValueStep) -> tuple[ValueStep, ...]:
    """The changes of value that one consists of, or applies to what is inside of a value."""
    match step:
        case Items(inner) | Values(inner) | Optional(inner):
            return (inner,)
        case NotNull(inner) | Listed(inner) | Single(inner):
            return () if inner is None else (inner,)
        case Cases(cases=cases):
            return tuple(case.step for case in cases if case.step is not None)
        case Chain(steps):
            return steps
        case (
            ToObject()
            | ToList()
            | ToMap()
            | ToFreeForm()
            | FromFreeForm()
            | Fit()
            | ToEnum()
            | MapText()
            | CallScalar()
            | CallConverter()
        ):
            return ()
        case _:
            assert_never(step)


def changes_within(step: ValueStep) -> Iterator[ValueStep]:
    """A change of value and all that it consists of."""
    yield step
    for each in inner_changes(step):
        yield from changes_within(each)


def calls_hook(expression: Expression) -> bool:
    """Whether hand-written code has a part in an expression."""
    return any(
        isinstance(each, HookOutput)
        or any(
            isinstance(inner, CallConverter)
            for step in changes_in(each)
            for inner in changes_within(step)
        )
        for each in expressions_in(expression)
    )
