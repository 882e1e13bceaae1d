"""The trace of one document: which step of conversion gave each value of the output, and what became of the rest.

A document goes from shape to shape in legs, as conversion does: to the hub's storage shape, and on from there. The plan of
each leg says where values come from; the two documents say which of the plan's alternatives counted.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from trundle.evolution import Shape
from trundle.report._trace_leg import leg_origins
from trundle.report._trace_parts import (
    BAG,
    MISSING,
    WRITTEN_WITH,
    Cause,
    Leg,
    Origin,
    Parts,
    json_path,
    leaves,
    prefixes,
    value_at,
)


class TracedValue(msgspec.Struct, frozen=True):
    """One value of the output.

    Attributes:
        path: where it is, as JSONPath.
        value: the value.
        cause: what gave it: `copied`, `renamed`, `moved`, `mapped value`, `converted`, `hook`, `default`,
            `property bag`, `stored before`, `set`, or `not in a plan`.
        sources: the places in the input that it is made of.
        how: the steps in words, in their order.
    """

    path: str
    value: Any
    cause: Cause
    sources: tuple[str, ...]
    how: tuple[str, ...]


class LeftValue(msgspec.Struct, frozen=True):
    """A value of the input that no value of the output is made of.

    Attributes:
        path: where it is, as JSONPath.
        value: the value.
        reason: what became of it.
    """

    path: str
    value: Any
    reason: str


class Trace(msgspec.Struct, frozen=True):
    """How one document was converted.

    Attributes:
        resource: the resource type.
        shapes: the shapes that it went through, from the input's to the output's.
        values: all values of the output, in their order.
        left: the values of the input that went nowhere, in their order.
    """

    resource: str
    shapes: tuple[Shape, ...]
    values: tuple[TracedValue, ...]
    left: tuple[LeftValue, ...]


def trace(resource: str, legs: Sequence[Leg]) -> Trace:
    """Traces a document through its legs.

    Args:
        resource: the resource type.
        legs: at least one; each starts with the document and the shape that the one before ends with.
    """
    origins, derived = leg_origins(legs[0])
    first = origins
    for leg in legs[1:]:
        later, _ = leg_origins(leg)
        index = _Index(origins)
        origins = [each for one in later for each in _through(one, index)]
    output = legs[-1].after
    values = tuple(_traced(each, output) for each in origins)
    left = tuple(_left(legs, origins, first, derived))
    return Trace(resource, (legs[0].source, *(each.target for each in legs)), values, left)


def _traced(origin: Origin, output: Any) -> TracedValue:
    value = value_at(output, origin.path)
    cause = _named(origin)
    sources = tuple(map(json_path, origin.sources))
    shown = None if value is MISSING else value
    return TracedValue(json_path(origin.path), shown, cause, sources, origin.how)


def _named(origin: Origin) -> Cause:
    """A copy by what it is seen from outside: the name, or the place, is another."""
    if origin.cause is not Cause.COPIED or len(origin.sources) != 1:
        return origin.cause
    (source,) = origin.sources
    if source == origin.path:
        return Cause.COPIED
    return Cause.RENAMED if len(source) == len(origin.path) else Cause.MOVED


class _Index:
    """Origins by their places, and by all places that lead there."""

    def __init__(self, origins: Sequence[Origin]) -> None:
        self.at = {each.path: each for each in origins}
        self.inside: dict[Parts, list[Origin]] = {}
        for each in origins:
            for prefix in prefixes(each.path[:-1]):
                if prefix != each.path:
                    self.inside.setdefault(prefix, []).append(each)

    def around(self, path: Parts) -> Iterator[Origin]:
        """The origins of a value, or of what it is in."""
        return (self.at[each] for each in prefixes(path) if each in self.at)


def _through(later: Origin, earlier: _Index) -> Iterator[Origin]:
    """An origin of a leg as one of the legs so far: its sources are looked up in the leg before."""
    if later.cause is Cause.SET:
        yield later
        return
    if later.whole and len(later.sources) == 1 and later.sources[0] in earlier.inside:
        (source,) = later.sources
        for each in earlier.inside[source]:
            path = (*later.path, *each.path[len(source) :])
            yield _join(each, msgspec.structs.replace(later, path=path), [each.sources])
        return
    made: list[Origin] = []
    sources: list[tuple[Parts, ...]] = []
    for source in later.sources:
        for each in earlier.around(source):
            rest = source[len(each.path) :]
            whole = tuple((*one, *rest) for one in each.sources)
            sources.append(whole if each.whole else each.sources)
            made.append(each)
        for each in earlier.inside.get(source, ()):
            sources.append(each.sources)
            made.append(each)
    if len(made) == 1:
        yield _join(made[0], later, sources)
        return
    how = [text for each in made if each.cause is not Cause.BAG for text in each.how]
    found = tuple(dict.fromkeys(path for each in sources for path in each))
    all_how = (*dict.fromkeys(how), *later.how)
    yield Origin(later.path, found, later.cause, all_how, whole=False)


def _join(one: Origin, other: Origin, sources: Sequence[tuple[Parts, ...]]) -> Origin:
    """Two origins of one value, the first of which is followed by the other."""
    cause = one.cause if other.cause is Cause.COPIED else other.cause
    if other.cause is Cause.BAG and one.cause is not Cause.BAG:
        cause = one.cause
    found = tuple(dict.fromkeys(path for each in sources for path in each))
    return Origin(other.path, found, cause, (*one.how, *other.how), whole=one.whole and other.whole)


def _left(
    legs: Sequence[Leg],
    origins: Sequence[Origin],
    first: Sequence[Origin],
    derived: dict[Parts, str],
) -> Iterator[LeftValue]:
    used = {path for each in origins for path in each.sources}
    led = {prefix for path in used for prefix in prefixes(path)}
    held = {path: each for each in first for path in each.sources}
    for path, value in leaves(legs[0].before):
        if path in ((WRITTEN_WITH,), ("apiVersion",)) or path[-1:] == ("beside",):
            continue
        if path not in led and used.isdisjoint(prefixes(path)):
            yield LeftValue(json_path(path), value, _reason(legs, path, held, derived))


def _reason(
    legs: Sequence[Leg], path: Parts, held: dict[Parts, Origin], derived: dict[Parts, str]
) -> str:
    target = legs[-1].target
    if BAG in path:
        return (
            f"{target} takes nothing from this entry of the bag: it is stale, or has no place there"
        )
    for each in prefixes(path):
        if each in held and len(legs) > 1:
            kept = held[each]
            where = f": {kept.how[-1]}" if kept.cause is Cause.BAG else ""
            return f"nothing in {target} is made of it; a stored object has it{where}"
        if each in derived:
            return f"not kept: {derived[each]}"
    return f"nothing in {target} is made of it"
