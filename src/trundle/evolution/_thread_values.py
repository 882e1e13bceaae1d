"""The values of threads: what one shape of an object has of each.

Where a thread has a property in the source it is read there, and changed straight into the wanted shape. Else it comes
from the bag, while nothing has made the entry stale; else from other threads, by the derivations of the neighbours in
between.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, TypeVarTuple

import msgspec

from trundle.evolution._by_conversion import converted, input_of, read_straight
from trundle.evolution._by_hook import hook_output
from trundle.evolution._entries import Entries
from trundle.evolution._holders import (
    holds_alike,
    leaves_of,
    null_is_apart,
    null_side,
    presence_of,
    presence_witness,
    solid,
)
from trundle.evolution._lineage import Lineage
from trundle.evolution._stale import with_lost, with_own_texts
from trundle.evolution._threads import ByConversion, ByHook, Derivation, Place, Thread
from trundle.evolution._values import End
from trundle.evolution._ways import along
from trundle.evolution.steps import (
    Expression,
    First,
    Hidden,
    HookCall,
    HookOutput,
    PlanKey,
    PlannedEntry,
    Read,
    Said,
    Shape,
    Solid,
    Unstash,
    Witness,
)
from trundle.version import ApiVersion

_Made = TypeVar("_Made")
_Wanted = TypeVarTuple("_Wanted")


class ThreadValues:
    """The values that the source of a plan has of the threads of its lineage.

    Args:
        key: the plan.
        asking: the threads whose entries are being asked what they accompany.
    """

    def __init__(self, key: PlanKey, asking: frozenset[int] = frozenset()) -> None:
        self.lineage = key.lineage
        self.source = key.source
        self.target = key.target
        self.entries = Entries(key)
        self.asking = asking
        evolution = key.lineage.evolution
        self._made = evolution.once(_nothing_made, key)
        self._reached = evolution.once(_nothing_reached, key.lineage, key.source)

    def value(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int] = frozenset()
    ) -> Expression | None:
        """A thread's value at one of its places in some shape; None where the source has none."""
        return self._once(self._value, thread, seen, place, shape)

    def _once(
        self,
        make: Callable[[Thread, frozenset[int], *_Wanted], _Made],
        thread: Thread,
        seen: frozenset[int],
        *wanted: *_Wanted,
    ) -> _Made:
        """What a method makes of a thread, made the first time only: a value that several others derive from is one record.

        Of the threads that were seen or are being asked, those matter alone to which the thread leads.
        """
        reached = self._reach(thread)
        key = (make.__name__, thread.number, seen & reached, self.asking & reached, wanted)
        if key not in self._made:
            self._made[key] = make(thread, seen, *wanted)
        made: _Made = self._made[key]
        return made

    def _reach(self, thread: Thread) -> frozenset[int]:
        """The threads that a thread's value or what its entry accompanies may come from, itself included."""
        found = self._reached.get(thread.number)
        if found is None:
            waiting, seen = [thread], {thread.number}
            while waiting:
                each = waiting.pop()
                followed = filter(self._from_source, self.lineage.derivations.get(each.number, ()))
                places = {place for one in followed for place in one.inputs}
                for place in (*places, *self._beside(each)):
                    other = self.lineage.thread(place)
                    if other.number not in seen:
                        seen.add(other.number)
                        waiting.append(other)
            found = self._reached[thread.number] = frozenset(seen)
        return found

    def _value(
        self, thread: Thread, seen: frozenset[int], place: Place, shape: Shape
    ) -> Expression | None:
        found = self.beside_own_text(thread, place, shape, seen)
        entries = self.entries.own_text(place) if shape.kind == "api" else ()
        if found is None or not entries:
            return found
        return _first([Unstash(entries, self.own_text_witness(thread)), found])

    def beside_own_text(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int] = frozenset()
    ) -> Expression | None:
        """A thread's value like `value`, where no current entry has it as clients of the version wrote it."""
        found = self._shared(thread, place, shape, seen)
        entries = self.entries.own_text(place) if shape.kind == "api" else ()
        if found is None or not entries:
            return found
        home = thread.home(self.source.version)
        kept = End(self.lineage, home, Shape("storage", home.version))
        return with_own_texts(found, entries, kept, End(self.lineage, place, shape))

    def _shared(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int]
    ) -> Expression | None:
        """A thread's value as all versions share it."""
        goal = End(self.lineage, place, shape)
        own = thread.at(self.source.version)
        if own is not None:
            return self._own(thread, own, goal)
        options: list[Expression] = []
        if self.source.kind == "storage":
            options.append(self._unstash(thread, goal))
        derived = self.derived(thread, place, shape, seen | {thread.number})
        if derived is not None:
            options.append(derived)
        found = _first(options)
        side = null_side(self.lineage, thread, self.source.version)
        if self.source.kind == "api" or found is None or place not in side.places:
            return found
        entries = tuple(PlannedEntry(each, None) for each in self.entries.presences(side))
        return Said(Unstash(entries, self.null_witness(thread)), found, place, shape)

    def derived(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int]
    ) -> Expression | None:
        """A thread's value as other threads give it; None where none of them has a value."""
        goal = End(self.lineage, place, shape)
        followed = [
            each
            for each in self.lineage.derivations.get(thread.number, ())
            if self._from_source(each)
        ]
        options: list[Expression] = []
        for each in followed:
            found = (
                self._by_hook(each, each.how, goal, seen)
                if isinstance(each.how, ByHook)
                else self._by_conversion(each, each.how, goal, seen)
            )
            if found is not None:
                options.append(found)
        chosen = _first(options)
        return chosen and with_lost(chosen, thread, goal, followed, self.entries)

    def witness(self, thread: Thread) -> Witness | None:
        """What an entry of a thread accompanies: the inputs of its derivations, and its namesakes."""
        storage = Shape("storage", self.source.version)
        asking = self.asking | {thread.number}
        stored = ThreadValues(PlanKey(self.lineage, storage, storage), asking)
        return stored._once(stored._witness, thread, frozenset({thread.number}))

    def _witness(self, thread: Thread, seen: frozenset[int]) -> Witness | None:
        met = tuple(
            place for place in self._beside(thread) if self.lineage.thread(place) is not thread
        )
        values = tuple(self._accompanied(thread, place, seen) for place in met)
        return None if all(value is None for value in values) else Witness(met, values)

    def null_witness(self, thread: Thread) -> Witness:
        """What an entry with the null of an object accompanies in this stored shape, whose bag has the object."""
        storage = Shape("storage", self.source.version)
        home = thread.home(storage.version)
        stored = ThreadValues(PlanKey(self.lineage, storage, storage), self.asking)
        return Witness((home,), (stored.value(thread, home, Shape("api", home.version)),))

    def own_text_witness(self, thread: Thread) -> Witness:
        """What the text that a client wrote accompanies in this stored shape: the value that versions share."""
        storage = Shape("storage", self.source.version)
        place = thread.home(storage.version)
        goal = End(self.lineage, place, Shape("storage", place.version))
        own = thread.at(storage.version)
        kept: Expression = Read(place.property) if own is not None else self._unstash(thread, goal)
        return Witness((place,), (kept,))

    def hidden(self, place: Place) -> Hidden | None:
        """What a stored object has of a hook's input that the source cannot see."""
        value = self.value(self.lineage.thread(place), place, Shape("api", place.version))
        return None if value is None else Hidden(value)

    def _own(self, thread: Thread, own: Place, goal: End) -> Expression:
        """What the source has of a thread; a nested object may be there for what another side has elsewhere."""
        read = Read(own.property)
        value = along(read, End(self.lineage, own, self.source), goal)
        leaves = leaves_of(self.lineage, own)
        alike = not leaves or holds_alike(self.lineage, own, goal.place)
        if leaves and (not alike or goal.place.version != self.target.version):
            value = Solid(read, value, own, leaves)
        apart = null_is_apart(self.lineage, goal.place, own)
        if self.source.kind == "api" or (alike and not apart):
            return value
        return Said(self.said(thread, goal.place, own), value, goal.place, goal.shape)

    def said(self, thread: Thread, place: Place, own: Place) -> Unstash:
        """The entry that says of a place whether the nested object is there that a stored source has in its own."""
        side = presence_of(self.lineage, thread, place, own)
        entries = tuple(PlannedEntry(each, None) for each in self.entries.presences(side))
        return Unstash(entries, presence_witness(self.lineage, own))

    def said_beside(self, thread: Thread, own: Place, place: Place) -> Expression:
        """What a stored source has in a nested object, there or not as an entry says of another place."""
        return Said(self.said(thread, place, own), solid(self.lineage, own), own, self.source)

    def _unstash(self, thread: Thread, goal: End) -> Unstash:
        witness = None if thread.number in self.asking else self.witness(thread)
        return Unstash(self.entries.read(thread, goal), witness)

    def _accompanied(self, thread: Thread, place: Place, seen: frozenset[int]) -> Expression | None:
        return self._once(self._accompanied_once, thread, seen, place)

    def _accompanied_once(
        self, thread: Thread, seen: frozenset[int], place: Place
    ) -> Expression | None:
        """What the source has at a place that an entry of a thread accompanies.

        Where it has nothing there, that is what it has at the next place on the way to it: what the value of one
        version made stale stays so where a further version writes another value over that.
        """
        if self.lineage.is_metadata(place):
            return self._said_of_metadata(thread, place, seen)
        other = self.lineage.thread(place)
        options = [self.value(other, place, Shape("api", place.version), seen)]
        if place == self._only_beside(thread) and other.at(self.source.version) is None:
            further = self._only_beside(other)
            if further is not None and self.lineage.thread(further).number not in seen:
                options.append(self._accompanied(other, further, seen | {other.number}))
        return _first([each for each in options if each is not None])

    def _only_beside(self, thread: Thread) -> Place | None:
        """The place that an entry of a thread accompanies, if that is one, and no hook has a part in it."""
        derivations = self.lineage.derivations.get(thread.number, ())
        if any(isinstance(each.how, ByHook) for each in derivations):
            return None
        beside = tuple(self._beside(thread))
        return beside[0] if len(beside) == 1 else None

    def _beside(self, thread: Thread) -> dict[Place, None]:
        """The places that an entry of a thread in this stored shape may accompany, in order."""
        places: list[Place] = []
        for each in self.lineage.derivations.get(thread.number, ()):
            if self._from_source(each):
                places.extend(each.inputs)
        if not places:
            towards = [
                place
                for place in self.lineage.namesakes.get(thread.number, ())
                if self._nearer(place, thread)
            ]
            places.extend(towards[:1])
        storage = self.source.version
        home = thread.home(storage)
        beside = Place(storage, home.property)
        if not places and beside.property in self.lineage.followed(storage):
            known = self.lineage.converted[self.lineage.thread(beside).number]
            if all(
                each.version != home.version for each in known
            ):  # Else a rule says what became of it.
                places.append(beside)  # a release that knew fewer versions took it for the namesake
        return dict.fromkeys(places)

    def _said_of_metadata(
        self, thread: Thread, place: Place, seen: frozenset[int]
    ) -> HookOutput | None:
        """What a hook makes of metadata and all else that it reads.

        An entry accompanies this in place of the metadata, in which servers count and note with every write.
        """
        for each in self.lineage.derivations[thread.number]:
            if place in each.inputs and isinstance(each.how, ByHook):
                call = self._call(each, each.how, seen)
                return None if call is None else HookOutput(call, each.output, None)
        return None

    def _nearer(self, place: Place, thread: Thread) -> bool:
        """Whether a place is this storage's own, or on the way to it from where a thread is kept."""
        storage = self.source.version
        home = thread.home(storage).version
        return place.version == storage or _toward(home, place.version, storage)

    def _from_source(self, each: Derivation) -> bool:
        """Whether a derivation leads away from the source, so that it never goes in a circle.

        Over a gap, the side after it derives from the side before it, whose shape is the one in the bag. What
        the source itself has may derive anything, but for metadata, which every source has.
        """
        first, goal = each.inputs[0], self.source.version
        output, other = each.output.version, first.version
        if not self.lineage.is_metadata(first) and self.lineage.thread(first).at(goal) is not None:
            return True
        over_gap = self.source.kind == "storage" and other <= goal < output
        return over_gap or _toward(output, other, goal)

    def _by_hook(
        self, each: Derivation, how: ByHook, goal: End, seen: frozenset[int]
    ) -> Expression | None:
        """What a hook writes, where the source has any of what it reads."""
        call = self._call(each, how, seen)
        if call is None:
            return None
        return hook_output(call, self._call_before(each, how, seen), each, goal, self.entries)

    def _call_before(
        self, each: Derivation, how: ByHook, seen: frozenset[int]
    ) -> tuple[HookCall, Witness] | None:
        """A hook's call with what its other method makes of the entries of its outputs, current or not.

        Returns:
            The call, and what an entry must have accompanied for the call to show what the hook wrote while it was current: where it
            accompanied anything else, the other method does not know all that the hook read. None where that method does not
            write all that the hook reads.
        """
        thread = self.lineage.thread(each.output)
        if not self.entries.readable or thread.number in self.asking:
            return None
        accompanied = self.witness(thread)
        if accompanied is None:
            return None
        back = {
            found.output: found
            for place in each.inputs
            for found in self.lineage.derivations.get(self.lineage.thread(place).number, ())
            if isinstance(found.how, ByHook)
            and (found.how.use, found.how.between) == (how.use, how.between)
            and found.how.up is not how.up
        }
        inputs: list[tuple[Place, Expression | None]] = []
        for place in each.inputs:
            if place not in back:
                return None
            made, other = back[place], back[place].how
            assert isinstance(other, ByHook)
            given = tuple((one, self._entry_or_value(one, how, seen)) for one in made.inputs)
            call = HookCall(other.use, other.method, other.between, other.up, given)
            inputs.append((place, HookOutput(call, place, None)))
        values = dict(zip(accompanied.places, accompanied.values, strict=True))
        values.update((place, value) for place, value in inputs if place in values)
        call = HookCall(how.use, how.method, how.between, how.up, tuple(inputs))
        return call, msgspec.structs.replace(accompanied, values=tuple(values.values()))

    def _entry_or_value(self, place: Place, how: ByHook, seen: frozenset[int]) -> Expression | None:
        """What an entry has at a place that a hook writes, current or not; else what the source has there."""
        thread, shape = self.lineage.thread(place), Shape("api", place.version)
        derivations = self.lineage.derivations.get(thread.number, ())
        written = any(each.how == how and each.output == place for each in derivations)
        if written and thread.at(self.source.version) is None:
            return Unstash(
                self.entries.read(thread, End(self.lineage, place, shape)), None, stale=True
            )
        return None if thread.number in seen else self.value(thread, place, shape, seen)

    def _call(self, each: Derivation, how: ByHook, seen: frozenset[int]) -> HookCall | None:
        """A hook's call with what the source has of its inputs; None where it has none but metadata beside them."""
        inputs: list[tuple[Place, Expression | None]] = []
        for place in each.inputs:
            thread, shape = self.lineage.thread(place), Shape("api", place.version)
            value = None if thread.number in seen else self.value(thread, place, shape, seen)
            inputs.append((place, value))
        known = [value for place, value in inputs if not self.lineage.is_metadata(place)]
        if known and all(value is None for value in known):
            return None
        if self.source.kind == "api" and self.target.kind == "storage":
            stored = ThreadValues(PlanKey(self.lineage, self.target, self.target))
            inputs = [
                (place, stored.hidden(place) if value is None else value) for place, value in inputs
            ]
        return HookCall(how.use, how.method, how.between, how.up, tuple(inputs))

    def _by_conversion(
        self, each: Derivation, how: ByConversion, goal: End, seen: frozenset[int]
    ) -> Expression | None:
        """What a conversion makes of the other side, where the source has that."""
        thread = self.lineage.thread(each.inputs[0])
        if thread.number in seen:
            return None
        own = thread.at(self.source.version)
        if own is not None:
            found = read_straight(End(self.lineage, own, self.source), each, how, goal)
            if found is not None:
                return found
        given = input_of(self.lineage, each, how)
        value = self.value(thread, given.place, given.shape, seen)
        return None if value is None else converted(value, each, how, goal, self.entries)


def _nothing_made(_key: PlanKey) -> dict[Hashable, Any]:
    return {}


def _nothing_reached(_lineage: Lineage, _source: Shape) -> dict[int, frozenset[int]]:
    return {}


def _first(options: list[Expression]) -> Expression | None:
    """The first of some options that is there; None where there is none."""
    if len(options) > 1:
        return First(tuple(options))
    return options[0] if options else None


def _toward(start: ApiVersion, step: ApiVersion, goal: ApiVersion) -> bool:
    """Whether going from one version to another leads on to a third."""
    return goal >= step if start < step else goal <= step
