"""A database: opened, read at one consistent point, written in transactions, brought to the newest schema."""

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, Select, make_url
from sqlalchemy.exc import ArgumentError

from trundle.database import _postgresql, _sqlite
from trundle.database._driver_errors import errors_explained
from trundle.database._errors import (
    BusyError,
    InvalidUrlError,
    NewerSchemaError,
    OlderSchemaError,
    UnwritableError,
)
from trundle.database._migrations import Migrations
from trundle.database._signals import Signals
from trundle.database._statements import rows
from trundle.errors import expectation

_WAIT = 30.0
_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgresql", "postgresql+psycopg", "postgres")


def open_database(
    place: str | Path, *, read_only: bool = False, making: bool = True, wait: float = _WAIT
) -> "Database":
    """Opens a database.

    Args:
        place: `postgresql://USER:PASSWORD@HOST:PORT/NAME`, `sqlite:///FILE`, or the file of a SQLite database. A
            file is made where it does not exist, unless it is opened for reading.
        read_only: whether nothing of it is written. A SQLite database is copied into memory then, so
            its file and folder may be read-only, and what is written later is not seen.
        making: whether a file is made where it does not exist.
        wait: seconds to wait for a lock, and for a free connection.

    Raises:
        InvalidUrlError: the URL names no such database.
        DatabaseError: the database cannot be opened; the class says why.
        ImportError: the driver of PostgreSQL is not installed.
    """
    if isinstance(place, Path):
        return _opened_file(place, wait, read_only=read_only, making=making)
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        raise _invalid("no URL") from None
    if url.drivername in _SQLITE and url.database not in {None, "", ":memory:"}:
        return _opened_file(Path(str(url.database)), wait, read_only=read_only, making=making)
    if url.drivername in _POSTGRESQL and url.database:
        return _opened_server(url, wait, read_only=read_only)
    raise _invalid(url.render_as_string(hide_password=True))


def open_copy(path: Path) -> "Database":
    """Opens a copy of a SQLite database in memory; empty where there is no file.

    The copy may be written and migrated; all of that is gone when it is closed. So what is in a folder that cannot be
    written is used as if it could be.

    Raises:
        DatabaseError: the file cannot be read.
    """
    return _tried(Database(_sqlite.engine_of_copy(path), str(path)))


class Database:
    """An open database. Used as a context manager, or closed by `close`. Threads may share it.

    Args:
        engine: gives the connections.
        where: the file, or the URL without its password, as errors name it.
        read_only: whether nothing may be written.
        queries: runs queries that find one row; None where transactions do.

    Attributes:
        where: the file, or the URL without its password.
        read_only: whether nothing may be written.
        numbers: numbers of rows that were looked up by two names; who keeps them here forgets them where the database may have been put back.
    """

    def __init__(
        self,
        engine: Engine,
        where: str,
        *,
        read_only: bool = False,
        queries: _sqlite.Queries | None = None,
    ) -> None:
        self._engine = engine
        self.where = where
        self.read_only = read_only
        self._queries = queries
        self._place = Path(where).absolute()
        self._identity: tuple[int, int] | None = None
        self.numbers: dict[tuple[str, str], int] = {}
        self._signals: dict[str, Signals] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        for each in self._signals.values():
            each.close()
        self._signals.clear()
        if self._queries is not None:
            self._queries.close()
        self._engine.dispose()

    def signals(self, name: str) -> Signals | None:
        """Signals of a name between the processes that use the database; None where there are none, as on SQLite."""
        if not self.is_server or self.read_only:
            return None
        if name not in self._signals:
            self._signals[name] = Signals(self._engine, name)
        return self._signals[name]

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state from its first query on, and cannot write.

        Raises:
            DatabaseError: the database cannot be read.
        """
        with errors_explained(self.where), self._engine.connect() as connection:
            if self.is_server:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def looking(self) -> Iterator[Connection]:
        """A connection for queries that need not see the same state; a server is asked by each of them, and for nothing else.

        Raises:
            DatabaseError: the database cannot be read.
        """
        if not self.is_server:
            with self.reading() as connection:
                yield connection
            return
        with errors_explained(self.where), self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def first(self, statement: Select[Any], values: Mapping[str, Any]) -> Sequence[Any] | None:
        """The first row that one query finds; None where it finds none.

        It sees one state, as any query does, so it needs no transaction; from a file it takes a fraction of the time of `reading`.

        Args:
            statement: the query; it is compiled once, so it is made once.
            values: its parameters.

        Raises:
            DatabaseError: the database cannot be read.
        """
        if self._queries is None:
            with self.looking() as connection:
                found = rows(connection, statement, values)
            return found[0] if found else None
        try:
            return self._queries.first(statement, values)
        except sqlite3.Error:
            with errors_explained(self.where):
                raise

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: durable when the block ends, undone when the block raises.

        On SQLite only one is open at a time. On PostgreSQL several are, which see what others committed; `lock`
        keeps them apart.

        Raises:
            UnwritableError: the database was opened for reading.
            BusyError: another writer did not end within the time.
            DatabaseError: the database cannot be written. Nothing was, unless a server was lost during the commit itself:
                then only reading again shows which.
        """
        if self.read_only:
            expected, advice = "a database opened for writing", "open it for writing"
            raise UnwritableError(self.where, expected, "one opened for reading", advice)
        with self._transaction() as connection:
            yield connection

    def lock(self, connection: Connection, name: str) -> None:
        """Keeps other transactions with the same name out until this one ends.

        Args:
            connection: a transaction of `writing`. On SQLite it is alone already.
            name: what is locked.

        Raises:
            BusyError: another transaction did not end within the time.
            ValueError: the transaction does not write.
        """
        if not connection.get_execution_options().get(_sqlite.WRITING):
            raise ValueError(expectation("a transaction of `writing`", "one of `reading`"))
        if self.is_server:
            with errors_explained(self.where):
                _postgresql.lock(connection, name)

    @contextlib.contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Keeps all others with the same name out while the block runs, over any number of transactions.

        When this process dies, others are let in. A server lets them in too when it has lost the connection, so what must not happen twice
        at once says in its transactions which one it is.

        Args:
            name: what is locked.

        Raises:
            BusyError: another process or thread has it.
            DatabaseError: the server cannot be reached.
        """
        if self.is_server:
            held = _postgresql.held(self._engine, name)
        else:
            held = _sqlite.held(Path(self.where), name)
        with contextlib.ExitStack() as left:
            with errors_explained(self.where):
                is_free = left.enter_context(held)
            if not is_free:
                expected, found = f"that no other process has {name}", "one that has it"
                raise BusyError(self.where, expected, found, "try again later")
            yield

    def origin(self, connection: Connection, table: str) -> str:
        """Where a server has a table: what a copy of it that is put back differs by; empty where that cannot be known, as of a standby.

        Args:
            connection: a transaction.
            table: the table.
        """
        return _postgresql.origin(connection, table) if self.is_server else ""

    def migrate(self, migrations: Migrations) -> None:
        """Brings the tables of a room to the newest schema; all steps or none.

        Of a SQLite database that was opened for reading, the copy in memory is migrated.

        Raises:
            NewerSchemaError: a later release wrote it.
            OlderSchemaError: it needs migration, and was opened for reading.
            DatabaseError: it cannot be written; it is as before.
        """
        with self.reading() as connection:
            if self._is_current(connection, migrations):
                return
        if self.read_only and self.is_server:
            advice = "run a command once that may write"
            expected = f"tables of {migrations.name} at revision {migrations.head}"
            raise OlderSchemaError(self.where, expected, "an earlier one", advice)
        with self._transaction() as connection:
            self.lock(connection, f"migrate {migrations.name}")
            if not self._is_current(connection, migrations):
                migrations.upgrade(connection)

    def _is_current(self, connection: Connection, migrations: Migrations) -> bool:
        found = migrations.revision(connection)
        if found > migrations.head:
            advice = "use the newer release of Trundle that wrote it"
            expected = f"tables of {migrations.name} at revision {migrations.head} or earlier"
            raise NewerSchemaError(self.where, expected, f"revision {found}", advice)
        return found == migrations.head

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with errors_explained(self.where), self._engine.connect() as connection:
            writing = connection.execution_options(**{_sqlite.WRITING: True})
            with writing.begin():
                yield writing
                self._require_in_place()

    def keep_in_place(self) -> None:
        """Refuses to write from now on once the file is gone from its place, or another one is there."""
        self._identity = _sqlite.identity(self._place)

    def _require_in_place(self) -> None:
        """Refuses to write what nothing would find again.

        Raises:
            UnwritableError: the file was removed or replaced.
        """
        if self._identity is None:
            return
        there = _sqlite.identity(self._place)
        if there != self._identity:
            found = "no such file any more" if there is None else "another one in its place"
            advice = "put it back, or start again with what is there; nothing was written"
            raise UnwritableError(self.where, "the file that was opened", found, advice)

    @property
    def is_server(self) -> bool:
        """Whether it is asked over a connection, and not a file."""
        return self._engine.dialect.name == "postgresql"


def _opened_file(path: Path, wait: float, *, read_only: bool, making: bool) -> Database:
    if read_only:
        return _tried(Database(_sqlite.engine_of_copy(path), str(path), read_only=True))
    _sqlite.require_writable(path)
    queries = _sqlite.Queries(lambda: _sqlite.connected(path, wait, making=making))
    engine = _sqlite.engine_of_file(path, wait, making=making)
    database = _tried(Database(engine, str(path), queries=queries))
    database.keep_in_place()
    return database


def _opened_server(url: URL, wait: float, *, read_only: bool) -> Database:
    where = url.render_as_string(hide_password=True)
    engine = _postgresql.engine_of_server(url, wait, read_only=read_only)
    return _tried(Database(engine, where, read_only=read_only))


def _tried(database: Database) -> Database:
    """The database, after a first look at it."""
    try:
        with database.reading() as connection:
            connection.exec_driver_sql(
                "SELECT 1"
                if connection.dialect.name == "postgresql"
                else "SELECT 1 FROM sqlite_master"
            )
    except BaseException:
        database.close()
        raise
    return database


def _invalid(found: str) -> InvalidUrlError:
    expected = "postgresql://USER@HOST:PORT/NAME or sqlite:///FILE"
    return InvalidUrlError("the database", expected, found, "correct the URL")
