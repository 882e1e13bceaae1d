import itertools
import shutil

import psycopg
import pytest
from database_fixtures import server, url  # noqa: F401 - fixtures
from storing import people

from trundle.database import open_database
from trundle.store import Store
from trundle.store._tables import MIGRATIONS

_numbers = itertools.count()


@pytest.fixture(scope="session")
def scheme():
    """The scheme of a resource type in two versions."""
    return people()


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory):
    """A database with the tables of a store; migrating each test's own takes longer than most tests."""
    path = tmp_path_factory.mktemp("store") / "empty.db"
    with open_database(path) as database:
        database.migrate(MIGRATIONS)
    return path


@pytest.fixture
def in_file(tmp_path, empty_file):
    """The URL of a new store in a file."""
    shutil.copy(empty_file, tmp_path / "test.db")
    return f"sqlite:///{tmp_path / 'test.db'}"


@pytest.fixture(scope="session")
def empty_on_server(server):  # noqa: F811 - the fixture
    """The name of a database on the server with the tables of a store."""
    run(server, "CREATE DATABASE empty_store")
    with open_database(f"{server}/empty_store") as database:
        database.migrate(MIGRATIONS)
    return "empty_store"


@pytest.fixture
def on_server(server, empty_on_server):  # noqa: F811 - the fixture
    """The URL of a new store on the server."""
    name = f"store{next(_numbers)}"
    run(server, f"CREATE DATABASE {name} TEMPLATE {empty_on_server}")
    return f"{server}/{name}"


def run(server, statement):  # noqa: F811 - the fixture
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def store(in_file, scheme):
    """A new store in a file."""
    with Store(in_file, scheme) as opened:
        yield opened


@pytest.fixture
def either(url, scheme):  # noqa: F811 - the fixture
    """A new store of either kind."""
    with Store(url, scheme) as opened:
        yield opened
