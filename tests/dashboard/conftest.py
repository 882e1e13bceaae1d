"""A browser for the tests of a module, and the pages that they look at."""

import browsers
import pytest
from served import Served


@pytest.fixture(scope="module")  # No longer: while it is open, its event loop runs in this thread.
def browser():
    with browsers.chromium() as found:
        yield found


@pytest.fixture(scope="session")
def crm(tmp_path_factory):
    """The address of `trundle ui` for the example."""
    server = Served(tmp_path_factory.mktemp("crm"), browsers.CRM, command="ui")
    yield server.url
    server.kill()
