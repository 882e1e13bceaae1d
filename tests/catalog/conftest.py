import pytest
from database_fixtures import in_file, on_server, server, url  # noqa: F401 - fixtures

from trundle.catalog import Catalog


@pytest.fixture
def catalog(url):  # noqa: F811 - the fixture
    with Catalog(url) as opened:
        yield opened
