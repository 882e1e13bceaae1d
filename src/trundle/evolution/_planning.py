"""Plans: neighbour links fused into one conversion from any shape of a lineage to any other.

A plan assigns the value of each thread that the target has a property for (`_thread_values.py`), and stashes those that
it has none for. The way down uses the same threads and derivations as the way up, so neither is ever searched anew.
"""

from collections.abc import Iterator
from typing import Any

from trundle.evolution._agreeing import agreeing
from trundle.evolution._defaults import default_of
from trundle.evolution._entries import Entries
from trundle.evolution._lineage import Lineage
from trundle.evolution._presences import Presences
from trundle.evolution._thread_values import ThreadValues
from trundle.evolution._threads import ByConversion, Place, Thread
from trundle.evolution.conversions import exact, loosens
from trundle.evolution.steps import (
    Assign,
    CarriedEntries,
    Plan,
    PlanKey,
    PlannedEntry,
    Read,
    Shape,
    Stash,
    Step,
)
from trundle.schema import ABSENT


def plan(key: PlanKey) -> Plan:
    """The plan that converts objects of one shape of a lineage to another; made once."""
    return key.lineage.evolution.once(make_plan, key)


def make_plan(key: PlanKey) -> Plan:
    """The plan that converts objects of one shape of a lineage to another."""
    return _Planning(key).plan()


class _Planning:
    def __init__(self, key: PlanKey) -> None:
        self.key = key
        self.lineage = key.lineage
        self.source = key.source
        self.target = key.target
        self.values = ThreadValues(key)
        self.entries = Entries(key)
        self.presences = Presences(key)

    def plan(self) -> Plan:
        steps = list(self._assignments())
        if self.target.kind == "storage":
            stashes = sorted(self._stashes(), key=lambda each: _order(each.entry))
            steps.extend(stashes)
        return Plan(
            self.key,
            tuple(steps),
            self._consumed(),
            tuple(self._carried()),
            tuple(self.presences.watched()) if self.target.kind == "storage" else (),
        )

    def _assignments(self) -> Iterator[Step]:
        version = self.target.version
        definition = self.lineage.definition(version)
        for name in self.lineage.followed(version):
            place = Place(version, name)
            value = self.values.value(self.lineage.thread(place), place, self.target)
            default: Any = ABSENT
            if self.target.kind == "api":
                changes = self.lineage.evolution.changes(version, definition.name)
                default = default_of(self.lineage, place, changes)
            yield Assign(name, value, default)

    def _stashes(self) -> Iterator[Stash]:
        storage = self.target
        for thread in self.lineage.threads:
            if thread.at(storage.version) is not None:
                continue
            home = thread.home(storage.version)
            shape = Shape("storage", home.version)
            if self._travels_on(thread, home, shape):
                continue
            value = self.values.value(thread, home, shape)
            if value is None:
                continue
            stored = ThreadValues(PlanKey(self.lineage, storage, storage))
            derived = stored.derived(thread, home, shape, frozenset({thread.number}))
            elsewhere = thread.at(self.source.version) is None
            if elsewhere and derived is not None and not self._on_the_way(thread):
                continue
            if derived is not None and self._exact_towards(thread, storage):
                continue
            yield Stash(
                home,
                value,
                stored.witness(thread),
                derived and agreeing(derived, self.lineage, thread),
                self.entries.aliases(thread, home),
                self._spoken(thread) if self._rolls_to_hub() else (),
            )
        if self.source.kind == "api":
            yield from self._own_texts()
        yield from self.presences.stashes()

    def _own_texts(self) -> Iterator[Stash]:
        """What clients wrote in another letter case than that of their version's enum."""
        version, storage = self.source.version, self.target
        stored = ThreadValues(PlanKey(self.lineage, storage, storage))
        for name in self.lineage.followed(version):
            place = Place(version, name)
            entries = self.lineage.own_texts.get(place)
            if entries is None:
                continue
            thread = self.lineage.thread(place)
            shown = stored.beside_own_text(thread, place, self.source)
            witness = stored.own_text_witness(thread)
            aliases = tuple(PlannedEntry(each, None) for each in entries[1:])
            yield Stash(entries[0], Read(name), witness, shown, aliases)

    def _travels_on(self, thread: Thread, home: Place, shape: Shape) -> bool:
        """Whether all that a stored source has of a thread is in its bag, and goes on from there."""
        if self.source.kind == "api" or thread.at(self.source.version) is not None:
            return False
        seen = frozenset({thread.number})
        if self.values.derived(thread, home, shape, seen) is None:
            return thread.home(self.source.version) == home
        if self._on_the_way(thread):
            return False
        stored = ThreadValues(PlanKey(self.lineage, self.target, self.target))
        return stored.derived(thread, home, shape, seen) is not None  # else it is before a gap

    def _rolls_to_hub(self) -> bool:
        """Whether what another storage version has becomes what the hub has."""
        return self.source.kind == "storage" and self.source.version != self.lineage.versions.hub

    def _spoken(self, thread: Thread) -> tuple[str, ...]:
        """The properties of a stored source that are also written by the hooks which derive a thread."""
        hooks = {each.how for each in self.lineage.derivations.get(thread.number, ())}
        places = (
            self.lineage.thread(each.output).at(self.source.version)
            for each in self.lineage.hooks
            if each.how in hooks
        )
        return tuple(sorted({place.property for place in places if place is not None}))

    def _on_the_way(self, thread: Thread) -> bool:
        """Whether a thread without a place in the source lies between source and storage."""
        low, high = sorted((self.source.version, self.target.version))
        return any(low < place.version < high for place in thread.places)

    def _exact_towards(self, thread: Thread, storage: Shape) -> bool:
        """Whether a thread's value derives exactly from the storage shape, so that no entry is needed."""
        for each in self.lineage.derivations.get(thread.number, ()):
            if not isinstance(each.how, ByConversion):
                return False  # a hook or a move has a part in it
            other = self.lineage.thread(each.inputs[0])
            if other.at(storage.version) is None:
                continue
            shared = self.lineage.derivations.get(other.number, ())
            if not all(isinstance(one.how, ByConversion) for one in shared):
                return False  # what the other side has is not this thread's alone
            if loosens(each.how.conversion) and self.lineage.holds_objects(each.output):
                return False  # free-form data has no bags, and keeps what objects of the type cannot have
            return exact(each.how.conversion, up=not each.how.up)
        return False

    def _consumed(self) -> tuple[Place, ...]:
        if self.source.kind != "storage" or self.target.kind != "storage":
            return ()
        taken = (
            place
            for thread in self.lineage.threads
            if thread.at(self.target.version) is not None and thread.at(self.source.version) is None
            for place in self.entries.homes(thread)
        )
        return (*taken, *self.presences.consumed())

    def _carried(self) -> Iterator[CarriedEntries]:
        """What the entries that travel on accompany, where anything does or did make them stale."""
        if self.source.kind != "storage" or self.target.kind != "storage":
            return
        rolled = ThreadValues(PlanKey(self.lineage, self.target, self.target))
        for thread in self.lineage.threads:
            for entries in _own_text_groups(self.lineage, thread):
                yield CarriedEntries(
                    entries, self.values.own_text_witness(thread), rolled.own_text_witness(thread)
                )
            if any(thread.at(each.version) is not None for each in (self.source, self.target)):
                continue
            before, after = self.values.witness(thread), rolled.witness(thread)
            if before is not None or after is not None:
                yield CarriedEntries(self.entries.homes(thread), before, after)
        yield from self.presences.carried()


def _order(entry: Place) -> tuple[str, str]:
    return entry.property, entry.version.text


def _own_text_groups(lineage: Lineage, thread: Thread) -> Iterator[tuple[Place, ...]]:
    """The entries of a thread that have texts as clients wrote them, those together that may have the same."""
    found = (lineage.own_texts.get(place, ()) for place in thread.places)
    return iter(dict.fromkeys(each for each in found if each))
