"""Leases: servers say what they can read, so that objects are stored in a shape that all of them can.

The storage version of a resource type moves up to the hub of a server as soon as all servers with a lease can read that. Until then the
release can be rolled back: what is stored is readable to the release before. It moves down only to a release that could not read it, as
long as nothing is stored that this one cannot read. A server that was silent for longer than its lease does no harm: what it cannot read it
does not write over.
"""

import contextlib
import datetime as dt
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, delete, func, not_, select

from trundle.database import DatabaseError, upsert
from trundle.errors import listed
from trundle.runtime import AnyScheme
from trundle.store import _tables as t
from trundle.store._compaction import go_on_apart
from trundle.store._errors import NewerShapeError
from trundle.store._put_back import difference, note_origin, note_reached
from trundle.store._resources import StoredType, unreadable
from trundle.store._rows import ResourceRow, Rows
from trundle.store._store import Store
from trundle.store._times import time_of, time_text
from trundle.version import ApiVersion

_LASTS = dt.timedelta(seconds=30)
"""For how long a renewal counts; a server renews its lease a few times in that time."""
_LONGEST = 2 * _LASTS
"""A lease that lasts longer from now on was written by a clock that was ahead; who has it renews it by the present one."""
_LOCK = "store leases"


@dataclass(frozen=True, slots=True)
class Holder:
    """A server that said what it can read.

    Attributes:
        name: its name.
        expires: until when it counts.
        reads: the storage versions that it can read, by `group/name` of resource types.
    """

    name: str
    expires: dt.datetime
    reads: Mapping[str, frozenset[str]]

    def objects_to(self, type_: StoredType, version: str) -> bool:
        """Whether it could not read what is stored in a version. It need not where it does not know the resource type."""
        reads = self.reads.get(_name(type_))
        return reads is not None and version not in reads


@dataclass(frozen=True, slots=True)
class Move:
    """The storage version of a resource type, and where it is to move.

    Attributes:
        resource: the resource type, as the scheme calls it.
        before: what was stored until now.
        after: what is stored from now on.
        held_by: the servers that cannot read it; then it did not move.
    """

    resource: str
    before: str
    after: str
    held_by: tuple[str, ...] = ()


class ServerLease:
    """Says that a server uses a store. Used as a context manager, or ended by `end`.

    Args:
        store: the store.
        holder: the name of the server, as others are shown it; one is made up where empty.
        beside: further schemes whose objects the database keeps, such as that of a control plane's namespaces.
        complain: given what the operator of the server has to know.

    Raises:
        NewerShapeError: the store keeps what this release cannot read. It must not serve then.
        DatabaseError: the database cannot be written.
    """

    def __init__(
        self,
        store: Store,
        holder: str = "",
        *,
        beside: Sequence[AnyScheme] = (),
        complain: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._store = store
        self._beside = beside
        self._complain = complain
        self.holder = holder or str(uuid.uuid4())
        self.moves = self.renew()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(DatabaseError):  # It ends by itself then.
            self.end()

    def renew(self) -> tuple[Move, ...]:
        """Says that the server is still there, and moves storage versions as `move_storage_versions` does.

        Where the database was put back from a copy, resource versions go on that no client has seen.

        Returns:
            What moved, and what servers of earlier releases hold back.

        Raises:
            NewerShapeError: the store keeps what this release cannot read: its lease had ended. It must not go on serving.
            DatabaseError: the database cannot be written.
        """
        store = self._store
        with _leasing(store) as connection:
            found = difference(store, connection)
            if found is not None:
                go_on_apart(store, connection, self._beside)
            now = _now(store, connection)
            expires = time_text(now + _LASTS)
            reads = {_name(each): sorted(each.readable) for each in store.types.all.values()}
            row = {"holder": self.holder, "reads": reads, "expires": expires}
            counting = t.LEASES.c.expires.between(time_text(now), time_text(now + _LONGEST))
            connection.execute(delete(t.LEASES).where(not_(counting)))
            upsert(connection, t.LEASES, [row])
            moves = _moved(store, connection, self.holder, adding=True)
            note_origin(store, connection)  # After resource types are locked, as in `begin_anew`.
        # A copy may have other ones, and another server may have noticed it.
        store.database.numbers.clear()
        if found is not None:
            self._complain(str(found))
        note_reached(store)
        return moves

    def end(self) -> None:
        """Says that the server is gone."""
        note_reached(self._store)
        with _leasing(self._store) as connection:
            connection.execute(delete(t.LEASES).where(t.LEASES.c.holder == self.holder))


def move_storage_versions(store: Store, *, dry_run: bool = False) -> tuple[Move, ...]:
    """Moves storage versions up to the hubs of this release, where all servers can read that; and back to them, where it cannot read what was agreed on.

    Args:
        store: the store.
        dry_run: whether nothing moves.

    Returns:
        What moved, and what servers hold back.

    Raises:
        NewerShapeError: the store keeps what this release cannot read.
        DatabaseError: the database cannot be written.
    """
    if dry_run:
        with store.database.reading() as connection:
            for found, type_ in _unreadable(store, Rows(connection)):
                _check_unheld(store, connection, found, type_)
            return tuple(_moves(store, connection))
    with _leasing(store) as connection:
        return _moved(store, connection)


def holders(store: Store, connection: Connection) -> tuple[Holder, ...]:
    """The servers that have a lease now."""
    now = _now(store, connection)
    found = (
        Holder(name, time_of(expires), {of: frozenset(each) for of, each in reads.items()})
        for name, reads, expires in connection.execute(select(*t.LEASES.c))
    )
    counting = (each for each in found if now < each.expires <= now + _LONGEST)
    return tuple(sorted(counting, key=lambda each: each.name))


def check_readable(store: Store, rows: Rows) -> None:
    """Refuses a store that keeps what this release cannot read, or agreed on it.

    Raises:
        NewerShapeError: it does.
    """
    for found, type_ in _unreadable(store, rows):
        raise unreadable(store.where, type_, found.storage_version)


def _unreadable(store: Store, rows: Rows) -> Iterator[tuple[ResourceRow, StoredType]]:
    """The resource types whose agreed storage version this release cannot read."""
    types = {each.identity: each for each in store.types.all.values()}
    for found in rows.resources():
        type_ = types.get((found.group, found.name))
        if type_ is not None and found.storage_version not in type_.readable:
            yield found, type_


def untakable(
    store: Store, connection: Connection, holder: str
) -> Iterator[tuple[StoredType, NewerShapeError]]:
    """The resource types that a server could not take over: it cannot read the agreed storage version, and may not go back from that.

    Args:
        store: the store, as the server has it.
        connection: a transaction.
        holder: the server.
    """
    for found, type_ in _unreadable(store, Rows(connection)):
        try:
            _check_unheld(store, connection, found, type_, holder)
        except NewerShapeError as error:
            yield type_, error


def _check_unheld(
    store: Store, connection: Connection, found: ResourceRow, type_: StoredType, holder: str = ""
) -> None:
    """Refuses to go back from an agreed storage version to the hub of a release where that would leave anything or anyone behind.

    Raises:
        NewerShapeError: something is stored that the release cannot read, or another server could not read what it stores.
    """
    if Rows(connection).keeps_others(found, type_.readable):
        raise unreadable(store.where, type_, found.storage_version)
    others = (each for each in holders(store, connection) if each.name != holder)
    held = [each.name for each in others if each.objects_to(type_, type_.hub)]
    if held:
        advice = f"end these servers first, which cannot read {type_.hub}: {listed(held)}"
        raise unreadable(store.where, type_, found.storage_version, advice)


def _now(store: Store, connection: Connection) -> dt.datetime:
    """The time by which leases end: that of a database on a server, whose clients may have clocks that differ."""
    if not store.database.is_server:
        return store.clock()
    found: dt.datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return found.astimezone(dt.UTC)


def _moved(
    store: Store, connection: Connection, holder: str = "", *, adding: bool = False
) -> tuple[Move, ...]:
    """Moves storage versions, those back to this release among them which it could not read and may leave.

    So a release can be rolled back as long as nothing is written in its shape. Writers wait meanwhile, and store after that what is agreed on then.

    Args:
        store: the store.
        connection: a transaction in which no other server changes leases.
        holder: the server that it is for.
        adding: whether resource types that are not yet stored are added, so that what is stored of them is agreed on from the beginning.

    Raises:
        NewerShapeError: see `_check_unheld`.
    """
    rows = Rows(connection)
    moves = tuple(_moves(store, connection))
    moving = {each.resource: each for each in moves if not each.held_by}
    there = {(each.group, each.name) for each in rows.resources()}
    for type_ in sorted(store.types.all.values(), key=lambda each: each.identity):
        if type_.called in moving:
            rows.resource(*type_.identity, locked=True)
        elif adding and type_.identity not in there:
            rows.add_resource(*type_.identity, type_.hub)
    for found, type_ in _unreadable(store, rows):
        _check_unheld(store, connection, found, type_, holder)
    for each in moving.values():
        rows.set_storage_version(*store.types[each.resource].identity, each.after)
    return moves


def _moves(store: Store, connection: Connection) -> Iterator[Move]:
    servers = holders(store, connection)
    stored = {(each.group, each.name): each for each in Rows(connection).resources()}
    for type_ in store.types.all.values():
        found = stored.get(type_.identity)
        if found is None:
            continue
        if found.storage_version not in type_.readable:  # That it may be left was looked at before.
            yield Move(type_.called, found.storage_version, type_.hub)
        elif _is_later(type_.hub, found.storage_version):
            held = tuple(each.name for each in servers if each.objects_to(type_, type_.hub))
            yield Move(type_.called, found.storage_version, type_.hub, held)


def _is_later(version: str, other: str) -> bool:
    return ApiVersion.parse(version) > ApiVersion.parse(other)


def _name(type_: StoredType) -> str:
    return f"{type_.group}/{type_.name}"


@contextlib.contextmanager
def _leasing(store: Store) -> Iterator[Connection]:
    """A transaction in which no other server changes leases."""
    with store.database.writing() as connection:
        store.database.lock(connection, _LOCK)
        yield connection
