"""Entries of the property bag: where threads that a stored shape has no property for are kept."""

from trundle.evolution._holders import presence_entry
from trundle.evolution._own_text import own_text_entry
from trundle.evolution._threads import Place, Thread
from trundle.evolution._traversal import changes_within
from trundle.evolution._values import End, Mismatch, change_value
from trundle.evolution.steps import (
    CallConverter,
    CallScalar,
    Fit,
    MapText,
    NotNull,
    Optional,
    PlanKey,
    PlannedEntry,
    Shape,
    ToEnum,
    ValueStep,
)

_SCALAR_STEPS = (CallConverter, CallScalar, Fit, MapText, NotNull, Optional, ToEnum)


class Entries:
    """The entries of the stored side of a plan: of its source, if that is stored, else of its target."""

    def __init__(self, key: PlanKey) -> None:
        self.lineage = key.lineage
        self.readable = key.source.kind == "storage"
        """Whether the source has entries; an API object has no bag."""
        self.storage = key.source.version if self.readable else key.target.version

    def homes(self, thread: Thread) -> tuple[Place, ...]:
        """Where a thread may be stashed, in this storage version first, then in those before it.

        An earlier release may have kept what clients wrote beside a value that its versions shared.
        """
        versions = self.lineage.versions
        said = self.lineage.evolution.said_stored
        hubs = [self.storage, versions.hub, *reversed(versions.storage), *said]
        homes = (thread.home(hub) for hub in hubs if thread.at(hub) is None)
        apart = self.lineage.respelled
        shared = (own_text_entry(place) for place in thread.places if place in apart)
        return tuple(dict.fromkeys((*homes, *shared)))

    def presences(self, side: Thread) -> tuple[Place, ...]:
        """Where it may be stashed whether a holder is there."""
        return tuple(presence_entry(each) for each in self.homes(side))

    def own_text(self, place: Place) -> tuple[PlannedEntry, ...]:
        """The entries that may have what clients of a version wrote at a place."""
        if not self.readable:
            return ()
        return tuple(PlannedEntry(each, None) for each in self.lineage.own_texts.get(place, ()))

    def read(self, thread: Thread, end: End) -> tuple[PlannedEntry, ...]:
        """The entries that the source may have of a thread, each with what it goes through to some end."""
        if not self.readable:
            return ()
        found = []
        for home in self.homes(thread):
            kept = End(self.lineage, home, Shape("storage", home.version))
            step = change_value(kept, end)
            if not isinstance(step, Mismatch):
                found.append(PlannedEntry(home, step))
        return tuple(found)

    def aliases(self, thread: Thread, home: Place) -> tuple[PlannedEntry, ...]:
        """The other places of a thread's entry, each with what its value goes through to be merged at home.

        A scalar is replaced and never merged, so that it stays as it is.
        """
        kept = End(self.lineage, home, Shape("storage", home.version))
        found = []
        for place in self.homes(thread):
            if place == home:
                continue
            step = change_value(End(self.lineage, place, Shape("storage", place.version)), kept)
            if step is None or isinstance(step, Mismatch) or _is_scalar(step):
                found.append(PlannedEntry(place, None))
            else:
                found.append(PlannedEntry(place, step))
        return tuple(found)


def _is_scalar(step: ValueStep) -> bool:
    return all(isinstance(each, _SCALAR_STEPS) for each in changes_within(step))
