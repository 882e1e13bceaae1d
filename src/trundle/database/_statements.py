"""Runs statements in a transaction; those of a file past SQLAlchemy, which takes several times as long for one of them as SQLite itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, UpdateBase

from trundle.database import _sqlite


def rows(
    connection: Connection, statement: Select[Any], values: Mapping[str, Any]
) -> Sequence[Sequence[Any]]:
    """What a query finds.

    Args:
        connection: the transaction.
        statement: the query; it is compiled once, so it is made once.
        values: its parameters.
    """
    if connection.dialect.name == "postgresql":
        return connection.execute(statement, values).all()
    return _sqlite.rows(connection, statement, values)


def write(
    connection: Connection, statement: UpdateBase, values: Sequence[Mapping[str, Any]]
) -> None:
    """Inserts, changes or deletes rows.

    Args:
        connection: the transaction.
        statement: the statement; it is compiled once, so it is made once.
        values: its parameters, for each time that it runs.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(statement, values)
    else:
        _sqlite.write(connection, statement, values)
