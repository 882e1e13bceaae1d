"""Turns the errors of the two drivers into the errors of this room.

SQLite is asked by its result codes (https://www.sqlite.org/rescode.html), PostgreSQL by its SQLSTATE
(appendix A of its manual). An `IntegrityError` passes: the room that declared the constraint knows what it means.
"""

import contextlib
import sqlite3
from collections.abc import Iterator

from sqlalchemy import exc

from trundle.database._errors import (
    BusyError,
    DamagedError,
    DatabaseError,
    UnreachableError,
    UnwritableError,
)

_PRIMARY = 0xFF  # The low byte of an extended result code of SQLite is the primary one.
_AGAIN = "try again when it is done"
_ROOM = "make room on the disk; what was stored before still is"
_RESTORE = "restore it from a backup"
PERMISSIONS_ADVICE = "give the file and its folder the permissions, or use another folder"
"""What to do about a file that cannot be written."""
POOLER_ADVICE = (
    "connect to the server itself: locks, signals and settings need connections of their own"
)
"""What to do about a pooler, such as pgbouncer."""
_SAID = ":  "
"""What stands in any language between the severity and the text where a server refuses a connection; its code is not to be had then."""


@contextlib.contextmanager
def errors_explained(where: str) -> Iterator[None]:
    """Turns what goes wrong with a database into an error that says what to do.

    Args:
        where: the file, or the URL without its password.

    Raises:
        DatabaseError: the database cannot be used.
    """
    try:
        yield
    except exc.TimeoutError as error:
        expected, found = "a free connection", "all connections in use"
        raise BusyError(where, expected, found, _AGAIN) from error
    except exc.DBAPIError as error:
        found_error = None if isinstance(error, exc.IntegrityError) else _explained(where, error)
        if found_error is None:
            raise
        raise found_error from error
    except sqlite3.Error as error:  # From code that talks to the driver itself.
        sqlite_error = _of_sqlite(where, error)
        if sqlite_error is None:
            raise
        raise sqlite_error from error


def _explained(where: str, error: exc.DBAPIError) -> DatabaseError | None:
    if isinstance(error.orig, sqlite3.Error):
        return _of_sqlite(where, error.orig)
    return _of_postgresql(where, error)


def _of_sqlite(where: str, error: sqlite3.Error) -> DatabaseError | None:
    code, found = getattr(error, "sqlite_errorcode", None), str(error)
    if code is None:
        return None
    match code & _PRIMARY:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BusyError(where, "a database that can be locked", found, _AGAIN)
        case sqlite3.SQLITE_FULL:
            return UnwritableError(where, "room for what is written", found, _ROOM)
        case sqlite3.SQLITE_IOERR:
            return UnwritableError(where, "a file that can be read and written", found, _ROOM)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            expected = "a file in a folder that exists and can be written"
            return UnwritableError(where, expected, found, PERMISSIONS_ADVICE)
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return DamagedError(where, "a database of SQLite", found, _RESTORE)
    return None


def _of_postgresql(where: str, error: exc.DBAPIError) -> DatabaseError | None:
    state: str = getattr(error.orig, "sqlstate", None) or ""
    found = " ".join(str(error.orig).split())
    match state:
        case "55P03" | "40001" | "40P01":  # A lock is not free, a conflict, a deadlock
            return BusyError(where, "a lock within the time", found, _AGAIN)
        case "53100":  # The disk is full
            return UnwritableError(where, "room for what is written", found, _ROOM)
        case "25006":  # A read-only transaction
            advice = "connect to the primary server, or turn `default_transaction_read_only` off"
            return UnwritableError(where, "a database that takes writes", found, advice)
        case "42501":  # Missing rights
            advice = "give the user the rights, or use another database"
            return UnwritableError(where, "the right to do this", found, advice)
    if state.startswith("XX"):
        return DamagedError(where, "a sound database", found, _RESTORE)
    if "startup parameter: options" in found:
        expected = "a server of PostgreSQL that takes settings"
        return UnreachableError(where, expected, found, POOLER_ADVICE)
    lost = isinstance(error, exc.OperationalError) or error.connection_invalidated
    if lost and state[:2] in {"", "08", "57", "53"}:  # No connection, shut down, out of resources
        if not state and _SAID in str(error.orig):
            advice = "correct user, password and database in the URL, or what the server says about them, then try again"
            return UnreachableError(where, "a database that can be opened", found, advice)
        advice = "check that the server runs and that host and port are right, then try again"
        return UnreachableError(where, "a server of PostgreSQL that answers", found, advice)
    return None
