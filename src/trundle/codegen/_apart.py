"""Which properties of a stored resource have nothing to do with any other: a put may leave them the JSON they are."""

from collections import Counter
from collections.abc import Iterator, Mapping

from trundle.evolution import ADDITIONAL, METADATA, Place, Plan, expressions_in
from trundle.evolution.steps import Assign, Expression, Read, Stash, Unstash, Witness
from trundle.schema import Nullable


def apart(up: Plan, down: Plan) -> Mapping[str, str] | None:
    """The properties that both ways only copy, and that nothing else reads or is beside.

    Args:
        up: the plan from an API type to what a store keeps.
        down: the plan back.

    Returns:
        The storage type's property by that of the API type; None for types with additional properties.
    """
    lineage = up.key.lineage
    versions = (up.key.source.version, up.key.target.version)
    if any(ADDITIONAL in lineage.names(version) for version in versions):
        return None
    rising, falling = Counter(_read(up)), Counter(_read(down))
    beside = set(_beside(up))
    back = {(step.property, name) for step, name in _copies(down) if falling[name] == 1}
    tag = lineage.definition(versions[0]).tag
    return {
        name: step.property
        for step, name in _copies(up)
        if rising[name] == 1
        and step.property not in beside
        and (name, step.property) in back
        and name != tag
        and not _drops_null(down, Place(versions[0], name))
    }


def asks_metadata(up: Plan, down: Plan) -> bool:
    """Whether hooks read the metadata of a resource, either way or for what stands beside an entry."""
    return METADATA in {*_read(up), *_read(down), *_beside(up)}


def _copies(plan: Plan) -> Iterator[tuple[Assign, str]]:
    """The steps that only copy, and the property of the source that each copies."""
    for step in plan.steps:
        if isinstance(step, Assign) and isinstance(step.value, Read):
            yield step, step.value.property


def _drops_null(down: Plan, place: Place) -> bool:
    """Whether an API type lacks the null that the storage type may have."""
    lineage = down.key.lineage
    return lineage.nullable(place) and not isinstance(lineage.type(place), Nullable)


def _read(plan: Plan) -> Iterator[str]:
    """Each property of a plan's source, once for each time that it is read."""
    for step in plan.steps:
        if step.value is None:
            continue
        yield from _within(step.value)


def _beside(plan: Plan) -> Iterator[str]:
    """Each property of a plan's target that an entry of its bag accompanies, or is derived from."""
    for step in plan.steps:
        if isinstance(step, Stash):
            if step.witness is not None:
                yield from _witnessed(step.witness)
            if step.derived is not None:
                yield from _within(step.derived)


def _witnessed(witness: Witness) -> Iterator[str]:
    for value in witness.values:
        if value is not None:
            yield from _within(value)


def _within(value: Expression) -> Iterator[str]:
    for each in expressions_in(value):
        if isinstance(each, Read):
            yield each.property
        elif isinstance(each, Unstash) and each.witness is not None:
            yield from _witnessed(each.witness)
