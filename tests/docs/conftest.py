"""A browser for the tests of a module."""

import browsers
import pytest


@pytest.fixture(scope="module")  # No longer: while it is open, its event loop runs in this thread.
def browser():
    with browsers.chromium() as found:
        yield found
