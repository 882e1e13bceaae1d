"""The fixture with a real cluster; the `conftest.py` of a folder imports it where its tests use it."""

import clusters
import pytest


@pytest.fixture(scope="session")
def cluster():
    """A running cluster, one for all tests of a process; each has resource types or a namespace of its own."""
    with clusters.running() as started:
        yield started
