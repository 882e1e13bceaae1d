"""Which properties of a type meet between two of its versions, and what changed about each.

Properties meet when they belong to one thread, when a conversion leads from one's thread to the other's,
or, failing both, when they share a name although their types have nothing to do with each other.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from trundle.evolution import Lineage, Place, Thread
from trundle.report._spelling import DefinitionPair, paired_definitions, spell
from trundle.version import ApiVersion

ChangeKind: TypeAlias = Literal[
    "None",
    "New Property",
    "Property Removed",
    "Change of Type",
    "Property Rename",
    "Property Move",
    "Type Rename",
    "Optionality",
]
Bond: TypeAlias = Literal["thread", "conversion", "name"]


class Meeting(msgspec.Struct, frozen=True):
    """A property in two versions of its type.

    Attributes:
        older: where the older version has it, if it does.
        newer: where the newer version has it, if it does.
        bond: what the two sides meet by; None where there is only one.
    """

    older: Place | None
    newer: Place | None
    bond: Bond | None = None

    @property
    def name(self) -> str:
        """The property's name; both names where they differ: `alphaKey -> sortKey`."""
        names = [place.property for place in (self.older, self.newer) if place is not None]
        return " -> ".join(dict.fromkeys(names))


def meetings(lineage: Lineage, older: ApiVersion, newer: ApiVersion) -> tuple[Meeting, ...]:
    """All properties of a type in two versions, in alphabetical order without regard to letter case."""
    ours = {each.property: each for each in _places(lineage, older)}
    theirs = {each.property: each for each in _places(lineage, newer)}
    found = [
        *_by_thread(lineage, ours, theirs),
        *_by_conversion(lineage, ours, theirs),
        *_by_name(lineage, ours, theirs),
        *(Meeting(place, None) for place in ours.values()),
        *(Meeting(None, place) for place in theirs.values()),
    ]
    shown = (each for each in found if not _on_the_way(lineage, each))
    return tuple(sorted(shown, key=lambda each: (each.name.casefold(), each.name)))


def _places(lineage: Lineage, version: ApiVersion) -> Iterator[Place]:
    """The properties of a type, and those of nested objects that its rules name by their paths."""
    for name in (*lineage.names(version), *lineage.lifted(version)):
        yield Place(version, name)


def _on_the_way(lineage: Lineage, meeting: Meeting) -> bool:
    """Whether a lifted object is there for what is in it alone: it does not move itself."""
    places = [each for each in (meeting.older, meeting.newer) if each is not None]
    moved = len({each.property for each in places}) > 1
    return not moved and any(
        each.property in lineage.lifted(each.version) and lineage.leaves(each) for each in places
    )


_Side: TypeAlias = dict[str, Place]


def _meet(ours: _Side, theirs: _Side, older: Place, newer: Place, bond: Bond) -> Meeting:
    del ours[older.property], theirs[newer.property]
    return Meeting(older, newer, bond)


def _by_thread(lineage: Lineage, ours: _Side, theirs: _Side) -> Iterator[Meeting]:
    by_thread = {lineage.thread(place).number: place for place in theirs.values()}
    for older in tuple(ours.values()):
        newer = by_thread.get(lineage.thread(older).number)
        if newer is not None:
            yield _meet(ours, theirs, older, newer, "thread")


def _by_conversion(lineage: Lineage, ours: _Side, theirs: _Side) -> Iterator[Meeting]:
    if not ours or not theirs:
        return
    joined = _joined_threads(lineage)
    for older in tuple(ours.values()):
        near = _reachable(lineage.thread(older), joined)
        candidates = [
            (near[number], place.property != older.property, place.property, place)
            for place in theirs.values()
            if (number := lineage.thread(place).number) in near
        ]
        if candidates:
            yield _meet(ours, theirs, older, min(candidates)[-1], "conversion")


def _joined_threads(lineage: Lineage) -> Mapping[int, tuple[int, ...]]:
    joined: dict[int, set[int]] = {}
    for link in lineage.links:
        if link.conversion is not None:
            one, other = lineage.thread(link.older).number, lineage.thread(link.newer).number
            joined.setdefault(one, set()).add(other)
            joined.setdefault(other, set()).add(one)
    return {number: tuple(sorted(others)) for number, others in joined.items()}


def _reachable(thread: Thread, joined: Mapping[int, tuple[int, ...]]) -> Mapping[int, int]:
    """Threads that conversions lead to, with the number of conversions on the way."""
    steps = {thread.number: 0}
    waiting = [thread.number]
    for number in waiting:
        for other in joined.get(number, ()):
            if other not in steps:
                steps[other] = steps[number] + 1
                waiting.append(other)
    return steps


def _by_name(lineage: Lineage, ours: _Side, theirs: _Side) -> Iterator[Meeting]:
    """Namesakes; two of the same type that are kept apart on purpose are different properties."""
    for name, older in tuple(ours.items()):
        newer = theirs.get(name)
        if newer is None:
            continue
        if _kept_apart(lineage, older) and spelled(lineage, older) == spelled(lineage, newer):
            continue
        yield _meet(ours, theirs, older, newer, "name")


def _kept_apart(lineage: Lineage, older: Place) -> bool:
    type_name = lineage.definition(older.version).name
    changes = lineage.evolution.changes(older.version, type_name)
    return changes is not None and older.property in changes.keep


def spelled(lineage: Lineage, place: Place) -> str:
    """The type at a place in words, without its optionality."""
    return spell(lineage.type(place), lineage.evolution.schema(place.version))


def change_of(lineage: Lineage, meeting: Meeting) -> ChangeKind:
    """What changed about a property."""
    older, newer = meeting.older, meeting.newer
    if older is None:
        return "New Property"
    if newer is None:
        return "Property Removed"
    if older.property != newer.property:
        moved = len(lineage.path(older)) > 1 or len(lineage.path(newer)) > 1
        return "Property Move" if moved else "Property Rename"
    if meeting.bond == "name" or spelled(lineage, older) != spelled(lineage, newer):
        renamed = meeting.bond == "thread" and definition_pairs(lineage, older, newer)
        return "Type Rename" if renamed else "Change of Type"
    equally_required = lineage.property(older).required == lineage.property(newer).required
    return "None" if equally_required else "Optionality"


def definition_pairs(lineage: Lineage, older: Place, newer: Place) -> tuple[DefinitionPair, ...]:
    """The definitions of different names that are at the same place of a property's two types."""
    schemas = lineage.evolution.schema(older.version), lineage.evolution.schema(newer.version)
    pairs = paired_definitions(lineage.type(older), lineage.type(newer), schemas)
    return tuple(pair for pair in pairs or () if pair[0].name != pair[1].name)
