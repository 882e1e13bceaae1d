"""Work on a Dask cluster: results and errors, clusters that cannot be used, and processes that are killed."""

import contextlib
import shutil
import time
from pathlib import Path

import dask_clusters
import pytest
from cluster_work import doubled, noting

from trundle import workers
from trundle.errors import Kind
from trundle.workers import (
    DaskCluster,
    DaskError,
    ForeignWorkerError,
    Opening,
    SchedulerAddressError,
    _release,
)

HERE = {"PYTHONPATH": str(Path(dask_clusters.__file__).parent)}


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    with dask_clusters.running(tmp_path_factory.mktemp("dask"), environment=HERE) as found:
        yield found


def opening(folder):
    return Opening(noting, (str(folder), str(folder)))


@pytest.mark.full
def test_results_are_those_of_the_work_and_what_was_opened_is_closed(dask, tmp_path):
    with DaskCluster(dask.address) as found:
        while found.count < 2:  # One may still be starting.
            time.sleep(0.1)
        assert sorted(found.results(opening(tmp_path), doubled, range(50))) == [*range(0, 100, 2)]
        assert list(found.results(opening(tmp_path), doubled, [])) == []
    deadline = time.monotonic() + 60
    while list(tmp_path.glob("opened-*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert 1 <= len(list(tmp_path.glob("closed-*"))) <= 2


@pytest.mark.full
def test_errors_arrive_as_they_were_raised(dask, tmp_path):
    with (
        DaskCluster(dask.address) as found,
        pytest.raises(ForeignWorkerError, match="another; look"),
    ):
        list(found.results(opening(tmp_path), doubled, [1, "fail", 2]))


@pytest.mark.full
def test_a_run_that_ends_early_leaves_nothing_to_do(dask, tmp_path):
    with DaskCluster(dask.address) as found:
        with contextlib.closing(
            found.results(opening(tmp_path), doubled, [0.05] * 5000)
        ) as results:
            next(results)
        begun = time.monotonic()
        assert list(found.results(opening(tmp_path), doubled, [1])) == [2]
        assert time.monotonic() - begun < 60  # All of the work takes longer.


@pytest.mark.full
def test_a_worker_of_another_version_is_refused(dask, monkeypatch):
    monkeypatch.setattr(_release, "RELEASE", "9.9.9 with source abc")
    with (
        pytest.raises(ForeignWorkerError, match=r"expected Trundle 9\.9\.9 .*, found 0\.1\.0 with"),
        DaskCluster(dask.address),
    ):
        pass


@pytest.mark.full
def test_a_worker_with_another_source_of_the_same_version_is_refused(tmp_path):
    other = tmp_path / "other"
    shutil.copytree(Path(workers.__file__).parents[1], other / "trundle")
    with (other / "trundle/runtime/__init__.py").open("a") as file:
        file.write("# Changed.\n")
    with (
        dask_clusters.running(tmp_path, 1, {"PYTHONPATH": str(other)}) as found,
        pytest.raises(ForeignWorkerError, match="install the same one"),
        DaskCluster(found.address, patience=60),
    ):
        pass
    with (
        dask_clusters.running(tmp_path, 1) as found,
        DaskCluster(found.address, patience=60) as one,
    ):
        assert one.count == 1


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "gopher://127.0.0.1:1",
        "tcp://127.0.0.1",
        "tcp://:8786",
        "tcp://a b:8786",
        "tcp://127.0.0.1:0",
        "tcp://127.0.0.1:65536",
        "tcp://127.0.0.1:8786/path",
        "",
    ],
)
def test_what_is_no_address_is_wrong_use(address):
    text = f"expected the address of a scheduler, found {address!r}; write it as `tcp://HOST:8786`"
    with pytest.raises(SchedulerAddressError) as caught, DaskCluster(address):
        pass
    assert text in str(caught.value)
    assert caught.value.kind is Kind.USAGE


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer_is_an_error_within_seconds(address):
    import distributed  # noqa: F401 - it takes its time, once

    begun = time.monotonic()
    with (
        pytest.raises(DaskError, match="expected a scheduler that answers") as caught,
        DaskCluster(address, patience=1),
    ):
        pass
    assert time.monotonic() - begun < 20
    assert caught.value.kind is Kind.UNREACHABLE


@pytest.mark.full
def test_a_cluster_without_workers_is_an_error(tmp_path):
    with (
        dask_clusters.running(tmp_path, workers=0) as found,
        pytest.raises(DaskError, match="expected a worker, found none"),
        DaskCluster(found.address, patience=5),  # In which it connects.
    ):
        pass


@pytest.mark.full
def test_a_piece_is_done_again_where_its_worker_died(tmp_path):
    with (
        dask_clusters.running(tmp_path, environment=HERE) as started,
        DaskCluster(started.address) as found,
    ):
        results = list(found.results(opening(tmp_path), doubled, ["die", *range(20)]))
    assert results.count("diedie") == 1
    assert sorted(each for each in results if each != "diedie") == [*range(0, 40, 2)]


@pytest.mark.full
def test_a_scheduler_that_dies_is_an_error_soon(tmp_path):
    with (
        dask_clusters.running(tmp_path, environment=HERE) as started,
        DaskCluster(started.address, patience=20) as found,
    ):
        results = found.results(opening(tmp_path), doubled, [0.05] * 5000)
        next(results)
        started.scheduler.kill()
        begun = time.monotonic()
        with pytest.raises(DaskError, match="run the command again"):
            list(results)
        assert time.monotonic() - begun < 100  # All of the work takes longer.
