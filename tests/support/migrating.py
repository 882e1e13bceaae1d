"""Migrates new SQLite databases by the statements that the same migrations came to when they ran first in this process.

Most tests begin with new databases, and Alembic takes ten times as long as these statements. It migrates what has any revision,
what is on a server, and installations, whose first migration also takes over files of earlier releases.
"""

from pathlib import Path

from sqlalchemy import Connection

from trundle.database import Migrations

_by_alembic = Migrations.upgrade
_found: dict[tuple[Path, str, tuple[str, ...]], list[str]] = {}


def install() -> None:
    """Has all tests of this process migrate so."""
    Migrations.upgrade = _upgrade  # type: ignore[method-assign]


def _upgrade(self: Migrations, connection: Connection) -> None:
    if (
        connection.dialect.name != "sqlite"
        or self.name == "installation"
        or self.revision(connection)
    ):
        _by_alembic(self, connection)
        return
    before = _definitions(connection)
    key = self.folder, self.head, before
    if key in _found:
        for each in _found[key]:
            connection.exec_driver_sql(each)
    else:
        _by_alembic(self, connection)
        made = [each for each in _definitions(connection) if each not in before]
        _found[key] = [*made, f"INSERT INTO {self.version_table} VALUES ('{self.head}')"]


def _definitions(connection: Connection) -> tuple[str, ...]:
    """The statements that make the tables and indexes of a database."""
    found = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return tuple(each for (each,) in found)
