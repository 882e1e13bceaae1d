"""Texts that are durations and became numbers of seconds, with the unit in their name."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trundle.evolution import Lineage
from trundle.report._matched_properties import Meeting
from trundle.report._similarity import words
from trundle.schema import Nullable, Property, Scalar, Type

_DURATIONS = frozenset(
    {"timeout", "duration", "period", "interval", "delay", "ttl", "after", "time"}
)
_UNITS = ("Seconds", "InSeconds")


class Timed(NamedTuple):
    """A duration that became a number of seconds beside its place.

    Attributes:
        older: the property that is a duration.
        newer: the property that is a number of seconds.
        conversion: the named conversion between them.
    """

    older: str
    newer: str
    conversion: str


def timed(lineage: Lineage, met: tuple[Meeting, ...]) -> Iterator[Timed]:
    """Durations that one side lost, where the other gained one of the same name with its unit."""
    came = {
        each.newer.property: lineage.property(each.newer)
        for each in met
        if each.older is None and each.newer is not None
    }
    for each in met:
        if each.newer is not None or each.older is None:
            continue
        older = lineage.property(each.older)
        for newer in (came.get(older.name + unit) for unit in _UNITS):
            conversion = to_seconds(older, newer) if newer is not None else ""
            if newer is not None and conversion:
                yield Timed(older.name, newer.name, conversion)


def to_seconds(older: Property, newer: Property) -> str:
    """The named conversion of a text that is a duration into a number of seconds; empty where it is none."""
    ours, theirs = _scalar(older.type), _scalar(newer.type)
    if ours is None or theirs is None:
        return ""
    if ours.kind != "string" or theirs.kind not in ("integer", "number"):
        return ""
    if "seconds" not in words(newer.name) or not _DURATIONS & {*words(older.name)}:
        return ""
    return "duration-to-seconds" if ours.format == "duration" else "go-duration-to-seconds"


def without_seconds(name: str, olders: AbstractSet[str]) -> str:
    """The older name of a duration that became seconds; else the name itself."""
    bare = name.removesuffix("Seconds")
    return bare if bare in olders and _DURATIONS & {*words(bare)} else name


def _scalar(type_: Type) -> Scalar | None:
    bare = type_.inner if isinstance(type_, Nullable) else type_
    return bare if isinstance(bare, Scalar) else None
