"""The database of an installation: opened, brought up to date, and every error of it explained."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from trundle.channels.installing._errors import StateBusyError, StateError
from trundle.channels.installing._schema import STEPS, VERSION

_BUSY_SECONDS = 30.0
_FULL = ("disk is full", "disk I/O error")


@contextlib.contextmanager
def explained(where: str) -> Iterator[None]:
    """Turns the errors of SQLite into ones that say what to do.

    Raises:
        StateError: the database cannot be used.
    """
    try:
        yield
    except sqlite3.Error as error:
        found = str(error)
        if "locked" in found or "busy" in found:
            advice = "try again when it is done"
            raise StateBusyError(where, "a free database", found, advice) from error
        if any(each in found for each in _FULL) or "readonly" in found or "unable" in found:
            advice = "make room on the disk and check its permissions; what was installed still is"
            raise StateError(where, "a database that can be written", found, advice) from error
        advice = "restore the file from a backup, or remove it and install again"
        raise StateError(where, "the database of an installation", found, advice) from error


class Database:
    """A connection to the database of an installation.

    Args:
        path: the file; it is made where it does not exist.

    Raises:
        StateError: the file is damaged, or of a later release of Trundle.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with explained(str(path)):
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
            try:
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._migrate()
            except BaseException:
                self._connection.close()
                raise

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Makes all changes within it happen together, or none of them.

        Raises:
            StateError: the database cannot be written.
        """
        with explained(str(self.path)):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """What a query gives.

        Raises:
            StateError: the database cannot be read.
        """
        with explained(str(self.path)):
            return self._connection.execute(statement, values).fetchall()

    def run(self, statement: str, *values: object) -> int:
        """Runs a statement; gives how many rows it changed."""
        with explained(str(self.path)):
            return self._connection.execute(statement, values).rowcount

    def run_many(self, statement: str, rows: Iterator[tuple[object, ...]]) -> None:
        """Runs a statement for each row."""
        with explained(str(self.path)):
            self._connection.executemany(statement, rows)

    def _format(self) -> int:
        found = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if found > VERSION:
            advice = "use the newer release of Trundle that wrote it"
            text = f"format {VERSION} or an earlier one"
            raise StateError(str(self.path), text, f"format {found}", advice)
        return found

    def _migrate(self) -> None:
        if self._format() == VERSION:
            return
        self._connection.execute("BEGIN EXCLUSIVE")
        try:
            for number in range(
                self._format(), VERSION
            ):  # Asked again: another client may have been first.
                for statement in STEPS[number].split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {number + 1}")
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
