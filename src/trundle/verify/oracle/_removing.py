"""What goes with an object that a client of another version removes, and what stays.

A client that removes an object removes all that is in it, seen or not. What any version has outside of the object stays.
"""

from typing import TypeAlias

from trundle.schema import MapOf
from trundle.verify.oracle._following import meet
from trundle.verify.oracle._meeting import At, World, bare_all, objects_only, once, type_at
from trundle.verify.oracle._moving import ways_of_moves

Path: TypeAlias = tuple[str | int, ...]


class _UnsureError(Exception):
    """Where something stands in another version is not sure."""


@once
def stays(world: World, removed: tuple[str, Path], value: tuple[str, Path]) -> bool | None:
    """Whether a value stays where a client removes an object: some version has it outside of that.

    Args:
        world: the versions, rules and hooks.
        removed: a version, and where it has the object.
        value: a version, and where it has the value.

    Returns:
        None where that is not sure.
    """
    try:
        places = [(_place(world, *value, to), _place(world, *removed, to)) for to in world.schemas]
    except _UnsureError:
        return None
    return any(
        own is not None and (holder is None or own[: len(holder)] != holder)
        for own, holder in places
    )


def _place(world: World, source: str, path: Path, target: str) -> Path | None:
    """Where a version has what another one has at a path; None where it has no such thing."""
    if world.hooks:
        raise _UnsureError
    at, between = world.root(source), []
    for version in world.way(source, target)[1:]:
        other = world.root(version)
        there = _beside(world, at, other, path)
        if there is None:
            between.append(other)
            continue
        if any(type_at(world, each, _names(path)) is not None for each in between):
            raise _UnsureError  # of another type
        at, path, between = other, there, []
    return None if between else path


def _beside(world: World, one: At, other: At, path: Path) -> Path | None:
    """Where an object of a neighbour has what an object has at a path."""
    if not path:
        return ()
    one, other = bare_all((one, other))
    if isinstance(one.type, MapOf) and isinstance(other.type, MapOf):
        values = At(one.version, one.type.values), At(other.version, other.type.values)
        return _joined(path[:1], _beside(world, *values, path[1:]))
    names = _names(path)
    if not objects_only(world, (one, other)) or names[0] in world.renamed_between(one, other):
        raise _UnsureError
    ways = ways_of_moves(world, one, other)
    moved = next((names[:end] for end in range(len(names), 0, -1) if names[:end] in ways), None)
    name = world.counterpart(one, other, names[0])
    if moved is None and name is None:
        return None
    here, there = (names[:1], (str(name),)) if moved is None else (moved, ways[moved])
    ends = type_at(world, one, here), type_at(world, other, there)
    if ends[0] is None or ends[1] is None:
        raise _UnsureError
    up = world.newer(other.version, one.version)
    rules, older = (world.rules_of(one), here) if up else (world.rules_of(other), there)
    changed = any(".".join(older) in (rules.get(each) or {}) for each in ("values", "convert"))
    if not changed and not meet(world, ends[0], ends[1]):
        raise _UnsureError  # a rule or a hook may make one of the other
    return _joined(there, _beside(world, ends[0], ends[1], path[len(here) :]))


def _joined(outer: Path, inner: Path | None) -> Path | None:
    return None if inner is None else (*outer, *inner)


def _names(path: Path) -> tuple[str, ...]:
    """A path of names; elements of lists are matched by more than their places."""
    if not all(isinstance(each, str) for each in path):
        raise _UnsureError
    return tuple(map(str, path))
