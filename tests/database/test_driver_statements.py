"""Statements that go to the drivers past SQLAlchemy, on both databases; what is stored is read by SQLAlchemy."""

import psycopg
import pytest
from sqlalchemy import (
    JSON,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import IntegrityError

from trundle.database import UnreachableError, open_database, rows, write

TABLES = MetaData()
THINGS = Table(
    "things",
    TABLES,
    Column("number", Integer, primary_key=True),
    Column("name", Text),
    Column("labels", JSON().with_variant(JSONB(), "postgresql")),
    Column("data", LargeBinary),
)
ADD = insert(THINGS)
RENAME = update(THINGS).where(THINGS.c.number == bindparam("of")).values(name=bindparam("new_name"))
REMOVE = delete(THINGS).where(THINGS.c.number == bindparam("of"))
NAMED = (
    select(THINGS)
    .where(THINGS.c.name.like(bindparam("pattern")), THINGS.c.name != literal_column("'50 %'"))
    .order_by(THINGS.c.number)
)


def thing(number, name):
    return {"number": number, "name": name, "labels": {"a": [number, None, "%s"]}, "data": b"\0%s"}


@pytest.fixture
def filled(database):
    with database.writing() as connection:
        TABLES.create_all(connection)
        connection.execute(ADD, [thing(1, "one"), thing(2, "two")])
    return database


def stored(database):
    with database.reading() as connection:
        return [each._asdict() for each in connection.execute(select(THINGS).order_by("number"))]


def test_changes_are_made_in_their_order(filled):
    with filled.writing() as connection:
        renames = [{"of": 1, "new_name": None}, {"of": 3, "new_name": "3"}]
        write(connection, (ADD, [thing(3, "x"), thing(4, "y")]), (RENAME, renames), (RENAME, []))
        write(connection, (REMOVE, [{"of": 4}]))
    assert stored(filled) == [thing(1, None), thing(2, "two"), thing(3, "3")]


def test_a_query_finds_values_as_they_were_written(filled):
    with filled.writing() as connection:
        write(connection, (ADD, [thing(3, "50 %"), thing(4, "50 %s")]))
        assert rows(connection, NAMED, {"pattern": "50%"}) == [[*thing(4, "50 %s").values()]]
        assert rows(connection, NAMED, {"pattern": "none"}) == []


def test_what_the_database_refuses_undoes_all_changes(filled):
    with pytest.raises(IntegrityError), filled.writing() as connection:
        write(
            connection,
            (RENAME, [{"of": 1, "new_name": "x"}]),
            (ADD, [thing(3, "x"), thing(2, "y")]),
            (REMOVE, [{"of": 1}]),
        )
    assert stored(filled) == [thing(1, "one"), thing(2, "two")]
    with filled.writing() as connection:
        write(connection, (ADD, [thing(3, "x")]))
    assert len(stored(filled)) == 3


@pytest.mark.parametrize(
    "ask",
    [
        lambda connection: rows(connection, NAMED, {"pattern": "%"}),
        lambda connection: write(connection, (ADD, [thing(5, "x")]), (REMOVE, [{"of": 1}])),
    ],
)
def test_a_server_that_is_lost_is_an_error_and_the_next_transaction_works(on_server, ask):
    with open_database(on_server) as database:
        with database.writing() as connection:
            TABLES.create_all(connection)
        with (  # noqa: PT012 - what fails is the end of the block, too
            pytest.raises(UnreachableError),
            database.writing() as connection,
        ):
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            with psycopg.connect(on_server, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            ask(connection)
        with database.writing() as connection:
            write(connection, (ADD, [thing(1, "one")]))
        assert stored(database) == [thing(1, "one")]


def test_a_server_is_asked_for_a_single_query_and_nothing_around_it(filled, tmp_path):
    if not filled.is_server:
        pytest.skip("a file is asked for by no messages")
    with filled.looking() as connection:
        driver = connection.connection.driver_connection.pgconn
    with (tmp_path / "messages").open("w") as messages:
        driver.trace(messages.fileno())  # The pool gives the same connection again.
        assert filled.first(NAMED, {"pattern": "t%"})[1] == "two"
        driver.untrace()
    sent = [each.split("\t") for each in (tmp_path / "messages").read_text().splitlines()]
    asked = [each[-1] for each in sent if "F" in each and {"Query", "Parse"} & {*each}]
    assert len(asked) == 2, asked  # Whether it is still there, and the query.
    assert not [each for each in asked if "BEGIN" in each or "ROLLBACK" in each]


def test_a_connection_that_is_lost_at_a_single_query_is_left(on_server):
    with open_database(on_server) as database:
        with database.writing() as connection:
            TABLES.create_all(connection)
            write(connection, (ADD, [thing(2, "two")]))
        with (  # noqa: PT012 - what fails is the end of the block, too
            pytest.raises(UnreachableError),
            database.looking() as connection,
        ):
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            with psycopg.connect(on_server, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            rows(connection, NAMED, {"pattern": "t%"})
        assert database.first(NAMED, {"pattern": "t%"})[1] == "two"
