"""Forgets what objects were, as far as no client is to watch or list from there any more."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from trundle.runtime import AnyScheme
from trundle.store._apart import apart_from
from trundle.store._put_back import note_origin
from trundle.store._rows import ResourceRow, Rows
from trundle.store._store import Store
from trundle.store._times import time_text

_STEP = 1_000
"""How many resource versions are forgotten in one transaction; writers wait for it."""

AGE = dt.timedelta(minutes=5)
"""How long changes are kept where the caller does not say: as long as Kubernetes keeps them."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was compacted of a resource type.

    Attributes:
        group: its API group.
        resource: the resource type.
        before: up to which resource version it was compacted before.
        resource_version: up to which it is now.
        removed: how many revisions are gone.
    """

    group: str
    resource: str
    before: int
    resource_version: int
    removed: int

    def to_plain(self) -> dict[str, Any]:
        """The compaction as plain values."""
        return {
            "group": self.group,
            "resource": self.resource,
            "before": self.before,
            "resourceVersion": self.resource_version,
            "removed": self.removed,
        }


def compact(
    store: Store,
    *,
    age: dt.timedelta = AGE,
    most: int | None = None,
    dry_run: bool = False,
) -> tuple[Compaction, ...]:
    """Forgets earlier states of objects, and deleted objects.

    Who watches or lists from a resource version that is gone is answered `GoneError`. Objects as they are now stay. It runs in small
    transactions beside writers; where it is interrupted, the next run goes on.

    Args:
        store: the store.
        age: changes that are older are forgotten.
        most: of more changes than these the oldest are forgotten as well; any number is kept where None.
        dry_run: whether nothing is forgotten; `removed` is 0 then.

    Raises:
        DatabaseError: the database cannot be written; what was forgotten until then is.
    """
    done = []
    with store.database.reading() as connection:
        found = Rows(connection).resources()
    for each in found:
        until = _until(store, each, age, most)
        removed = 0 if dry_run else _forgotten(store, each, until)
        done.append(Compaction(each.group, each.name, each.compacted, until, removed))
    return tuple(done)


def begin_anew(
    store: Store, *, beside: Sequence[AnyScheme] = (), dry_run: bool = False
) -> tuple[Compaction, ...]:
    """Goes on with resource versions that no client has seen, and forgets all earlier states: for a database that was put back from a copy.

    What was written after the copy is lost, and clients have seen it. A resource version that they have from then would be that of another state: a
    write with it would be taken over what its writer was never shown, and a watch from it would leave out changes. So clients that
    watch are answered `GoneError`, and list again, and writes with a resource version from before are conflicts.

    That holds for resource types of which the copy has nothing, too.

    Args:
        store: the store.
        beside: further schemes whose objects the database keeps, such as that of a control plane's namespaces.
        dry_run: whether nothing changes; `removed` is 0 then.

    Raises:
        DatabaseError: the database cannot be written; nothing is changed.
    """
    if dry_run:
        with store.database.reading() as connection:
            found = {(each.group, each.name): each for each in Rows(connection).resources()}
        last = dict.fromkeys(_known(store, beside), (1, 1)) | {
            identity: (each.compacted, each.resource_version) for identity, each in found.items()
        }
        return tuple(
            Compaction(*identity, before, apart_from(version, store.clock()), 0)
            for identity, (before, version) in sorted(last.items())
        )
    with store.database.writing() as connection:
        done = go_on_apart(store, connection, beside)
        note_origin(store, connection)
    return done


def go_on_apart(
    store: Store, connection: Connection, beside: Sequence[AnyScheme]
) -> tuple[Compaction, ...]:
    """Does what `begin_anew` does in a transaction that writes."""
    rows, known, done = Rows(connection), _known(store, beside), []
    there = {(each.group, each.name) for each in rows.resources()}
    for identity in sorted({*known, *there}):
        if identity not in there:
            rows.add_resource(*identity, known[identity])
        found = rows.resource(*identity, locked=True)
        assert found is not None, "resource types stay"
        until = apart_from(found.resource_version, store.clock())
        removed = rows.go_on_behind(found, until)
        done.append(Compaction(*identity, found.compacted, until, removed))
    return tuple(done)


def _known(store: Store, beside: Sequence[AnyScheme]) -> dict[tuple[str, str], str]:
    """What is stored of the resource types of a store, and of further schemes, by their group and name."""
    return {
        each.identity: each.hub
        for one in (store, *map(store.beside, beside))
        for each in one.types.all.values()
    }


def _until(store: Store, found: ResourceRow, age: dt.timedelta, most: int | None) -> int:
    """Up to which resource version a resource type is compacted."""
    with store.database.reading() as connection:
        until = Rows(connection).written_until(found, time_text(store.clock() - age))
    if most is not None:
        until = max(until, found.resource_version - most)
    return max(until, found.compacted)


def _forgotten(store: Store, found: ResourceRow, until: int) -> int:
    removed, compacted = 0, found.compacted
    while compacted < until:
        with store.database.writing() as connection:
            rows = Rows(connection)
            now = rows.resource(found.group, found.name, locked=True)
            assert now is not None, "resource types stay"
            compacted = max(now.compacted, min(until, now.compacted + _STEP))
            if compacted > now.compacted:
                removed += rows.compact(now, compacted)
    return removed
