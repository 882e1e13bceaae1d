"""SQLite: how its connections are opened, and how a transaction begins.

- Write-ahead logging, so that readers see one state while a writer works; every commit waits for the disk.
- A transaction that writes begins with `BEGIN IMMEDIATE`: it has the only lock from its first statement on, so it never fails
  for a lock that it would need later.
- A database that is opened for reading is copied into memory as a whole. So it may be in a folder that cannot
  be written (write-ahead logging needs files beside the database), and may be brought to the newest schema.
"""

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    Engine,
    QueuePool,
    Select,
    StaticPool,
    create_engine,
    event,
)
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from trundle._locking import LockBusyError, locked
from trundle.database._driver_errors import PERMISSIONS_ADVICE, errors_explained
from trundle.database._errors import BusyError, UnwritableError
from trundle.database._json import JSON_FORMS
from trundle.database._statements import compiled

WRITING = "trundle_writing"
"""The execution option of a connection whose transaction writes."""

_PAUSE = 0.05
_ATTEMPTS = 20
_STATEMENTS = 500


class Dialect(SQLiteDialect_pysqlite):
    """SQLite as each of these databases has it: equal to that of any other one, so that they share compiled statements."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dialect)

    def __hash__(self) -> int:
        return hash(Dialect)


registry.register("sqlite.trundle", __name__, Dialect.__name__)
_compiled: LRUCache[Any, Any] = LRUCache(_STATEMENTS)
_DIALECT = Dialect(**JSON_FORMS)


class Queries:
    """Runs queries that find one row, past SQLAlchemy, which takes several times as long for one of these as SQLite itself.

    A connection runs one query at a time, outside of any transaction: SQLite shows each statement one state.

    Args:
        connect: opens a connection.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._idle: list[sqlite3.Connection] = []

    def first(self, statement: Select[Any], values: Mapping[str, Any]) -> list[Any] | None:
        """The first row that a query finds; None where it finds none.

        Args:
            statement: the query; it is compiled once, so it is made once.
            values: its parameters.
        """
        query = compiled(statement, _DIALECT)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            cursor = connection.execute(query.text, query.given(values))
            found = cursor.fetchone()
            cursor.close()  # The state that it sees is left, so that the log can be written back.
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return None if found is None else query.made(found)

    def close(self) -> None:
        """Closes all connections."""
        while self._idle:
            self._idle.pop().close()


def engine_of_file(path: Path, wait: float, *, making: bool) -> Engine:
    """The engine for a file.

    Args:
        path: the file.
        wait: seconds to wait for a lock.
        making: whether it is made where it does not exist.
    """
    return _engine(
        lambda: connected(path, wait, making=making), poolclass=QueuePool, pool_timeout=wait
    )


def connected(path: Path, wait: float, *, making: bool) -> sqlite3.Connection:
    """A connection to a file.

    Args:
        path: the file.
        wait: seconds to wait for a lock.
        making: whether it is made where it does not exist.
    """
    address = f"{path.absolute().as_uri()}?mode={'rwc' if making else 'rw'}"
    connection = sqlite3.connect(
        address, timeout=wait, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        _log_ahead(connection, wait)
    except BaseException:
        connection.close()
        raise
    return connection


def identity(path: Path) -> tuple[int, int] | None:
    """What distinguishes the file at a path from another one that takes its place; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_emptied(path: Path) -> bool:
    """Whether a file is there that has nothing in it, which SQLite takes for a new database.

    One that is being made is empty for a moment, and has a journal before it gets its first page.
    """
    journal = path.with_name(f"{path.name}-journal")
    for pause in (_PAUSE, _PAUSE, 0):
        try:
            if path.stat().st_size or journal.exists():
                return False
        except FileNotFoundError:
            return False
        time.sleep(pause)
    return True


def engine_of_copy(path: Path) -> Engine:
    """The engine for a copy of a file in memory; empty where there is no file.

    Raises:
        DatabaseError: the file cannot be read.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        with errors_explained(str(path)):
            if path.exists():
                _copy(path, connection)
            connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return _engine(lambda: connection, poolclass=StaticPool)


def _engine(connect: Callable[[], sqlite3.Connection], **pool: Any) -> Engine:
    engine = create_engine(
        "sqlite+trundle://",
        creator=connect,
        hide_parameters=True,  # Among them are secrets.
        execution_options={"compiled_cache": _compiled},
        **JSON_FORMS,
        **pool,
    )
    event.listen(engine, "begin", _begin)
    return engine


def file_content(path: Path) -> tuple[bytes, str]:
    """The content of a database in a file, and a digest that is the same for as long as no row and no table changes.

    Raises:
        DatabaseError: there is none, or it cannot be read.
    """
    # By its path alone, one that is missing would be made.
    address = f"{path.absolute().as_uri()}?mode=rw"
    with (
        errors_explained(str(path)),
        contextlib.closing(sqlite3.connect(address, uri=True)) as connection,
    ):
        text = "\n".join(connection.iterdump())
        return connection.serialize(), hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def held(path: Path, name: str) -> Iterator[bool]:
    """Tries to take the lock file of a name, beside a database, for as long as the block runs; gives whether it was free."""
    file = f"{path.name}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"
    with contextlib.ExitStack() as left:
        try:
            left.enter_context(locked(path.with_name(file), 0))
        except LockBusyError:
            is_free = False
        else:
            is_free = True
        yield is_free


def _begin(connection: Connection) -> None:
    writing = connection.get_execution_options().get(WRITING, False)
    if connection.info.get(WRITING, True) is not writing:  # SQLite compiles all statements anew.
        connection.exec_driver_sql("PRAGMA query_only = " + ("OFF" if writing else "ON"))
        connection.info[WRITING] = writing
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _log_ahead(connection: sqlite3.Connection, wait: float) -> None:
    """Turns write-ahead logging on; SQLite does not wait for others by itself who do the same."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
            if not busy or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return  # File systems without shared memory keep another journal; that is as durable.


def require_writable(path: Path) -> None:
    """Refuses a file that this user cannot write: SQLite would leave files beside it that keep its owner from writing it.

    Raises:
        UnwritableError: it is one.
    """
    if path.exists() and not os.access(path, os.W_OK):
        expected, found = "a file that this user can write", "one that it cannot"
        raise UnwritableError(str(path), expected, found, PERMISSIONS_ADVICE)


def _copy(path: Path, target: sqlite3.Connection) -> None:
    place = f"file:{quote(str(path.absolute()))}"
    unlocked = f"{place}?mode=ro&immutable=1"
    if not os.access(path, os.W_OK) and not _beside(path, "wal").exists():
        _copy_unlocked(path, unlocked, target)  # Nothing is left beside it.
        return
    try:
        _backup(f"{place}?mode=ro", target)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise
        _copy_unlocked(path, unlocked, target, error)


def _beside(path: Path, what: str) -> Path:
    """Where SQLite keeps the log or the journal of a file: beside that which a link leads to."""
    real = path.resolve()
    return real.with_name(f"{real.name}-{what}")


def _copy_unlocked(
    path: Path,
    place: str,
    target: sqlite3.Connection,
    error: sqlite3.OperationalError | None = None,
) -> None:
    """Copies a file where no lock can be taken; again if it changed meanwhile."""
    log, journal = _beside(path, "wal"), _beside(path, "journal")
    for _ in range(_ATTEMPTS):
        before = path.stat()
        if _has_content(log):
            raise _unfinished(path, log) from error
        if not _has_content(journal):  # Else there is half a transaction in the file.
            _backup(place, target)
            after = path.stat()
            is_same = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
            if is_same and not _has_content(journal):
                return
        time.sleep(_PAUSE)
    if _has_content(journal):
        raise _unfinished(path, journal) from error
    expected, found = "a moment without writes", "a file that changed all the time"
    raise BusyError(str(path), expected, found, "try again later")


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _unfinished(path: Path, log: Path) -> UnwritableError:
    advice = "run a command once that may write there, or copy the folder"
    expected = "no unfinished log beside a database that can only be read"
    return UnwritableError(str(path), expected, log.name, advice)


def _backup(place: str, target: sqlite3.Connection) -> None:
    source = sqlite3.connect(place, uri=True, isolation_level=None)
    try:
        source.execute("SELECT count(*) FROM sqlite_master")
        source.backup(target)
    finally:
        source.close()
