"""What a stored object says about a text whose versions do not all know it: nothing, unless they agree.

The versions of one thread read plain text each by its own enum. An entry of the property bag is only left out where
all of them read what was written.
"""

import functools
from typing import assert_never

import msgspec

from trundle.evolution._lineage import Lineage
from trundle.evolution._spelling import enums_at
from trundle.evolution._threads import Thread
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


def agreeing(value: Expression, lineage: Lineage, thread: Thread) -> Expression:
    """An expression of a thread's value that is absent where the thread's versions read it differently."""
    enums = [
        frozenset(str(text) for each in enums_at(lineage, place) for text in each.values)
        for place in thread.places
    ]
    every = frozenset[str]().union(*enums)
    shared = functools.reduce(frozenset.intersection, enums, every)
    if shared == every:
        return value
    return _expression(value, ToEnum(tuple(sorted(every)), tuple(sorted(every - shared))))


def _expression(value: Expression, text: ToEnum) -> Expression:
    match value:
        case Change(inner, step):
            return Change(inner, _step(step, text))
        case First(options):
            return First(tuple(_expression(each, text) for each in options))
        case KeepPlaces() | Refill() | KeepElements() | Said() | Solid():
            return msgspec.structs.replace(value, value=_expression(value.value, text))
        case Read() | Unstash() | HookOutput() | Hidden() | Presence():
            return value
        case _:
            assert_never(value)


def _step(step: ValueStep, text: ToEnum) -> ValueStep:
    match step:
        case ToEnum():
            return text
        case Items(inner):
            return Items(_step(inner, text))
        case Values(inner):
            return Values(_step(inner, text))
        case Optional(inner):
            return Optional(_step(inner, text))
        case NotNull(inner) | Listed(item=inner) | Single(item=inner):
            made = None if inner is None else _step(inner, text)
            return msgspec.structs.replace(step, **{step.__struct_fields__[0]: made})
        case Cases(cases=cases):
            agreed = tuple(
                msgspec.structs.replace(each, step=each.step and _step(each.step, text))
                for each in cases
            )
            return msgspec.structs.replace(step, cases=agreed)
        case Chain(steps):
            return Chain((*steps[:-1], _step(steps[-1], text)))
        case (
            ToObject()
            | ToFreeForm()
            | FromFreeForm()
            | Fit()
            | MapText()
            | CallScalar()
            | CallConverter()
            | ToList()
            | ToMap()
        ):
            return step
        case _:
            assert_never(step)
