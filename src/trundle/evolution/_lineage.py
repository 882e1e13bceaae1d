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
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, assert_never

import msgspec

from trundle.evolution._changes import TypeChanges
from trundle.evolution._labels import Label, label_of
from trundle.evolution._neighbours import Neighbours, VersionMap
from trundle.evolution._paths import Path, join_path
from trundle.evolution._spelling import respelled
from trundle.evolution._threads import (
    ADDITIONAL,
    METADATA,
    OWN_TEXT,
    PRESENCE,
    ByConversion,
    ByHook,
    Derivation,
    Link,
    Place,
    Thread,
)
from trundle.evolution.conversions import (
    ByVariant,
    CallHook,
    Conversion,
    ConvertObject,
    ConvertScalar,
    EachItem,
    EachValue,
    EnumText,
    Keyed,
    MapValues,
    Narrow,
    NullFits,
    Same,
    Unwrap,
    Wrap,
    lossless,
)
from trundle.schema import FreeForm, MapOf, Nullable, ObjectType, Property, Ref, Scalar, Type
from trundle.version import ApiVersion

if TYPE_CHECKING:
    from trundle.evolution._bare import BareLineage
    from trundle.evolution._evolution import Evolution
    from trundle.evolution.steps import Plan, PlanKey

Nodes: TypeAlias = Mapping[ApiVersion, str]


class Lineage:
    """One object type through the versions in which it exists at its place.

    Args:
        evolution: all versions.
        nodes: the key of the type's definition, by version.
        given: the places of properties that an object around it follows, by the places that they have here.
        around: the lineage of that object.
        versions: the map of the versions, where more is known of it than the nodes say.
        labels: by version the labels and annotations that are properties, for hooks write them.

    Attributes:
        nodes: the key of the type's definition, by version.
        versions: the map of these versions.
        labels: by version the labels and annotations that are properties of a stored object, and that documents
            have in their metadata.
        plans: the plans that were made of it.
    """

    def __init__(
        self,
        evolution: "Evolution",
        nodes: Nodes,
        given: Mapping[Place, Place] | None = None,
        around: "Lineage | None" = None,
        versions: VersionMap | None = None,
        labels: Mapping[ApiVersion, tuple[str, ...]] | None = None,
    ) -> None:
        self.evolution = evolution
        self.nodes = dict(sorted(nodes.items()))
        self.versions = versions or VersionMap.of(nodes)
        self.given = given or {}
        self.around = around
        self.labels = labels or {}
        self._definitions = {
            version: with_labels(
                evolution.schema(version).object(key), self.labels.get(version, ())
            )
            for version, key in self.nodes.items()
        }
        self._properties: dict[Place, Property] = {}
        self._names: dict[ApiVersion, tuple[str, ...]] = {}
        self._followed: dict[ApiVersion, tuple[str, ...]] = {}
        self._children: dict[tuple[Place, str], Lineage] = {}
        self.plans: dict[PlanKey, Plan] = {}

    def __repr__(self) -> str:
        return f"<Lineage {self.name} of {len(self.nodes)} versions>"

    @property
    def name(self) -> str:
        """The type's name in the newest version."""
        return self.definition(self.versions.versions[-1]).name

    def definition(self, version: ApiVersion) -> ObjectType:
        """The type's definition in a version."""
        return self._definitions[version]

    def property(self, place: Place) -> Property:
        """The property at a place; additional properties count as one, implied ones have their type."""
        found = self._properties.get(place)
        if found is None:
            found = self._properties[place] = self._find_property(place)
        return found

    def _find_property(self, place: Place) -> Property:
        if self.is_metadata(place):
            return Property(METADATA, FreeForm())
        definition = self.definition(place.version)
        path = self.lifted(place.version).get(place.property)
        if path is not None:
            return self._nested_property(place.version, path)
        if place.property == ADDITIONAL:
            return additional_property(definition)
        found = definition.property(place.property)
        holder = place.property.removesuffix(PRESENCE)
        if found is None and holder != place.property and holder in self.followed(place.version):
            return Property(place.property, Nullable(Scalar("boolean")))
        written = place.property.removesuffix(OWN_TEXT)
        if found is None and written != place.property and written in self.followed(place.version):
            return Property(place.property, self.type(Place(place.version, written)))
        if found is None:
            assert definition.additional is not None
            return Property(place.property, definition.additional)
        return found

    def _nested_property(self, version: ApiVersion, path: Path) -> Property:
        definitions = self.evolution.schema(version).definitions
        found = self.definition(version).property(path[0])
        for name in path[1:]:
            assert found is not None
            type_ = found.type.inner if isinstance(found.type, Nullable) else found.type
            assert isinstance(type_, Ref)
            holder = definitions[type_.key]
            assert isinstance(holder, ObjectType)
            found = holder.property(name)
        assert found is not None
        return msgspec.structs.replace(found, name=join_path(path))

    def type(self, place: Place) -> Type:
        """The type of the property at a place."""
        return self.property(place).type

    def type_inside(self, version: ApiVersion, path: Path) -> Type:
        """The type of a property that a path leads to, whatever follows it."""
        return self._nested_property(version, path).type

    def names(self, version: ApiVersion) -> tuple[str, ...]:
        """The names of the object's own properties that conversion follows, in alphabetical order."""
        if version not in self._names:
            names = self.held(version)
            self._names[version] = tuple(
                name for name in names if Place(version, name) not in self.given
            )
        return self._names[version]

    @cached_property
    def envelope(self) -> tuple[str, ...]:
        """The properties of a root object that name it; empty for every other lineage."""
        return self.evolution.envelope(self)

    def held(self, version: ApiVersion) -> tuple[str, ...]:
        """The names of all properties that objects hold, those that are followed elsewhere too."""
        definition = self.definition(version)
        envelope = self.envelope
        names = [each.name for each in definition.properties if each.name not in envelope]
        if definition.additional is not None:
            names.append(ADDITIONAL)
        return tuple(sorted(names))

    def lifted(self, version: ApiVersion) -> Mapping[str, Path]:
        """The properties of nested objects that are followed here, as paths, by what they are called."""
        return self._lifted.get(version, {})

    @cached_property
    def _lifted(self) -> Mapping[ApiVersion, Mapping[str, Path]]:
        from trundle.evolution._lifting import lifted_paths  # noqa: PLC0415 - a room's inner cycle

        return {
            version: {join_path(path): path for path in paths}
            for version, paths in lifted_paths(self).items()
        }

    @cached_property
    def nested_changes(self) -> tuple[TypeChanges, ...]:
        """The rules of nested types that move what is followed here, as seen from here."""
        from trundle.evolution._lifting import nested_changes  # noqa: PLC0415 - a room's inner cycle

        return nested_changes(self)

    def path(self, place: Place) -> Path:
        """The names that lead from an object to the property at a place."""
        return self.lifted(place.version).get(place.property, (place.property,))

    def leaves(self, place: Place) -> tuple[str, ...]:
        """The properties of the nested object at a place that are followed here."""
        path = self.path(place)
        lifted = self.lifted(place.version).values()
        return tuple(sorted(each[-1] for each in lifted if each[:-1] == path))

    @cached_property
    def bare(self) -> "BareLineage":
        """This lineage with nothing lifted: where the properties of nested objects lead by themselves."""
        from trundle.evolution._bare import BareLineage  # noqa: PLC0415 - a room's inner cycle

        return BareLineage(self)

    def implied(self, version: ApiVersion) -> tuple[str, ...]:
        """Properties that a version takes as additional ones and another version names."""
        if self.definition(version).additional is None:
            return ()
        return tuple(sorted(self._named - set(self.names(version))))

    @cached_property
    def _named(self) -> frozenset[str]:
        """The names that any version declares."""
        envelope = self.envelope
        return frozenset(
            each.name
            for version in self.nodes
            for each in self.definition(version).properties
            if each.name not in {*envelope, *self.labels.get(version, ())}
        )

    def followed(self, version: ApiVersion) -> tuple[str, ...]:
        """All names that conversion follows in a version, implied ones too, in alphabetical order."""
        if version not in self._followed:
            names = (*self.names(version), *self.implied(version), *self.lifted(version))
            self._followed[version] = tuple(sorted(names))
        return self._followed[version]

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """All pairs of places that meet, in the order of their older places."""
        from trundle.evolution._linking import link_places  # noqa: PLC0415 - a room's inner cycle

        return link_places(self)

    @cached_property
    def respelled(self) -> Mapping[Place, int]:
        """The places whose enums show their own letter case, numbered by what conversions join."""
        return respelled(self, self.links)

    @cached_property
    def own_texts(self) -> Mapping[Place, tuple[Place, ...]]:
        """By place of an enum that shows its own letter case: the entries that may have what its clients wrote."""
        from trundle.evolution._own_text import own_texts  # noqa: PLC0415 - a room's inner cycle

        return own_texts(self)

    @cached_property
    def threads(self) -> tuple[Thread, ...]:
        """All threads, in the order of their first places."""
        places = [Place(v, name) for v in self.nodes for name in self.followed(v)]
        group = {place: {place} for place in places}
        for link in self.links:
            ours, theirs = group[link.older], group[link.newer]
            if ours is theirs or not self._carries(link):
                continue
            if {p.version for p in ours} & {p.version for p in theirs}:
                continue
            ours |= theirs
            for place in theirs:
                group[place] = ours
        distinct = {id(each): each for each in group.values()}
        ordered = sorted(tuple(sorted(each)) for each in distinct.values())
        return tuple(Thread(number, each) for number, each in enumerate(ordered))

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
        return tuple(self.evolution.hooks.derivations(self))

    @cached_property
    def _thread_of(self) -> Mapping[Place, Thread]:
        found = {place: thread for thread in self.threads for place in thread.places}
        if METADATA in self.envelope:
            metadata = tuple(Place(version, METADATA) for version in self.nodes)
            found.update(dict.fromkeys(metadata, Thread(len(self.threads), metadata)))
        return found

    def is_metadata(self, place: Place) -> bool:
        """Whether a place is the metadata of a resource."""
        return place.property == METADATA and METADATA in self.envelope

    def label(self, place: Place) -> Label | None:
        """The label or annotation that documents have for the property at a place; None for any other property."""
        known = place.property in self.labels.get(place.version, ())
        return label_of(place.property) if known else None

    def thread(self, place: Place) -> Thread:
        """The thread that a place belongs to."""
        return self._thread_of[place]

    def nullable(self, place: Place) -> bool:
        """Whether any version admits null in the thread of a place."""
        if place in self.given:
            assert self.around is not None
            return self.around.nullable(self.given[place])
        thread = self._thread_of.get(place)
        return thread is not None and thread.number in self._nullable

    @cached_property
    def _nullable(self) -> frozenset[int]:
        """The numbers of the threads in which some version admits null."""
        return frozenset(
            thread.number
            for thread in self.threads
            if any(isinstance(self.type(place), Nullable) for place in thread.places)
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

    def _conversions(self) -> Iterator[Derivation]:
        owned = {(each.output, each.inputs[0].version) for each in self.hooks}
        for link in self.links:
            conversion = link.conversion
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

    @cached_property
    def namesakes(self) -> Mapping[int, tuple[Place, ...]]:
        """By thread number: the places of other threads that share a name, without a conversion."""
        found: dict[int, list[Place]] = {}
        for link in self.links:
            if link.conversion is None:
                found.setdefault(self.thread(link.older).number, []).append(link.newer)
                found.setdefault(self.thread(link.newer).number, []).append(link.older)
        return {number: tuple(each) for number, each in found.items()}

    def child(self, place: Place, key: str) -> "Lineage":
        """The lineage of a nested object type: the definition `key` as the property at `place` has it."""
        if place in self.given:
            assert self.around is not None
            return self.around.child(self.given[place], key)
        if not self._children:
            self._children = dict(self._find_children())
        return self._children[place, key]

    def _find_children(self) -> Iterator[tuple[tuple[Place, str], "Lineage"]]:
        schemas = self.evolution
        group: dict[tuple[Place, str], set[tuple[Place, str]]] = {}
        for version in self.nodes:
            for name in self.followed(version):
                place = Place(version, name)
                for key in schemas.objects_in(version, self.type(place)):
                    group[place, key] = {(place, key)}
        for link in self.links:
            for pair in object_pairs(link.conversion):
                ours, theirs = group[link.older, pair.older], group[link.newer, pair.newer]
                if ours is theirs or {p.version for p, _ in ours} & {p.version for p, _ in theirs}:
                    continue
                ours |= theirs
                for member in theirs:
                    group[member] = ours
        made: dict[int, Lineage] = {}
        for (place, key), members in group.items():
            if id(members) not in made:
                made[id(members)] = self._make_child(members)
            yield (place, key), made[id(members)]

    def _make_child(self, members: Iterable[tuple[Place, str]]) -> "Lineage":
        nodes = {place.version: key for place, key in members}
        given = {
            Place(place.version, leaf): Place(place.version, join_path((*self.path(place), leaf)))
            for place, _ in members
            for leaf in self.leaves(place)
        }
        if given:
            return Lineage(self.evolution, nodes, given, self)
        return self.evolution.lineage(nodes)


class _HookOutput(msgspec.Struct, frozen=True):
    output: Place
    inputs: tuple[Place, ...]
    between: Neighbours


def with_labels(definition: ObjectType, labels: Iterable[str]) -> ObjectType:
    """An object with some labels and annotations as properties."""
    if not labels:
        return definition
    added = (Property(name, Scalar("string")) for name in labels)
    properties = tuple(sorted((*definition.properties, *added), key=lambda each: each.name))
    return msgspec.structs.replace(definition, properties=properties)


def additional_property(definition: ObjectType) -> Property:
    """The additional properties of an object, as one property that holds a map."""
    assert definition.additional is not None
    return Property(ADDITIONAL, MapOf(definition.additional))


def object_pairs(conversion: Conversion | None) -> Iterable[ConvertObject]:
    """All pairs of object types that meet within a conversion."""
    match conversion:
        case ConvertObject():
            yield conversion
        case EachItem(inner) | EachValue(inner) | NullFits(inner) | Wrap(inner) | Unwrap(inner):
            yield from object_pairs(inner)
        case Keyed(item=inner):
            yield from object_pairs(inner)
        case ByVariant(variants=variants):
            for each in variants:
                yield from object_pairs(each.conversion)
        case Same() | Narrow() | EnumText() | MapValues() | ConvertScalar() | CallHook() | None:
            return
        case _:
            assert_never(conversion)
