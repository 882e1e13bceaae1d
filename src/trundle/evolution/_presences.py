"""Whether nested objects are there: the entries in which a stored object says it to versions that have other things in them.

A version that makes or removes an object does so for all versions that have it, whatever they have in it. So what a plan
stashes is said to each group of versions that share an entry, not only to that of the source.
"""

from collections.abc import Iterator

import msgspec

from trundle.evolution._entries import Entries
from trundle.evolution._holders import (
    has_presence,
    holders,
    null_side,
    only_null,
    presence_entry,
    presence_of,
    presence_witness,
    sides_of,
    solid,
)
from trundle.evolution._thread_values import ThreadValues
from trundle.evolution._threads import Place, Thread
from trundle.evolution.steps import (
    CarriedEntries,
    Change,
    Expression,
    First,
    NotNull,
    PlanKey,
    PlannedEntry,
    Presence,
    Read,
    Shape,
    Stash,
    Watched,
    Witness,
)


class Presences:
    """What a plan says of nested objects into which rules lead.

    Args:
        key: the plan, which leads to storage.
    """

    def __init__(self, key: PlanKey) -> None:
        self.key = key
        self.lineage = key.lineage
        self.source = key.source
        self.target = key.target
        self.entries = Entries(key)
        self.values = ThreadValues(key)

    def stashes(self) -> Iterator[Stash]:
        """Whether the source has nested objects, and null in place of those that the bag keeps."""
        for thread, own, kept in holders(self.key):
            side = None
            if has_presence(self.lineage, own, kept):
                side = presence_of(self.lineage, thread, own, kept)
                null = only_null(self.lineage, side, kept)
                yield self._in_put(side, kept, self._presence(thread, own, side, null=null))
            for each in sides_of(self.lineage, thread, kept):
                if each.at(own.version) is not None:
                    continue
                if self.source.kind == "storage":
                    yield self._stash(each, kept, self._passed_on(thread, own, each, kept))
                elif side is not None and self.lineage.leaves(kept):
                    yield self._in_put(each, kept, Presence(self._shown_to(each, own)))
        yield from self._nulls()

    def _stash(self, side: Thread, kept: Place, said: Expression) -> Stash:
        """The entry that says to some places whether the object is there that is kept at another."""
        entry = self._entry(side)
        witness = presence_witness(self.lineage, kept)
        return Stash(entry, said, witness, self._derived(side, kept), self._others(side, entry))

    def _in_put(self, side: Thread, kept: Place, said: Expression) -> Stash:
        """Like `_stash`; a put keeps what the entry says where its writer leaves the object as it was."""
        stash = self._stash(side, kept, said)
        if self.source.kind == "storage" or not self.lineage.leaves(kept):
            return stash
        own = side.at(self.source.version) is not None
        return msgspec.structs.replace(stash, holder=kept, own=own)

    def _entry(self, side: Thread) -> Place:
        return presence_entry(side.home(self.target.version))

    def _derived(self, side: Thread, kept: Place) -> Presence:
        """Whether a stored object is there to some places without an entry."""
        return Presence(self._shown_to(side, kept), only_null(self.lineage, side, kept))

    def watched(self) -> Iterator[Watched]:
        """Whether nested objects are there to places of which the source of a put says nothing.

        The stored object has in them what these places have elsewhere. So an edit may take from such a place an object that is
        as it was to the edit's own version.
        """
        if self.source.kind == "storage":
            return
        stored = self.target.version
        for thread in self.lineage.threads:
            own, kept = thread.at(self.source.version), thread.at(stored)
            if kept is None:
                continue
            if own is not None and has_presence(self.lineage, own, kept):
                continue  # the source says it to all
            for side in sides_of(self.lineage, thread, kept):
                entry = self._entry(side)
                yield Watched(
                    entry,
                    kept,
                    presence_witness(self.lineage, kept),
                    self._derived(side, kept),
                    self._others(side, entry),
                )

    def _others(self, side: Thread, entry: Place) -> tuple[PlannedEntry, ...]:
        places = self.entries.presences(side)
        return tuple(PlannedEntry(each, None) for each in places if each != entry)

    def _passed_on(self, thread: Thread, own: Place, side: Thread, kept: Place) -> Expression:
        """What a stored source says of an object to other places: what its entry has, else what it shows them."""
        null = only_null(self.lineage, side, kept)
        shown = Presence(Read(own.property) if null else self._shown_to(side, own), null)
        known = [each for each in side.places if has_presence(self.lineage, each, own)]
        return First((self.values.said(thread, known[-1], own), shown)) if known else shown

    def _shown_to(self, side: Thread, held: Place) -> Expression:
        """What a nested object is to the places that share an entry: null is nothing where none of them admits it."""
        value = solid(self.lineage, held)
        admits = any(map(self.lineage.admits_null, side.places))
        return value if admits or not self.lineage.nullable(held) else Change(value, NotNull(None))

    def _presence(self, thread: Thread, own: Place, side: Thread, *, null: bool) -> Presence:
        """What the places that share an entry say of a nested object that the source has at one of them.

        A stored source may have it in an entry, too: for those places that have other things in the object, or null.
        """
        others = [each for each in side.places if has_presence(self.lineage, each, own)]
        if self.source.kind == "storage" and others:
            return Presence(self.values.said_beside(thread, own, others[-1]), null)
        return Presence(Read(own.property) if null else solid(self.lineage, own), null)

    def _nulls(self) -> Iterator[Stash]:
        """The nulls of the source in place of nested objects that the bag keeps in a shape without null."""
        storage = self.target
        stored = ThreadValues(PlanKey(self.lineage, storage, storage))
        for thread in self.lineage.threads:
            side = null_side(self.lineage, thread, storage.version)
            own = thread.home(self.source.version)
            if not self._says_null(thread, side):
                continue
            read: Expression | None = Read(own.property)
            if thread.at(self.source.version) is None:
                read = self.values.value(thread, own, Shape("storage", own.version))
            if read is None:
                continue
            entry = self._entry(side)
            yield Stash(
                entry,
                Presence(read, only_null=True),
                stored.null_witness(thread),
                None,
                self._others(side, entry),
            )

    def _says_null(self, thread: Thread, side: Thread) -> bool:
        """Whether the source has a null that needs an entry, or the object that such a null is in place of."""
        if thread.home(self.source.version) in side.places:
            return True
        has_object = thread.at(self.source.version) is not None
        return bool(side.places) and has_object and self.source.kind == "api"

    def consumed(self) -> Iterator[Place]:
        """The entries of a stored source that its plan takes up."""
        for thread, own, _ in holders(self.key):
            for side in sides_of(self.lineage, thread, own):
                yield from self.entries.presences(side)
        for thread in self.lineage.threads:
            side = null_side(self.lineage, thread, self.source.version)
            if side.at(self.target.version) is not None:
                yield from self.entries.presences(side)

    def carried(self) -> Iterator[CarriedEntries]:
        """What the nulls that travel on accompany."""
        ends = (self.source, self.target)
        for thread in self.lineage.threads:
            sides = {null_side(self.lineage, thread, each.version) for each in ends}
            for side in sorted(sides, key=lambda each: each.places):
                if not side.places or any(side.at(each.version) is not None for each in ends):
                    continue
                before, after = (self._null_witness(thread, each) for each in ends)
                yield CarriedEntries(self.entries.presences(side), before, after)

    def _null_witness(self, thread: Thread, stored: Shape) -> Witness:
        """What an entry with the null of an object accompanies in a stored shape."""
        own = thread.at(stored.version)
        if own is not None:
            return presence_witness(self.lineage, own)
        return ThreadValues(PlanKey(self.lineage, stored, stored)).null_witness(thread)
