"""Forgets what objects were, as far as no client is to watch or list from there any more."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trundle.runtime import AnyScheme
from trundle.store._apart import apart_from
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
        DatabaseError: the database cannot be written; what was done until then is.
    """
    known = {
        (each.group, each.name): each.hub
        for one in (store, *map(store.beside, beside))
        for each in one.types.all.values()
    }
    with store.database.reading() as connection:
        found = {(each.group, each.name): each for each in Rows(connection).resources()}
    done = []
    for group, name in sorted({*known, *found}):
        there = found.get((group, name))
        before, last = (1, 1) if there is None else (there.compacted, there.resource_version)
        until, removed = apart_from(last, store.clock()), 0
        if not dry_run:
            with store.database.writing() as connection:
                rows = Rows(connection)
                if there is None:
                    rows.add_resource(group, name, known[group, name])
                now = rows.resource(group, name, locked=True)
                assert now is not None, "resource types stay"
                until = apart_from(now.resource_version, store.clock())
                removed = rows.go_on_behind(now, until)
        done.append(Compaction(group, name, before, until, removed))
    return tuple(done)


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
