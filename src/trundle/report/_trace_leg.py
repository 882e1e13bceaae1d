"""The trace of one conversion: its plan, read beside the documents before and after it."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    Lineage,
    Place,
    PlanKey,
    Shape,
    changes_within,
    fixed_text,
    plan,
    spoken_hook,
    steps,
)
from trundle.report._trace_parts import (
    BAG,
    MISSING,
    WRITTEN_WITH,
    Cause,
    Leg,
    Origin,
    Parts,
    leaves,
    prefixes,
    same,
    value_at,
)
from trundle.report._wording import say, say_change, say_entry
from trundle.schema import ABSENT

_UNREADABLE = {"$trace": "no value of any type"}
"""What is put in place of an entry's value: a conversion that reads the entry fails or gives something else."""


class _Found(NamedTuple):
    """A value of the source that an expression may give.

    Attributes:
        value: the value; `MISSING` where only the conversion itself knows it.
        sources: where it is, or what it is made of.
        cause: what gives it.
        how: the same in words.
        changes: what it goes through.
    """

    value: Any
    sources: tuple[Parts, ...]
    cause: Cause = Cause.COPIED
    how: tuple[str, ...] = ()
    changes: tuple[steps.ValueStep, ...] = ()


class _Object(NamedTuple):
    """An object before a plan, and what it becomes."""

    key: PlanKey
    before: Any
    after: Any
    at: Parts
    to: Parts


def leg_origins(leg: Leg) -> tuple[list[Origin], dict[Parts, str]]:
    """Where each value of a conversion's output comes from, in the order of the output.

    Returns:
        The origins; and the input that is kept nowhere because the output gives it anyway, with the reason.
    """
    walk = _Walk(leg)
    if leg.source == leg.target:
        return [Origin(path, (path,), Cause.COPIED) for path, _ in leaves(leg.after)], {}
    written = leg.after if leg.base is None else leg.repeat(leg.before)
    key = PlanKey(leg.lineage, leg.source, leg.target)
    found = list(walk.object(_Object(key, leg.before, written, (), ())))
    if leg.base is not None:
        found = list(_merged(leg, written, found))
    known = {each.path for each in found}
    places: dict[Parts, int] = {}
    for number, (path, _) in enumerate(leaves(leg.after)):
        if known.isdisjoint(prefixes(path)) and path[-1:] != ("beside",):
            found.append(_unplanned(leg, path))
        for prefix in prefixes(path):
            places.setdefault(prefix, number)
    found.sort(key=lambda each: places[each.path])
    return found, walk.derived


def _merged(leg: Leg, written: Any, found: Sequence[Origin]) -> Iterator[Origin]:
    """What is left of origins after their document was written over a stored one."""
    lists: set[Parts] = set()
    for each in found:
        moved = _changed_list(leg.after, written, each.path)
        if moved is not None:
            if moved not in lists:
                lists.add(moved)
                text = ("its elements are merged with those that were stored",)
                yield Origin(moved, (), Cause.STORED, text, whole=False)
            continue
        now = value_at(leg.after, each.path)
        if same(now, value_at(written, each.path)):
            yield each
        elif now is not MISSING and not same(now, value_at(leg.base, each.path)):
            how = (*each.how, "merged with what was stored")
            yield Origin(each.path, each.sources, each.cause, how, whole=False)


def _changed_list(after: Any, written: Any, path: Parts) -> Parts | None:
    """The outermost list on a path whose elements are others than those that were written."""
    for length, part in enumerate(path):
        if isinstance(part, int):
            ours, theirs = value_at(after, path[:length]), value_at(written, path[:length])
            if not isinstance(ours, list) or len(ours) != len(theirs):
                return path[:length]
    return None


def _unplanned(leg: Leg, path: Parts) -> Origin:
    """Where a value comes from that no step of a plan gives: the envelope, and what is carried along."""
    if path == ("apiVersion",):
        return Origin(path, (path,), Cause.SET, (f"the version of {leg.target}",))
    if path == (WRITTEN_WITH,):
        return Origin(path, (("apiVersion",),), Cause.SET, ("the version it was written with",))
    now = value_at(leg.after, path)
    if same(now, value_at(leg.before, path)):
        if BAG in path:
            return Origin(path, (path,), Cause.BAG, ("travels on in the property bag",))
        return Origin(path, (path,), Cause.COPIED)
    if leg.base is not None and same(now, value_at(leg.base, path)):
        return Origin(path, (), Cause.STORED, ("as it was in the stored object",))
    return Origin(path, (), Cause.UNEXPLAINED)


class _Walk:
    """Reads plans beside the objects that they convert."""

    def __init__(self, leg: Leg) -> None:
        self.leg = leg
        self.derived: dict[Parts, str] = {}

    def object(self, pair: _Object) -> Iterator[Origin]:
        """The origins of all values of an object."""
        if pair.after == {}:
            yield Origin(pair.to, (pair.at,), Cause.COPIED)
        for step in plan(pair.key).steps:
            if isinstance(step, steps.Stash):
                yield from self._stashed(pair, step)
            else:
                yield from self._assigned(pair, step)

    def _assigned(self, pair: _Object, step: steps.Assign) -> Iterator[Origin]:
        now, path = _property(pair.key.lineage, pair.key.target, pair.after, step.property)
        if now is MISSING:
            return
        to = (*pair.to, *path)
        found = [] if step.value is None else list(self._located(pair, step.value))
        chosen = self._chosen(found, to)
        if chosen is None:
            if step.default is not ABSENT:
                yield Origin(to, (), Cause.DEFAULT)
            elif _constant(pair.key, step.property) == now:
                yield Origin(to, (), Cause.SET, ("the only value that its type admits",))
            return
        if step.default is not ABSENT and same(now, step.default) and _may_lack(chosen):
            how = (*chosen.how, "or the default, which is the same")
            chosen = chosen._replace(how=how)
        for each in self._changed(chosen, now, to):
            yield from [each] if step.property != ADDITIONAL else _members(each, now, to)

    def _stashed(self, pair: _Object, step: steps.Stash) -> Iterator[Origin]:
        entry = (BAG, step.entry.property, step.entry.version.text)
        chosen = next(self._located(pair, step.value), None)
        if value_at(pair.after, entry) is MISSING:
            if chosen is not None and step.derived is not None:
                reason = f"{say(step.derived)} gives the same"
                self.derived.update(dict.fromkeys(chosen.sources, reason))
            return
        to = (*pair.to, *entry, "value")
        how = f"kept as {say_entry(step.entry)}"
        if chosen is None or value_at(pair.after, (*entry, "value")) is MISSING:
            yield Origin((*pair.to, *entry), (), Cause.BAG, (f"{how}, absent",), whole=False)
            return
        changes = tuple(say_change(each) for each in chosen.changes)
        whole = not changes and chosen.value is not MISSING
        how_all = (*chosen.how, *changes, how)
        yield Origin(to, chosen.sources, Cause.BAG, how_all, whole=whole)

    def _located(self, pair: _Object, value: steps.Expression) -> Iterator[_Found]:  # noqa: C901 - one for each kind
        """The values that an expression may give, the one that counts first."""
        match value:
            case steps.Read(property=name):
                found, path = _property(pair.key.lineage, pair.key.source, pair.before, name)
                if found is not MISSING:
                    yield _Found(found, ((*pair.at, *path),))
            case steps.Unstash(entries=entries):
                yield from self._entries(pair, entries)
            case steps.Change(value=inner, step=step):
                for each in self._located(pair, inner):
                    yield each._replace(changes=(*each.changes, step))
            case steps.HookOutput(call=call, step=step):
                inputs = [each for _, each in call.inputs if each is not None]
                read = [next(self._located(pair, each), None) for each in inputs]
                sources = [path for each in read if each is not None for path in each.sources]
                changes = () if step is None else (step,)
                how = (f"{spoken_hook(call.use, call.method)} (between {call.between})",)
                if sources:
                    yield _Found(MISSING, tuple(dict.fromkeys(sources)), Cause.HOOK, how, changes)
            case steps.Hidden():
                if self.leg.base is not None:
                    yield _Found(MISSING, (), Cause.STORED, ("from the stored object",))
            case (
                steps.KeepPlaces(value=inner, entries=entries)
                | steps.KeepElements(value=inner, entries=entries)
                | steps.Refill(value=inner, entries=entries)
                | steps.HookRefill(value=inner, entries=entries)
            ):
                kept = next(self._entries(pair, entries), None)
                for each in self._located(pair, inner):
                    yield each if kept is None else _joined(each, kept, "with what is left of it")
            case steps.Presence(value=inner) | steps.Solid(value=inner):
                yield from self._located(pair, inner)
            case steps.Said(said=said, value=inner):
                yield from self._located(pair, inner)
                for each in self._located(pair, said):
                    yield each._replace(value=MISSING)
            case steps.First(options=options):
                for each_option in options:
                    yield from self._located(pair, each_option)

    @staticmethod
    def _entries(pair: _Object, entries: Sequence[steps.PlannedEntry]) -> Iterator[_Found]:
        for each in entries:
            path = (BAG, each.place.property, each.place.version.text, "value")
            found = value_at(pair.before, path)
            if found is not MISSING:
                changes = () if each.step is None else (each.step,)
                how = (f"taken from {say_entry(each.place)}",)
                yield _Found(found, ((*pair.at, *path),), Cause.BAG, how, changes)
                return

    def _chosen(self, found: Sequence[_Found], to: Parts) -> _Found | None:
        """The one of some values that the output shows."""
        for number, each in enumerate(found):
            if number == len(found) - 1:
                return each
            if each.cause is Cause.BAG:
                if self._counts(each, to):
                    return each
                continue
            if _may_lack(each):
                return _joined(each, found[number + 1], "or else")
            return each
        return None

    def _counts(self, entry: _Found, to: Parts) -> bool:
        """Whether the value of an entry is what the output shows: without it, another comes out."""
        *holder, last = entry.sources[0]
        changed = copy.deepcopy(self.leg.before)
        value_at(changed, tuple(holder))[last] = _UNREADABLE
        result = self.leg.repeat(changed)
        return result is MISSING or not same(value_at(result, to), value_at(self.leg.after, to))

    def _changed(self, found: _Found, now: Any, to: Parts) -> Iterator[Origin]:
        """The origins of a value, or of the values in it, that went through changes."""
        if found.value is MISSING or len(found.changes) > 1:
            texts = tuple(say_change(each) for each in found.changes)
            cause = _cause(found.cause, found.changes)
            yield Origin(to, found.sources, cause, (*found.how, *texts), whole=False)
        elif not found.changes:
            yield Origin(to, found.sources, found.cause, found.how)
        else:
            yield from self._once_changed(found, found.changes[0], now, to)

    def _once_changed(
        self, found: _Found, step: steps.ValueStep, now: Any, to: Parts
    ) -> Iterator[Origin]:
        (source,) = found.sources
        bare = found._replace(changes=())
        parts: list[tuple[_Found, Any, Parts]] | None = None
        match step:
            case steps.ToObject(plan=key) if isinstance(now, dict):
                inside = _Object(key, found.value, now, source, to)
                for each in self.object(inside):
                    cause = found.cause if each.cause is Cause.COPIED else each.cause
                    how = (*found.how, *each.how)
                    yield Origin(each.path, each.sources, cause, how, whole=each.whole)
                return
            case steps.Items(item=inner) if _alike(found.value, now, list):
                parts = [
                    (_Found(each, ((*source, at),), *bare[2:4], (inner,)), now[at], (*to, at))
                    for at, each in enumerate(found.value)
                ]
            case steps.Values(value=inner) if _alike(found.value, now, dict):
                parts = [
                    (_Found(each, ((*source, at),), *bare[2:4], (inner,)), now[at], (*to, at))
                    for at, each in found.value.items()
                    if at in now
                ]
            case steps.Optional(inner=inner) | steps.NotNull(inner=inner):
                changes = () if inner is None or found.value is None else (inner,)
                parts = [(found._replace(changes=changes), now, to)]
            case steps.Cases(cases=cases):
                known = {each.step for each in cases if not each.lacking and each.step is not None}
                if len(known) == 1:
                    parts = [(found._replace(changes=tuple(known)), now, to)]
        if parts is not None:
            for part, value, place in parts:
                yield from self._changed(part, value, place)
            if not parts:
                yield Origin(to, (source,), found.cause, found.how)
            return
        if same(found.value, now) and not isinstance(step, steps.CallScalar | steps.CallConverter):
            yield Origin(to, (source,), found.cause, found.how)
            return
        cause = _cause(found.cause, (step,))
        yield Origin(to, (source,), cause, (*found.how, say_change(step)), whole=False)


def _constant(key: PlanKey, name: str) -> str | None:
    """The only text that a property of the target admits, such as the constant of a discriminator."""
    version = key.target.version
    definitions = key.lineage.evolution.schema(version).definitions
    return fixed_text(key.lineage.type(Place(version, name)), definitions)


def _property(lineage: Lineage, shape: Shape, value: Any, name: str) -> tuple[Any, Parts]:
    """A followed property of an object, and the path to it."""
    if name == ADDITIONAL:
        if not isinstance(value, dict):
            return MISSING, ()
        declared = {each.name for each in lineage.definition(shape.version).properties}
        reserved = {*lineage.envelope, BAG, WRITTEN_WITH, *declared}
        return {each: found for each, found in value.items() if each not in reserved} or MISSING, ()
    place = Place(shape.version, name)
    label = lineage.label(place) if shape.kind == "api" else None
    path = lineage.path(place) if label is None else (METADATA, *label)
    return value_at(value, path), path


def _members(origin: Origin, now: Any, to: Parts) -> Iterator[Origin]:
    """An origin of all additional properties of an object as one for each."""
    if origin.path != to:
        yield origin
        return
    for name in now:
        sources = origin.sources
        if origin.whole:
            sources = tuple((*each, name) for each in sources)
        yield Origin((*to, name), sources, origin.cause, origin.how, whole=origin.whole)


def _alike(one: Any, other: Any, kind: type) -> bool:
    """Whether two lists or maps have as many elements, so that none was left out or added."""
    return isinstance(one, kind) and isinstance(other, kind) and len(one) == len(other)  # type: ignore[arg-type]


def _may_lack(found: _Found) -> bool:
    return found.cause is Cause.HOOK or any(map(steps.may_lack, found.changes))


def _joined(one: _Found, other: _Found, word: str) -> _Found:
    texts = [tuple(say_change(each) for each in found.changes) for found in (one, other)]
    rest = ", ".join((*other.how, *texts[1])) or "copied"
    how = (*one.how, *texts[0], f"{word} {rest}")
    return _Found(MISSING, (*one.sources, *other.sources), _cause(one.cause, one.changes), how)


def _cause(cause: Cause, changes: Sequence[steps.ValueStep]) -> Cause:
    """What gave a value that went through changes."""
    if cause in (Cause.HOOK, Cause.BAG, Cause.STORED):
        return cause
    within = [each for change in changes for each in changes_within(change)]
    if any(isinstance(each, steps.CallConverter) for each in within):
        return Cause.HOOK
    if any(isinstance(each, steps.MapText) for each in within):
        return Cause.MAPPED
    return Cause.CONVERTED if changes else cause
