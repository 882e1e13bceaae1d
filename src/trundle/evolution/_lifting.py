"""Lifted properties: what a rule or a hook names by a path is followed by the type that the path starts from.

A property inside of a nested object belongs to the lineage of that object. Where a rule names it by a path, it
is *lifted*: the type that the rule is under, its *anchor*, follows it under its path, and the nested object
no longer does. So it may be joined with any other property of the anchor, wherever that is. The objects on
the way, its *holders*, are lifted as well, but for the outermost, which is a property of the anchor anyhow.

A property is lifted in every version to which the lineages of the nested objects lead it, not just in the two
that a rule names.
"""

from collections.abc import Collection, Container, Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from trundle.evolution._changes import TypeChanges
from trundle.evolution._errors import ChangeError
from trundle.evolution._hooks import hooks_among, named_by_hook
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._obstacles import after_elements, in_elements, obstacle
from trundle.evolution._paths import EACH, Path, PathError, join_path, split_path
from trundle.evolution._threads import Place
from trundle.evolution._unlifted import BareLineage
from trundle.version import ApiVersion

_SINGLE = 1
"""How many names lead to a property of the anchor itself."""


def lifted_paths(
    lineage: BareLineage, given: Container[Place]
) -> Mapping[ApiVersion, tuple[Path, ...]]:
    """The paths of all properties that a lineage lifts, by version, holders before what they hold.

    Args:
        lineage: the lineage with nothing lifted.
        given: the properties that an object around it follows.

    Raises:
        ChangeError: a rule's path leads through something else than nested objects.
    """
    found: dict[ApiVersion, set[Path]] = {}
    waiting = list(_named(lineage))
    while waiting:
        for version, path in waiting:
            for length in range(_SINGLE + 1, len(path) + 1):
                for other, same in _spread(lineage, version, path[:length]):
                    found.setdefault(other, set()).add(same)
        waiting = [
            end
            for each in (*nested_moves(lineage, found), *carried_moves(lineage, found))
            for end in (each.older, each.newer)
            if end[1] not in found.get(end[0], ())
        ]
    apart = {
        version: sorted(path for path in paths if Place(version, path[0]) not in given)
        for version, paths in sorted(found.items())
    }
    return {version: tuple(paths) for version, paths in apart.items() if paths}


class NestedMove(NamedTuple):
    """A move that is written under the type of a nested object, as seen from the type that lifts what it moves.

    Attributes:
        changes: the rules that it is among.
        name: what it moves, as they name it.
        older: where that is in the older version.
        newer: where it is in the newer one.
    """

    changes: TypeChanges
    name: str
    older: tuple[ApiVersion, Path]
    newer: tuple[ApiVersion, Path]


def nested_moves(
    lineage: BareLineage, lifted: Mapping[ApiVersion, Collection[Path]]
) -> Iterator[NestedMove]:
    """The moves within nested objects that lead to or from what a lineage lifts, over any other pair of neighbours.

    Args:
        lineage: the lineage with nothing lifted.
        lifted: what it lifts in each version.
    """
    holders = {
        each
        for version, paths in lifted.items()
        for path in paths
        for length in range(1, len(path))
        for each in _spread(lineage, version, path[:length])
    }
    for version, holder in sorted(holders):
        nested = _nested(lineage, version, holder)
        if nested is None:
            continue  # free-form data, or of another kind in this version
        changes = lineage.evolution.changes(version, nested.definition(version).name)
        for name, newer in () if changes is None else sorted(changes.move.items()):
            assert changes is not None
            ends = _ends(nested, version, (name, newer), changes.place("move", name))
            around = ends and _counterpart(lineage, version, holder, ends[1][0])
            if ends is None or around is None:
                continue
            (_, inside), (target, other) = ends
            found = NestedMove(
                changes, name, (version, (*holder, *inside)), (target, (*around, *other))
            )
            if any(
                path[:length] in lifted.get(at, ())
                for (at, path), around_it in ((found.older, holder), (found.newer, around))
                for length in range(len(around_it) + 1, len(path) + 1)
            ):
                yield found


def carried_moves(
    lineage: BareLineage, lifted: Mapping[ApiVersion, Collection[Path]]
) -> Iterator[NestedMove]:
    """What goes along with an object that a rule moves, where a rule of any other pair of neighbours leads into it.

    Args:
        lineage: the lineage with nothing lifted.
        lifted: what it lifts in each version.
    """
    for version in lineage.nodes:
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        for name, newer in () if changes is None else sorted(changes.move.items()):
            assert changes is not None
            ends = _ends(lineage, version, (name, newer), changes.place("move", name))
            for rest in () if ends is None else sorted(_within(ends, lifted)):
                assert ends is not None
                (_, one), (target, other) = ends
                older, later = (*one, *rest), (*other, *rest)
                said = {join_path(older) in changes.move, join_path(later) in changes.move.values()}
                both = leads(lineage, version, older) and leads(lineage, target, later)
                if both and said == {False}:
                    inner = owner(lineage, version, older).definition(version).name
                    own = lineage.evolution.changes(version, inner)
                    where = {"": changes.place("move", name)}
                    about = own or TypeChanges(version=version, type=changes.type, where=where)
                    yield NestedMove(about, rest[-1], (version, older), (target, later))


def _within(
    ends: tuple[tuple[ApiVersion, Path], tuple[ApiVersion, Path]],
    lifted: Mapping[ApiVersion, Collection[Path]],
) -> set[Path]:
    """The paths of what is lifted out of an object at either end of a move, as seen from the object."""
    return {
        path[len(end) :]
        for version, end in ends
        for path in lifted.get(version, ())
        if len(path) > len(end) and path[: len(end)] == end
    }


def nested_changes(
    lineage: BareLineage, lifted: Mapping[ApiVersion, Collection[Path]]
) -> tuple[TypeChanges, ...]:
    """The rules of nested types about what they move, where a lineage lifts that: one rule each, as seen from there.

    What goes along with a moved object is such a rule as well.

    Args:
        lineage: the lineage with nothing lifted.
        lifted: what it lifts in each version.
    """
    moves = (*nested_moves(lineage, lifted), *carried_moves(lineage, lifted))
    return tuple(_seen_from_around(each) for each in moves)


def _seen_from_around(each: NestedMove) -> TypeChanges:
    changes, (version, older), (_, newer) = each.changes, each.older, each.newer
    name = join_path(older)
    about: dict[str, Any] = {
        rule: {name: about_names[each.name]}
        for rule in ("values", "convert", "variant")
        if each.name in (about_names := getattr(changes, rule))
    }
    where = {"": changes.place("move", each.name)}
    moved = {name: join_path(newer)}
    return TypeChanges(version=version, type=changes.type, move=moved, where=where, **about)


def trail(lineage: BareLineage, version: ApiVersion, path: Path) -> Hashable:
    """What a path has in common with all paths that lead to the same property in other versions."""
    found = []
    current = lineage
    for name in path[:-1]:
        place = Place(version, name)
        found.append((id(current), current.numbers[place]))
        current = _inside(current, place)
    return (*found, (id(current), current.numbers[Place(version, path[-1])]))


def owner(lineage: BareLineage, version: ApiVersion, path: Path) -> BareLineage:
    """The lineage of the object that holds a property, without anything lifted."""
    current = lineage
    for name in path[:-1]:
        current = _inside(current, Place(version, name))
    return current


def leads(lineage: BareLineage, version: ApiVersion, path: Path) -> bool:
    """Whether a path leads through nested objects to a property of a version."""
    current: BareLineage | None = lineage if version in lineage.nodes else None
    for name in path[:-1]:
        if current is None or name not in current.names(version):
            return False
        current = current.nested(Place(version, name))
    return current is not None and path[-1] in current.names(version)


def names_inside(lineage: BareLineage, version: ApiVersion, path: Path) -> tuple[str, ...]:
    """The names of the properties of the nested object that a path leads to; none where it leads elsewhere."""
    found = _nested(lineage, version, path)
    return () if found is None else found.names(version)


def _nested(lineage: BareLineage, version: ApiVersion, path: Path) -> BareLineage | None:
    """The lineage of the nested object that a path leads to; None where it leads elsewhere."""
    current: BareLineage | None = lineage
    for name in path:
        if current is None or name not in current.names(version):
            return None
        current = current.nested(Place(version, name))
    return current


def path_of(lineage: BareLineage, version: ApiVersion, text: str) -> Path:
    """A rule's path; the name of a property is one name, whatever is in it."""
    if version in lineage.nodes and text in lineage.names(version):
        return (text,)
    try:
        return split_path(text)
    except PathError:
        return (text,)


def _inside(lineage: BareLineage, place: Place) -> BareLineage:
    found = lineage.nested(place)
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
        ours, theirs = current.nested(Place(version, name)), current.nested(Place(other, same))
        if ours is None or ours is not theirs:
            return None
        current = ours
    return tuple(found)


def _named(lineage: BareLineage) -> Iterator[tuple[ApiVersion, Path]]:
    """The paths that rules and hooks name, each in the version that it names."""
    for version in lineage.nodes:
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        if changes is not None:
            yield from _of_changes(lineage, version, changes)
    for hook in hooks_among(lineage):
        for version, name in named_by_hook(hook):
            path = path_of(lineage, version, name)
            if leads(lineage, version, path):
                _check_declared(lineage, (version, path), hook.reference.where)
                yield version, path


def _of_changes(
    lineage: BareLineage, version: ApiVersion, changes: TypeChanges
) -> Iterator[tuple[ApiVersion, Path]]:
    for rule, older, newer in changes.named():
        where = changes.place(rule, older)
        if where:
            _check_elements(lineage, version, (rule, older, newer), where)
        path = _path(lineage, version, older, where)
        if path is None:
            continue
        ends = None if newer is None else _ends(lineage, version, (older, newer), where)
        for end in ((version, path),) if ends is None else ends:
            _check_declared(lineage, end, where)
            yield end


def _check_declared(lineage: BareLineage, end: tuple[ApiVersion, Path], where: str) -> None:
    """Refuses a rule or hook about a property of a nested object that has no name of its own in another version.

    Raises:
        ChangeError: there, it or an object on the way to it is one of the additional properties.
    """
    version, path = end
    if len(path) == _SINGLE:
        return
    for other, same in _spread(lineage, version, path):
        lengths = range(_SINGLE, len(same) + 1)
        lacking = next((each for each in lengths if not leads(lineage, other, same[:each])), None)
        if lacking is not None:
            name, thing = same[lacking - 1], lineage.definition(other).name
            holder = join_path(same[: lacking - 1]) or thing
            at = f"{join_path(path)} of {lineage.definition(version).name} in {version}"
            raise ChangeError(
                where,
                f"cannot follow {at}: in {other}, {name!r} is one of the additional properties of {holder}; "
                f"declare it in {holder} of {other}",
            )


def _check_elements(
    lineage: BareLineage, version: ApiVersion, rule: tuple[str, str, str | None], where: str
) -> None:
    """Refuses a rule about what is in the elements of a list, and says where it belongs.

    Raises:
        ChangeError: it is such a rule.
    """
    kind, older, newer = rule
    path = path_of(lineage, version, older)
    found = in_elements(lineage, version, path)
    if EACH not in path or leads(lineage, version, path) or found is None:
        return
    type_name, inside = found
    at = f"{older} of {lineage.definition(version).name} in {version}"
    what = f"cannot follow {at}: it stands in elements of a list"
    target = None if newer is None else path_of(lineage, version, newer)
    if target is not None and EACH not in target:
        raise ChangeError(
            where,
            f"{what}, which it cannot leave for {newer}: what stands in elements moves within them; "
            "write a hook for what leaves the list",
        )
    own = join_path(inside)
    newer_path = None if target is None else join_path(after_elements(target))
    rules = f"{kind}: [{own}]" if kind == "keep" else f"{kind}: {{{own}: {newer_path or '...'}}}"
    raise ChangeError(
        where, f"{what}; write it under their type in {version}: `{type_name}: {{{rules}}}`"
    )


def _ends(
    lineage: BareLineage, version: ApiVersion, names: tuple[str, str], where: str
) -> tuple[tuple[ApiVersion, Path], tuple[ApiVersion, Path]] | None:
    """Where the two paths of a rule lead, each with its version; None where one of them leads nowhere."""
    path = _path(lineage, version, names[0], where)
    later = {
        other: found
        for other in lineage.nodes
        if other > version and (found := _path(lineage, other, names[1], where)) is not None
    }
    target = VersionMap.of([version, *later]).neighbour(version) or next(iter(later), None)
    if path is None or target is None:
        return None
    return (version, path), (target, later[target])


def _path(lineage: BareLineage, version: ApiVersion, text: str, where: str) -> Path | None:
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
