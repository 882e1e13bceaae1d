import pytest
from database_fixtures import in_file, on_server, server, url  # noqa: F401 - fixtures
from storing import people

from trundle.store import Store


@pytest.fixture(scope="session")
def scheme():
    """The scheme of a resource type in two versions."""
    return people()


@pytest.fixture
def store(in_file, scheme):  # noqa: F811 - the fixture
    """A new store in a file."""
    with Store(in_file, scheme) as opened:
        yield opened


@pytest.fixture
def either(url, scheme):  # noqa: F811 - the fixture
    """A new store of either kind."""
    with Store(url, scheme) as opened:
        yield opened
