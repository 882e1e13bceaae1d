"""Notices a database that was put back from a copy of itself, and goes on with resource versions that no client has seen.

- A database on a server has a note of where it is: the server, its timeline, and the numbers of the database and of a table in it. What is
  dumped and restored has the note of another place, and so has what goes on from a backup or a standby.
- Beside a file stands a note of the resource versions that servers saw in it. A copy has lower ones, and so has a file that is made anew.

A copy of the whole folder, and a disk that is put back as it was, take the note along, and are not noticed.
"""

import contextlib
from pathlib import Path

import msgspec
from sqlalchemy import Connection, select

from trundle._durable import write_durably
from trundle.database import upsert
from trundle.errors import Finding, Place
from trundle.store import _tables as t
from trundle.store._errors import StoreCode
from trundle.store._rows import Rows
from trundle.store._store import Store

_ADVICE = "nothing has to be done: a server goes on with resource versions that no client has seen, and clients list again"


def put_back(store: Store) -> Finding | None:
    """What shows that a database was put back from a copy, and no server used it since; None where nothing does.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with store.database.reading() as connection:
        return difference(store, connection)


def difference(store: Store, connection: Connection) -> Finding | None:
    """What shows in a transaction that a database was put back from a copy."""
    if store.database.is_server:
        noted = connection.execute(select(t.ORIGIN.c.origin)).scalar()
        there = _origin(store, connection)
        if not noted or not there or noted == there:
            return None
        expected = f"the database that servers used ({noted})"
        found = f"one that was put back from a copy, or moved ({there})"
    else:
        reached = _reached(connection)
        behind = {
            name: (last, reached.get(name, 1))
            for name, last in _noted(_note_of(store)).items()
            if reached.get(name, 1) < last
        }
        if not behind:
            return None
        name, (last, now) = max(behind.items())
        expected = f"resource versions of {name} up to {last}, as servers had them"
        found = f"up to {now}, as the file was put back from a copy, or made anew"
    return Finding(StoreCode.PUT_BACK, Place(file=store.where), expected, found, _ADVICE)


def note_origin(store: Store, connection: Connection) -> None:
    """Notes in a database on a server where it is.

    Args:
        store: the store.
        connection: a transaction that writes.
    """
    if store.database.is_server:
        there = _origin(store, connection)
        if there and connection.execute(select(t.ORIGIN.c.origin)).scalar() != there:
            upsert(connection, t.ORIGIN, [{"number": 1, "origin": there}])


def note_reached(store: Store) -> None:
    """Notes beside a file how far it went, where that can be written: all of that is on disk."""
    if store.database.is_server:
        return
    path = _note_of(store)
    with store.database.reading() as connection:
        reached = _reached(connection)
    if reached != _noted(path):
        with contextlib.suppress(OSError):
            write_durably(path, msgspec.json.encode(reached))


def _origin(store: Store, connection: Connection) -> str:
    return store.database.origin(connection, t.RESOURCES.name)


def _reached(connection: Connection) -> dict[str, int]:
    found = Rows(connection).resources()
    return {f"{each.group}/{each.name}": each.resource_version for each in found}


def _note_of(store: Store) -> Path:
    path = Path(store.where)
    return path.with_name(f"{path.name}.reached")


def _noted(path: Path) -> dict[str, int]:
    """What is noted beside a file; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except (OSError, ValueError):
        return {}
