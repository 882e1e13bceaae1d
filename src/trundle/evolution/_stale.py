"""Stale entries: what they still have that no other thread can give.

Where the entry of a thread is stale, other threads give its value. What these cannot have at all, such as elements
that get lost on the way to them, was not changed by their writer, and is taken from the entry.
"""

import itertools
from collections.abc import Iterable

from trundle.evolution._entries import Entries
from trundle.evolution._keyed_steps import change_keyed
from trundle.evolution._threads import ByConversion, ByHook, Derivation, Thread
from trundle.evolution._traversal import changes_within
from trundle.evolution._values import End, Mismatch, change_value
from trundle.evolution._ways import way
from trundle.evolution.conversions import Keyed
from trundle.evolution.steps import (
    Chain,
    Expression,
    FromFreeForm,
    Items,
    KeepElements,
    KeepPlaces,
    KnownPart,
    Optional,
    PlannedEntry,
    Refill,
    Shape,
    ToEnum,
    ToFreeForm,
    ToList,
    Values,
    ValueStep,
    may_lack,
)


def with_lost(
    value: Expression,
    thread: Thread,
    end: End,
    derivations: Iterable[Derivation],
    entries: Entries,
) -> Expression:
    """A derived value with the elements that only the thread's stale entry still has.

    Args:
        value: the thread's value at `end`, as its derivations give it.
        thread: the thread.
        end: where the value is wanted, and in which shape.
        derivations: those of the thread that were followed.
        entries: what the source has in its bag.
    """
    kept = entries.read(thread, end)
    if not kept:
        return value
    sides = [
        End(end.lineage, each.inputs[0], Shape("storage", each.inputs[0].version))
        for each in derivations
        if isinstance(each.how, ByConversion)
    ]
    within = (
        _losing_within(end, sides)
        or _known_within(end, sides)
        or _respelling_within(end, sides)
        or _unseen_within(end, sides)
    )
    if within is not None:
        return Refill(value, kept, within)
    losing = _losing(end, sides)
    return value if losing is None else KeepPlaces(value, kept, losing)


def with_own_texts(
    value: Expression, kept: tuple[PlannedEntry, ...], shared: End, end: End
) -> Expression:
    """Texts in a list or map that versions share, each that no other client changed as the end's own clients wrote it.

    Args:
        value: the texts as the end shows what is shared.
        kept: the entries that may have what the clients wrote.
        shared: where the versions share the value.
        end: where it is wanted, and in which shape.
    """
    around = way(end, shared, end)
    if around is None or not any(map(_respells_elements, around)):
        return value
    return Refill(value, kept, Chain(around))


def with_elements(
    value: Expression, each: Derivation, conversion: Keyed, entries: Entries
) -> Expression:
    """A list that a map gives, with what only a stale entry of the list still has.

    That is what a map has no place for: elements without a key, and properties beside key and value.
    """
    lineage = entries.lineage
    maps, lists = (
        End(lineage, place, Shape("storage", place.version))
        for place in (each.inputs[0], each.output)
    )
    kept = entries.read(lineage.thread(each.output), lists)
    if not kept:
        return value
    up = conversion.map_older
    ways = (
        change_keyed(lists, maps, conversion, up=not up),
        change_keyed(maps, lists, conversion, up=up),
    )
    steps = tuple(step for step in ways if not isinstance(step, Mismatch))
    keyed = ToList(lists.place, lists.shape, conversion.key, conversion.value)
    return KeepElements(value, kept, Chain(steps), keyed)


def _losing(end: End, sides: Iterable[End]) -> ValueStep | None:
    """What an element of a list or map goes through on a way that may lose it."""
    for side in sides:
        step = change_value(end, side)
        inner = _element(step.inner if isinstance(step, Optional) else step)
        if inner is not None and may_lack(inner):
            return inner
    return None


def _losing_within(end: End, sides: Iterable[End]) -> Chain | None:
    """What a value goes through to another side and back, if lists within lists may lose elements."""
    for side in sides:
        there, back = change_value(end, side), change_value(side, end)
        if there is None or isinstance(there, Mismatch) or isinstance(back, Mismatch):
            continue
        outer = there.inner if isinstance(there, Optional) else there
        if any(map(_loses_elements, itertools.islice(changes_within(outer), 1, None))):
            return Chain((there,) if back is None else (there, back))
    return None


def _known_within(end: End, sides: Iterable[End]) -> Chain | None:
    """What free-form data goes through to have but what a type on another side knows."""
    for side in sides:
        step = change_value(end, side)
        outer = step.inner if isinstance(step, Optional) else step
        if not isinstance(outer, FromFreeForm) or not side.lineage.holds_objects(side.place):
            continue
        known = KnownPart(outer.place, outer.type, outer.shape, outer.elsewhere)
        return Chain((known, ToFreeForm(outer.elsewhere)))
    return None


def _respelling_within(end: End, sides: Iterable[End]) -> Chain | None:
    """What lists or maps of texts go through to another side and back, if that changes the letter case of texts."""
    for side in sides:
        around = way(end, side, end)
        if around is not None and any(map(_respells_elements, around)):
            return Chain(around)
    return None


def _unseen_within(end: End, sides: Iterable[End]) -> Chain | None:
    """What objects go through to another side and back, where a hook writes that side's.

    The two sides have bags of their own then, and what is in objects of the one alone is in the entry of all of them.
    """
    lineage = end.lineage
    for side in sides:
        written = lineage.derivations.get(lineage.thread(side.place).number, ())
        if not any(isinstance(each.how, ByHook) for each in written):
            continue
        seen = End(side.lineage, side.place, Shape("api", side.place.version))
        around = way(end, seen, end) if lineage.changing(end.place) else None
        if around is not None:
            return Chain(around)
    return None


def _respells_elements(step: ValueStep) -> bool:
    """Whether texts in a list or map take the letter case of an enum."""
    return any(
        isinstance(inner, ToEnum)
        for each in changes_within(step)
        if (element := _element(each)) is not None
        for inner in changes_within(element)
    )


def _loses_elements(step: ValueStep) -> bool:
    """Whether a list or map may lose an element on its way."""
    inner = _element(step)
    return inner is not None and may_lack(inner)


def _element(step: ValueStep | Mismatch | None) -> ValueStep | None:
    """What each element of a list or map goes through."""
    inner = step.item if isinstance(step, Items) else None
    return step.value if isinstance(step, Values) else inner
