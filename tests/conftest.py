"""Chooses how much all tests try, before any of them is read."""

import amounts  # noqa: F401 - loads the profile of hypothesis
import pytest


def pytest_collection_modifyitems(items):
    """Marks the tests that need a real cluster."""
    for each in items:
        if "cluster" in getattr(each, "fixturenames", ()):
            each.add_marker(pytest.mark.cluster)
