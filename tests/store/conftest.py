import shutil

import database_fixtures
import pytest
from database_fixtures import on_server, server, url  # noqa: F401 - fixtures
from storing import people

from trundle.database import open_database
from trundle.store import Store
from trundle.store._tables import MIGRATIONS


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
def template(server):  # noqa: F811 - the fixture
    """The name of a database on the server with the tables of a store."""
    database_fixtures.make(server, "empty_store")
    with open_database(f"{server}/empty_store") as database:
        database.migrate(MIGRATIONS)
    return "empty_store"


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
