"""Ways: the steps that lead from one end to the next, and the expressions of values that went them."""

import itertools

from trundle.evolution._values import End, Mismatch, change_value
from trundle.evolution.steps import Chain, Change, Expression, ValueStep


def change(value: Expression, step: ValueStep | None) -> Expression:
    """A value after a step; several steps in a row are one chain."""
    if step is None:
        return value
    if isinstance(value, Change):
        inner = value.step.steps if isinstance(value.step, Chain) else (value.step,)
        outer = step.steps if isinstance(step, Chain) else (step,)
        return Change(value.value, Chain((*inner, *outer)))
    return Change(value, step)


def between(source: End, target: End) -> ValueStep | None:
    """The step between two ends that are known to meet; None where the value itself will do."""
    step = change_value(source, target)
    assert not isinstance(step, Mismatch), (source.place, target.place)
    return step


def along(value: Expression, *ends: End) -> Expression:
    """A value after all steps from each of some ends that are known to meet to the next."""
    for source, target in itertools.pairwise(ends):
        value = change(value, between(source, target))
    return value


def way(*ends: End) -> tuple[ValueStep, ...] | None:
    """The steps from each of some ends to the next; None where two of them do not meet."""
    steps = []
    for source, target in itertools.pairwise(ends):
        step = change_value(source, target)
        if isinstance(step, Mismatch):
            return None
        if step is not None:
            steps.append(step)
    return tuple(steps)
