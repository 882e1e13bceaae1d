"""The resource types that are served: what clients call them and their versions, and what the scheme calls them."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trundle.evolution import Lineage, ResourceLineage
from trundle.project import (
    FindingsError,
    NamedKind,
    Project,
    name_clashes,
    named_kind,
    preference,
)
from trundle.runtime import AnyScheme, ResourceType
from trundle.schema import ABSENT, KindNames, ObjectType, PrinterColumn, Resource, Schema
from trundle.version import ApiVersion, own_spelling

_CREATED = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in "
    "happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in "
    "UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
_AGE = PrinterColumn("Age", ".metadata.creationTimestamp", "date", description=_CREATED)
_KINDS = 1024
"""Of how many resource types it is known at a time whether they have a status apart; each request asks."""


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """A version of a resource type that clients may use.

    Attributes:
        label: the version as clients write it, e.g. `v20190909`.
        version: the version as the scheme knows it, e.g. `2019-09-09`.
        schema: all that the version declares.
        resource: the resource type in the schema.
    """

    label: str
    version: str
    schema: Schema
    resource: Resource

    @property
    def root(self) -> str:
        """The definition of the resource type in the schema."""
        return self.resource.root

    @property
    def deprecated(self) -> str:
        """What clients are warned with; empty where the version is not deprecated."""
        return self.resource.deprecated

    @property
    def is_preview(self) -> bool:
        """Whether it is a preview; clients prefer every other version."""
        return ApiVersion.parse(self.version).preview

    def is_version(self, version: ApiVersion) -> bool:
        """Whether it is a version, however that is spelt."""
        return ApiVersion.parse(self.version) == version

    @property
    def has_status(self) -> bool:
        """Whether its status is a subresource: where its CRD says so; of other formats, where it has such a property."""
        said = self.resource.status_apart
        return self.declares("status") if said is None else said

    @property
    def says_nullable(self) -> bool:
        """Whether its schema says `nullable` wherever null may be: that of a CRD does, which says of the status, too, where it is."""
        return self.resource.status_apart is not None

    @property
    def selectable(self) -> tuple[str, ...]:
        """The fields that selectors may name beside name and namespace, such as `spec.color`."""
        return tuple(each.removeprefix(".") for each in self.resource.selectable)

    def is_whole(self, key: str) -> bool:
        """Whether a definition is a whole resource of Kubernetes inside another one, of whatever kind."""
        found = self.schema.definitions[key]
        return (
            isinstance(found, ObjectType) and found.embedded and found.property("kind") is not None
        )

    def declares(self, name: str) -> bool:
        """Whether the resource type has a property at this version."""
        root = self.schema.definitions[self.root]
        return isinstance(root, ObjectType) and any(each.name == name for each in root.properties)


@dataclass(frozen=True, slots=True, eq=False)
class ServedKind:
    """A resource type as clients see it.

    Attributes:
        resource: what the scheme calls it.
        group: its API group.
        kind: its name in documents.
        list_kind: what lists of its objects have as their kind.
        plural: its name in URLs.
        singular: its name for one object.
        short_names: further names for kubectl.
        categories: the groups of resource types it is listed under, e.g. `all`.
        namespaced: whether its objects are in namespaces.
        columns: what tables show after the name, where the project says it of all versions; else empty.
        versions: the versions that are served, by label; the preferred one first.
        lineage: how its root object is followed from version to version.
        hub: the version in whose words owners of fields are kept.
        type_text: what documents of the scheme have as `type`, where that names the resource type; else empty.
        said_group: the group that documents of the scheme have before their version; may be empty.
        is_core: whether it is one of Kubernetes' own, which API servers treat otherwise than custom resources.
        is_review: whether its objects are questions, which are answered and not stored.
        kept_empty: the texts that objects of such a resource type show where they are empty, too.
    """

    resource: str
    group: str
    kind: str
    list_kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    namespaced: bool
    columns: tuple[PrinterColumn, ...]
    versions: Mapping[str, ServedVersion]
    lineage: Lineage
    hub: ApiVersion
    type_text: str = ""
    said_group: str = ""
    is_core: bool = False
    is_review: bool = False
    kept_empty: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        """Its name as messages have it: `people.crm.example.com`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def named(self) -> NamedKind:
        """What its names are compared with others by."""
        newest = next(iter(self.versions.values()))
        names = KindNames(
            kind=self.kind,
            list_kind=self.list_kind,
            plural=self.plural,
            singular=self.singular,
            short_names=self.short_names,
        )
        where = newest.schema.definitions[newest.root].source
        return NamedKind(self.resource, self.group, names, where)

    def api_version(self, served: ServedVersion) -> str:
        """The `apiVersion` of its documents at a version."""
        return f"{self.group}/{served.label}" if self.group else served.label

    def columns_at(self, served: ServedVersion) -> tuple[PrinterColumn, ...]:
        """What tables of a version show after the name: what the project says, else what its CRD does, else the age."""
        return self.columns or served.resource.names.columns or (_AGE,)

    def keeps_status(self, served: ServedVersion) -> bool:
        """Whether what a client of a version writes of an object leaves its status as it is: it is written apart.

        Not so where the version's CRD has no such subresource: there, the status is a property like any other.
        """
        return served.resource.status_apart is not False and self.has_status

    @property
    def has_status(self) -> bool:
        """Whether its status is a subresource at any version."""
        return _has_status(self)


@functools.lru_cache(_KINDS)
def _has_status(kind: ServedKind) -> bool:
    return any(each.has_status for each in kind.versions.values())


def defaults_of(served: ServedVersion) -> dict[str, Any]:
    """What an object of a version has without anything being said of it."""
    properties = served.schema.object(served.root).properties
    return {each.name: each.default for each in properties if each.default is not ABSENT}


def served_kinds(projects: Iterable[Project], scheme: AnyScheme) -> tuple[ServedKind, ...]:
    """The resource types that a scheme serves, as its project names them.

    Args:
        projects: the parts of the project; one, or one for each group.
        scheme: the scheme of the package that was generated from it.

    Raises:
        FindingsError: two of one group have a name that only one can have.
    """
    found = tuple(
        kind
        for project, resource, called, type_ in _described(projects, scheme)
        if (
            kind := _kind(project, resource, called, type_, resource.served(project.config.horizon))
        )
    )
    require_apart(found)
    return found


def require_apart(kinds: Iterable[ServedKind]) -> None:
    """Refuses resource types of one group of which clients could reach one only.

    Raises:
        FindingsError: two of them have a name that only one can have.
    """
    if clashes := tuple(name_clashes(each.named for each in kinds)):
        raise FindingsError(clashes)


def converted_kinds(projects: Iterable[Project], scheme: AnyScheme) -> tuple[ServedKind, ...]:
    """Like `served_kinds`, with every version that the scheme converts, also those that are not served any more."""
    return tuple(
        kind
        for project, resource, called, type_ in _described(projects, scheme)
        if (kind := _kind(project, resource, called, type_, resource.versions.versions))
    )


def _described(
    projects: Iterable[Project], scheme: AnyScheme
) -> Iterator[tuple[Project, ResourceLineage, str, ResourceType]]:
    """Each resource type of a scheme with the part that describes it, and what the scheme calls it."""
    for project in projects:
        evolved = {
            (each.name.casefold(), each.resources[each.versions.hub].group.casefold()): each
            for each in project.evolution.resources
        }
        for called, type_ in scheme.resources.items():
            resource = evolved.get((type_.name.casefold(), type_.group.casefold()))
            if resource is not None:
                yield project, resource, called, type_


def _kind(
    project: Project,
    resource: ResourceLineage,
    called: str,
    type_: ResourceType,
    versions: Iterable[ApiVersion],
) -> ServedKind | None:
    """A resource type at some of its versions, as far as its scheme converts them; None where there are none."""
    schemas = {each.version: each for each in project.schemas}
    texts = {own_spelling(text, schemas): text for text in type_.versions}
    served = [
        ServedVersion(each.label, texts[each], schemas[each], resource.resources[each])
        for each in sorted(versions, key=preference)
        if each in texts
    ]
    if not served:
        return None
    named = named_kind(project, resource)
    by_text = type_.name_property != "kind"
    return ServedKind(
        resource=called,
        group=named.group,
        kind=named.names.kind,
        list_kind=named.names.list_kind,
        plural=named.names.plural,
        singular=named.names.singular,
        short_names=named.names.short_names,
        categories=named.names.categories,
        namespaced=(named.names.scope or _scope(served)) != "Cluster",
        columns=named.names.columns,
        versions={each.label: each for each in served},
        lineage=resource.root,
        hub=resource.versions.hub,
        type_text=type_.name if by_text else "",
        said_group="" if by_text else type_.group,
    )


def _scope(served: Iterable[ServedVersion]) -> Literal["Cluster", "Namespaced"]:
    scopes = {x.scope for each in served for x in each.schema.resources if x.root == each.root}
    return "Cluster" if "Cluster" in scopes else "Namespaced"
