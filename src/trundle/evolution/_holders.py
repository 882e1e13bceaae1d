"""Holders: nested objects out of which rules have lifted something.

A holder and what was lifted out of it are threads of their own. Two sides may hold different things in the same
object: what the one has in there, the other has elsewhere. To the one an object with nothing else in it is as
good as absent, to the other it is needed. Whether its own side said that it is there is then an entry of the bag.
"""

from collections.abc import Iterator, Mapping

from trundle.evolution._lineage import Lineage
from trundle.evolution._paths import Path, join_path
from trundle.evolution._threads import PRESENCE, Place, Thread
from trundle.evolution._values import End
from trundle.evolution._ways import along
from trundle.evolution.steps import (
    Expression,
    Leaf,
    PlanKey,
    Presence,
    Read,
    Shape,
    Solid,
    Witness,
)
from trundle.schema import FreeForm
from trundle.version import ApiVersion


def holders(key: PlanKey) -> Iterator[tuple[Thread, Place, Place]]:
    """The threads of the holders that source and target of a plan both have, each with its place in both."""
    lineage = key.lineage
    for thread in lineage.threads:
        own, kept = thread.at(key.source.version), thread.at(key.target.version)
        if own is None or kept is None:
            continue
        if any(lineage.leaves(each) for each in thread.places):
            yield thread, own, kept


def held_elsewhere(lineage: Lineage, place: Place) -> frozenset[int]:
    """The threads of all properties that are lifted out of the nested object at a place, at any depth."""
    path = lineage.path(place)
    return frozenset(
        lineage.thread(Place(place.version, name)).number
        for name, each in lineage.lifted(place.version).items()
        if len(each) > len(path) and each[: len(path)] == path
    )


def holds_alike(lineage: Lineage, one: Place, other: Place) -> bool:
    """Whether two sides hold the same properties in a nested object."""
    return held_elsewhere(lineage, one) == held_elsewhere(lineage, other)


def solid(lineage: Lineage, place: Place) -> Expression:
    """What is at a place, as far as it is more than what was lifted out of it."""
    read, leaves = Read(place.property), leaves_of(lineage, place)
    return Solid(read, read, place, leaves) if leaves else read


def leaves_of(lineage: Lineage, place: Place, holder: Thread | None = None) -> tuple[Leaf, ...]:
    """The properties of the nested object at a place that are followed here, and what is so in those objects among them.

    An object that is lifted only because something within it is stays within the nested object. Where it is empty,
    nothing of it is anywhere else; and where none of its own properties is lifted, it is none of these.
    """
    holder = holder or lineage.thread(place)
    found = []
    for name in lineage.leaves(place):
        leaf = Place(place.version, join_path((*lineage.path(place), name)))
        thread = lineage.thread(leaf)
        places = lineage.related.get(thread.number, thread.places)
        stays = all(_is_within(lineage, each, holder) for each in places)
        inner = leaves_of(lineage, leaf, holder) if stays else ()
        if inner or not stays:
            found.append(Leaf(name, leaf, inner))
    return tuple(found)


def null_is_apart(lineage: Lineage, place: Place, kept: Place) -> bool:
    """Whether a holder may be null at a place, but not where it is kept."""
    return lineage.admits_null(place) and not lineage.admits_null(kept)


def has_presence(lineage: Lineage, place: Place, kept: Place) -> bool:
    """Whether a holder that is kept in the shape of one place needs an entry that says whether it is there at another."""
    return not holds_alike(lineage, place, kept) or null_is_apart(lineage, place, kept)


def only_null(lineage: Lineage, side: Thread, kept: Place) -> bool:
    """Whether nothing but null has to be said of a holder to some places: what is kept says whether it is there."""
    apart = all(null_is_apart(lineage, each, kept) for each in side.places)
    return apart and not lineage.leaves(kept)


def presence_of(lineage: Lineage, thread: Thread, place: Place, kept: Place) -> Thread:
    """The places of a holder that share the entry of one of them, where the holder is kept in the shape of another.

    These have the same properties in it, or share nothing but null.
    """
    apart = tuple(each for each in thread.places if null_is_apart(lineage, each, kept))
    if place in apart and not lineage.leaves(kept):
        return Thread(thread.number, apart)
    alike = tuple(each for each in thread.places if holds_alike(lineage, each, place))
    if holds_alike(lineage, place, kept):
        alike = tuple(each for each in alike if each in apart)
    return Thread(thread.number, alike)


def sides_of(lineage: Lineage, thread: Thread, kept: Place) -> tuple[Thread, ...]:
    """The places of a holder in groups that share an entry each, where the holder is kept in the shape of one place."""
    apart = (each for each in thread.places if has_presence(lineage, each, kept))
    found = {presence_of(lineage, thread, each, kept) for each in apart}
    return tuple(sorted(found, key=lambda each: each.places))


def null_side(lineage: Lineage, thread: Thread, storage: ApiVersion) -> Thread:
    """The places whose null needs an entry of its own where a holder is kept in the bag itself."""
    home = thread.home(storage)
    beside = thread.at(storage) is None
    apart = (each for each in thread.places if beside and null_is_apart(lineage, each, home))
    return Thread(thread.number, tuple(apart))


def presence_entry(place: Place) -> Place:
    """The entry that has whether a holder is there."""
    return Place(place.version, f"{place.property}{PRESENCE}")


def presence_witness(lineage: Lineage, own: Place) -> Witness:
    """What the presence of a holder accompanies: that object, as far as it is followed itself, and whether it is more."""
    stored, shown = (End(lineage, own, Shape(kind, own.version)) for kind in ("storage", "api"))
    value = along(Read(own.property), stored, shown)
    return Witness((own,), (value, Presence(solid(lineage, own))), last_is_new=True)


def entries_within(lineage: Lineage, version: ApiVersion) -> Mapping[Path, tuple[Place, ...]]:
    """The entries of the bag that keep what other versions have in a holder of a stored shape, by its path there.

    What some version has outside of the holder is not among them.
    """
    found: dict[Path, tuple[Place, ...]] = {}
    for holder in lineage.threads:
        kept = holder.at(version)
        if kept is not None and (places := _entries_in(lineage, version, holder)):
            found[lineage.path(kept)] = places
    return dict(sorted(found.items()))


def entries_within_entries(
    lineage: Lineage, version: ApiVersion
) -> Mapping[Place, tuple[Place, ...]]:
    """Like `entries_within` for the holders that a stored shape has no place for, by the entry that has the holder itself."""
    found: dict[Place, tuple[Place, ...]] = {}
    for holder in lineage.threads:
        if holder.at(version) is None and (places := _entries_in(lineage, version, holder)):
            apart = {*places} - {*holder.places} - _left_by_hooks(lineage, holder)
            if apart:
                found[holder.home(version)] = tuple(sorted(apart))
    return dict(sorted(found.items()))


def _left_by_hooks(lineage: Lineage, holder: Thread) -> set[Place]:
    """What hooks give for anything that stays where a client removes a holder.

    That it is absent, only its entry says: it stays, too.
    """
    left = {
        each
        for hook in lineage.hooks
        for each in map(lineage.thread, hook.inputs)
        if each.number not in lineage.converted or _is_outside(lineage, each, holder)
    }
    found: set[Place] = set()
    waiting = [*lineage.hooks]
    while called := [each for each in waiting if left & {*map(lineage.thread, each.inputs)}]:
        waiting = [each for each in waiting if each not in called]
        given = {lineage.thread(each.output) for each in called}
        left |= given  # another hook may read it
        found |= {place for each in given for place in each.places}
    return found


def _entries_in(lineage: Lineage, version: ApiVersion, holder: Thread) -> tuple[Place, ...]:
    """The entries of the bag that keep what is in a holder in all versions that have it."""
    if not any(lineage.leaves(each) for each in holder.places):
        return ()
    places: list[Place] = []
    for thread in lineage.threads:
        if _is_outside(lineage, thread, holder):
            continue
        if any(lineage.leaves(each) for each in thread.places):
            places.extend(map(presence_entry, thread.places))
        if thread.at(version) is None:
            places.extend(thread.places)
    return tuple(places)


def entries_as_free_form(lineage: Lineage, version: ApiVersion) -> Mapping[Path, tuple[Place, ...]]:
    """The entries of the bag that keep a holder of a stored shape as versions have it that know free-form data there, by its path."""
    found: dict[Path, tuple[Place, ...]] = {}
    for holder in lineage.threads:
        kept = holder.at(version)
        if kept is None or not any(lineage.leaves(each) for each in holder.places):
            continue
        others = (
            other
            for link in lineage.links
            for one, other in ((link.older, link.newer), (link.newer, link.older))
            if one in holder.places and isinstance(lineage.type(other), FreeForm)
        )
        places = dict.fromkeys(each for other in others for each in lineage.thread(other).places)
        if places:
            found[lineage.path(kept)] = tuple(places)
    return dict(sorted(found.items()))


def outside(lineage: Lineage, version: ApiVersion) -> Mapping[Path, tuple[Path, ...]]:
    """What is in each holder of a stored shape and outside of it in some version, as paths from the holder, by its path.

    It stays where a client removes the holder. All else in it goes, seen by the client or not.
    """
    found: dict[Path, tuple[Path, ...]] = {}
    for holder in lineage.threads:
        kept = holder.at(version)
        if kept is None or not any(lineage.leaves(each) for each in holder.places):
            continue
        path = lineage.path(kept)
        found[path] = tuple(
            each[len(path) :]
            for name, each in lineage.lifted(version).items()
            if len(each) > len(path)
            and each[: len(path)] == path
            and _is_outside(lineage, lineage.thread(Place(version, name)), holder)
        )
    return dict(sorted(found.items()))


def _is_outside(lineage: Lineage, thread: Thread, holder: Thread) -> bool:
    """Whether some version has the value of a thread outside of a holder, as it is or converted."""
    places = lineage.converted[thread.number]
    return not all(_is_within(lineage, each, holder) for each in places)


def _is_within(lineage: Lineage, place: Place, holder: Thread) -> bool:
    own = holder.at(place.version)
    if own is None:
        return False
    path, outer = lineage.path(place), lineage.path(own)
    return len(path) > len(outer) and path[: len(outer)] == outer
