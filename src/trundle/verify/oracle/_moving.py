"""Where in objects of two neighbours stands what rules move."""

from itertools import pairwise
from typing import Any

from trundle.verify._broken import MISSING
from trundle.verify.oracle._expected import ANY, Either, perhaps_hollow
from trundle.verify.oracle._meeting import (
    At,
    Stations,
    World,
    bare,
    bare_all,
    moves,
    neighbours,
    objects_only,
    once,
    type_at,
    ways_of_moves,
    without,
)
from trundle.verify.oracle._required import required


@once
def moved_out_of(world: World, stations: Stations) -> set[str]:
    """The objects that hold what moves elsewhere in versions other than these: what is left may be nothing."""
    one, other = stations[0], stations[-1]
    older = other if world.newer(one.version, other.version) else one
    found = {
        path.partition(".")[0]
        for each in pairwise(stations)
        for hook, _ in world.hooks_between(*each)
        for path in (*hook.to[0], *hook.to[1], *hook.back[0], *hook.back[1])
        if "." in path
    }
    said = older.version if neighbours(stations) else ""  # what its rules say is known exactly
    names = {world.object(each).name for each in stations}
    return found | {
        path[0]
        for (version, name), rules in world.rules.items()
        if name in names and version != said
        for pair in moves(rules).items()
        for path in pair
        if len(path) > 1
    }


@once
def claimed_within(
    world: World, one: At, other: At, path: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """The paths inside of what moves that types of objects around it move by rules of their own."""
    ways = ways_of_moves(world, one, other)
    found = []
    for around in (path[:length] for length in range(1, len(path))):
        name = world.counterpart(one, other, around[0])
        there = ways.get(around) or (None if name is None else (name, *around[1:]))
        ends = type_at(world, one, around), None if there is None else type_at(world, other, there)
        if ends[0] is None or ends[1] is None:
            continue
        plain = bare_all((ends[0], ends[1]))
        every = ways_of_moves(world, *plain) if objects_only(world, plain) else {}
        inside_of = [(*around, *each) for each in every]
        found += [
            each[len(path) :]
            for each in inside_of
            if len(each) > len(path) and each[: len(path)] == path
        ]
    return found


def with_at(value: Any, path: tuple[str, ...], own: Any) -> Any:
    """An object with a value at a path, and the objects around that."""
    if own is MISSING or not path:
        return value if own is MISSING else own
    members = value if isinstance(value, dict) else {}
    return {**members, path[0]: with_at(members.get(path[0]), path[1:], own)}


def put_around(
    world: World, found: dict[str, Any], path: tuple[str, ...], value: Any, stations: Stations
) -> None:
    """Puts what has moved to its path, around what types of objects there have moved into it by rules of their own."""
    one, other = stations
    claimed = [
        ((*path, *each), without(found, (*path, *each))[0])
        for each in claimed_within(world, other, one, path)
    ]
    _put(world, found, path, value, other)
    for place, own in claimed:
        if own is not MISSING:
            _put(world, found, place, own, other)


def _put(world: World, found: dict[str, Any], path: tuple[str, ...], value: Any, at: At) -> None:
    """Puts what has moved to its path; the objects around it are there where it is."""
    name, below = path[0], path[1:]
    if name == "[]" or "[]" in below:
        found[name] = ANY
        return
    if not below:
        found[name] = value
        if value is MISSING:
            del found[name]
        return
    inner = found.get(name, MISSING)
    made = inner is MISSING
    member = type_at(world, at, (name,))
    if inner is ANY or isinstance(inner, Either) or member is None:
        found[name] = ANY
        return
    holder = At(member.version, bare(member.type))
    if inner is MISSING:
        if value is MISSING:
            return
        inner = required(world, {}, holder)
    if not isinstance(inner, dict):
        found[name] = ANY
        return
    _put(world, inner, below, value, holder)
    inner = required(world, inner, holder)  # what nothing has moved to may be required all the same
    found[name] = perhaps_hollow(inner) if made and isinstance(value, Either) else inner
