"""Statements as the drivers take them, past SQLAlchemy, which takes several times as long for one of them as SQLite itself.

SQLAlchemy compiles each once, with what its columns do to values.
"""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, Select, UpdateBase
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

_STATEMENTS = 500


class Statement:
    """A statement as a driver takes it, and the types of its values and of what it finds.

    Args:
        statement: the statement.
        dialect: that of the database; its parameters have places, not names.
    """

    def __init__(self, statement: Select[Any] | UpdateBase, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        assert isinstance(compiled, SQLCompiler), "it is no definition of a table"
        assert compiled.positional, "values are given in the order of their places"
        self.text = str(compiled)
        self._given = [
            (name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect))
            for name in compiled.positiontup or ()
        ]
        columns = statement.selected_columns if isinstance(statement, Select) else ()
        found = (
            each.type.dialect_impl(dialect).result_processor(dialect, None) for each in columns
        )
        self._made = [(at, made) for at, made in enumerate(found) if made is not None]

    def given(self, values: Mapping[str, Any]) -> list[Any]:
        """Values as the driver takes them."""
        return [
            values[name] if written is None else written(values[name])
            for name, written in self._given
        ]

    def made(self, found: Sequence[Any]) -> list[Any]:
        """A row that the driver gives, as values."""
        row = [*found]
        for at, made in self._made:
            row[at] = made(row[at])
        return row


@functools.lru_cache(_STATEMENTS)
def compiled(statement: Select[Any] | UpdateBase, dialect: Dialect) -> Statement:
    """A statement, compiled once for databases of one dialect."""
    return Statement(statement, dialect)


def rows(
    connection: Connection, statement: Select[Any], values: Mapping[str, Any]
) -> list[list[Any]]:
    """What a query finds in a transaction.

    Args:
        connection: the transaction.
        statement: the query; it is compiled once, so it is made once.
        values: its parameters.
    """
    known = compiled(statement, connection.dialect)
    with _errors_of_driver(connection):
        cursor = connection.connection.cursor()
        cursor.execute(known.text, known.given(values))
        found = cursor.fetchall()
    return [known.made(each) for each in found]


def write(connection: Connection, *changes: tuple[UpdateBase, Sequence[Mapping[str, Any]]]) -> None:
    """Inserts, changes or deletes rows in a transaction; a server is sent all of these changes at once.

    Args:
        connection: the transaction.
        changes: statements, in their order, and the parameters of each, for each time that it runs. A statement is compiled
            once, so it is made once.
    """
    driver = connection.connection.driver_connection
    together = getattr(driver, "pipeline", contextlib.nullcontext)
    with _errors_of_driver(connection), together():
        cursor: Any = connection.connection.cursor()  # Drivers take any iterable for several rows.
        for statement, values in changes:
            known = compiled(statement, connection.dialect)
            cursor.executemany(known.text, map(known.given, values))


@contextlib.contextmanager
def _errors_of_driver(connection: Connection) -> Iterator[None]:
    """Raises the errors of the driver as SQLAlchemy does."""
    errors: Any = connection.dialect.loaded_dbapi.Error
    try:
        yield
    except errors as error:
        raise DBAPIError.instance(None, None, error, errors, hide_parameters=True) from error
