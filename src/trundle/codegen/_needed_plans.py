"""Which plans a package needs: those of its resources, and every plan that one of them calls."""

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import assert_never

from trundle.evolution import (
    Evolution,
    Lineage,
    Place,
    Plan,
    PlanKey,
    Shape,
    changes_in,
    changes_within,
    expressions_in,
    goes_straight,
    operands,
    plan,
)
from trundle.evolution.steps import (
    Assign,
    Change,
    Expression,
    First,
    FromFreeForm,
    Hidden,
    HookOutput,
    HookRefill,
    KeepElements,
    KeepPlaces,
    KnownPart,
    PlannedEntry,
    Presence,
    Read,
    Refill,
    Said,
    Solid,
    Stash,
    ToObject,
    Unstash,
    ValueStep,
    Witness,
)
from trundle.version import ApiVersion


def needed_plans(evolution: Evolution, straight: Iterable[PlanKey] = ()) -> dict[PlanKey, Plan]:
    """All plans of a package, by their keys, in a fixed order.

    Args:
        evolution: what the package is generated from.
        straight: root plans that are wanted beyond those to the hub and back.
    """
    return with_called([*root_plans(evolution), *straight])


def with_called(keys: Iterable[PlanKey]) -> dict[PlanKey, Plan]:
    """Some plans with all that they call, by their keys, in a fixed order."""
    waiting = list(reversed(list(keys)))
    found: dict[PlanKey, Plan] = {}
    while waiting:
        key = waiting.pop()
        if key not in found:
            found[key] = made = plan(key)
            called = dict.fromkeys(calls(made))
            waiting.extend(reversed([*called, *views(called)]))
    return found


def root_plans(evolution: Evolution) -> Iterator[PlanKey]:
    """Every API version to the hub and back, every storage shape to the hub, and back to those that are kept."""
    for resource in evolution.resources:
        versions = resource.versions
        hub = Shape("storage", versions.hub)
        for version in versions.versions:
            yield PlanKey(resource.root, Shape("api", version), hub)
            yield PlanKey(resource.root, hub, Shape("api", version))
        for version in versions.storage:
            other = Shape("storage", version)
            if version != versions.hub:
                yield PlanKey(resource.root, other, hub)
                if version in versions.kept:
                    yield PlanKey(resource.root, hub, other)


def straight_plans(
    evolution: Evolution, served: Container[ApiVersion], newest: int
) -> Iterator[PlanKey]:
    """From each of the newest served versions of a resource type straight to each other one.

    They are left out where they would not come to the same as by way of the hub. All other pairs go by way of the hub: pairs grow with the square of the number of versions.

    Args:
        evolution: what the package is generated from.
        served: the versions that clients are meant to use.
        newest: how many versions of a resource type convert straight.
    """
    for resource in evolution.resources:
        versions = [each for each in resource.versions.versions if each in served]
        chosen = versions[len(versions) - min(newest, len(versions)) :]
        for source, target in itertools.permutations(chosen, 2):
            if goes_straight(resource.root, source, target):
                yield PlanKey(resource.root, Shape("api", source), Shape("api", target))


def views(keys: Iterable[PlanKey]) -> Iterator[PlanKey]:
    """The way back of each way up, by which edited elements of a list find their stored ones."""
    for key in keys:
        if key.source.kind == "api" and key.target.kind == "storage":
            yield PlanKey(key.lineage, key.target, key.source)


def wants_base(plans: Mapping[PlanKey, Plan]) -> frozenset[PlanKey]:
    """The plans that ask the stored object for what the source cannot see: what a hook reads, or labels."""
    callers: dict[PlanKey, list[PlanKey]] = {}
    found = {
        key
        for key, made in plans.items()
        if any(map(asks_base, _expressions(made))) or key.source.version in key.lineage.labels
    }
    for key, made in plans.items():
        for callee in calls(made):
            if (key.source.kind, key.target.kind) == ("api", "storage"):
                callers.setdefault(callee, []).append(key)
    waiting = list(found)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in found:
                found.add(caller)
                waiting.append(caller)
    return frozenset(
        key for key in found if (key.source.kind, key.target.kind) == ("api", "storage")
    )


def asks_base(expression: Expression) -> bool:
    """Whether an expression asks the stored object that is written over."""
    return any(isinstance(each, Hidden) for each in expressions_in(expression))


def _expressions(made: Plan) -> Iterator[Expression]:
    for step in made.steps:
        if step.value is not None:
            yield step.value


def calls(made: Plan) -> Iterator[PlanKey]:
    """The plans that a plan calls, wherever in its steps."""
    lineage = made.key.lineage
    known: set[int] = set()
    for step in made.steps:
        match step:
            case Assign(value=value):
                yield from _in_expression(value, lineage, known)
            case Stash(value=value, witness=witness, derived=derived, aliases=aliases):
                yield from _in_expression(value, lineage, known)
                yield from _in_witness(witness, lineage, known)
                yield from _in_expression(derived, lineage, known)
                yield from _in_aliases(aliases, lineage)
    for watched in made.watched:
        yield from _in_witness(watched.witness, lineage, known)
        yield from _in_expression(watched.derived, lineage, known)
    for each in made.carried:
        yield from _in_witness(each.before, lineage, known)
        yield from _in_witness(each.after, lineage, known)


def _in_expression(
    value: Expression | None, lineage: Lineage, known: set[int]
) -> Iterator[PlanKey]:
    """The plans that an expression calls, but for witnesses that are known already: entries of one plan share them."""
    if value is None:
        return
    for each in operands(value):
        yield from _in_expression(each, lineage, known)
    for step in changes_in(value):
        yield from _in_step(step, lineage)
    match value:
        case Unstash(entries, witness):
            yield from _in_entries(entries, lineage)
            yield from _in_witness(witness, lineage, known)
        case HookRefill(_, entries, _, witness):
            yield from _in_entries(entries, lineage)
            yield from _in_witness(witness, lineage, known)
        case KeepElements(entries=entries) | KeepPlaces(entries=entries) | Refill(entries=entries):
            yield from _in_entries(entries, lineage)
        case Said(_, _, place, shape):
            yield from _in_type(lineage, place, shape)
        case Read() | Change() | HookOutput() | Hidden() | Presence() | Solid() | First():
            return
        case _:
            assert_never(value)


def _in_entries(entries: tuple[PlannedEntry, ...], lineage: Lineage) -> Iterator[PlanKey]:
    for entry in entries:
        yield from _in_type(lineage, entry.place, Shape("storage", entry.place.version))


def _in_aliases(aliases: tuple[PlannedEntry, ...], lineage: Lineage) -> Iterator[PlanKey]:
    for entry in aliases:
        if entry.step is not None:
            yield from _in_entries((entry,), lineage)
            yield from _in_step(entry.step, lineage)


def _in_witness(witness: Witness | None, lineage: Lineage, known: set[int]) -> Iterator[PlanKey]:
    if witness is None or id(witness) in known:
        return
    known.add(id(witness))
    for value in witness.values:
        yield from _in_expression(value, lineage, known)


def _in_step(step: ValueStep, lineage: Lineage) -> Iterator[PlanKey]:
    for each in changes_within(step):
        if isinstance(each, ToObject):
            yield each.plan
        elif isinstance(each, FromFreeForm | KnownPart):
            yield from _in_type(lineage, each.place, each.shape)


def _in_type(lineage: Lineage, place: Place, shape: Shape) -> Iterator[PlanKey]:
    """A plan that makes the classes of a place's type needed, where it is read as stored."""
    if shape.kind != "storage":
        return
    for key in lineage.evolution.objects_in(place.version, lineage.type(place)):
        child = lineage.child(place, key)
        if not child.stable:
            yield PlanKey(child, shape, Shape("api", place.version))
