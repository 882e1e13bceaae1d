import pytest
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures

from trundle.database import open_database


@pytest.fixture
def database(url):  # noqa: F811 - the fixture
    with open_database(url) as opened:
        yield opened
