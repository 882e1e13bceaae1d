"""Chooses how much all tests try, before any of them is read."""

import gc
import os

import amounts
import migrating
import pytest

migrating.install()
gc.disable()  # All that tests are collected from stays; `pytest_collection_finish` enables it again.


def pytest_xdist_auto_num_workers():
    """Runs one more test at once than there are processors: some wait, for servers, disks and processes that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the tests that need a real cluster, and those in which `make test-all` tries more."""
    for each in items:
        if "cluster" in getattr(each, "fixturenames", ()):
            each.add_marker(pytest.mark.cluster)
        if amounts.tries_more(each):
            each.add_marker(pytest.mark.more)


def pytest_collection_finish():
    """Keeps what all tests share out of the sight of the garbage collector, which else goes through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
