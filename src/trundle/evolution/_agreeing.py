"""What a stored object says about a text whose versions do not all know it: nothing, unless they agree.

The versions of one thread read plain text each by its own enum. An entry of the property bag is only left out where
all of them read what was written.
"""

import functools
from typing import assert_never

import msgspec

from trundle.evolution import steps
from trundle.evolution._lineage import Lineage
from trundle.evolution._spelling import enums_at
from trundle.evolution._threads import Thread


def agreeing(value: steps.Expression, lineage: Lineage, thread: Thread) -> steps.Expression:
    """An expression of a thread's value that is absent where the thread's versions read it differently."""
    enums = [
        frozenset(str(text) for each in enums_at(lineage, place) for text in each.values)
        for place in thread.places
    ]
    every = frozenset[str]().union(*enums)
    shared = functools.reduce(frozenset.intersection, enums, every)
    if shared == every:
        return value
    return _expression(value, steps.ToEnum(tuple(sorted(every)), tuple(sorted(every - shared))))


def _expression(value: steps.Expression, text: steps.ToEnum) -> steps.Expression:
    match value:
        case steps.Change(inner, step):
            return steps.Change(inner, _step(step, text))
        case steps.First(options):
            return steps.First(tuple(_expression(each, text) for each in options))
        case (
            steps.KeepPlaces()
            | steps.Refill()
            | steps.KeepElements()
            | steps.Said()
            | steps.Solid()
        ):
            return msgspec.structs.replace(value, value=_expression(value.value, text))
        case (
            steps.Read()
            | steps.Unstash()
            | steps.HookOutput()
            | steps.HookRefill()
            | steps.Hidden()
            | steps.Presence()
        ):
            return value
        case _:
            assert_never(value)


def _step(step: steps.ValueStep, text: steps.ToEnum) -> steps.ValueStep:
    match step:
        case steps.ToEnum():
            return text
        case steps.Items(inner):
            return steps.Items(_step(inner, text))
        case steps.Values(inner):
            return steps.Values(_step(inner, text))
        case steps.Optional(inner):
            return steps.Optional(_step(inner, text))
        case steps.NotNull(inner) | steps.Listed(item=inner) | steps.Single(item=inner):
            made = None if inner is None else _step(inner, text)
            return msgspec.structs.replace(step, **{step.__struct_fields__[0]: made})
        case steps.Cases(cases=cases):
            agreed = tuple(
                msgspec.structs.replace(each, step=each.step and _step(each.step, text))
                for each in cases
            )
            return msgspec.structs.replace(step, cases=agreed)
        case steps.Chain(parts):
            return steps.Chain((*parts[:-1], _step(parts[-1], text)))
        case (
            steps.ToObject()
            | steps.ToFreeForm()
            | steps.FromFreeForm()
            | steps.KnownPart()
            | steps.Fit()
            | steps.MapText()
            | steps.CallScalar()
            | steps.CallConverter()
            | steps.ToList()
            | steps.ToMap()
        ):
            return step
        case _:
            assert_never(step)
