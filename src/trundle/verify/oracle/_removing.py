"""What goes with an object that a client of another version removes, and what stays.

A client that removes an object removes all that is in it, seen or not. What any version has outside of the object stays.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Any

from trundle.schema import ListOf, MapOf
from trundle.verify._broken import MISSING
from trundle.verify.oracle._elements import Element, Path, member_of, named, named_path
from trundle.verify.oracle._following import meet
from trundle.verify.oracle._meeting import (
    At,
    World,
    bare_all,
    objects_only,
    once,
    type_at,
    ways_of_moves,
)


class _UnsureError(Exception):
    """Where something stands in another version is not sure."""


def stays(
    world: World,
    edit: tuple[str, Any, Any],
    views: tuple[str, Any, Any],
    place: tuple[str | int, ...],
) -> bool | None:
    """Whether a value stays, whatever objects a client removes: some version has it outside of each of them.

    Args:
        world: the versions, rules and hooks.
        edit: the client's version, what it read, and what it wrote.
        views: a version, and what it sees before and after.
        place: where that version has the value.

    Returns:
        None where that is not sure, and where the client removes nothing. A null may go: where a version has an object only
        because it shows a null in it as nothing, the object is not gone as long as the null stays.
    """
    (writer, *edited), (version, *seen) = edit, views
    before, after = named(world, world.root(writer), (edited[0], edited[1]))
    had, has = named(world, world.root(version), (seen[0], seen[1]))
    path = named_path((had, has), place)
    if path is None or reduce(member_of, path, had) is None:
        return None
    found = {
        _is_outside(world, (writer, each), (version, path)) for each in _removed(before, after)
    }
    return False if False in found else (None if None in found or not found else True)


def _removed(before: Any, after: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of the objects that are gone, those in others and elements of lists included."""
    for name, each in before.items():
        now = member_of(after, name)
        if isinstance(each, dict):
            if now in (MISSING, None):
                yield (*path, name)
            yield from _removed(each, now, (*path, name))


@once
def _is_outside(world: World, removed: tuple[str, Path], value: tuple[str, Path]) -> bool | None:
    """Whether some version has a value outside of an object; None where that is not sure.

    Args:
        world: the versions, rules and hooks.
        removed: a version, and where it has the object.
        value: a version, and where it has the value.
    """
    try:
        places = [(_place(world, *value, to), _place(world, *removed, to)) for to in world.schemas]
        return any(
            own is not None and (holder is None or not _is_within(own, holder))
            for own, holder in places
        )
    except _UnsureError:
        return None


def _is_within(path: Path, outer: Path) -> bool:
    for one, other in zip(path, outer, strict=False):
        if isinstance(one, Element) and isinstance(other, Element):
            alike = one.names == other.names and (one.names or one.values[1] == other.values[1])
            if not alike:
                raise _UnsureError  # each is named by something else
        if one != other:
            return False
    if any(isinstance(each, Element) for each in outer[len(path) : len(path) + 1]):
        raise _UnsureError  # a list that has lost an element
    return len(path) >= len(outer)


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
    if isinstance(one.type, ListOf) and isinstance(other.type, ListOf):
        items = At(one.version, one.type.items), At(other.version, other.type.items)
        return _joined(_element(world, *items, path[0]), _beside(world, *items, path[1:]))
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
    if "[]" in here:
        raise _UnsureError  # an element is named in two versions at once
    ends = type_at(world, one, here), type_at(world, other, there)
    if ends[0] is None or ends[1] is None:
        raise _UnsureError
    older = here if world.newer(other.version, one.version) else there
    if world.rule_at(one, other, older) is None and not meet(world, ends[0], ends[1]):
        raise _UnsureError  # a rule or a hook may make one of the other
    return _joined(there, _beside(world, ends[0], ends[1], path[len(here) :]))


def _element(world: World, one: At, other: At, element: Any) -> Path:
    """What names an element of a list in a neighbour."""
    one, other = bare_all((one, other))
    if not objects_only(world, (one, other)):
        raise _UnsureError
    names = tuple(world.counterpart(one, other, each) for each in element.names)
    if None in names or any(world.ruled(one, other, each) for each in element.names):
        raise _UnsureError  # it has another text there
    return (Element(tuple(map(str, names)), element.values),)


def _joined(outer: Path, inner: Path | None) -> Path | None:
    return None if inner is None else (*outer, *inner)


def _names(path: Path) -> tuple[str, ...]:
    """The names in a path, and `[]` for each element of a list."""
    return tuple("[]" if isinstance(each, Element) else str(each) for each in path)
