"""The shape of stored objects, as `trundle.lock` records it.

A release is one resource type in one storage version: the properties of its root and of all types within,
the entries that its property bags may have, and what became of each property's name in other versions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from trundle.evolution import HookDeclaration, Lineage, Place, ResourceLineage, TypeChanges
from trundle.project._recorded_types import RecordedType, record_type
from trundle.project.changes import BY_PROPERTY
from trundle.report import children
from trundle.schema import (
    EnumType,
    Nullable,
    Type,
)
from trundle.version import ApiVersion


class StoredType(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An object within a stored object.

    Attributes:
        version: the version whose shape it has, where that is not the release's.
        versions: the versions that had the type at its place, where these are not the release's.
        properties: the type of each property.
        renamed: what a property is called in other versions that call it otherwise.
        apart: versions in which another property has the same name.
        bag: the type of each entry that its property bag may have, by `property@version`.
    """

    version: str = ""
    versions: list[str] = []
    properties: dict[str, RecordedType] = {}
    renamed: dict[str, dict[str, str]] = {}
    apart: dict[str, list[str]] = {}
    bag: dict[str, RecordedType] = {}


class StoredHook(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A hook that conversions of stored objects called."""

    type: str
    between: list[str]
    use: str
    assign: list[str] = []
    converters: list[str] = []


class StoredRelease(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A resource type in one storage version.

    Attributes:
        root: name of the root's type among `types`.
        versions: the versions that had the resource type when this was recorded.
        types: all object types within, by name.
        changes: the configured changes that conversions rely on, by version and type.
        hooks: the hooks that conversions rely on.
        group: the API group that stored objects name; empty for none, and in what earlier releases recorded.
    """

    root: str
    versions: list[str]
    types: dict[str, StoredType]
    changes: dict[str, dict[str, dict[str, Any]]] = {}
    hooks: list[StoredHook] = []
    group: str = ""


def respelt(release: StoredRelease, own: Callable[[str], str]) -> StoredRelease:
    """A release that spells each version as `own` does, so that it can be checked against schemas."""

    def entry(place: str) -> str:
        name, _, version = place.rpartition("@")
        return f"{name}@{own(version)}"

    def of_type(each: StoredType) -> StoredType:
        return StoredType(
            version=own(each.version) if each.version else "",
            versions=[own(version) for version in each.versions],
            properties=each.properties,
            renamed={
                name: {own(version): other for version, other in others.items()}
                for name, others in each.renamed.items()
            },
            apart={name: [own(x) for x in versions] for name, versions in each.apart.items()},
            bag={entry(place): text for place, text in each.bag.items()},
        )

    return StoredRelease(
        root=release.root,
        versions=[own(version) for version in release.versions],
        types={name: of_type(each) for name, each in release.types.items()},
        changes={own(version): types for version, types in release.changes.items()},
        hooks=[
            msgspec.structs.replace(each, between=[own(version) for version in each.between])
            for each in release.hooks
        ],
        group=release.group,
    )


def release_of(resource: ResourceLineage, version: ApiVersion) -> StoredRelease:
    """The shape of a resource type's stored objects in a storage version."""
    recording = _Recording(version, [str(each) for each in resource.versions.versions])
    root = recording.name(resource.root, version)
    recording.finish()
    inner = reached(resource.root)
    names = {
        (at, name) for lineage in inner for at in lineage.nodes for name in _names(lineage, at)
    }
    evolution = resource.root.evolution
    return StoredRelease(
        root=root,
        versions=recording.versions,
        types={name: recording.types[name] for name in sorted(recording.types)},
        changes=_changes(evolution.all_changes, names),
        hooks=_hooks(evolution.hooks, names),
        group=resource.resources[version].group,
    )


def reached(root: Lineage) -> tuple[Lineage, ...]:
    """A lineage and all that are within it."""
    found: dict[Lineage, None] = {root: None}
    waiting = [root]
    while waiting:
        for child in children(waiting.pop()):
            if child not in found:
                found[child] = None
                waiting.append(child)
    return tuple(found)


def _names(lineage: Lineage, version: ApiVersion) -> list[str]:
    """The names of a lineage's type and of the enums within."""
    definition = lineage.definition(version)
    schema = lineage.evolution.schema(version)
    types = [each.type for each in definition.properties]
    keys = {key for each in types for key in lineage.evolution.definitions_in(each)}
    enums = [schema.definitions[key] for key in keys]
    return [definition.name, *(each.name for each in enums if isinstance(each, EnumType))]


def _changes(
    changes: Iterable[TypeChanges], names: set[tuple[ApiVersion, str]]
) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for each in sorted(changes, key=lambda each: (each.version, each.type)):
        if (each.version, each.type) not in names:
            continue
        rules = {rule: getattr(each, rule) for rule in BY_PROPERTY if rule != "default"}
        kept = {rule: _ordered(value) for rule, value in rules.items() if value}
        if each.rename_type is not None:
            kept["renameType"] = each.rename_type
        if kept:
            found.setdefault(str(each.version), {})[each.type] = dict(sorted(kept.items()))
    return found


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _ordered(value[name]) for name in sorted(value)}
    return sorted(value) if isinstance(value, tuple) else value


def _hooks(
    declarations: tuple[HookDeclaration, ...], names: set[tuple[ApiVersion, str]]
) -> list[StoredHook]:
    found = [
        StoredHook(
            type=each.reference.type,
            between=[str(each.reference.older), str(each.reference.newer)],
            use=each.reference.use,
            assign=sorted(each.assign),
            converters=sorted(each.converters),
        )
        for each in declarations
        if (each.reference.older, each.reference.type) in names
    ]
    return sorted(found, key=lambda each: (each.between, each.type, each.use))


class _Recording:
    """Records the types of a release, each lineage and version once."""

    def __init__(self, version: ApiVersion, versions: list[str]) -> None:
        self.version = version
        self.versions = versions
        self.types: dict[str, StoredType] = {}
        self._names: dict[tuple[Lineage, ApiVersion], str] = {}
        self._waiting: list[tuple[Lineage, ApiVersion]] = []

    def name(self, lineage: Lineage, version: ApiVersion) -> str:
        """What the release calls a lineage's type in a version."""
        known = self._names.get((lineage, version))
        if known is not None:
            return known
        plain = lineage.nodes[version]
        if version != self.version:
            plain = f"{plain}@{version}"
        name, number = plain, 2
        while name in self._names.values():
            name, number = f"{plain}({number})", number + 1
        self._names[lineage, version] = name
        self._waiting.append((lineage, version))
        return name

    def finish(self) -> None:
        while self._waiting:
            lineage, version = self._waiting.pop(0)
            self.types[self._names[lineage, version]] = self._type(lineage, version)

    def _type(self, lineage: Lineage, version: ApiVersion) -> StoredType:
        names = lineage.names(version)
        renamed = {name: others_called(lineage, Place(version, name)) for name in names}
        apart = {name: _apart(lineage, Place(version, name)) for name in names}
        homes = sorted(
            thread.home(version) for thread in lineage.threads if thread.at(version) is None
        )
        versions = [str(each) for each in lineage.nodes]
        return StoredType(
            version="" if version == self.version else str(version),
            versions=[] if versions == self.versions else versions,
            properties={
                name: self._record(lineage, Place(version, name)) for name in lineage.held(version)
            },
            renamed={name: each for name, each in renamed.items() if each},
            apart={name: each for name, each in apart.items() if each},
            bag={f"{x.property}@{x.version}": self._record(lineage, x) for x in homes},
        )

    def _record(self, lineage: Lineage, place: Place) -> RecordedType:
        schema = lineage.evolution.schema(place.version)

        def object_name(key: str) -> str:
            return self.name(lineage.child(place, key), place.version)

        return record_type(stored_type(lineage, place), schema, object_name)


def others_called(lineage: Lineage, place: Place) -> dict[str, str]:
    """What a property is called in other versions that call it otherwise."""
    return {
        str(each.version): each.property
        for each in lineage.thread(place).places
        if each.property != place.property
    }


def _apart(lineage: Lineage, place: Place) -> list[str]:
    """Versions in which another property has the same name."""
    thread = lineage.thread(place)
    return [
        str(version)
        for version in lineage.nodes
        if place.property in lineage.names(version)
        and lineage.thread(Place(version, place.property)) is not thread
    ]


def stored_type(lineage: Lineage, place: Place) -> Type:
    """The type that storage has at a place: it admits null wherever any version does."""
    type_ = lineage.type(place)
    return Nullable(type_) if lineage.nullable(place) and not _is_nullable(type_) else type_


def _is_nullable(type_: Type) -> bool:
    return isinstance(type_, Nullable)
