"""What a version sees after a client of another version has edited the object."""

from itertools import pairwise
from typing import Any, NamedTuple

from trundle.schema import FreeForm, ListOf, Union
from trundle.verify._broken import MISSING, same
from trundle.verify.oracle._expected import ANY, either, perhaps_hollow
from trundle.verify.oracle._following import followed, unsure
from trundle.verify.oracle._meeting import (
    Stations,
    World,
    bare,
    bare_all,
    first,
    inside,
    moves,
    neighbours,
    objects_only,
    once,
    parts,
)
from trundle.verify.oracle._showing import shown_member
from trundle.verify.oracle._texts import hold_texts, texts_after


class Edited(NamedTuple):
    """An edit, as JSON trees.

    Attributes:
        seen: what the editor read.
        edited: what it wrote.
        before: what the observer saw before.
        was: what the observer is shown of what was read, where nothing else is stored.
        fresh: what it is shown of what was written, where nothing else is stored.
    """

    seen: Any
    edited: Any
    before: Any
    was: Any
    fresh: Any

    def member(self, own: str, other: str) -> "Edited":
        """The edit of one property, as the editor and as the observer calls it."""
        names = (own, own, other, other, other)
        every = zip(self, names, strict=True)
        return Edited(
            *(
                each.get(name, MISSING) if isinstance(each, dict) else MISSING
                for each, name in every
            )
        )


class _Ways(NamedTuple):
    """The stations of objects at one place.

    Attributes:
        across: from the editor to the observer.
        observer: from the observer to what the store keeps; None where that has no such objects.
        editor: the same from the editor.
    """

    across: Stations
    observer: Stations | None
    editor: Stations | None

    def member(self, world: World, own: str, other: str, across: Stations) -> "_Ways":
        """The stations of a property's objects."""
        ends = _home(world, self.observer, other), _home(world, self.editor, own)
        plain = [None if each is None else bare_all(each) for each in ends]
        kept = (each if each and objects_only(world, each) else None for each in plain)
        return _Ways(bare_all(across), *kept)


def after_edit(world: World, edit: Edited, editor: str, observer: str) -> Any:
    """What the observer sees after the edit of an object that was written just once before.

    Where more versions have written, an edit may lead back to what an earlier one had accompanied.
    What the editor did not touch is as before. What it touched shows what it wrote; where several results are right,
    it is at least nothing stale: absent, or derived anew from what was written.
    """

    def way(start: str, end: str) -> Stations:
        return tuple(world.root(each) for each in world.way(start, end))

    ways = _Ways(way(editor, observer), way(observer, world.hub), way(editor, world.hub))
    return {**_object(world, edit, ways), **dict.fromkeys(world.names(observer), ANY)}


def leads_to(world: World, source: str, target: str, path: tuple[str | int, ...]) -> bool:
    """Whether what stands at a path of a version may have come from another version, as far as its objects say."""
    stations = tuple(world.root(each) for each in world.way(source, target))
    for name in path:
        plain = isinstance(name, str) and objects_only(world, stations)
        if not plain or world.moved(stations) or world.member(stations[0], str(name)) is None:
            return True
        way = followed(world, stations, str(name))
        if way is None or way[1] is None:
            return way is not None
        stations = bare_all(way[1])
    return True


def _home(world: World, stations: Stations | None, name: str) -> Stations | None:
    """The stations of a property on the way to what the store keeps; None where it does not get there."""
    if stations is None or world.member(stations[0], name) is None:
        return None
    way = followed(world, stations, name)
    return None if way is None else way[1]


def _object(world: World, edit: Edited, ways: _Ways) -> dict[str, Any]:
    if same(edit.seen, edit.edited):
        return dict(edit.before)
    across = ways.across
    sources = {}
    for own in {**edit.seen, **edit.edited}:
        way = followed(world, across, own) if world.member(across[0], own) else None
        if way is not None:
            sources[way[0]] = (own, way[1])
    decided, elsewhere = unsure(world, across), world.bound_by_hooks(across)
    names = {name: own for name, (own, _) in sources.items()}
    alone = _left_alone(world, edit, names, across)
    found: dict[str, Any] = {}
    for name in {**edit.before, **edit.fresh, **sources, **dict.fromkeys(decided)}:
        own, types = sources.get(name, (name, None))
        member = edit.member(own, name)
        paths = _hooked_paths(world, across, name)
        if name in elsewhere or world.moved(across):
            found[name] = ANY
        elif name in decided and not paths:
            found[name] = _decided(member, across)
        elif name not in sources:
            found[name] = member.before if paths else _apart(world, edit, ways, name)
        elif types is None:
            found[name] = member.before if same(member.seen, member.edited) else ANY
        else:
            found[name] = _member(world, member, ways.member(world, own, name, types), own, ways)
        if paths:
            found[name] = _around(member, found[name], paths, across)
        if own in alone:
            found[name] = either(found[name], member.fresh)
    if world.object(across[-1]).embedded:
        found["apiVersion"] = ANY
    return {name: each for name, each in found.items() if each is not MISSING}


def _left_alone(world: World, edit: Edited, names: dict[str, str], across: Stations) -> set[str]:
    """What the editor's version requires, where the edit leaves nothing else in an object: it is written, as by a first write.

    It is not where the observer shows some of it without requiring it. That is stored, so the object is there for it.
    """
    declared, observed = (
        {each.name for each in world.object(at).properties if each.required}
        for at in (across[0], across[-1])
    )
    stored = {own for name, own in names.items() if name in edit.before and name not in observed}
    taken = edit.seen.keys() - edit.edited.keys()
    left = taken and edit.edited.keys() <= declared and not stored & declared
    return declared if left else set()


def _decided(member: Edited, across: Stations) -> Any:
    """What hooks decide: what they make of the edit, where that is another thing than before it."""
    if not neighbours(across):
        return ANY
    anew = either(MISSING, member.fresh, _beside(member.before, member.was, member.fresh))
    return either(anew, member.before) if same(member.was, member.fresh) else anew


def _beside(before: Any, was: Any, fresh: Any) -> Any:
    """What a hook writes of an edit, with what stood in its objects before and is none of what it wrote then."""
    if isinstance(before, dict) and isinstance(fresh, dict):
        wrote = was if isinstance(was, dict) else {}
        found = {}
        for name in {**before, **fresh}:
            kept, old, new = (each.get(name, MISSING) for each in (before, wrote, fresh))
            found[name] = kept if same(old, new) else _beside(kept, old, new)
        return {name: each for name, each in found.items() if each is not MISSING}
    if isinstance(before, list) and isinstance(
        fresh, list
    ):  # which element was which is left to the other laws
        names = {name for each in before if isinstance(each, dict) for name in each}
        unsaid = dict.fromkeys(names, ANY)
        return [{**unsaid, **each} if isinstance(each, dict) else each for each in fresh]
    return fresh


@once
def _hooked_paths(world: World, across: Stations, name: str) -> set[tuple[str, ...]]:
    """The paths inside of a property at which hooks between two neighbours write, or read what the editor has otherwise.

    Returns:
        Nothing where more than that is decided for the property.
    """
    if not neighbours(across) or world.renamed_between(*across):
        return set()
    paths = [
        path
        for way, place in ((across, 1), (across[::-1], 0))
        for hook, up in world.hooks_between(*way)
        for path in map(parts, (hook.to if up else hook.back)[place])
    ]
    found = {path[1:] for path in paths if path[0] == name}
    plain = not any(not path or "[]" in path for path in found)
    return (
        found
        if plain and not any(name in inside(world.rules_of(each)) for each in across)
        else set()
    )


def _around(edit: Edited, expected: Any, paths: set[tuple[str, ...]], across: Stations) -> Any:
    """What is expected of an object inside of which hooks decide; what stands beside that is as it is without them."""
    if () in paths or expected is MISSING:
        return _decided(edit, across)
    if not isinstance(expected, dict):
        return ANY
    found = dict(expected)
    for name in {path[0] for path in paths}:
        below = {path[1:] for path in paths if path[0] == name}
        found[name] = _around(edit.member(name, name), expected.get(name, MISSING), below, across)
    return perhaps_hollow({name: each for name, each in found.items() if each is not MISSING})


def _called(world: World, stations: Stations, name: str) -> str:
    """What a property is called at the last station, whatever its type is there."""
    for one, other in pairwise(stations):
        name = world.counterpart(one, other, name) or name
    return name


def _apart(world: World, edit: Edited, ways: _Ways, name: str) -> Any:
    """What the observer has and the editor lacks: as before, unless the edit has made it stale.

    That is so for a namesake of what was edited where the store keeps the editor's and no rule leads that to another name, and
    for what a hook reads whose output was edited.
    """
    touched = {
        each
        for each in {**edit.seen, **edit.edited}
        if not same(edit.seen.get(each, MISSING), edit.edited.get(each, MISSING))
    }
    before, fresh = edit.before.get(name, MISSING), edit.fresh.get(name, MISSING)
    across = ways.across
    for one, other in pairwise(across[::-1]):
        for hook, up in world.hooks_between(one, other):
            reads, writes = hook.to if up else hook.back
            if not neighbours(across) or name in map(first, reads):
                stale = neighbours(across) and touched & set(map(first, writes))
                return either(MISSING, fresh) if stale else ANY
    own = _called(world, across[::-1], name)
    if own not in touched or (ways.observer is not None and len(ways.observer) == 1):
        return before
    between = any(world.member(each, own) is not None for each in across[1:-1])
    kept = _home(world, ways.editor, own) is not None
    if between or not kept or _home(world, ways.observer, name) is not None:
        return ANY
    way = followed(world, across, own)
    return before if way is not None and way[0] != name else either(MISSING, fresh)


@once
def _holders(world: World) -> set[str]:
    """The names of objects out of which a rule moves something, or into which it does."""
    paths = (
        path for rules in world.rules.values() for pair in moves(rules).items() for path in pair
    )
    return {name for path in paths for name in path[:-1]}


def _is_replaced(types: Stations, member: Edited) -> bool:
    """Whether an edit puts another variant of a union in the place of whatever was there."""
    plain = [bare(each.type) for each in types]
    return (
        any(isinstance(each, Union) for each in plain)
        and not any(isinstance(each, ListOf | FreeForm) for each in plain)
        and not any(isinstance(each, list) for each in member)
        and member.fresh is MISSING
    )


def _member(world: World, member: Edited, own: _Ways, name: str, ways: _Ways) -> Any:
    """What the observer sees of one value that both have."""
    if same(member.seen, member.edited):
        return member.before
    if member.edited is MISSING:
        # What a version has outside of the object stays, and the observer shows it inside.
        return ANY if name in _holders(world) else either(MISSING, member.fresh)
    if objects_only(world, own.across) and all(isinstance(each, dict) for each in member):
        return _object(world, member, own)
    if _is_replaced(own.across, member):
        return either(MISSING, member.fresh)
    types = own.across
    many = any(isinstance(each, list | dict) for each in member)
    if many and not hold_texts(world, types):
        return ANY  # what stands in elements and variants is left to the other laws
    expected = shown_member(world, name, member.edited, types, ways.across)
    if many:
        return texts_after(*member[:3], expected)
    if member.seen is not MISSING:
        was = shown_member(world, name, member.seen, types, ways.across)
        alike = repr(expected) == repr(was)
        alike = alike or (member.was is not MISSING and same(member.was, member.fresh))
        if expected is not ANY and was is not ANY and alike:
            return either(expected, member.before)  # to the observer nothing has changed
    if expected is not ANY and expected is not MISSING:
        return expected
    if not neighbours(types) or member.seen is MISSING:
        return ANY  # what the editor could not see may stay beside what the observer cannot express
    return either(MISSING, member.fresh)
