"""Lineage: how the properties of one object type are followed through the versions in which it exists.

A **lineage** follows one object type from its place in a resource: nested types meet where their parents'
properties meet, never by definition name. Within it a **thread** is one property wherever conversion
between its versions is exact both ways; a thread has at most one property per version. Threads meet at
**derivations**: a conversion that is not exact, a rule or a hook derives one thread's value from others'.
Two threads that share a name without any conversion between them are **namesakes**.

A property of a nested object that a rule names by a path is *lifted*: the type that the rule is under follows
it under its path, as if it were a property of its own.

Data lives where its thread says: in a property of the stored object where the thread has one at the
storage version, else in the property bag, in the shape it had before it left.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property

import msgspec

from trundle.evolution._changes import TypeChanges
from trundle.evolution._declared import Declared
from trundle.evolution._hooks import derived_by_hooks
from trundle.evolution._lifting import lifted_paths, nested_changes, owner, trail
from trundle.evolution._linking import link_places, meeting_objects
from trundle.evolution._neighbours import Neighbours
from trundle.evolution._own_text import own_texts
from trundle.evolution._paths import Path, join_path
from trundle.evolution._spelling import respelled
from trundle.evolution._threads import (
    METADATA,
    ByConversion,
    ByHook,
    Derivation,
    Link,
    Place,
    Thread,
)
from trundle.evolution._type_versions import TypeVersions
from trundle.evolution._unlifted import BareLineage
from trundle.evolution.conversions import CallHook, Conversion, NullFits, lossless
from trundle.schema import Nullable
from trundle.version import ApiVersion


class Lineage(TypeVersions):
    """One object type through the versions in which it exists at its place.

    Attributes:
        around: the lineage of the object that follows some of its properties; None where there is none.
    """

    around: "Lineage | None" = None

    @property
    def is_root(self) -> bool:
        """Whether it is the lineage of a resource's root object."""
        return bool(self.envelope)

    @cached_property
    def bare(self) -> BareLineage:
        """This lineage with nothing lifted: where the properties of nested objects lead by themselves."""
        return BareLineage(self.evolution, self.nodes, labels=self.labels, envelope=self.envelope)

    def lifted(self, version: ApiVersion) -> Mapping[str, Path]:
        """The properties of nested objects that are followed here, as paths, by what they are called."""
        return self._lifted.get(version, {})

    @cached_property
    def _lifted(self) -> Mapping[ApiVersion, Mapping[str, Path]]:
        return {
            version: {join_path(path): path for path in paths}
            for version, paths in lifted_paths(self.bare, self.given).items()
        }

    @cached_property
    def nested_changes(self) -> tuple[TypeChanges, ...]:
        """The rules of nested types that move what is followed here, as seen from here."""
        lifted = {version: self.lifted(version).values() for version in self.nodes}
        return nested_changes(self.bare, lifted)

    def trail(self, place: Place) -> Hashable:
        """What a place has in common with all places that are the same property in other versions, but for rules."""
        path = self.lifted(place.version).get(place.property)
        return place.property if path is None else trail(self.bare, place.version, path)

    def holder(self, place: Place) -> BareLineage | None:
        """The nested type that has a lifted property itself; None for a property that is not lifted."""
        path = self.lifted(place.version).get(place.property)
        return None if path is None else owner(self.bare, place.version, path)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All pairs of places that meet, in the order of their older places."""
        return link_places(self)

    def way(self, one: Place, other: Place) -> tuple[tuple[Link, bool], ...]:
        """The links that lead from one place to another, as few as there can be, each with whether it is taken upwards; none where none lead there."""
        before = self._ways_from(one)
        found: list[tuple[Link, bool]] = []
        while (step := before.get(other)) is not None:
            found.append(step)
            link, up = step
            other = link.older if up else link.newer
        return tuple(reversed(found))

    def met(self, place: Place) -> tuple[Place, ...]:
        """The place and all to which links lead from it, whether the conversions are exact or not."""
        return tuple(self._ways_from(place))

    def _ways_from(self, place: Place) -> Mapping[Place, tuple[Link, bool] | None]:
        """All places to which links lead from one, the nearest first, each with the last link on the way."""
        before: dict[Place, tuple[Link, bool] | None] = {place: None}
        waiting = [place]
        for reached in waiting:
            for link in self.links:
                for up, here, there in (
                    (True, link.older, link.newer),
                    (False, link.newer, link.older),
                ):
                    if here == reached and there not in before:
                        before[there] = (link, up)
                        waiting.append(there)
        return before

    @cached_property
    def respelled(self) -> Mapping[Place, int]:
        """The places whose enums show their own letter case, numbered by what conversions join."""
        return respelled(self, self.links)

    @cached_property
    def own_texts(self) -> Mapping[Place, tuple[Place, ...]]:
        """By place of an enum that shows its own letter case: the entries that may have what its clients wrote."""
        return own_texts(self, self.threads)

    @cached_property
    def threads(self) -> tuple[Thread, ...]:
        """All threads, in the order of their first places."""
        groups = self._joined(self._gains_null)
        ordered = sorted(tuple(sorted(each)) for each in groups)
        return tuple(Thread(number, each) for number, each in enumerate(ordered))

    def _joined(self, apart: Callable[[AbstractSet[Place]], bool]) -> list[set[Place]]:
        """The places that exact conversions join, but for those that something sets apart."""
        places = [Place(v, name) for v in self.nodes for name in self.followed(v)]
        group = {place: {place} for place in places}
        for link in self.links:
            ours, theirs = group[link.older], group[link.newer]
            if ours is theirs or not self._carries(link):
                continue
            if {p.version for p in ours} & {p.version for p in theirs}:
                continue
            if apart(ours | theirs):
                continue
            ours |= theirs
            for place in theirs:
                group[place] = ours
        return list({id(each): each for each in group.values()}.values())

    @cached_property
    def _leading(self) -> frozenset[Place]:
        """The places of objects into which rules lead in any version."""
        groups = self._joined(lambda _: False)
        return frozenset(place for each in groups if any(map(self.leaves, each)) for place in each)

    def _gains_null(self, places: AbstractSet[Place]) -> bool:
        """Whether null is new in some version, so that what earlier ones store has no place for it.

        An object into which rules lead is one thread all the same: what it is there for depends on what they move. Its
        null is kept where its presence is.
        """
        if not self._leading.isdisjoint(places):
            return False
        admitting = [each for each in places if isinstance(self.type(each), Nullable)]
        return bool(admitting) and min(admitting) > min(places)

    def _carries(self, link: Link) -> bool:
        if link.conversion is None or not lossless(link.conversion):
            return False
        return not any(
            each.output in {link.older, link.newer}
            and set(each.inputs) != {link.older, link.newer}
            and {each.between.older, each.between.newer} == {link.older.version, link.newer.version}
            for each in self._hook_outputs
        )

    @cached_property
    def _hook_outputs(self) -> tuple["_HookOutput", ...]:
        return tuple(
            _HookOutput(derivation.output, derivation.inputs, derivation.how.between)
            for derivation in self.hooks
            if isinstance(derivation.how, ByHook)
        )

    @cached_property
    def hooks(self) -> tuple[Derivation, ...]:
        """What the hooks between neighbours of this lineage derive."""
        return tuple(derived_by_hooks(self))

    @cached_property
    def _thread_of(self) -> Mapping[Place, Thread]:
        found = {place: thread for thread in self.threads for place in thread.places}
        if METADATA in self.envelope:
            metadata = tuple(Place(version, METADATA) for version in self.nodes)
            found.update(dict.fromkeys(metadata, Thread(len(self.threads), metadata)))
        return found

    def has(self, place: Place) -> bool:
        """Whether a place belongs to a thread; one of a version that is not known does not."""
        return place in self._thread_of

    def thread(self, place: Place) -> Thread:
        """The thread that a place belongs to."""
        return self._thread_of[place]

    def admits_null(self, place: Place) -> bool:
        """Whether the version of a place or an earlier one admits null in its thread: what is new to it, it cannot store."""
        if place in self.given:
            assert self.around is not None
            return self.around.admits_null(self.given[place])
        thread = self._thread_of.get(place)
        if thread is None or thread.number not in self._admitting_null:
            return False
        return self._admitting_null[thread.number] <= place

    def nullable(self, place: Place) -> bool:
        """Whether a stored object may have null at a place: its thread admits null, or one that only null sets apart.

        Earlier releases stored the null of such a thread here.
        """
        if place in self.given:
            assert self.around is not None
            return self.around.nullable(self.given[place])
        thread = self._thread_of.get(place)
        return thread is not None and thread.number in self._nullable

    @cached_property
    def _admitting_null(self) -> Mapping[int, Place]:
        """By thread number: the first place at which null is admitted."""
        found = {
            thread.number: [each for each in thread.places if isinstance(self.type(each), Nullable)]
            for thread in self.threads
        }
        return {number: min(places) for number, places in found.items() if places}

    @cached_property
    def _nullable(self) -> frozenset[int]:
        """The numbers of the threads that admit null, and of all that only null sets apart from one of them."""
        group = {thread.number: {thread.number} for thread in self.threads}
        for link in filter(self._carries, self.links):
            ours, theirs = (group[self.thread(each).number] for each in (link.older, link.newer))
            ours |= theirs
            group.update(dict.fromkeys(theirs, ours))
        return frozenset(
            number for number, each in group.items() if not each.isdisjoint({*self._admitting_null})
        )

    @cached_property
    def derivations(self) -> Mapping[int, tuple[Derivation, ...]]:
        """By thread number: how its value follows from other threads, hooks before conversions."""
        found: dict[int, list[Derivation]] = {}
        for each in itertools.chain(self.hooks, self._conversions()):
            thread = self.thread(each.output)
            if all(self.thread(place) is not thread for place in each.inputs):
                found.setdefault(thread.number, []).append(each)
        return {number: tuple(each) for number, each in found.items()}

    @cached_property
    def deriving(self) -> frozenset[int]:
        """The numbers of the threads that derive from others, or from which others derive."""
        return frozenset(
            self.thread(place).number
            for each in itertools.chain.from_iterable(self.derivations.values())
            for place in (each.output, *each.inputs)
        )

    @cached_property
    def related(self) -> Mapping[int, tuple[Place, ...]]:
        """By the number of a thread that derives, or from which others derive: the places of all that it is related to so."""
        group: dict[int, set[int]] = {}
        for each in itertools.chain.from_iterable(self.derivations.values()):
            numbers = {self.thread(place).number for place in (each.output, *each.inputs)}
            joined = numbers.union(*(group.get(number, ()) for number in numbers))
            group.update(dict.fromkeys(joined, joined))
        places = {thread.number: thread.places for thread in self.threads}
        return {
            number: tuple(place for each in sorted(numbers) for place in places[each])
            for number, numbers in group.items()
        }

    def _conversions(self) -> Iterator[Derivation]:
        owned = {(each.output, each.inputs[0].version) for each in self.hooks}
        for link in self.links:
            conversion = self._with_nulls(link)
            if conversion is None:
                continue
            for up, source, target in (
                (True, link.older, link.newer),
                (False, link.newer, link.older),
            ):
                if isinstance(conversion, CallHook) and not (
                    conversion.up if up else conversion.down
                ):
                    continue
                if (target, source.version) in owned:
                    continue  # what a hook writes, it owns: absent is absent
                yield Derivation(ByConversion(conversion, up), (source,), target)

    def _with_nulls(self, link: Link) -> Conversion | None:
        """How two places convert, of whose threads one may admit null where the other does not."""
        older, newer = self.admits_null(link.older), self.admits_null(link.newer)
        if link.conversion is None or older == newer:
            return link.conversion
        if isinstance(link.conversion, NullFits | CallHook):
            return link.conversion
        return NullFits(link.conversion, older, newer)

    @cached_property
    def converted(self) -> Mapping[int, tuple[Place, ...]]:
        """By thread number: where its value is in all versions, also those to which it converts as another thread."""
        group = {thread.number: {thread.number} for thread in self.threads}
        for link in self.links:
            ours, theirs = (group[self.thread(each).number] for each in (link.older, link.newer))
            if link.conversion is not None and ours is not theirs:
                ours |= theirs
                group.update(dict.fromkeys(theirs, ours))
        places = {thread.number: thread.places for thread in self.threads}
        return {
            number: tuple(place for each in sorted(numbers) for place in places[each])
            for number, numbers in group.items()
        }

    @cached_property
    def namesakes(self) -> Mapping[int, tuple[Place, ...]]:
        """By thread number: the places of other threads that share a name, without a conversion."""
        found: dict[int, list[Place]] = {}
        for link in self.links:
            if link.conversion is None:
                found.setdefault(self.thread(link.older).number, []).append(link.newer)
                found.setdefault(self.thread(link.newer).number, []).append(link.older)
        return {number: tuple(each) for number, each in found.items()}

    @cached_property
    def stable(self) -> bool:
        """Whether a subtree is the same in every version, with no rule or hook anywhere in it.

        Such a subtree is passed on, not copied, and nothing is ever stashed in it.
        """
        if self.is_root or self.given:
            return False
        numbers = {self.evolution.identities[node] for node in self.nodes.items()}
        return len(numbers) == 1 and not self.evolution.ruled(self.nodes)

    def holds_objects(self, place: Place) -> bool:
        """Whether there are objects at a place."""
        return bool(self.evolution.objects_in(place.version, self.type(place)))

    def changing(self, place: Place) -> bool:
        """Whether objects at a place have other shapes in other versions."""
        keys = self.evolution.objects_in(place.version, self.type(place))
        return any(not self.child(place, key).stable for key in keys)

    def child(self, place: Place, key: str) -> "Lineage":
        """The lineage of a nested object type: the definition `key` as the property at `place` has it."""
        if place in self.given:
            assert self.around is not None
            return self.around.child(self.given[place], key)
        return self._children[place, key]

    @cached_property
    def _children(self) -> Mapping[tuple[Place, str], "Lineage"]:
        return {
            member: child
            for members in meeting_objects(self, self.links)
            for child in [self._make_child(members)]
            for member in members
        }

    def _make_child(self, members: set[tuple[Place, str]]) -> "Lineage":
        given = {
            Place(place.version, leaf): Place(place.version, join_path((*self.path(place), leaf)))
            for place, _ in members
            for leaf in self.leaves(place)
        }
        nodes = tuple(sorted((place.version, key) for place, key in members))
        if not given:
            return self.evolution.once(nested_lineage, self.evolution, nodes)
        child = Lineage(self.evolution, dict(nodes), given=given)
        child.around = self
        return child


def nested_lineage(evolution: Declared, nodes: tuple[tuple[ApiVersion, str], ...]) -> Lineage:
    """The lineage of a nested type of which nothing is followed by an object around it."""
    return Lineage(evolution, dict(nodes))


class _HookOutput(msgspec.Struct, frozen=True):
    output: Place
    inputs: tuple[Place, ...]
    between: Neighbours
