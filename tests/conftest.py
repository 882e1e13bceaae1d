"""Chooses how much all tests try, before any of them is read."""

import gc

import amounts  # noqa: F401 - loads the profile of hypothesis
import pytest


def pytest_collection_modifyitems(items):
    """Marks the tests that need a real cluster."""
    for each in items:
        if "cluster" in getattr(each, "fixturenames", ()):
            each.add_marker(pytest.mark.cluster)


def pytest_collection_finish():
    """Keeps what all tests share out of the sight of the garbage collector, which else goes through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
