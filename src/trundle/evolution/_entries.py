"""Entries of the property bag: where threads that a stored shape has no property for are kept."""

from trundle.evolution._holders import presence_entry
from trundle.evolution._own_text import own_text_entry
from trundle.evolution._threads import Place, Thread
from trundle.evolution._values import End, Mismatch, change_value
from trundle.evolution.steps import Entry, PlanKey, Shape


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

    def own_text(self, place: Place) -> tuple[Entry, ...]:
        """The entries that may have what clients of a version wrote at a place."""
        if not self.readable:
            return ()
        return tuple(Entry(each, None) for each in self.lineage.own_texts.get(place, ()))

    def read(self, thread: Thread, end: End) -> tuple[Entry, ...]:
        """The entries that the source may have of a thread, each with what it goes through to some end."""
        if not self.readable:
            return ()
        found = []
        for home in self.homes(thread):
            kept = End(self.lineage, home, Shape("storage", home.version))
            step = change_value(kept, end)
            if not isinstance(step, Mismatch):
                found.append(Entry(home, step))
        return tuple(found)
