import database_fixtures
import pytest
from database_fixtures import in_file, on_server, server, url  # noqa: F401 - fixtures

from trundle.catalog import Catalog


@pytest.fixture(scope="session")
def template(server):  # noqa: F811 - the fixture
    """The name of a database on the server with the tables of a catalog."""
    database_fixtures.make(server, "empty_catalog")
    Catalog(f"{server}/empty_catalog").close()
    return "empty_catalog"


@pytest.fixture
def catalog(url):  # noqa: F811 - the fixture
    with Catalog(url) as opened:
        yield opened
