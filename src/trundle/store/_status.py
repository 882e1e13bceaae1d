"""What a store keeps: of which resource types, in which storage versions, and what a release could not read of it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trundle.database import Database, UnwritableError, open_database
from trundle.errors import Finding, Place, expectation, listed
from trundle.store._errors import StoreCode
from trundle.store._leases import Holder, holders, untakable
from trundle.store._resources import StoredType
from trundle.store._rows import ResourceRow, Rows
from trundle.store._store import Store
from trundle.version import ApiVersion

TypeName = tuple[str, str]
"""The API group and the name of a resource type."""

_STAYS = "use a release that reads it: a store does not go back to an earlier storage version"

OWN_GROUP = "core.trundle.dev"
"""The group of what servers keep beside the resource types of a project, such as namespaces; no release has these."""


@dataclass(frozen=True, slots=True)
class CountedVersion:
    """How many objects are stored in one storage version.

    Attributes:
        version: the storage version.
        objects: how many objects are stored in it.
    """

    version: str
    objects: int


@dataclass(frozen=True, slots=True)
class CountedType:
    """How many objects of a resource type are stored.

    Attributes:
        group: its API group.
        resource: its name within the group.
        storage_version: what is stored from now on.
        versions: the storage versions that have objects.
    """

    group: str
    resource: str
    storage_version: str
    versions: tuple[CountedVersion, ...]

    @property
    def name(self) -> str:
        """Group and name, as they are shown."""
        return _shown(self.group, self.resource)


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """How many objects a store keeps.

    Attributes:
        resources: its resource types.
        holders: the servers that have a lease.
    """

    resources: tuple[CountedType, ...]
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """What is stored in one storage version.

    Attributes:
        version: the storage version.
        objects: how many objects are stored in it.
        earlier: how many earlier states of objects are, which compaction removes.
        size: how many bytes all of these have.
    """

    version: str
    objects: int
    earlier: int
    size: int


@dataclass(frozen=True, slots=True)
class TypeStatus:
    """What is stored of a resource type.

    Attributes:
        group: its API group.
        resource: its name within the group.
        resource_version: that of the last write.
        compacted: up to where changes were forgotten.
        storage_version: what is stored from now on.
        versions: what is stored, by storage version.
    """

    group: str
    resource: str
    resource_version: int
    compacted: int
    storage_version: str
    versions: tuple[StoredVersion, ...]

    @property
    def name(self) -> str:
        """Group and name, as they are shown."""
        return _shown(self.group, self.resource)

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return sum(each.objects for each in self.versions)


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """What a store keeps.

    Attributes:
        where: the store.
        resources: its resource types.
        holders: the servers that have a lease.
    """

    where: str
    resources: tuple[TypeStatus, ...]
    holders: tuple[Holder, ...]

    def to_plain(self) -> dict[str, Any]:
        """The status as plain values."""
        return {
            "store": self.where,
            "resources": [_plain(each) for each in self.resources],
            "servers": [
                {"name": each.name, "expires": each.expires.isoformat()} for each in self.holders
            ],
        }


def _plain(status: TypeStatus) -> dict[str, Any]:
    return {
        "group": status.group,
        "resource": status.resource,
        "resourceVersion": status.resource_version,
        "compacted": status.compacted,
        "storageVersion": status.storage_version,
        "versions": [
            {
                "version": each.version,
                "objects": each.objects,
                "earlier": each.earlier,
                "bytes": each.size,
            }
            for each in status.versions
        ],
    }


def status(store: Store) -> StoreStatus:
    """What a store keeps, at one moment.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with store.database.reading() as connection:
        resources = _types(Rows(connection))
        return StoreStatus(store.where, resources, holders(store, connection))


def counted(store: Store) -> StoreCounts:
    """How many objects a store keeps, at one moment; a fraction of the work of `status`.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with store.database.reading() as connection:
        rows = Rows(connection)
        found = sorted(rows.counted().items())
        resources = tuple(
            CountedType(
                each.group,
                each.name,
                each.storage_version,
                tuple(CountedVersion(version, n) for (of, version), n in found if of == each.id),
            )
            for each in rows.resources()
        )
        return StoreCounts(resources, holders(store, connection))


def _shown(group: str, resource: str) -> str:
    return f"{group}/{resource}" if group else resource


def _types(rows: Rows) -> tuple[TypeStatus, ...]:
    kept = rows.kept()
    return tuple(
        TypeStatus(
            each.group,
            each.name,
            each.resource_version,
            each.compacted,
            each.storage_version,
            tuple(_versions(each, kept)),
        )
        for each in rows.resources()
    )


def _versions(
    found: ResourceRow, kept: Mapping[tuple[int, str, bool], tuple[int, int]]
) -> Iterator[StoredVersion]:
    for version in sorted({version for of, version, _ in kept if of == found.id}):
        (objects, size), (earlier, more) = (
            kept.get((found.id, version, current), (0, 0)) for current in (True, False)
        )
        yield StoredVersion(version, objects, earlier, size + more)


def unreadable_types(store: Store, holder: str) -> Iterator[tuple[StoredType, str]]:
    """The resource types that a server cannot serve, and why: something is stored that the scheme cannot read, or another server could not read what it stores.

    Args:
        store: the store.
        holder: the server; empty where it has no lease yet.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with store.database.reading() as connection:
        found = _types(Rows(connection))
        untaken = dict(untakable(store, connection, holder))
    types = {(each.group, each.name): each for each in store.types.all.values()}
    for each in found:
        type_ = types.get((each.group, each.resource))
        if type_ is None:
            continue
        there = [
            f"{_counted(stored)} in {stored.version}"
            for stored in each.versions
            if stored.version not in type_.readable
        ]
        if there:
            expected = f"{each.name} to be stored in {listed(type_.readable)}"
            advice = (
                "roll the package back, run `trundle store roll --installed`, and upgrade again"
            )
            yield type_, expectation(expected, ", ".join(there), advice)
        elif type_ in untaken:
            error = untaken[type_]
            yield type_, expectation(error.expected, error.found, error.advice)


def unserved(store: Store) -> Iterator[Finding]:
    """The resource types of which objects are stored, and which the scheme of a store does not have; so no client sees these.

    Raises:
        DatabaseError: the database cannot be read.
    """
    known = [(each.group, each.name) for each in store.types.all.values()]
    with store.database.reading() as connection:
        rows = Rows(connection)
        found = [
            each
            for each in rows.resources()
            if (each.group, each.name) not in known and each.group != OWN_GROUP
        ]
        counted = rows.counted() if found else {}
    for each in found:
        number = sum(objects for (of, _), objects in counted.items() if of == each.id)
        if number:
            others = listed([_shown(*one) for one in known if one[1] == each.name])
            yield Finding(
                StoreCode.DROPPED,
                Place(file=store.where, object=_shown(each.group, each.name)),
                f"a resource type of the project{f' such as {others}' if others else ''}",
                f"none, so that {number} object{'' if number == 1 else 's'} of it cannot be seen",
                "name it and its API group as before, or remove what is stored with the release before",
            )


def dropped(
    place: str | Path, readable: Mapping[TypeName, Collection[str]], *, only: bool = False
) -> tuple[Finding, ...]:
    """What a release could not read of what a database keeps, without its generated package.

    Args:
        place: the database; it may be one that no store was ever in.
        readable: the storage versions of the release, by resource type.
        only: whether resource types that are none of these do not matter; they are another one's then.

    Raises:
        DatabaseError: the database cannot be read.
    """
    try:
        opened = open_database(place)
    except UnwritableError:
        opened = open_database(place, read_only=True)
    with opened as database:
        return dropped_in(database, readable, only=only)


def dropped_in(
    database: Database, readable: Mapping[TypeName, Collection[str]], *, only: bool = False
) -> tuple[Finding, ...]:
    with database.reading() as connection:
        if not connection.dialect.has_table(connection, "store_resources"):
            return ()
        found = _types(Rows(connection))
    if only:
        found = tuple(each for each in found if (each.group, each.resource) in readable)
    return tuple(_dropped(database.where, found, readable))


def _dropped(
    where: str, types: Collection[TypeStatus], readable: Mapping[TypeName, Collection[str]]
) -> Iterator[Finding]:
    for each in types:
        if each.group == OWN_GROUP:
            continue
        known = readable.get((each.group, each.resource), ())
        there = {
            stored.version: (f"{_counted(stored)} in {stored.version}", stored)
            for stored in each.versions
            if stored.version not in known
        }
        expected = f"{each.name} to be stored in {listed(known)}" if known else "a store without it"
        for version, (found, stored) in there.items():
            newer = _is_newer(version, known)
            yield Finding(
                StoreCode.NEWER if newer else StoreCode.DROPPED,
                Place(file=where, object=each.name),
                expected,
                found,
                _STAYS if newer else _advice(stored, known=bool(known)),
            )


def _is_newer(version: str, known: Collection[str]) -> bool:
    """Whether a storage version comes after all that a release knows, if it knows any: the store went on from that release."""
    return bool(known) and ApiVersion.parse(version) > max(map(ApiVersion.parse, known))


def _counted(stored: StoredVersion) -> str:
    objects = "1 object" if stored.objects == 1 else f"{stored.objects} objects"
    states = "1 earlier state" if stored.earlier == 1 else f"{stored.earlier} earlier states"
    return " and ".join(
        text for number, text in ((stored.objects, objects), (stored.earlier, states)) if number
    )


def _advice(stored: StoredVersion, *, known: bool) -> str:
    if not known:
        return "keep the resource type, or delete its objects and compact the store"
    if stored.objects:
        return "keep that version, or run `trundle store roll` with the release before"
    return "keep that version, or run `trundle store roll` or `trundle store compact` with the release before"
