"""Work in several processes: results, errors of every kind, and that nothing is left over."""

import multiprocessing
import os
import signal
import sys
import time

import pytest

from trundle.evolution import ChangeError
from trundle.project import FindingsError
from trundle.project.findings import ProjectCode, finding
from trundle.schema import SchemaError
from trundle.schema.readers import SchemaErrors
from trundle.workers import WorkerDiedError, cpu_count, spread, work_in_processes


def square(number):
    return number * number, os.getpid()


def fail(kind):
    if kind == "schema":
        raise SchemaErrors([SchemaError("a.yaml", "#/a", "one"), SchemaError("b.yaml", "#", "two")])
    if kind == "change":
        raise ChangeError("trundle.yaml:3", "no")
    if kind == "findings":
        raise FindingsError([finding(ProjectCode.HOOK, "x:1", "wrong")])
    if kind == "odd":
        raise OddError(lambda: None)
    if kind == "exit":
        sys.exit(3)
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return kind


class OddError(Exception):
    """An error that cannot be sent."""


def run(work, pieces, jobs=2, done=lambda _: None):
    return work_in_processes(work, pieces, jobs, done)


@pytest.mark.full
def test_results_come_in_the_order_of_the_pieces():
    done = []
    found = run(square, [3, 1, 2, 5], done=done.append)
    assert [each for each, _ in found] == [9, 1, 4, 25]
    assert sorted(done) == [1, 2, 3, 5]
    workers = {pid for _, pid in found}
    assert len(workers) <= 2
    assert os.getpid() not in workers


def test_errors_arrive_as_they_were_raised():
    with pytest.raises(SchemaErrors) as caught:
        run(fail, ["", "schema"], jobs=1)
    assert [each.file for each in caught.value.errors] == ["a.yaml", "b.yaml"]
    assert caught.value.reason == "one"
    assert "in fail" in "".join(caught.value.__notes__)
    with pytest.raises(ChangeError) as other:
        run(fail, ["change"])
    assert (other.value.where, str(other.value)) == ("trundle.yaml:3", "trundle.yaml:3: no")
    with pytest.raises(FindingsError) as third:
        run(fail, ["findings"])
    assert [str(each) for each in third.value.findings] == ["x:1: wrong"]


@pytest.mark.full
def test_an_error_that_cannot_be_sent_is_reported_all_the_same():
    with pytest.raises(RuntimeError, match="OddError: <function"):
        run(fail, ["odd"])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("die", r"ended by signal 9 \(SIGKILL\), which another process sent: .* --jobs 1"),
        pytest.param("exit", r"ended by exit code 3; .* --jobs 1", marks=pytest.mark.full),
    ],
)
def test_a_worker_that_dies_is_an_error(kind, message):
    with pytest.raises(WorkerDiedError, match=message):
        run(fail, ["a", kind, "b"])
    assert multiprocessing.active_children() == []


@pytest.mark.full
def test_an_interrupt_ends_all_workers():
    def interrupt(_piece):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(square, list(range(10)), done=interrupt)
    assert multiprocessing.active_children() == []


STARTED = []


def begin(*arguments):
    STARTED.append(arguments)


def begun(number):
    return number, os.getpid(), tuple(STARTED)


def test_workers_start_once_and_results_come_as_they_are_ready():
    found = list(spread(begun, [1, 2, 3], jobs=2, start=begin, arguments=("x", 1)))
    assert sorted(number for number, _, _ in found) == [1, 2, 3]
    assert {started for _, _, started in found} == {(("x", 1),)}
    assert multiprocessing.active_children() == []


@pytest.mark.full
def test_a_worker_makes_room_for_a_fresh_one(monkeypatch):
    monkeypatch.setattr("trundle.workers._processes._PIECES", 2)
    found = list(spread(begun, range(5), jobs=1, start=begin))
    assert [number for number, _, _ in found] == [0, 1, 2, 3, 4]
    assert len({pid for _, pid, _ in found}) == 3


def refuse(*_arguments):
    raise ChangeError("trundle.yaml:3", "no")


@pytest.mark.full
def test_an_error_of_the_start_arrives():
    with pytest.raises(ChangeError, match="no"):
        list(spread(begun, [1], jobs=1, start=refuse))


@pytest.mark.full
def test_a_spread_worker_that_dies_is_an_error():
    with pytest.raises(WorkerDiedError, match=r"which another process sent: .* with --jobs 1"):
        list(spread(fail, ["die"], jobs=1, start=begin))
    assert multiprocessing.active_children() == []


@pytest.mark.full
def test_workers_end_when_no_more_results_are_asked_for():
    results = spread(begun, range(10), jobs=2, start=begin)
    next(results)
    results.close()
    assert multiprocessing.active_children() == []


def test_there_is_at_least_one_processor():
    assert cpu_count() >= 1


def nothing():
    pass


@pytest.mark.full
@pytest.mark.parametrize("option", ["--jobs", "--workers"])
def test_the_advice_for_a_dead_worker_names_the_option_of_the_command(option):
    with pytest.raises(WorkerDiedError) as caught:
        list(spread(fail, ["die"], jobs=1, start=nothing, option=option))
    assert f"with {option} 1" in str(caught.value)


def nap(seconds):
    if seconds == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)
    return seconds


def instead(piece, why, seconds):
    return piece, why, seconds


@pytest.mark.full
def test_a_worker_that_takes_too_long_is_killed_and_the_others_go_on():
    found = list(spread(nap, [0, 3600, 0.01, 0.02], jobs=1, start=begin, seconds=2, lost=instead))
    assert [found[0], *found[2:]] == [0, 0.01, 0.02]
    piece, why, seconds = found[1]
    assert (piece, why) == (3600, "it took longer than 2 seconds")
    assert seconds >= 2
    assert multiprocessing.active_children() == []


@pytest.mark.full
def test_a_worker_that_takes_too_long_is_an_error_where_nothing_stands_for_it():
    with pytest.raises(WorkerDiedError, match=r"longer than 0\.2 seconds"):
        list(spread(nap, [3600], jobs=1, start=begin, seconds=0.2))
    assert multiprocessing.active_children() == []


@pytest.mark.full
def test_what_stands_for_a_dead_worker_says_why_and_the_others_go_on():
    dead, *others = spread(nap, ["die", 0, 0.01], jobs=1, start=begin, lost=instead)
    assert (dead[0], dead[2] > 0) == ("die", True)
    assert "signal 9" in dead[1]
    assert others == [0, 0.01]


def slow_begin():
    time.sleep(2.5)


@pytest.mark.full
def test_the_start_of_a_worker_does_not_count():
    assert list(spread(nap, [0], jobs=1, start=slow_begin, seconds=2, lost=instead)) == [0]
