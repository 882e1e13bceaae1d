"""What a version shows of a document of another one, where nothing else is stored."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from trundle.schema import (
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    Scalar,
    Union,
)
from trundle.verify._broken import MISSING, same
from trundle.verify.oracle._expected import ANY, Either, either, known
from trundle.verify.oracle._labels import shown_metadata
from trundle.verify.oracle._meeting import (
    KEYS,
    At,
    Stations,
    World,
    bare,
    bare_all,
    first,
    inside,
    moves,
    objects_only,
    once,
    type_at,
    without,
)
from trundle.verify.oracle._required import required
from trundle.verify.oracle._scalars import converted, kind_of, mapped, may_be, scalar
from trundle.verify.oracle._variants import contested, fixed_texts, meeting, tags, variants, which


def shown_document(world: World, document: Any, source: str, target: str) -> Any:
    """What a version shows of a document of another version.

    Args:
        world: the versions, rules and hooks.
        document: JSON as a tree, with the spelling of its numbers.
        source: the document's version.
        target: the version that is to show it.

    Returns:
        A tree with `ANY` and `Either` where several results are right; what it lacks must be absent.
    """
    stations = tuple(world.root(each) for each in world.way(source, target))
    apart = world.names(source)
    properties = {name: each for name, each in document.items() if name not in apart}
    expected = shown(world, properties, stations)
    assert isinstance(expected, dict)
    metadata = shown_metadata(world, document.get("metadata", MISSING))
    if "metadata" in apart and metadata is not MISSING:
        expected["metadata"] = metadata
    resource = world.schemas[target].resources[0]
    said = document.get("apiVersion")
    group, slash, _ = said.rpartition("/") if isinstance(said, str) else ("", "", "")
    name = document.get(resource.name_property)
    # Documents may name themselves in any letter case, and need not.
    named = isinstance(name, str) and name.casefold() == resource.name.casefold()
    own = either(name, resource.name) if named else ANY
    version = f"{group}{slash}{target}" if said is not None else ANY
    return {**expected, "apiVersion": version, resource.name_property: own}


def shown(world: World, value: Any, stations: Stations) -> Any:
    """What is shown of a value at the last of some stations; `MISSING` where it has no place there."""
    plain = bare_all(stations)
    if value is None:
        return (
            None
            if all(isinstance(each.type, Nullable | FreeForm) for each in stations)
            else (
                MISSING if len(stations) == 2 else ANY  # noqa: PLR2004 - two neighbours
            )
        )
    if len(stations) == 1:
        return value
    if all(isinstance(each.type, ListOf) for each in plain) and isinstance(value, list):
        items = tuple(At(each.version, each.type.items) for each in plain)  # type: ignore[union-attr]
        return _each([shown(world, each, items) for each in value])
    if all(isinstance(each.type, MapOf) for each in plain) and isinstance(value, dict):
        values = tuple(At(each.version, each.type.values) for each in plain)  # type: ignore[union-attr]
        every = {name: shown(world, each, values) for name, each in value.items()}
        return {name: each for name, each in every.items() if each is not MISSING}
    if objects_only(world, plain) and isinstance(value, dict):
        return _object(world, value, plain) if _has_tags(world, value, plain) else ANY
    for one, other in pairwise(stations[:-1]):
        there = _hop(world, value, one, other)
        if not known(there) or there is MISSING or not _leads_back(world, value, there, other, one):
            return ANY  # what the version on the way cannot express is kept beside it
        value = there
    return _hop(world, value, *stations[-2:])


def _has_tags(world: World, value: dict[str, Any], stations: Stations) -> bool:
    """Whether an object has the text by which other versions distinguish its type from other variants."""
    for each in stations[1:]:
        tag = world.object(each).tag
        own = value.get(tag) if tag is not None else None
        if tag is not None and (
            not isinstance(own, str)
            or own.casefold() != fixed_texts(world, each).get(tag, own).casefold()
        ):
            return False
    return True


def _each(items: list[Any]) -> Any:
    """A list whose elements show what they do; those without a place are left out."""
    kept = [each for each in items if each is not MISSING]
    return ANY if any(_may_be_left_out(each) for each in kept) else kept


def _may_be_left_out(expected: Any) -> bool:
    return expected is ANY or (isinstance(expected, Either) and MISSING in expected.options)


def _leads_back(world: World, value: Any, there: Any, other: At, one: At) -> bool:
    back = _hop(world, there, other, one)
    return known(back) and same(back, value)


def _hop(world: World, value: Any, one: At, other: At) -> Any:
    """What is shown of a value at a neighbour."""
    if value is None:
        return None if isinstance(other.type, Nullable | FreeForm) else MISSING
    ours, theirs = bare(one.type), bare(other.type)
    if isinstance(theirs, FreeForm):
        return value
    if isinstance(ours, FreeForm):
        return _typed(world, value, other)
    if isinstance(ours, Union) or isinstance(theirs, Union):
        return _variant(world, value, one, other)
    pair = At(one.version, ours), At(other.version, theirs)
    if kind_of(value) in {"array", "object"}:
        fits = all(may_be(world, value, each) is not False for each in pair)
        return shown(world, value, pair) if fits and world.meet(*pair) else MISSING
    return scalar(world, value, one, other)


def _typed(world: World, value: Any, at: At) -> Any:
    """What typed data shows of free-form data: the value where it fits, else nothing."""
    fits = may_be(world, value, at)
    if fits is None:
        return ANY
    return scalar(world, value, At(at.version, FreeForm()), at) if fits else MISSING


def _variant(world: World, value: Any, one: At, other: At, wanted: str | None = None) -> Any:
    """What a value of a union shows where its variant meets one of another union."""
    place = which(world, value, one)
    if place is None:
        return ANY
    met = meeting(world, one, place, other)
    if wanted is not None:
        named = [At(other.version, each) for each in variants(other.type)]
        met = [
            n
            for n, each in enumerate(named)
            if getattr(world.definition(each), "name", "") == wanted
        ]
    if len(met) != 1:
        return ANY if met else MISSING
    if contested(world, one, place, other, met[0]):
        return ANY
    pair = (
        At(one.version, variants(one.type)[place]),
        At(other.version, variants(other.type)[met[0]]),
    )
    if not isinstance(value, dict) or not objects_only(world, pair):
        return shown(world, value, pair) if world.meet(*pair) else MISSING
    found = _object(world, value, pair)
    for name, text in (tags(world, other)[met[0]] or {}).items():
        own = value.get(name)
        if isinstance(own, str) and own.casefold() == text.casefold():
            found[name] = either(own, text)
        elif name == world.object(pair[1]).tag and name not in value:
            found[name] = text
        else:
            return ANY  # a text of its own, which the other union may not know
    return found


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
        if not ruled and not _meet(world, found[-1], member):
            apart = any(_meet(world, each, member) for each in found)
            continue  # of a type that has nothing to do with it
        gap = stations[place : number + 1]
        sure = sure and (number == place + 1 or _plain_gap(world, gap, at))
        found.append(member)
        at, place = wanted, number
    if place == len(stations) - 1:
        return at, tuple(found) if sure else None
    return (at, None) if apart else None


@once
def _meet(world: World, one: At, other: At) -> bool:
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
        if len(stations) > 2:  # noqa: PLR2004 - more than two neighbours
            up = world.newer(other.version, one.version)
            rules = world.rules_of(one if up else other)
            for old, new in moves(rules).items():
                left, reached = (old, new) if up else (new, old)
                touched |= {reached[0], *_freed(world, one, other, left)}
        for name in touched:
            if number + 2 == len(stations):
                found.add(name)
            elif world.member(other, name) is not None:
                ways = followed(world, stations[number + 1 :], name)
                found.add(name if ways is None else ways[0])
    return found


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


def _object(world: World, value: dict[str, Any], stations: Stations) -> dict[str, Any]:
    """What an object shows, member by member."""
    last = stations[-1]
    found: dict[str, Any] = {}
    whole = value
    value, moved = _taken(world, value, stations)
    emptied = _moved_out_of(world, stations)
    for name, member in value.items():
        way = followed(world, stations, name) if world.member(stations[0], name) else None
        if way is None:
            continue
        at, types = way
        one = ANY if types is None else shown_member(world, name, member, types, stations)
        hollowed = member != whole[name]
        if hollowed or at in emptied:
            one = perhaps_hollow(one)
        if hollowed and not member and isinstance(one, dict):
            one = either(one, MISSING)
        if one is not MISSING:
            found[at] = one
    for path, each in sorted(moved, key=lambda each: len(each[0])):  # what holds others first
        _put_around(world, found, path, each, stations)
    found.update(dict.fromkeys(unsure(world, stations), ANY))
    found.update(dict.fromkeys(world.derived_from_hub(stations) - found.keys(), ANY))
    if world.object(last).embedded and "apiVersion" in found:
        found["apiVersion"] = ANY
    return required(world, found, last)


@once
def _moved_out_of(world: World, stations: Stations) -> set[str]:
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
    if len(stations) == 2 and moves(world.rules_of(older)):  # noqa: PLR2004 - the rules say it exactly
        return found
    names = {world.object(each).name for each in stations}
    return found | {
        path[0]
        for (_, name), rules in world.rules.items()
        if name in names
        for pair in moves(rules).items()
        for path in pair
        if len(path) > 1
    }


def perhaps_hollow(expected: Any) -> Any:
    """An object in which objects with nothing in them may be left out, and itself if there is nothing else."""
    if not isinstance(expected, dict):
        return expected
    members = {name: perhaps_hollow(each) for name, each in expected.items()}
    if all(_may_be_left_out(each) for each in members.values()):
        return either(members, MISSING)
    return members


def shown_member(world: World, name: str, value: Any, types: Stations, stations: Stations) -> Any:
    """What is shown of a property of objects.

    Args:
        world: the versions, rules and hooks.
        name: the property at the first station.
        value: its value.
        types: the stations of the property.
        stations: the stations of the objects.
    """
    if len(stations) == 2:  # noqa: PLR2004 - two neighbours
        rule = world.ruled(stations[0], stations[1], name)
        if rule:
            return _ruled(world, value, types, rule)
    elif _change_values(world, stations):
        return ANY
    found = shown(world, value, types)
    if name in KEYS and isinstance(value, str) and isinstance(found, str):
        return either(found, value)  # elements of lists are found by it: it stays as it is written
    return found


@once
def _change_values(world: World, stations: Stations) -> bool:
    """Whether rules of any of some object types say how values of their properties become others."""
    rules = ("values", "convert", "wrap", "unwrap", "variant")
    return any(world.rules_of(each).get(rule) for each in stations for rule in rules)


def _ruled(world: World, value: Any, types: Stations, rule: tuple[str, Any]) -> Any:
    """What a rule makes of a value between two neighbours."""
    one, other = types
    up = world.newer(other.version, one.version)
    name, says = rule
    if value is None:
        return ANY
    match name, up:
        case ("values", _):
            text = mapped(value, says, up=up)
            if isinstance(text, Either):
                return either(*(scalar(world, each, one, other) for each in text.options))
            found = scalar(world, text, one, other) if isinstance(text, str) else ANY
            return either(found, text) if text == value else found
        case ("convert", _):
            return converted(value, says, up=up)
        case ("wrap", True) | ("unwrap", False):
            listed = bare(other.type)
            assert isinstance(listed, ListOf)
            item = shown(world, value, (one, At(other.version, listed.items)))
            return ANY if item is MISSING or item is ANY else [item]
        case ("wrap", False) | ("unwrap", True):
            listed = bare(one.type)
            assert isinstance(listed, ListOf)
            items = (At(one.version, listed.items), other)
            return shown(world, value[0], items) if value else MISSING
        case _:
            return _variant(world, value, one, other, says if up else None)


def _taken(
    world: World, value: dict[str, Any], stations: Stations
) -> tuple[dict[str, Any], list[tuple[tuple[str, ...], Any]]]:
    """An object without what moves elsewhere, and what comes to stand at which path."""
    if len(stations) != 2:  # noqa: PLR2004 - two neighbours
        return value, []
    one, other = stations
    up = world.newer(other.version, one.version)
    rules = world.rules_of(one if up else other)
    moved = []
    whole = value
    ways = _ways(world, one, other)
    for source, target in sorted(
        ways.items(), key=lambda each: -len(each[0])
    ):  # what stands inside first
        older = source if up else target
        if "[]" in source:
            moved.append((target, ANY))
            continue
        types = type_at(world, one, source), type_at(world, other, target)
        found, value = without(value, source)
        for path in _claimed(world, one, other, source):
            own, found = without(found, path) if isinstance(found, dict) else (MISSING, found)
            value = _with(value, (*source, *path), own)
        if found is MISSING or None in types:
            moved.append((target, MISSING))
            continue
        assert types[0] is not None
        assert types[1] is not None
        pair = (types[0], types[1])
        spelt = ".".join(older)
        says = [
            (rule, rules[rule][spelt])
            for rule in ("values", "convert")
            if spelt in (rules.get(rule) or {})
        ]
        comes = _ruled(world, found, pair, says[0]) if says else _moved(world, found, pair)
        if without(whole, source)[0] != found:
            comes = perhaps_hollow(comes)
        moved.append((target, comes))
    return value, moved


@once
def _ways(world: World, one: At, other: At) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The paths at which moved values stand in a neighbour, by those at which they stand in an object type."""
    up = world.newer(other.version, one.version)
    found = moves(world.rules_of(one if up else other))
    return found if up else {newer: older for older, newer in found.items()}


@once
def _claimed(world: World, one: At, other: At, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The paths inside of what moves that types of objects around it move by rules of their own."""
    ways = _ways(world, one, other)
    found = []
    for around in (path[:length] for length in range(1, len(path))):
        name = world.counterpart(one, other, around[0])
        there = ways.get(around) or (None if name is None else (name, *around[1:]))
        ends = type_at(world, one, around), None if there is None else type_at(world, other, there)
        if ends[0] is None or ends[1] is None:
            continue
        plain = bare_all((ends[0], ends[1]))
        every = _ways(world, *plain) if objects_only(world, plain) else {}
        inside_of = [(*around, *each) for each in every]
        found += [
            each[len(path) :]
            for each in inside_of
            if len(each) > len(path) and each[: len(path)] == path
        ]
    return found


def _with(value: Any, path: tuple[str, ...], own: Any) -> Any:
    """An object with a value at a path, and the objects around that."""
    if own is MISSING or not path:
        return value if own is MISSING else own
    members = value if isinstance(value, dict) else {}
    return {**members, path[0]: _with(members.get(path[0]), path[1:], own)}


def _put_around(
    world: World, found: dict[str, Any], path: tuple[str, ...], value: Any, stations: Stations
) -> None:
    """Puts what has moved to its path, around what types of objects there have moved into it by rules of their own."""
    one, other = stations
    claimed = [
        ((*path, *each), without(found, (*path, *each))[0])
        for each in _claimed(world, other, one, path)
    ]
    _put(world, found, path, value, other)
    for place, own in claimed:
        if own is not MISSING:
            _put(world, found, place, own, other)


def _moved(world: World, value: Any, pair: tuple[At, At]) -> Any:
    """What a value shows that a rule moves and no other rule changes; nothing where it is a scalar of another type."""
    if all(isinstance(bare(each.type), Scalar) for each in pair) and not _meet(world, *pair):
        return MISSING
    return shown(world, value, pair)


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
    if inner is MISSING:
        if value is MISSING:
            return
        inner = required(world, {}, At(member.version, bare(member.type)))
    if not isinstance(inner, dict):
        found[name] = ANY
        return
    _put(world, inner, below, value, At(member.version, bare(member.type)))
    found[name] = perhaps_hollow(inner) if made and isinstance(value, Either) else inner
