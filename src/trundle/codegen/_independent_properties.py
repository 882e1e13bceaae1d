"""Which properties of a stored object have nothing to do with any other: a put may merge each by itself."""

from collections import Counter
from collections.abc import Iterator, Mapping

from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    Place,
    Plan,
    PlanKey,
    entries_of_one_value,
    expressions_in,
)
from trundle.evolution.steps import (
    Assign,
    Change,
    Expression,
    Items,
    Read,
    Stash,
    ToObject,
    Unstash,
    Values,
    ValueStep,
    Watched,
    Witness,
)
from trundle.schema import Nullable


def apart(up: Plan, down: Plan) -> Mapping[str, str] | None:
    """The properties that both ways only copy, and that nothing else reads or is beside.

    Args:
        up: the plan from an API type to what a store keeps.
        down: the plan back.

    Returns:
        The storage type's property by that of the API type; None for types with additional properties, or with labels that hooks write.
    """
    lineage = up.key.lineage
    versions = (up.key.source.version, up.key.target.version)
    if lineage.labels or any(ADDITIONAL in lineage.names(version) for version in versions):
        return None
    alone = _alone(up, down)
    back = {(step.property, name) for step, name in _copies(down)}
    return {
        name: step.property
        for step, name in _copies(up)
        if (name, step.property) in alone
        and (name, step.property) in back
        and not _drops_null(down, Place(versions[0], name))
    }


def parts(up: Plan, down: Plan) -> Mapping[str, tuple[str, PlanKey]]:
    """The properties whose objects both ways convert one by one, and that nothing else reads or is beside.

    Args:
        up: the plan from an API type to what a store keeps.
        down: the plan back.

    Returns:
        By property of the API type that of the storage type, and the plan that converts each object in it to that.
    """
    alone = _alone(up, down)
    back = {(step.property, name): _converted(value) for step, name, value in _changes(down)}
    found = {}
    for step, name, value in _changes(up):
        ours, theirs = _converted(value), back.get((name, step.property))
        if ours is None or theirs is None or (name, step.property) not in alone:
            continue
        if ours[0] == theirs[0] and theirs[1] == back_of(ours[1]):
            found[name] = (step.property, ours[1])
    return found


def back_of(key: PlanKey) -> PlanKey:
    """The key of the plan that leads the other way."""
    return PlanKey(key.lineage, key.target, key.source)


def _alone(up: Plan, down: Plan) -> frozenset[tuple[str, str]]:
    """Pairs of properties, of the API type and the storage type, that nothing else reads, is beside or takes the place of."""
    lineage = up.key.lineage
    versions = (up.key.source.version, up.key.target.version)
    rising, falling = _read(up), _read(down)
    taken = {lineage.definition(versions[0]).tag, *_beside(up)}
    several = {path[0] for path, _ in entries_of_one_value(lineage, versions[1]) if path}
    ours, theirs = ({path[0] for path in lineage.lifted(version).values()} for version in versions)
    return frozenset(
        (one, other)
        for one in lineage.names(versions[0])
        for other in lineage.names(versions[1])
        if rising[one] == 1 and falling[other] == 1
        if one not in taken and other not in taken
        if one not in ours and other not in theirs | several
    )


def asks_metadata(up: Plan, down: Plan) -> bool:
    """Whether hooks read the metadata of a resource, either way or for what is beside an entry."""
    return METADATA in {*_read(up), *_read(down), *_beside(up)}


def _copies(plan: Plan) -> Iterator[tuple[Assign, str]]:
    """The steps that only copy, and the property of the source that each copies."""
    for step in plan.steps:
        if isinstance(step, Assign) and isinstance(step.value, Read):
            yield step, step.value.property


def _changes(plan: Plan) -> Iterator[tuple[Assign, str, ValueStep]]:
    """The steps that convert one property, the property of the source, and how they convert it."""
    for step in plan.steps:
        match step:
            case Assign(value=Change(Read(name), change)):
                yield step, name, change


def _converted(step: ValueStep) -> tuple[type[ValueStep], PlanKey] | None:
    """What holds objects, and the plan that converts each; None for a value with anything else in it."""
    match step:
        case ToObject(plan) | Items(ToObject(plan)) | Values(ToObject(plan)):
            return type(step), plan
        case _:
            return None


def _drops_null(down: Plan, place: Place) -> bool:
    """Whether an API type lacks the null that the storage type may have."""
    lineage = down.key.lineage
    return lineage.nullable(place) and not isinstance(lineage.type(place), Nullable)


def _read(plan: Plan) -> Counter[str]:
    """How often a plan reads each property of its source."""
    known: dict[int, Counter[str]] = {}
    found: Counter[str] = Counter()
    for step in plan.steps:
        if step.value is not None:
            found += _within(step.value, known)
    return found


def _beside(plan: Plan) -> Counter[str]:
    """The properties of a plan's target that an entry of its bag accompanies, or is derived from."""
    known: dict[int, Counter[str]] = {}
    found: Counter[str] = Counter()
    for each in (*plan.steps, *plan.watched):
        if isinstance(each, Stash | Watched):
            if each.witness is not None:
                found += _witnessed(each.witness, known)
            if each.derived is not None:
                found += _within(each.derived, known)
    return found


def _witnessed(witness: Witness, known: dict[int, Counter[str]]) -> Counter[str]:
    """What a witness reads; entries of one plan share witnesses, so that each is looked through once."""
    found = known.get(id(witness))
    if found is None:
        found = known[id(witness)] = Counter()
        for value in witness.values:
            if value is not None:
                found += _within(value, known)
    return found


def _within(value: Expression, known: dict[int, Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in expressions_in(value):
        if isinstance(each, Read):
            found[each.property] += 1
        elif isinstance(each, Unstash) and each.witness is not None:
            found += _witnessed(each.witness, known)
    return found
