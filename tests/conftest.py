"""Chooses how much all tests try, before any of them is read."""

import gc
import os

import amounts  # noqa: F401 - loads the profile of hypothesis
import pytest


def pytest_xdist_auto_num_workers():
    """Runs two more tests at once than there are processors: many wait, for servers, disks and processes that they start."""
    return (os.cpu_count() or 1) + 2


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
