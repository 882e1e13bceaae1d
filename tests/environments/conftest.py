import database_fixtures
import pytest
from database_fixtures import in_file, on_server, server, url  # noqa: F401 - fixtures
from kept import Kept

from trundle.catalog import Catalog
from trundle.environments import Environments


@pytest.fixture(scope="session")
def template(server):  # noqa: F811 - the fixture
    """The name of a database on the server with the tables of environments."""
    database_fixtures.make(server, "empty_environments")
    with Catalog(f"{server}/empty_environments") as catalog:
        Environments(catalog)
    return "empty_environments"


@pytest.fixture
def kept(url, tmp_path):  # noqa: F811 - the fixture
    found = Kept(url, tmp_path / "deployed")
    yield found
    found.close()


@pytest.fixture
def shop(kept):
    """An environment with nothing in it."""
    kept.create()
    return kept
