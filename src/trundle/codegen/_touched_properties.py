"""What a straight conversion touches: everything else of an object it passes on whole.

A document's other properties need not be decoded to be converted.
"""

from collections.abc import Iterator, Mapping
from typing import assert_never

from trundle.evolution import ADDITIONAL, Plan, PlanKey, expressions_in
from trundle.evolution.steps import (
    Assign,
    CallConverter,
    CallScalar,
    Cases,
    Chain,
    Change,
    Expression,
    Fit,
    FromFreeForm,
    Items,
    KnownPart,
    Listed,
    MapText,
    NotNull,
    Optional,
    Read,
    Single,
    ToEnum,
    ToFreeForm,
    ToList,
    ToMap,
    ToObject,
    Values,
    ValueStep,
)


def touched(plan: Plan) -> Mapping[str, PlanKey | None] | None:
    """The properties of a plan's source that it does not copy as they are.

    Returns:
        By property the plan that converts the objects in it, None where its value must be there as it is.
        None for a plan between objects with additional properties, or with labels that hooks write: their documents
        must be read whole.
    """
    key = plan.key
    if key.source.kind != "api" or key.target.kind != "api":
        return None
    ends = (key.source.version, key.target.version)
    if any(ADDITIONAL in key.lineage.names(version) for version in ends):
        return None
    if any(version in key.lineage.labels for version in ends):
        return None
    lifted = key.lineage.lifted(key.source.version)
    copied: set[str] = set()
    converted: dict[str, PlanKey | None] = {}
    for step in plan.steps:
        if not isinstance(step, Assign) or step.value is None:
            continue
        for name, callee in _uses(step.value):
            if callee is _COPIED and name not in lifted:
                copied.add(name)
            elif name in lifted:
                converted[lifted[name][0]] = None  # the object that holds it must be there as it is
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
        case (
            NotNull()
            | Cases()
            | Listed()
            | Single()
            | ToFreeForm()
            | FromFreeForm()
            | KnownPart()
            | Fit()
            | ToEnum()
            | MapText()
            | ToList()
            | ToMap()
            | CallScalar()
            | CallConverter()
            | Chain()
        ):
            return None
        case _:
            assert_never(step)


def _read_in(value: Expression) -> Iterator[str]:
    for each in expressions_in(value):
        if isinstance(each, Read):
            yield each.property
