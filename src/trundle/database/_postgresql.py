"""PostgreSQL: how its connections are opened, and its transaction-level advisory lock."""

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError

from trundle.database._driver_errors import POOLER_ADVICE
from trundle.database._errors import UnreachableError
from trundle.database._json import JSON_FORMS
from trundle.errors import expectation

_CONNECT_SECONDS = 10
_KEPT = "trundle.kept"
"""A setting that shows whether a connection got its settings."""
_UNSAID = logging.NullHandler()


def engine_of_server(url: URL, wait: float, *, read_only: bool) -> Engine:
    """The engine for a database on a server.

    Args:
        url: the database.
        wait: seconds to wait for a lock.
        read_only: whether every transaction is read-only.

    Raises:
        ImportError: the driver is not installed.
    """
    try:
        import psycopg  # noqa: F401, PLC0415 - needs an extra
    except ImportError as error:
        raise ImportError(
            "PostgreSQL: "
            + expectation(
                "`trundle[postgres]` to be installed",
                "no psycopg",
                "run `pip install 'trundle[postgres]'`",
            )
        ) from error
    # What it says beside the error that it raises is for programs that keep a log of it.
    logging.getLogger("psycopg").addHandler(_UNSAID)
    # Commits wait for the disk, whatever the server's default says.
    options = f"-c lock_timeout={int(wait * 1000)} -c synchronous_commit=on -c {_KEPT}=on"
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,  # A server that was restarted does not fail the next transaction.
        pool_timeout=wait,
        hide_parameters=True,  # Among them are secrets.
        paramstyle="format",
        **JSON_FORMS,
        connect_args={
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": "trundle",
            "options": options + (" -c default_transaction_read_only=on" if read_only else ""),
        },
    )
    where = url.render_as_string(hide_password=True)
    event.listen(engine, "connect", lambda driver, _: _require_kept(driver, where))
    event.listen(engine, "checkout", lambda driver, *_: _ask_server(driver))
    return engine


def _require_kept(driver: Any, where: str) -> None:
    """Refuses a connection that did not get its settings: a pooler would wait for locks without end, and answer writes that are not on disk.

    Raises:
        UnreachableError: it did not.
    """
    driver.autocommit = True  # Without a transaction around it.
    kept = driver.execute("SELECT current_setting(%s, true)", (_KEPT,)).fetchone()
    driver.autocommit = False
    if kept != ("on",):
        expected, found = "a connection that keeps its settings", "one of a pooler that drops them"
        raise UnreachableError(where, expected, found, POOLER_ADVICE)


def _ask_server(driver: Any) -> None:
    """Lets the server say whether a transaction may write; after one that only reads, SQLAlchemy says that it may."""
    if driver.read_only is not None:
        driver.read_only = None


def lock(connection: Connection, name: str) -> None:
    """Takes the advisory lock of a name until the transaction ends."""
    statement = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")
    connection.execute(statement, {"name": name})


@contextlib.contextmanager
def held(engine: Engine, name: str) -> Iterator[bool]:
    """Tries to take the advisory lock of a name for as long as the block runs; gives whether it was free.

    It belongs to a connection of its own, which the server ends with the process.
    """
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        values = {"name": name}
        taking = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
        is_free = bool(connection.execute(taking, values).scalar())
        try:
            yield is_free
        finally:
            if is_free:
                freeing = text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))")
                # Where the connection is lost, the server has freed it.
                with contextlib.suppress(DBAPIError):
                    connection.execute(freeing, values)


_ORIGIN = """
SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || to_regclass(:table)::oid
WHERE NOT pg_is_in_recovery()
"""


def origin(connection: Connection, table: str) -> str:
    """The identifier of a server, its timeline, and the numbers of the database and of a table in it; empty where it does not say that."""
    try:
        with connection.begin_nested():
            return connection.execute(text(_ORIGIN), {"table": table}).scalar() or ""
    except (
        DBAPIError
    ):  # What resembles PostgreSQL may lack these functions, or the right to call them.
        return ""
