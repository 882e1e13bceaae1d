"""Plans: neighbour links fused into one conversion from any shape of a lineage to any other.

A value is followed along its thread. Where the thread has a property in the source it is read there, and
changed straight into the target's shape. Else it comes from the bag, while nothing has made the entry
stale; else from other threads, by the derivations of the neighbours in between. The way down uses the same
threads and derivations as the way up, so neither is ever searched anew.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from trundle.evolution._agreeing import agreeing
from trundle.evolution._changes import SCALAR_CONVERSIONS
from trundle.evolution._defaults import default_of
from trundle.evolution._holders import holds_alike, presence_entry, presence_of
from trundle.evolution._keyed import change_keyed
from trundle.evolution._lineage import (
    ByConversion,
    ByHook,
    Derivation,
    Lineage,
    Place,
    Thread,
)
from trundle.evolution._named import change_scalar
from trundle.evolution._neighbours import Neighbours
from trundle.evolution._traversal import changes_within
from trundle.evolution._values import MISMATCH, End, Mismatch, change_value, own_letter_case
from trundle.evolution.conversions import (
    CallHook,
    ConvertScalar,
    Keyed,
    MapValues,
    exact,
    loosens,
)
from trundle.evolution.steps import (
    Assign,
    CallConverter,
    Carried,
    Chain,
    Change,
    Entry,
    Expression,
    First,
    Hidden,
    HookCall,
    HookOutput,
    Items,
    KeepElements,
    KeepPlaces,
    MapText,
    Optional,
    Plan,
    PlanKey,
    Presence,
    Read,
    Refill,
    Said,
    Shape,
    Solid,
    Stash,
    Step,
    ToList,
    Unstash,
    Values,
    ValueStep,
    Witness,
    may_lack,
)
from trundle.schema import ABSENT
from trundle.version import ApiVersion


def plan(key: PlanKey) -> Plan:
    """The plan that converts objects of one shape of a lineage to another; made once."""
    plans = key.lineage.plans
    if key not in plans:
        plans[key] = _Planning(key).plan()
    return plans[key]


class _Value:
    """A thread's value as the source has it: an expression, and where and in which shape it lies."""

    __slots__ = ("expression", "place", "shape")

    def __init__(self, expression: Expression, place: Place, shape: Shape) -> None:
        self.expression = expression
        self.place = place
        self.shape = shape


class _Planning:
    def __init__(self, key: PlanKey, asking: frozenset[int] = frozenset()) -> None:
        self.key = key
        self.asking = asking  # threads whose entries are being asked what they accompany
        self.lineage = key.lineage
        self.source = key.source
        self.target = key.target

    def plan(self) -> Plan:
        steps = list(self._assignments())
        if self.target.kind == "storage":
            steps.extend(self._stashes())
        return Plan(self.key, tuple(steps), self._consumed(), tuple(self._carried()))

    def _assignments(self) -> Iterator[Step]:
        version = self.target.version
        definition = self.lineage.definition(version)
        for name in self.lineage.followed(version):
            place = Place(version, name)
            value = self.value(self.lineage.thread(place), place, self.target)
            default: Any = ABSENT
            if self.target.kind == "api":
                changes = self.lineage.evolution.changes(version, definition.name)
                default = default_of(self.lineage, place, changes)
            yield Assign(name, value, default)

    def _stashes(self) -> Iterator[Step]:
        storage = self.target
        threads = sorted(self.lineage.threads, key=lambda each: _entry_order(each, storage))
        for thread in threads:
            if thread.at(storage.version) is not None:
                continue
            home = thread.home(storage.version)
            shape = Shape("storage", home.version)
            if self._travels_on(thread, home, shape):
                continue
            value = self.value(thread, home, shape)
            if value is None:
                continue
            stored = _Planning(PlanKey(self.lineage, storage, storage))
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
                tuple(place for place in self._homes(thread) if place != home),
                self._spoken(thread) if self.source.kind == "storage" else (),
            )
        yield from self._presences()

    def _presences(self) -> Iterator[Stash]:
        """Whether the source has nested objects in which the storage shape has something else."""
        for thread, own, kept in self._holders():
            if holds_alike(self.lineage, own, kept):
                continue
            side = presence_of(self.lineage, thread, own)
            entry = presence_entry(side.home(self.target.version))
            yield Stash(
                entry,
                Presence(_solid(self.lineage, own)),
                self._presence_witness(kept),
                Presence(_solid(self.lineage, kept)),
                tuple(each for each in self._presence_entries(side) if each != entry),
            )

    def _travels_on(self, thread: Thread, home: Place, shape: Shape) -> bool:
        """Whether all that a stored source has of a thread is in its bag, and goes on from there."""
        if self.source.kind == "api" or thread.at(self.source.version) is not None:
            return False
        told = self.derived(thread, home, shape, frozenset({thread.number}))
        return told is None or not self._on_the_way(thread)

    def _spoken(self, thread: Thread) -> tuple[str, ...]:
        """The properties of a stored source that the hooks which tell a thread write, too."""
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
        """Whether the storage shape tells a thread's value exactly, so that no entry is needed."""
        for each in self.lineage.derivations.get(thread.number, ()):
            if not isinstance(each.how, ByConversion):
                return False  # a hook or a move has a part in it
            other = self.lineage.thread(each.inputs[0])
            if other.at(storage.version) is None:
                continue
            shared = self.lineage.derivations.get(other.number, ())
            if not all(isinstance(one.how, ByConversion) for one in shared):
                return False  # what the other side has is not this thread's alone
            apart = self.source != Shape("api", each.output.version)
            if apart and loosens(each.how.conversion) and self._changing(each.output):
                return False  # free-form data has no bags
            return exact(each.how.conversion, up=not each.how.up)
        return False

    def _consumed(self) -> tuple[Place, ...]:
        if self.source.kind != "storage" or self.target.kind != "storage":
            return ()
        return tuple(
            place
            for thread in self.lineage.threads
            if thread.at(self.target.version) is not None and thread.at(self.source.version) is None
            for place in self._homes(thread)
        ) + tuple(
            place
            for thread, own, kept in self._holders()
            if not holds_alike(self.lineage, own, kept)
            for place in self._presence_entries(presence_of(self.lineage, thread, kept))
        )

    def _holders(self) -> Iterator[tuple[Thread, Place, Place]]:
        """The threads of nested objects that source and target both have, out of which something is lifted."""
        for thread in self.lineage.threads:
            own, kept = thread.at(self.source.version), thread.at(self.target.version)
            if own is None or kept is None:
                continue
            if any(self.lineage.leaves(each) for each in thread.places):
                yield thread, own, kept

    def _carried(self) -> Iterator[Carried]:
        """What the entries that travel on accompany, where anything does or did make them stale."""
        if self.source.kind != "storage" or self.target.kind != "storage":
            return
        rolled = _Planning(PlanKey(self.lineage, self.target, self.target))
        for thread in self.lineage.threads:
            if any(thread.at(each.version) is not None for each in (self.source, self.target)):
                continue
            before, after = self.witness(thread), rolled.witness(thread)
            if before is not None or after is not None:
                yield Carried(self._homes(thread), before, after)
        for thread, own, kept in self._holders():
            sides = {presence_of(self.lineage, thread, each) for each in thread.places}
            for side in sorted(sides, key=lambda each: each.places):
                if any(side.at(each.version) is not None for each in (own, kept)):
                    continue
                before, after = self._presence_witness(own), self._presence_witness(kept)
                yield Carried(self._presence_entries(side), before, after)

    def value(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int] = frozenset()
    ) -> Expression | None:
        """A thread's value at one of its places in some shape; None where the source has none."""
        own = thread.at(self.source.version)
        if own is not None:
            return self._own(thread, own, place, shape)
        options: list[Expression] = []
        if self.source.kind == "storage":
            options.append(self._unstash(thread, place, shape))
        derived = self.derived(thread, place, shape, seen | {thread.number})
        if derived is not None:
            options.append(derived)
        if not options:
            return None
        return options[0] if len(options) == 1 else First(tuple(options))

    def _own(self, thread: Thread, own: Place, place: Place, shape: Shape) -> Expression:
        """What the source has of a thread; a nested object may be there for what another side has elsewhere."""
        read = Read(own.property)
        value = self._changed(_Value(read, own, self.source), place, shape)
        leaves = self.lineage.leaves(own)
        alike = not leaves or holds_alike(self.lineage, own, place)
        if leaves and (not alike or place.version != self.target.version):
            value = Solid(read, value, own, leaves)
        if alike or self.source.kind == "api":
            return value
        side = presence_of(self.lineage, thread, place)
        entries = tuple(Entry(each, None) for each in self._presence_entries(side))
        return Said(Unstash(entries, self._presence_witness(own)), value, place, shape)

    def _presence_entries(self, side: Thread) -> tuple[Place, ...]:
        return tuple(presence_entry(each) for each in self._homes(side))

    def _presence_witness(self, own: Place) -> Witness:
        """What the presence of a nested object accompanies: that object, as far as it is followed itself."""
        stored, shown = Shape("storage", own.version), Shape("api", own.version)
        step = change_value(End(self.lineage, own, stored), End(self.lineage, own, shown))
        assert not isinstance(step, Mismatch)
        return Witness((own,), (_change(Read(own.property), step),))

    def _unstash(self, thread: Thread, place: Place, shape: Shape) -> Unstash:
        entries = self._entries(thread, End(self.lineage, place, shape))
        witness = None if thread.number in self.asking else self.witness(thread)
        return Unstash(entries, witness)

    def _entries(self, thread: Thread, end: End) -> tuple[Entry, ...]:
        """The entries that a thread may be stashed at, each with what it goes through to some end."""
        found = []
        for home in self._homes(thread):
            kept = End(self.lineage, home, Shape("storage", home.version))
            step = change_value(kept, end)
            if not isinstance(step, Mismatch):
                found.append(Entry(home, step))
        return tuple(found)

    def _losing(self, thread: Thread, place: Place, shape: Shape) -> ValueStep | None:
        """What an element of a thread's list or map goes through on a way that may lose it."""
        for each in self.lineage.derivations.get(thread.number, ()):
            if isinstance(each.how, ByConversion) and self._from_source(each):
                told = End(self.lineage, each.inputs[0], Shape("storage", each.inputs[0].version))
                step = change_value(End(self.lineage, place, shape), told)
                step = step.inner if isinstance(step, Optional) else step
                inner = step.item if isinstance(step, Items) else None
                inner = step.value if isinstance(step, Values) else inner
                if inner is not None and may_lack(inner):
                    return inner
        return None

    def _homes(self, thread: Thread) -> tuple[Place, ...]:
        """Where a thread may be stashed, in this storage version first, then in those before it."""
        versions = self.lineage.versions
        storage = self.source.version if self.source.kind == "storage" else self.target.version
        said = self.lineage.evolution.said_stored
        hubs = [storage, versions.hub, *reversed(versions.storage), *said]
        homes = (thread.home(hub) for hub in hubs if thread.at(hub) is None)
        return tuple(dict.fromkeys(homes))

    def witness(self, thread: Thread) -> Witness | None:
        """What an entry of a thread accompanies: the inputs of its derivations, and its namesakes."""
        storage = Shape("storage", self.source.version)
        asking = self.asking | {thread.number}
        stored = _Planning(PlanKey(self.lineage, storage, storage), asking)
        places: list[Place] = []
        for each in self.lineage.derivations.get(thread.number, ()):
            if stored._from_source(each):
                places.extend(each.inputs)
        if not places:
            towards = [
                place
                for place in self.lineage.namesakes.get(thread.number, ())
                if self._nearer(place, thread, storage)
            ]
            places.extend(towards[:1])
        beside = Place(storage.version, thread.home(storage.version).property)
        if not places and beside.property in self.lineage.followed(storage.version):
            places.append(beside)  # a release that knew fewer versions took it for the namesake
        seen = frozenset({thread.number})
        met = [p for p in dict.fromkeys(places) if self.lineage.thread(p) is not thread]
        values = []
        for place in met:
            other = self.lineage.thread(place)
            shape = Shape("api", place.version)
            values.append(stored.value(other, place, shape, seen))
        if all(value is None for value in values):
            return None
        return Witness(tuple(met), tuple(values))

    def _from_source(self, each: Derivation) -> bool:
        """Whether a derivation leads away from the source, so that it never goes in a circle.

        Over a gap, the side before it tells the side after it, for its shape is the one in the bag. What
        the source itself has may tell anything.
        """
        output, other, goal = each.output.version, each.inputs[0].version, self.source.version
        if self.lineage.thread(each.inputs[0]).at(goal) is not None:
            return True
        over_gap = self.source.kind == "storage" and other <= goal < output
        return over_gap or _toward(output, other, goal)

    def _nearer(self, place: Place, thread: Thread, storage: Shape) -> bool:
        home = thread.home(storage.version)
        return place.version == storage.version or _toward(
            home.version, place.version, storage.version
        )

    def derived(
        self, thread: Thread, place: Place, shape: Shape, seen: frozenset[int]
    ) -> Expression | None:
        """A thread's value as other threads tell it; None where none of them has a value."""
        options: list[Expression] = []
        for each in self.lineage.derivations.get(thread.number, ()):
            if not self._from_source(each):
                continue
            if isinstance(each.how, ByHook):
                found = self._by_hook(each, each.how, place, shape, seen)
            else:
                found = self._by_conversion(each, each.how, place, shape, seen)
            if found is not None:
                options.append(found)
        if not options:
            return None
        told = options[0] if len(options) == 1 else First(tuple(options))
        losing = self._losing(thread, place, shape)
        within = self._losing_within(thread, End(self.lineage, place, shape))
        entries = self._entries(thread, End(self.lineage, place, shape))
        if not entries or self.source.kind == "api":
            return told
        if within is not None:
            return Refill(told, entries, within)
        return told if losing is None else KeepPlaces(told, entries, losing)

    def _losing_within(self, thread: Thread, end: End) -> Chain | None:
        """What a value goes through to the side that tells it and back, if lists within lists may lose elements."""
        for each in self.lineage.derivations.get(thread.number, ()):
            if isinstance(each.how, ByConversion) and self._from_source(each):
                told = End(self.lineage, each.inputs[0], Shape("storage", each.inputs[0].version))
                there, back = change_value(end, told), change_value(told, end)
                if there is None or isinstance(there, Mismatch) or isinstance(back, Mismatch):
                    continue
                outer = there.inner if isinstance(there, Optional) else there
                if any(map(_loses_elements, itertools.islice(changes_within(outer), 1, None))):
                    return Chain((there,) if back is None else (there, back))
        return None

    def _by_hook(
        self, each: Derivation, how: ByHook, place: Place, shape: Shape, seen: frozenset[int]
    ) -> Expression | None:
        inputs: list[tuple[Place, Expression | None]] = []
        for source in each.inputs:
            thread = self.lineage.thread(source)
            told = Shape("api", source.version)
            value = None if thread.number in seen else self.value(thread, source, told, seen)
            inputs.append((source, value))
        if all(value is None for _, value in inputs):
            return None
        if self.source.kind == "api" and self.target.kind == "storage":
            stored = _Planning(PlanKey(self.lineage, self.target, self.target))
            inputs = [
                (source, value if value is not None else stored.hidden(source))
                for source, value in inputs
            ]
        call = HookCall(how.use, how.method, how.between, how.up, tuple(inputs))
        made = End(self.lineage, each.output, Shape("api", each.output.version))
        typed = End(self.lineage, each.output, Shape("storage", each.output.version))
        goal = End(self.lineage, place, shape)
        across = self._seen_across(each, typed)
        if across is not None:
            step = change_value(made, typed)
            assert not isinstance(step, Mismatch)
            entries = self._entries(self.lineage.thread(each.output), typed)
            return _gone(Refill(HookOutput(call, each.output, step), entries, across), typed, goal)
        step = change_value(made, goal)
        assert not isinstance(step, Mismatch)
        return HookOutput(call, each.output, step)

    def _seen_across(self, each: Derivation, typed: End) -> Chain | None:
        """What objects that a hook writes go through to the side that it reads, and back.

        What is lost on that way the hook cannot know of: where the entry of its output is stale, the rest of it
        still belongs to these objects. None where they have nothing in common with what the hook reads.
        """
        homes = self._entries(self.lineage.thread(each.output), typed)
        if self.source.kind == "api" or not homes or not self._changing(each.output):
            return None
        for link in self.lineage.links:
            ends = {link.older, link.newer}
            if link.conversion is None or each.output not in ends:
                continue
            (other,) = ends - {each.output}
            shown = End(self.lineage, other, Shape("api", other.version))
            if other in each.inputs and MISMATCH not in _steps(typed, shown, typed):
                return Chain(_way(typed, shown, typed))
        return None

    def hidden(self, place: Place) -> Hidden | None:
        """What a stored object tells of a hook's input that the source cannot see."""
        thread = self.lineage.thread(place)
        value = self.value(thread, place, Shape("api", place.version))
        return None if value is None else Hidden(value)

    def _by_conversion(
        self, each: Derivation, how: ByConversion, place: Place, shape: Shape, seen: frozenset[int]
    ) -> Expression | None:
        source = each.inputs[0]
        thread = self.lineage.thread(source)
        if thread.number in seen:
            return None
        own = thread.at(self.source.version)
        stepwise = isinstance(how.conversion, CallHook | ConvertScalar | Keyed | MapValues)
        fitted = loosens(how.conversion) and self._changing(each.output)
        if loosens(how.conversion):  # what is free-form has the shape that stands beside it
            stepwise = fitted or (own != source and self._changing(source))
        if own is not None and not stepwise:
            straight = change_value(
                End(self.lineage, own, self.source), End(self.lineage, place, shape)
            )
            if not isinstance(straight, Mismatch):
                return _change(Read(own.property), straight)
        told = Shape("api" if isinstance(how.conversion, CallHook) else "storage", source.version)
        value = self.value(thread, source, told, seen)
        if value is None:
            return None
        if fitted:
            return self._fitted(value, End(self.lineage, source, told), each.output, place, shape)
        step, reached = self._across(each, how, told)
        if isinstance(step, Mismatch):
            return None
        value = _change(value, step)
        if isinstance(how.conversion, Keyed) and how.conversion.map_older == how.up:
            value = self._listed(value, each, how.conversion)
        after = change_value(
            End(self.lineage, each.output, reached), End(self.lineage, place, shape)
        )
        assert not isinstance(after, Mismatch)
        return _change(value, after)

    def _listed(self, value: Expression, each: Derivation, conversion: Keyed) -> Expression:
        """A list that a map tells, with what only a stale entry of the list still has.

        That is what a map has no place for: elements without a key, and properties beside key and value.
        """
        maps, lists = (
            End(self.lineage, place, Shape("storage", place.version))
            for place in (each.inputs[0], each.output)
        )
        entries = self._entries(self.lineage.thread(each.output), lists)
        if self.source.kind != "storage" or not entries:
            return value
        up = conversion.map_older
        ways = (
            change_keyed(lists, maps, conversion, up=not up),
            change_keyed(maps, lists, conversion, up=up),
        )
        steps = tuple(step for step in ways if not isinstance(step, Mismatch))
        keyed = ToList(lists.place, lists.shape, conversion.key, conversion.value)
        return KeepElements(value, entries, Chain(steps), keyed)

    def _fitted(
        self, value: Expression, free: End, output: Place, place: Place, shape: Shape
    ) -> Expression:
        """Typed data that free-form data tells: what fits the type that stands beside the free-form one.

        Where the entry of the typed data is stale, what that has inside of it beyond the type goes along.
        """
        fitting = End(self.lineage, output, Shape("api", output.version))
        typed = End(self.lineage, output, Shape("storage", output.version))
        goal = End(self.lineage, place, shape)
        if (place, shape) == (output, fitting.shape):
            return _gone(value, free, fitting)
        value = _gone(value, free, fitting, typed)
        entries = self._entries(self.lineage.thread(output), typed)
        if self.source.kind == "storage" and entries:
            value = Refill(value, entries, Chain(_way(typed, free, fitting, typed)))
        return _gone(value, typed, goal)

    def _across(
        self, each: Derivation, how: ByConversion, told: Shape
    ) -> tuple[ValueStep | Mismatch | None, Shape]:
        """The step over one pair of neighbours, and the shape its result has."""
        source, output = each.inputs[0], each.output
        between = Neighbours(*sorted((source.version, output.version)))
        match how.conversion:
            case MapValues(values):
                pairs = values if how.up else _inverse(values)
                spelled = own_letter_case(End(self.lineage, source, told))
                mapped = MapText(pairs)
                reached = Shape("storage", output.version)
                return mapped if spelled is None else Chain((spelled, mapped)), reached
            case ConvertScalar(name, version):
                used = name if how.up else SCALAR_CONVERSIONS[name]
                scalar = change_scalar(self.lineage, used, version, source, output)
                return scalar, Shape("storage", output.version)
            case Keyed() as keyed:
                reached = Shape("storage", output.version)
                ends = End(self.lineage, source, told), End(self.lineage, output, reached)
                return change_keyed(*ends, keyed, up=how.up), reached
            case CallHook(use, up, down):
                method = up if how.up else down
                assert method is not None
                return CallConverter(use, method, between), Shape("api", output.version)
            case _:
                reached = Shape("storage", output.version)
                step = change_value(
                    End(self.lineage, source, told), End(self.lineage, output, reached)
                )
                return step, reached

    def _changing(self, place: Place) -> bool:
        """Whether objects at a place have other shapes in other versions."""
        evolution = self.lineage.evolution
        keys = evolution.objects_in(place.version, self.lineage.type(place))
        return any(not evolution.stable(self.lineage.child(place, key)) for key in keys)

    def _changed(self, value: _Value, place: Place, shape: Shape) -> Expression:
        step = change_value(
            End(self.lineage, value.place, value.shape), End(self.lineage, place, shape)
        )
        assert not isinstance(step, Mismatch), (value.place, place)
        return _change(value.expression, step)


def _solid(lineage: Lineage, place: Place) -> Expression:
    read, leaves = Read(place.property), lineage.leaves(place)
    return Solid(read, read, place, leaves) if leaves else read


def _loses_elements(step: ValueStep) -> bool:
    """Whether a list or map may lose an element on its way."""
    inner = step.item if isinstance(step, Items) else None
    inner = step.value if isinstance(step, Values) else inner
    return inner is not None and may_lack(inner)


def _entry_order(thread: Thread, storage: Shape) -> tuple[str, str]:
    home = thread.home(storage.version)
    return home.property, home.version.text


def _toward(start: ApiVersion, step: ApiVersion, goal: ApiVersion) -> bool:
    """Whether going from one version to another leads on to a third."""
    return goal >= step if start < step else goal <= step


def _steps(*ends: End) -> list[ValueStep | Mismatch | None]:
    return [change_value(one, other) for one, other in itertools.pairwise(ends)]


def _way(*ends: End) -> tuple[ValueStep, ...]:
    """The steps from each of some ends to the next."""
    steps = _steps(*ends)
    assert MISMATCH not in steps
    return tuple(step for step in steps if step is not None and not isinstance(step, Mismatch))


def _gone(value: Expression, *ends: End) -> Expression:
    """A value after all steps from each of some ends to the next."""
    for step in _way(*ends):
        value = _change(value, step)
    return value


def _change(value: Expression, step: ValueStep | None) -> Expression:
    if step is None:
        return value
    if isinstance(value, Change):
        inner = value.step.steps if isinstance(value.step, Chain) else (value.step,)
        outer = step.steps if isinstance(step, Chain) else (step,)
        return Change(value.value, Chain((*inner, *outer)))
    return Change(value, step)


def _inverse(values: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    inverse: dict[str, str] = {}
    for older, newer in values:
        inverse.setdefault(newer, older)
    return tuple(sorted(inverse.items()))
