"""Lifted properties: what a rule or a hook names by a path is followed by the type that the path starts from.

A property inside of a nested object belongs to the lineage of that object. Where a rule names it by a path, it
is *lifted*: the type that the rule stands under, its *anchor*, follows it under its path, and the nested object
no longer does. So it may be joined with any other property of the anchor, wherever that stands. The objects on
the way, its *holders*, are lifted as well, but for the outermost, which is a property of the anchor anyhow.

A property is lifted in every version to which the lineages of the nested objects lead it, not just in the two
that a rule speaks of.
"""

from collections.abc import Hashable, Iterator, Mapping
from typing import assert_never

from trundle.evolution._bare import BareLineage
from trundle.evolution._changes import TypeChanges
from trundle.evolution._errors import ChangeError
from trundle.evolution._lineage import Lineage, Place
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._paths import EACH, Path, PathError, split_path
from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Type,
    Union,
)
from trundle.version import ApiVersion

_SINGLE = 1
"""How many names lead to a property of the anchor itself."""


def lifted_paths(lineage: Lineage) -> Mapping[ApiVersion, tuple[Path, ...]]:
    """The paths of all properties that a lineage lifts, by version, holders before what they hold.

    Raises:
        ChangeError: a rule's path leads through something else than nested objects.
    """
    found: dict[ApiVersion, set[Path]] = {}
    for version, path in _named(lineage):
        for length in range(_SINGLE + 1, len(path) + 1):
            for other, same in _spread(lineage.bare, version, path[:length]):
                found.setdefault(other, set()).add(same)
    return {version: tuple(sorted(paths)) for version, paths in sorted(found.items())}


def trail(lineage: Lineage, version: ApiVersion, path: Path) -> Hashable:
    """What a path has in common with all paths that lead to the same property in other versions."""
    found = []
    current = lineage.bare
    for name in path[:-1]:
        place = Place(version, name)
        found.append((id(current), current.numbers[place]))
        current = _inside(current, place)
    return (*found, (id(current), current.numbers[Place(version, path[-1])]))


def owner(lineage: Lineage, version: ApiVersion, path: Path) -> BareLineage:
    """The lineage of the object that holds a property, without anything lifted."""
    current = lineage.bare
    for name in path[:-1]:
        current = _inside(current, Place(version, name))
    return current


def leads(lineage: Lineage, version: ApiVersion, path: Path) -> bool:
    """Whether a path leads through nested objects to a property of a version."""
    current: BareLineage | None = lineage.bare if version in lineage.nodes else None
    for name in path[:-1]:
        if current is None or name not in current.names(version):
            return False
        current = _child(current, Place(version, name))
    return current is not None and path[-1] in current.names(version)


def names_inside(lineage: Lineage, version: ApiVersion, path: Path) -> tuple[str, ...]:
    """The names of the properties of the nested object that a path leads to; none where it leads elsewhere."""
    current: BareLineage | None = lineage.bare
    for name in path:
        if current is None or name not in current.names(version):
            return ()
        current = _child(current, Place(version, name))
    return () if current is None else current.names(version)


def path_of(lineage: Lineage, version: ApiVersion, text: str) -> Path:
    """A rule's path; the name of a property is one name, whatever is in it."""
    if version in lineage.nodes and text in lineage.bare.names(version):
        return (text,)
    try:
        return split_path(text)
    except PathError:
        return (text,)


def obstacle(lineage: Lineage, version: ApiVersion, path: Path) -> str | None:
    """What a path leads through that is no nested object; None where there is no such thing."""
    current = lineage.bare
    for name in (each for each in path[:-1] if each != EACH):
        if name not in current.names(version):
            return None
        child = _child(current, Place(version, name))
        if child is None:
            shown = _spelt(current, Place(version, name))
            return f"{shown}, and a path leads through nested objects only"
        current = child
    return None


def _spelt(lineage: Lineage, place: Place) -> str:
    """A property that is no nested object, and what to write in its place if there is such a thing."""
    name, type_ = place.property, _plain(lineage.type(place))
    where = f"{name} of {lineage.definition(place.version).name} is"
    match type_:
        case ListOf():
            return f"{where} a list (write the rule under the type of its elements)"
        case MapOf():
            return f"{where} a map"
        case Union():
            return f"{where} a union"
        case FreeForm():
            return f"{where} free-form data"
        case Scalar() | Ref() | Nullable():
            return f"{where} a single value"
        case _:
            assert_never(type_)


def _plain(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _child(lineage: BareLineage, place: Place) -> BareLineage | None:
    """The lineage of a nested object; None where a property is anything else."""
    type_ = _plain(lineage.type(place))
    definitions = lineage.evolution.schema(place.version).definitions
    if isinstance(type_, Ref) and isinstance(definitions[type_.key], ObjectType):
        return lineage.inside(place, type_.key)
    return None


def _inside(lineage: BareLineage, place: Place) -> BareLineage:
    found = _child(lineage, place)
    assert found is not None
    return found


def _spread(
    lineage: BareLineage, version: ApiVersion, path: Path
) -> Iterator[tuple[ApiVersion, Path]]:
    """A path in its own version and in all others to which the lineages on its way lead it."""
    for other in lineage.nodes:
        found = _counterpart(lineage, version, path, other)
        if found is not None:
            yield other, found


def _counterpart(
    lineage: BareLineage, version: ApiVersion, path: Path, other: ApiVersion
) -> Path | None:
    current, found = lineage, []
    for place, name in enumerate(path):
        group = current.groups[current.numbers[Place(version, name)]]
        same = group.get(other)
        if same is None:
            return None
        found.append(same)
        if place == len(path) - 1:
            break
        ours, theirs = _child(current, Place(version, name)), _child(current, Place(other, same))
        if ours is None or ours is not theirs:
            return None
        current = ours
    return tuple(found)


def _named(lineage: Lineage) -> Iterator[tuple[ApiVersion, Path]]:
    """The paths that rules and hooks name, each in the version that it speaks of."""
    for version in lineage.nodes:
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        if changes is not None:
            yield from _of_changes(lineage, version, changes)
    for version, name in lineage.evolution.hooks.named(lineage):
        path = path_of(lineage, version, name)
        if leads(lineage, version, path):
            yield version, path


def _of_changes(
    lineage: Lineage, version: ApiVersion, changes: TypeChanges
) -> Iterator[tuple[ApiVersion, Path]]:
    for rule, older, newer in changes.named():
        where = changes.place(rule, older)
        path = _path(lineage, version, older, where)
        if path is None:
            continue
        yield version, path
        if newer is None:
            continue
        later = {
            other: found
            for other in lineage.nodes
            if other > version and (found := _path(lineage, other, newer, where)) is not None
        }
        target = VersionMap.of([version, *later]).neighbour(version) or next(iter(later), None)
        if target is not None:
            yield target, later[target]


def _path(lineage: Lineage, version: ApiVersion, text: str, where: str) -> Path | None:
    """A rule's path where it leads to a property of a version; None where it does not.

    Raises:
        ChangeError: it leads through something else than nested objects; only where `where` is given.
    """
    path = path_of(lineage, version, text)
    if leads(lineage, version, path):
        return path
    reason = obstacle(lineage, version, path) if where else None
    if reason is not None:
        type_name = lineage.definition(version).name
        raise ChangeError(where, f"cannot follow {text} of {type_name} in {version}: {reason}")
    return None
