"""Which property of objects leads to which of another version, and where that is not sure."""

from collections.abc import Iterator
from itertools import pairwise

from trundle.schema import (
    FreeForm,
    Union,
)
from trundle.verify.oracle._meeting import (
    At,
    Stations,
    World,
    bare,
    first,
    inside,
    neighbours,
    once,
    ways_of_moves,
)
from trundle.verify.oracle._variants import meeting, variants


@once
def followed(world: World, stations: Stations, name: str) -> tuple[str, Stations | None] | None:
    """What a property of objects is called at the last station, and its own stations.

    Returns:
        None where it does not get there, and no stations where that is not sure.
    """
    start = world.member(stations[0], name)
    assert start is not None
    found, sure, apart = [start], True, False
    at, place = name, 0
    for number, other in enumerate(stations[1:], 1):
        wanted = world.counterpart(stations[place], other, at)
        member = None if wanted is None else world.member(other, wanted)
        if wanted is None or member is None:
            continue
        ruled = world.ruled(stations[place], other, at) is not None
        if not ruled and not meet(world, found[-1], member):
            apart = any(meet(world, each, member) for each in found)
            continue  # of a type that has nothing to do with it
        gap = stations[place : number + 1]
        sure = sure and (number == place + 1 or _plain_gap(world, gap, at))
        found.append(member)
        at, place = wanted, number
    if place == len(stations) - 1:
        return at, tuple(found) if sure else None
    return (at, None) if apart else None


@once
def meet(world: World, one: At, other: At) -> bool:
    """Whether values of two types may become each other."""
    ours, theirs = bare(one.type), bare(other.type)
    if isinstance(ours, FreeForm) or isinstance(theirs, FreeForm):
        return True
    if isinstance(ours, Union) or isinstance(theirs, Union):
        return any(meeting(world, one, place, other) for place in range(len(variants(one.type))))
    return world.meet(At(one.version, ours), At(other.version, theirs))


def _plain_gap(world: World, stations: Stations, name: str) -> bool:
    """Whether a property is just not there in between, in versions that are all GA."""
    between = stations[1:-1]
    return not any("-" in each.version[10:] or "a" in each.version for each in stations) and all(
        world.object(each).property(name) is None and world.object(each).additional is None
        for each in between
    )


@once
def unsure(world: World, stations: Stations) -> set[str]:
    """The properties at the last station whose value hooks decide, or moves over several versions."""
    found: set[str] = set()
    for number, (one, other) in enumerate(pairwise(stations)):
        touched = set(hooked(world, one, other)) | world.renamed_between(one, other)
        for end in (one, other):
            named = inside(world.rules_of(end))
            touched |= named | {world.counterpart(one, other, each) or each for each in named}
        if not neighbours(stations):
            for left, reached in ways_of_moves(world, one, other).items():
                touched |= {reached[0], *_freed(world, one, other, left)}
        found |= {_leads(world, stations[number + 1 :], name) for name in touched}
    return found


def _leads(world: World, stations: Stations, name: str) -> str:
    """What something is called at the last station; over a gap a rule leads to the next version that has it."""
    for number, each in enumerate(stations[:-1]):
        if world.member(each, name) is not None:
            way = followed(world, stations[number:], name)
            return name if way is None else way[0]
    return name


def _freed(world: World, one: At, other: At, path: tuple[str, ...]) -> set[str]:
    """The free-form data that an object becomes out of which a rule moves what stands at a path."""
    name = world.counterpart(one, other, path[0]) or path[0]
    member = world.member(other, name) if len(path) > 1 else None
    return set() if member is None or not isinstance(bare(member.type), FreeForm) else {name}


def hooked(world: World, one: At, other: At) -> Iterator[str]:
    """The properties of the second object type that hooks write; of paths their first names."""
    for hook, up in world.hooks_between(one, other):
        _, writes = hook.to if up else hook.back
        yield from (first(each) for each in writes)
        if hook.converts:
            for each in world.object(other).properties:
                name = world.counterpart(other, one, each.name)
                member = None if name is None else world.member(one, name)
                if member is not None and bare(member.type) != bare(each.type):
                    yield each.name
