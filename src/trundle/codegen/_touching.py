"""What a straight conversion touches: everything else of an object it passes on whole.

A document's other properties need not be decoded to be converted.
"""

from collections.abc import Iterator, Mapping

from trundle.evolution import ADDITIONAL, Plan, PlanKey
from trundle.evolution.steps import (
    Assign,
    Change,
    Expression,
    First,
    Hidden,
    HookOutput,
    Items,
    KeepPlaces,
    Optional,
    PutMember,
    Read,
    Refill,
    TakeMember,
    ToObject,
    Unstash,
    Values,
    ValueStep,
)


def touched(plan: Plan) -> Mapping[str, PlanKey | None] | None:
    """The properties of a plan's source that it does not copy as they are.

    Returns:
        By property the plan that converts the objects in it, None where its value must be there as it is.
        None for a plan between objects with additional properties, whose documents must be read whole.
    """
    key = plan.key
    if key.source.kind != "api" or key.target.kind != "api":
        return None
    ends = (key.source.version, key.target.version)
    if any(ADDITIONAL in key.lineage.names(version) for version in ends):
        return None
    copied: set[str] = set()
    converted: dict[str, PlanKey | None] = {}
    for step in plan.steps:
        if not isinstance(step, Assign) or step.value is None:
            continue
        for name, callee in _uses(step.value):
            if callee is _COPIED:
                copied.add(name)
            elif name in converted and converted[name] is not callee:
                converted[name] = None
            else:
                converted[name] = callee if isinstance(callee, PlanKey) else None
    tag = key.lineage.definition(key.source.version).tag
    return {
        name: None if name in copied else callee
        for name, callee in sorted(converted.items())
        if name != tag
    }


_COPIED = object()


def _uses(value: Expression) -> Iterator[tuple[str, object]]:
    """Each property that an expression reads, and what it does with it."""
    match value:
        case Read(name):
            yield name, _COPIED
        case Change(Read(name), step):
            yield name, _converting(step)
        case _:
            for name in _read_in(value):
                yield name, None


def _converting(step: ValueStep) -> PlanKey | None:
    """The one plan by which a step converts all objects in a value, where it does nothing else."""
    match step:
        case ToObject(plan):
            return plan
        case Items(inner) | Values(inner) | Optional(inner):
            return _converting(inner)
        case _:
            return None


def _read_in(value: Expression | None) -> Iterator[str]:
    match value:
        case Read(name):
            yield name
        case (
            Change(inner, _) | Hidden(inner) | KeepPlaces(inner) | Refill(inner) | TakeMember(inner)
        ):
            yield from _read_in(inner)
        case PutMember(holder, value=inner):
            yield from _read_in(holder)
            yield from _read_in(inner)
        case HookOutput(call):
            for _, each in call.inputs:
                yield from _read_in(each)
        case First(options):
            for option in options:
                yield from _read_in(option)
        case Unstash() | None:
            return
