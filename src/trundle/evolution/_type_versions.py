"""One object type through the versions in which it exists, and the properties that it has in each of them."""

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TypeAlias

import msgspec

from trundle.evolution._changes import TypeChanges
from trundle.evolution._declared import Declared
from trundle.evolution._labels import Label, label_of
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._paths import Path, join_path
from trundle.evolution._threads import ADDITIONAL, METADATA, OWN_TEXT, PRESENCE, Place
from trundle.schema import FreeForm, MapOf, Nullable, ObjectType, Property, Ref, Scalar, Type
from trundle.version import ApiVersion

Nodes: TypeAlias = Mapping[ApiVersion, str]


class TypeVersions:
    """One object type through its versions. Nothing is lifted here; a `Lineage` follows what rules lift as well.

    Args:
        evolution: all versions.
        nodes: the key of the type's definition, by version.
        given: the places of properties that an object around it follows, by the places that they have here.
        versions: the map of the versions, where more is known of it than the nodes say.
        labels: by version the labels and annotations that are properties, for hooks write them.
        envelope: the properties that name it, where it is the root object of a resource.

    Attributes:
        nodes: the key of the type's definition, by version.
        versions: the map of these versions.
        labels: by version the labels and annotations that are properties of a stored object, and that documents
            have in their metadata.
        envelope: the properties of a root object that name it; empty for every other type.
    """

    def __init__(
        self,
        evolution: Declared,
        nodes: Nodes,
        *,
        given: Mapping[Place, Place] | None = None,
        versions: VersionMap | None = None,
        labels: Mapping[ApiVersion, tuple[str, ...]] | None = None,
        envelope: tuple[str, ...] = (),
    ) -> None:
        self.evolution = evolution
        self.nodes = dict(sorted(nodes.items()))
        self.versions = versions or VersionMap.of(nodes)
        self.given = given or {}
        self.labels = labels or {}
        self.envelope = envelope
        self._definitions = {
            version: _with_labels(
                evolution.schema(version).object(key), self.labels.get(version, ())
            )
            for version, key in self.nodes.items()
        }
        self._properties: dict[Place, Property] = {}
        self._names: dict[ApiVersion, tuple[str, ...]] = {}
        self._followed: dict[ApiVersion, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name} of {len(self.nodes)} versions>"

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
            return _additional_property(definition)
        found = definition.property(place.property)
        said = self.said_by(place)
        if found is None and said != place:
            text = place.property.endswith(OWN_TEXT)
            return Property(
                place.property, self.type(said) if text else Nullable(Scalar("boolean"))
            )
        if found is None:
            assert definition.additional is not None
            return Property(place.property, definition.additional)
        return found

    def said_by(self, entry: Place) -> Place:
        """The property that an entry of the bag says something of: itself, or one whose presence or own text it has."""
        names = self.followed(entry.version)
        of = entry.property[: -len(PRESENCE)]
        marked = entry.property not in names and of in names
        marked = marked and entry.property.endswith((PRESENCE, OWN_TEXT))
        return Place(entry.version, of) if marked else entry

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

    def held(self, version: ApiVersion) -> tuple[str, ...]:
        """The names of all properties that objects hold, those that are followed elsewhere too."""
        definition = self.definition(version)
        names = [each.name for each in definition.properties if each.name not in self.envelope]
        if definition.additional is not None:
            names.append(ADDITIONAL)
        return tuple(sorted(names))

    def lifted(self, version: ApiVersion) -> Mapping[str, Path]:
        """The properties of nested objects that are followed here, as paths, by what they are called."""
        del version
        return {}

    @cached_property
    def nested_changes(self) -> tuple[TypeChanges, ...]:
        """The rules of nested types that move what is followed here, as seen from here."""
        return ()

    def path(self, place: Place) -> Path:
        """The names that lead from an object to the property at a place."""
        return self.lifted(place.version).get(place.property, (place.property,))

    def trail(self, place: Place) -> Hashable:
        """What a place has in common with all places that are the same property in other versions, but for rules."""
        return place.property

    def holder(self, place: Place) -> "TypeVersions | None":
        """The nested type that has a lifted property itself; None for a property that is not lifted."""
        del place
        return None

    def leaves(self, place: Place) -> tuple[str, ...]:
        """The properties of the nested object at a place that are followed here."""
        path = self.path(place)
        lifted = self.lifted(place.version).values()
        return tuple(sorted(each[-1] for each in lifted if each[:-1] == path))

    def implied(self, version: ApiVersion) -> tuple[str, ...]:
        """Properties that a version takes as additional ones and another version names."""
        if self.definition(version).additional is None:
            return ()
        return tuple(sorted(self._named - set(self.names(version))))

    @cached_property
    def _named(self) -> frozenset[str]:
        """The names that any version declares."""
        return frozenset(
            each.name
            for version in self.nodes
            for each in self.definition(version).properties
            if each.name not in {*self.envelope, *self.labels.get(version, ())}
        )

    def followed(self, version: ApiVersion) -> tuple[str, ...]:
        """All names that conversion follows in a version, implied ones too, in alphabetical order."""
        if version not in self._followed:
            names = (*self.names(version), *self.implied(version), *self.lifted(version))
            self._followed[version] = tuple(sorted(names))
        return self._followed[version]

    def is_metadata(self, place: Place) -> bool:
        """Whether a place is the metadata of a resource."""
        return place.property == METADATA and METADATA in self.envelope

    def label(self, place: Place) -> Label | None:
        """The label or annotation that documents have for the property at a place; None for any other property."""
        known = place.property in self.labels.get(place.version, ())
        return label_of(place.property) if known else None


def _with_labels(definition: ObjectType, labels: Iterable[str]) -> ObjectType:
    """An object with some labels and annotations as properties."""
    if not labels:
        return definition
    added = (Property(name, Scalar("string")) for name in labels)
    properties = tuple(sorted((*definition.properties, *added), key=lambda each: each.name))
    return msgspec.structs.replace(definition, properties=properties)


def _additional_property(definition: ObjectType) -> Property:
    """The additional properties of an object, as one property that holds a map."""
    assert definition.additional is not None
    return Property(ADDITIONAL, MapOf(definition.additional))
