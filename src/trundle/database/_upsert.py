"""Inserts rows, or replaces those with the same key."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts rows; where a row has the primary key of a stored one, its other columns replace those of that one.

    Args:
        connection: a transaction that writes.
        table: the table.
        rows: the rows, all with the same columns.
    """
    if not rows:
        return
    statement = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    values = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    if values:
        statement = statement.on_conflict_do_update(index_elements=keys, set_=values)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=keys)
    connection.execute(statement, list(rows))


def _insert(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """The statement of the kind of database; importing all that SQLAlchemy has for PostgreSQL takes long."""
    if connection.dialect.name != "postgresql":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - what SQLite has no use for

    return postgresql.insert(table)
