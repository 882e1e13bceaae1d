import pytest
from database_fixtures import in_file, on_server, server, url  # noqa: F401 - fixtures
from kept import Kept


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
