"""The rows of a store in one transaction: read as records, and written."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    func,
    literal,
    select,
    text,
    tuple_,
    update,
)

from trundle.database import rows, write
from trundle.store import _statements as s
from trundle.store import _tables as t
from trundle.store._records import ChangeKind, Key, ObjectChange, ObjectChoice, StoredObject
from trundle.store._selectors import condition

_R, _V = t.RESOURCES.c, t.REVISIONS.c

_END = 2**62
"""More than any resource version."""


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """A resource type in a store.

    Attributes:
        id: its number within the database.
        group: its API group.
        name: its name.
        resource_version: that of its last write.
        compacted: up to which resource version replaced revisions are gone.
        written: when its last write was.
        storage_version: what is stored from now on.
    """

    id: int
    group: str
    name: str
    resource_version: int
    compacted: int
    written: str
    storage_version: str


@dataclass(frozen=True, slots=True)
class Revision:
    """A write that is to be stored.

    Attributes:
        kind: what it does.
        object: the object after it.
        previous: the resource version that it replaces; None for a new object.
    """

    kind: ChangeKind
    object: StoredObject
    previous: int | None


def _behind(choice: ObjectChoice, place: tuple[str, str]) -> ColumnElement[bool]:
    """What holds for the rows of objects behind a namespace and name.

    Within one namespace only the name says where to go on: SQLite does not see that rows behind a pair are in order, and
    would sort all of them.
    """
    if choice.namespace is not None:
        return _V.name > place[1]
    return tuple_(_V.namespace, _V.name) > place


def conditions(choice: ObjectChoice) -> list[ColumnElement[bool]]:
    """What holds for the rows of some objects."""
    found = [*condition(choice.labels, _V.labels)]
    if choice.namespace is not None:
        found.append(_V.namespace == choice.namespace)
    if choice.name is not None:
        found.append(_V.name == choice.name)
    return found


class Rows:
    """The rows of a store in a transaction.

    Args:
        connection: the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._on_server = connection.dialect.name == "postgresql"

    # Resource types

    def resource(self, group: str, name: str, *, locked: bool = False) -> ResourceRow | None:
        """A resource type; None before anything of it was stored.

        Args:
            group: its API group.
            name: its name.
            locked: whether others wait who lock it, until the transaction ends.
        """
        statement = s.RESOURCE_LOCKED if locked else s.RESOURCE
        values = {"group_": group, "name_": name}
        found = rows(self._connection, statement, values)
        return ResourceRow(*found[0]) if found else None

    def resources(self) -> tuple[ResourceRow, ...]:
        """All resource types of the store."""
        statement = select(*_R).order_by(_R.api_group, _R.name)
        return tuple(ResourceRow(*each) for each in self._connection.execute(statement))

    def add_resource(self, group: str, name: str, storage_version: str) -> None:
        """Adds a resource type; another writer may do so at the same time."""
        row = {
            "api_group": group,
            "name": name,
            "resource_version": 1,  # Clients mean something else by 0.
            "compacted": 1,
            "written": "",
            "storage_version": storage_version,
        }
        self._connection.execute(_inserted_once(self._connection), row)

    def set_storage_version(self, group: str, name: str, version: str) -> None:
        """Changes what is stored of a resource type from now on."""
        statement = update(t.RESOURCES).where(_R.api_group == group, _R.name == name)
        self._connection.execute(statement.values(storage_version=version))

    def unrolled(
        self,
        resource: ResourceRow,
        name: str,
        version: str,
        after: int,
        limit: int,
        up_to: int | None = None,
    ) -> tuple[StoredObject, ...]:
        """Revisions that are not stored in some version, in the order of their resource versions.

        Args:
            resource: the resource type.
            name: what the scheme calls it.
            version: the version.
            after: the resource version behind which to start.
            limit: how many at most.
            up_to: the last resource version; that of the last revision where None.
        """
        last = _END if up_to is None else up_to
        values = {"of": resource.id, "after": after, "version": version, "most": limit}
        found = self._connection.execute(s.UNROLLED, {**values, "up_to": last})
        return tuple(object_of(name, each) for each in found)

    def span_unrolled(self, resource: ResourceRow, version: str) -> tuple[int, int, int]:
        """How many revisions are not stored in some version, and the first and the last resource version of these."""
        values = {"of": resource.id, "after": 0, "version": version}
        count, first, last = self._connection.execute(s.SPAN_UNROLLED, values).one()
        return int(count), int(first or 0), int(last or 0)

    def keeps_others(self, resource: ResourceRow, versions: Collection[str]) -> bool:
        """Whether any revision is stored in another version than these."""
        chosen = (s.OF, _V.storage_version.not_in(sorted(versions)))
        found = self._connection.execute(
            select(literal(1)).where(*chosen).limit(1), {"of": resource.id}
        )
        return found.first() is not None

    def rewrite(self, resource: ResourceRow, rolled: Sequence[StoredObject]) -> None:
        """Stores the same revisions in another shape."""
        values = [
            {
                "of": resource.id,
                "number": each.resource_version,
                "new_version": each.storage_version,
                "new_labels": each.labels,
                "new_data": each.data,
            }
            for each in rolled
        ]
        self._connection.execute(s.REWRITE, values)

    def compact(self, resource: ResourceRow, up_to: int) -> int:
        """Removes revisions that were replaced up to a resource version; gives how many.

        Args:
            resource: the resource type.
            up_to: the resource version.
        """
        values = {"of": resource.id, "after": resource.compacted, "up_to": up_to}
        self._connection.execute(s.SET_COMPACTED, {"of": resource.id, "up_to": up_to})
        removed = [self._connection.execute(each, values).rowcount for each in s.FORGET]
        return sum(removed)

    def go_on_behind(self, resource: ResourceRow, version: int) -> int:
        """Gives later writes resource versions behind some version, which all earlier states are compacted up to; gives how many revisions are gone.

        Args:
            resource: the resource type, locked.
            version: the resource version.
        """
        values = {"of": resource.id, "last": version, "time": resource.written}
        self._connection.execute(s.COUNT, values)
        return self.compact(resource, version)

    def written_until(self, resource: ResourceRow, time: str) -> int:
        """The last resource version that was written until some time; what was compacted counts as such."""
        values = {"of": resource.id, "after": resource.compacted, "time": time}
        found: int | None = self._connection.execute(s.WRITTEN_UNTIL, values).scalar()
        return resource.compacted if found is None else found

    def kept(self) -> dict[tuple[int, str, bool], tuple[int, int]]:
        """How many revisions there are, and how many bytes they have; by resource type, storage version, and whether they are current."""
        return {
            (each[0], each[1], bool(each[2])): (each[3], each[4] or 0)
            for each in self._connection.execute(s.KEPT)
        }

    def counted(self) -> dict[tuple[int, str], int]:
        """How many objects there are, by resource type and storage version; what they are is not looked at."""
        return {(each[0], each[1]): each[2] for each in self._connection.execute(s.COUNTED)}

    # Objects

    def one(self, resource: int, key: Key) -> StoredObject | None:
        """An object as it is now; None where there is none."""
        found = rows(self._connection, *one(resource, key))
        return object_of(key.resource, found[0]) if found else None

    def current(self, resource: int, keys: Collection[Key]) -> dict[Key, StoredObject]:
        """The objects of some keys as they are now, as far as there are any; all of the keys are of one resource type."""
        names: dict[str, list[Key]] = {}
        for each in keys:
            names.setdefault(each.namespace, []).append(each)
        found = []
        for namespace, of in names.items():  # A condition on pairs of columns would use no index.
            if len(of) == 1 or not self._on_server:
                found += [self.one(resource, each) for each in of]
                continue
            values = {"of": resource, "namespace_": namespace, "names": [each.name for each in of]}
            some = rows(self._connection, s.SOME, values)
            found += [object_of(of[0].resource, each) for each in some]
        return {each.key: each for each in found if each is not None}

    def all(self, resource: ResourceRow, together: int) -> Iterator[StoredObject]:
        """All objects of a resource type, by namespace and name, read from the database so many at a time."""
        options = {"yield_per": together}
        values = {"of": resource.id}
        found = self._connection.execute(s.ALL, values, execution_options=options)
        for each in found:
            yield object_of(resource.name, each)

    def owned(self, resource: ResourceRow, name: str, uid: str) -> tuple[StoredObject, ...]:
        """The objects of a resource type that name an owner, by namespace and name."""
        statement = s.OWNED.where(text(s.OWNED_ON_SERVER if self._on_server else s.OWNED_IN_FILE))
        found = self._connection.execute(statement, {"of": resource.id, "owner": uid})
        return tuple(object_of(name, each) for each in found)

    def unsettled(self, resource: ResourceRow) -> tuple[StoredObject, ...]:
        """The objects of a resource type that have owners, or are marked as deleted."""
        found = self._connection.execute(s.UNSETTLED, {"of": resource.id})
        return tuple(object_of(resource.name, each) for each in found)

    def namespaces(self, resource: ResourceRow) -> frozenset[str]:
        """The namespaces that objects of a resource type are in."""
        found = self._connection.execute(s.NAMESPACES, {"of": resource.id})
        return frozenset(each for (each,) in found if each)

    def listed(
        self,
        resource: ResourceRow,
        name: str,
        choice: ObjectChoice,
        *,
        at: int,
        after: tuple[str, str] | None,
        limit: int,
    ) -> tuple[StoredObject, ...]:
        """Objects as they were at a resource version, by namespace and name.

        Args:
            resource: their resource type.
            name: what the scheme calls it.
            choice: which of them.
            at: the resource version.
            after: namespace and name behind which to start; None to start with the first.
            limit: how many at most.
        """
        chosen = [s.OF, *conditions(choice)]
        if after is not None:
            chosen.append(_behind(choice, after))
        past = at < resource.resource_version
        since = [_V.resource_version <= at] if past else []
        found = self._sorted(resource, name, [*chosen, s.CURRENT, *since], limit)
        if past:  # What was replaced since; a condition for both would use no index.
            if len(found) == limit:
                last = found[-1].key
                chosen.append(tuple_(_V.namespace, _V.name) < (last.namespace, last.name))
            found += self._sorted(resource, name, [*chosen, _V.replaced > at, *since], limit)
            found.sort(key=lambda each: each.key)
        return tuple(found[:limit])

    def every(self, resource: ResourceRow, name: str, size: int) -> tuple[Key, ...]:
        """The key of each so manieth object of a resource type as it is now, by namespace and name.

        Args:
            resource: the resource type.
            name: what the scheme calls it.
            size: how many objects there are from one to the next.
        """
        rows = self._connection.execute(s.EVERY, {"of": resource.id, "size": size})
        return tuple(Key(name, each.namespace, each.name) for each in rows)

    def number(self, number: int, choice: ObjectChoice, most: int) -> int | None:
        """How many objects of a resource type there are now; None where these are more than `most`.

        Args:
            number: that of the resource type.
            choice: which of them.
            most: how many are counted.
        """
        chosen = select(literal(1)).where(s.OF, s.CURRENT, *conditions(choice)).limit(most + 1)
        statement = select(func.count()).select_from(chosen.subquery())
        found = int(self._connection.execute(statement, {"of": number}).scalar_one())
        return found if found <= most else None

    def _sorted(
        self, resource: ResourceRow, name: str, chosen: Sequence[ColumnElement[bool]], limit: int
    ) -> list[StoredObject]:
        """The first objects of some, by namespace and name."""
        statement = select(*s.OBJECT).where(*chosen).order_by(_V.namespace, _V.name).limit(limit)
        rows = self._connection.execute(statement, {"of": resource.id})
        return [object_of(name, each) for each in rows]

    def changes(
        self, resource: ResourceRow, name: str, after: int, limit: int
    ) -> tuple[ObjectChange, ...]:
        """The first changes after a resource version.

        Args:
            resource: the resource type.
            name: what the scheme calls it.
            after: the resource version.
            limit: how many at most.
        """
        values = {"of": resource.id, "after": after, "most": limit}
        rows = self._connection.execute(s.CHANGES, values).all()
        wanted = [each.previous for each in rows if each.previous is not None]
        those = {"of": resource.id, "versions": wanted}
        before = self._connection.execute(s.AT, those).all() if wanted else []
        previous = {each.resource_version: object_of(name, each) for each in before}
        return tuple(
            ObjectChange(each.change, object_of(name, each), previous.get(each.previous))
            for each in rows
        )

    def unsettling(
        self, resource: ResourceRow, name: str, after: int, limit: int
    ) -> tuple[ObjectChange, ...]:
        """The first changes after a resource version of what has owners or is deleted, without the states before; see `changes`."""
        values = {"of": resource.id, "after": after, "most": limit}
        rows = self._connection.execute(s.UNSETTLING, values).all()
        return tuple(ObjectChange(each.change, object_of(name, each), None) for each in rows)

    def add(self, resource: ResourceRow, revisions: Sequence[Revision], time: str) -> None:
        """Stores revisions, which follow each other from the resource type's last one on.

        Args:
            resource: the resource type, locked.
            revisions: the revisions, with their resource versions.
            time: when they were written.
        """
        replaced = {
            each.previous: each.object.resource_version
            for each in revisions
            if each.previous is not None
        }
        before = [
            {"of": resource.id, "version": old, "by": new}
            for old, new in replaced.items()
            if old <= resource.resource_version
        ]
        added = [_row(resource.id, each, replaced) for each in revisions]
        counted = {"of": resource.id, "last": revisions[-1].object.resource_version, "time": time}
        write(
            self._connection,
            (s.REPLACE, before),  # First, as no two revisions of an object may be current.
            (s.ADD, added),
            (s.COUNT, [counted]),
        )


def _row(resource: int, revision: Revision, replaced: Mapping[int, int]) -> dict[str, Any]:
    found = revision.object
    version = found.resource_version
    return {
        "resource": resource,
        "resource_version": version,
        "namespace": found.key.namespace,
        "name": found.key.name,
        "change": revision.kind,
        "previous": revision.previous,
        "replaced": version if revision.kind == "deleted" else replaced.get(version),
        "uid": found.uid,
        "generation": found.generation,
        "created": found.created,
        "deleted": found.deleted,
        "written": found.written,
        "labels": found.labels,
        "finalizers": found.finalizers,
        "owners": found.owners,
        "storage_version": found.storage_version,
        "written_with": found.written_with,
        "data": found.data,
    }


def one(resource: int, key: Key) -> tuple[Select[Any], dict[str, Any]]:
    """The query for an object as it is now, and its parameters."""
    return s.ONE, {"of": resource, "namespace_": key.namespace, "name_": key.name}


def object_of(resource: str, row: Sequence[Any]) -> StoredObject:
    """The object of a row, whose resource type the scheme calls so."""
    return StoredObject(
        key=Key(resource, row[0], row[1]),
        uid=row[2],
        resource_version=row[3],
        generation=row[4],
        created=row[5],
        deleted=row[6],
        written=row[7],
        labels=row[8],
        finalizers=tuple(row[9]),
        owners=tuple(row[10]),
        storage_version=row[11],
        written_with=row[12],
        data=bytes(row[13]),
    )


def _inserted_once(connection: Connection) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite  # noqa: PLC0415

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(t.RESOURCES).on_conflict_do_nothing()
