"""Chooses how much all tests try, before any of them is read."""

import atexit
import gc
import os
from importlib import import_module
from pathlib import Path

import amounts
import pytest
import warm
from _pytest.runner import runtestprotocol

CLUSTER = Path(__file__).with_name("cluster")
_WORTH_REPORTING = 0.1  # Seconds that preparing or cleaning up took, for `--durations`.


def pytest_xdist_auto_num_workers():
    """Runs one more test at once than there are processors: some wait, for servers, disks and processes that they start."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config):
    """Has the workers share one process that runs scripts, until this process ends."""
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)  # Taking apart all that tests left in memory takes seconds.
    else:
        config.add_cleanup(warm.share())


def pytest_collection():
    """Prepares the processes that read tests; the one that hands them out to workers does not."""
    gc.disable()  # All that tests are collected from stays; `pytest_collection_finish` enables it again.
    import_module("migrating").install()


def _leaves_out_full(config):
    """Whether what is marked `full` is left out, as `make test` does: what is not collected takes no time."""
    return "not full" in config.option.markexpr


def pytest_ignore_collect(collection_path, config):
    """Leaves `tests/cluster` out where only tests run that need no cluster: all in there need one, or are marked `full`."""
    left_out = _leaves_out_full(config) and "not cluster" in config.option.markexpr
    return True if left_out and collection_path == CLUSTER else None


def pytest_pycollect_makeitem(collector, name, obj):
    """Collects no tests that are marked `full`, where these are left out."""
    marks = getattr(obj, "pytestmark", ()) if name.startswith("test_") else ()
    left_out = _leaves_out_full(collector.config) and any(each.name == "full" for each in marks)
    return [] if left_out else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items, config):
    """Marks the tests that need a real cluster, those that are left to `make test-all`, and those in which it tries more."""
    for each in [*amounts.left_to_all(items, CLUSTER.parent)]:
        each.add_marker(pytest.mark.full)
    for each in items:
        if "cluster" in getattr(each, "fixturenames", ()):
            each.add_marker(pytest.mark.cluster)
        elif each.path.is_relative_to(CLUSTER) and not {"cluster", "full"} & {
            mark.name for mark in each.iter_markers()
        }:
            raise pytest.UsageError(f"{each.nodeid} needs no cluster, so `make test` would miss it")
        if "more" in config.option.markexpr and amounts.tries_more(each):
            each.add_marker(pytest.mark.more)


def pytest_collection_finish():
    """Keeps what all tests share out of the sight of the garbage collector, which else goes through it again and again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_runtest_protocol(item, nextitem):
    """Has a worker report no preparing and cleaning up that went well: reports take longer than short tests."""
    if not hasattr(item.config, "workerinput"):
        return None
    for each in runtestprotocol(item, log=False, nextitem=nextitem):
        if each.when == "call" or not each.passed or each.duration > _WORTH_REPORTING:
            item.ihook.pytest_runtest_logreport(report=each)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
