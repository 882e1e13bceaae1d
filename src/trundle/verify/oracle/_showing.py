"""What a version shows of a document of another one, where nothing else is stored."""

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
from trundle.verify.oracle._expected import (
    ANY,
    Either,
    either,
    known,
    may_be_left_out,
    perhaps_hollow,
)
from trundle.verify.oracle._following import followed, meet, unsure
from trundle.verify.oracle._labels import shown_metadata
from trundle.verify.oracle._meeting import (
    KEYS,
    OF_VALUES,
    At,
    Stations,
    World,
    bare,
    bare_all,
    neighbours,
    objects_only,
    once,
    type_at,
    ways_of_moves,
    without,
)
from trundle.verify.oracle._moving import (
    claimed_within,
    moved_out_of,
    put_around,
    with_at,
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
            else (MISSING if neighbours(stations) else ANY)
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
    return ANY if any(may_be_left_out(each) for each in kept) else kept


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


def _object(world: World, value: dict[str, Any], stations: Stations) -> dict[str, Any]:
    """What an object shows, member by member."""
    last = stations[-1]
    found: dict[str, Any] = {}
    whole = value
    value, moved = _taken(world, value, stations)
    emptied = moved_out_of(world, stations)
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
        put_around(world, found, path, each, stations)
    found.update(dict.fromkeys(unsure(world, stations), ANY))
    found.update(dict.fromkeys(world.derived_from_hub(stations) - found.keys(), ANY))
    if world.object(last).embedded and "apiVersion" in found:
        found["apiVersion"] = ANY
    return required(world, found, last)


def shown_member(world: World, name: str, value: Any, types: Stations, stations: Stations) -> Any:
    """What is shown of a property of objects.

    Args:
        world: the versions, rules and hooks.
        name: the property at the first station.
        value: its value.
        types: the stations of the property.
        stations: the stations of the objects.
    """
    if neighbours(stations):
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
    return any(world.rules_of(each).get(rule) for each in stations for rule in OF_VALUES)


def _ruled(world: World, value: Any, types: Stations, rule: tuple[str, Any]) -> Any:
    """What a rule makes of a value between two neighbours."""
    one, other = types
    up = world.newer(other.version, one.version)
    name, says = rule
    if value is None:
        return ANY
    match name, up:
        case ("values", _):
            older = world.definition(At(other.version, bare(other.type)))
            text = mapped(value, says, older, up=up)
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
    if not neighbours(stations):
        return value, []
    one, other = stations
    up = world.newer(other.version, one.version)
    moved = []
    whole = value
    ways = ways_of_moves(world, one, other)
    for source, target in sorted(
        ways.items(), key=lambda each: -len(each[0])
    ):  # what stands inside first
        if "[]" in source:
            moved.append((target, ANY))
            continue
        types = type_at(world, one, source), type_at(world, other, target)
        found, value = without(value, source)
        for path in claimed_within(world, one, other, source):
            own, found = without(found, path) if isinstance(found, dict) else (MISSING, found)
            value = with_at(value, (*source, *path), own)
        if found is MISSING or None in types:
            moved.append((target, MISSING))
            continue
        assert types[0] is not None
        assert types[1] is not None
        pair = (types[0], types[1])
        rule = world.rule_at(one, other, source if up else target)
        comes = _ruled(world, found, pair, rule) if rule else _moved(world, found, pair)
        if without(whole, source)[0] != found:
            comes = perhaps_hollow(comes)
        moved.append((target, comes))
    return value, moved


def _moved(world: World, value: Any, pair: tuple[At, At]) -> Any:
    """What a value shows that a rule moves and no other rule changes; nothing where it is a scalar of another type.

    What is not sure is whether there is an object around a null that is shown as nothing.
    """
    if all(isinstance(bare(each.type), Scalar) for each in pair) and not meet(world, *pair):
        return MISSING
    found = shown(world, value, pair)
    return ANY if value is None and found is MISSING else found
