"""One browser for the tests of the page that run in one process, and the pages that they look at."""

import browsers
import pytest
from served import Served


@pytest.fixture(scope="session")
def browser():
    with browsers.chromium() as found:
        yield found


@pytest.fixture(scope="session")
def crm(tmp_path_factory):
    """The address of `trundle ui` for the example."""
    server = Served(tmp_path_factory.mktemp("crm"), browsers.CRM, command="ui")
    yield server.url
    server.kill()
