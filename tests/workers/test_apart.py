"""Work in a process of its own: results, errors, and every way in which it is ended."""

import faulthandler
import os
import signal
import subprocess
import sys
from textwrap import dedent

import pytest
from processes import ends

from trundle.errors import Kind, TrundleError
from trundle.workers import EndedError, run_apart

_MIB = 2**20


def apart(work, seconds=60.0, memory=256 * _MIB):
    return run_apart(work, seconds=seconds, memory=memory)


def test_the_result_comes_from_another_process():
    assert apart(lambda _: os.getpid()) != os.getpid()
    assert len(apart(lambda _: "x" * 10_000_000)) == 10_000_000
    assert apart(lambda _: None) is None


def test_what_the_work_changes_stays_there():
    seen = []
    apart(lambda _: seen.append(1))
    assert seen == []


class OddError(TrundleError):
    kind = Kind.CONFLICT

    def __init__(self, one, *, other):
        super().__init__(f"{one} {other}")
        self.other = other


def test_an_error_comes_back_as_it_was():
    def work(_):
        raise OddError("a", other="b")

    with pytest.raises(OddError, match="a b") as caught:
        apart(work)
    assert caught.value.other == "b"
    assert caught.value.kind is Kind.CONFLICT


def test_a_result_that_cannot_be_sent_is_an_error():
    with pytest.raises(Exception, match="pickle"):
        apart(lambda _: lambda: 1)


@pytest.mark.full
def test_work_that_takes_too_long_is_ended_with_what_it_noted(monkeypatch):
    monkeypatch.setattr("trundle.workers._apart._GRACE", 0.1)

    def work(note):
        note.text = "a.A.run (a/1.0.0, Classes/a.yaml:3)"
        while True:
            pass

    with pytest.raises(EndedError) as caught:
        apart(work, seconds=1)
    assert "more than 1 seconds" in str(caught.value)
    assert "[limit]" in str(caught.value)
    assert caught.value.where == "a.A.run (a/1.0.0, Classes/a.yaml:3)"
    assert caught.value.kind is Kind.REFUSED


@pytest.mark.full
def test_work_that_holds_the_interpreter_is_ended(monkeypatch):
    """Comparing these takes 2^60 steps in C, which no signal and no thread of Python interrupts."""
    monkeypatch.setattr("trundle.workers._apart._GRACE", 0.1)
    one, other = (1,), (1,)
    for _ in range(60):
        one, other = (one, one), (other, other)
    with pytest.raises(EndedError, match=r"0\.3 seconds"):
        apart(lambda _: one == other, seconds=0.3)


@pytest.mark.full
def test_work_that_takes_too_much_memory_ends():
    before = len(b"x" * _MIB)
    with pytest.raises(MemoryError):
        apart(lambda _: len(b"x" * (512 * _MIB)))
    assert apart(lambda _: len(b"x" * _MIB)) == before
    assert len(b"x" * (300 * _MIB))  # This process has no such limit


def test_work_whose_process_dies_is_an_error():
    with pytest.raises(EndedError, match="signal 9"):
        apart(lambda _: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(EndedError, match="exit code 7"):
        apart(lambda _: os._exit(7))


def ended(how, monkeypatch, counts, later=None):
    """The error for work that a signal ends, while the system counts what it ends for want of memory."""
    if counts.parent.exists():
        counts.write_text("pgfault 5\noom_kill 3\n")
    monkeypatch.setattr("trundle.workers._ends._COUNTS", counts)

    def work(_):
        if later is not None:
            counts.write_text(later)
        faulthandler.disable()  # pytest's would print where the process stands.
        os.kill(os.getpid(), how)

    with pytest.raises(EndedError) as caught:
        apart(work)
    return caught.value


def test_a_signal_of_another_process_is_no_limit(monkeypatch, tmp_path):
    error = ended(signal.SIGKILL, monkeypatch, tmp_path / "vmstat")
    assert "signal 9 (SIGKILL), which another process sent" in str(error)
    assert "memory; let it do less" not in str(error)
    assert "[limit]" not in str(error)
    assert (error.kind, error.is_limit) == (Kind.FAILED, False)


def test_a_process_that_the_system_ends_for_want_of_memory_reached_a_limit(monkeypatch, tmp_path):
    later = "pgfault 9\noom_kill 4\n"
    error = ended(signal.SIGKILL, monkeypatch, tmp_path / "vmstat", later)
    assert "probably" in str(error)
    assert "it may take 256 MiB of memory; let it do less" in str(error)
    assert "[limit]" in str(error)
    assert (error.kind, error.is_limit) == (Kind.REFUSED, True)


@pytest.mark.parametrize("file", ["none/vmstat", "vmstat"])
def test_where_the_system_counts_nothing_the_reason_is_not_known(file, monkeypatch, tmp_path):
    later = None if "/" in file else "pgfault 9\n"
    error = ended(signal.SIGKILL, monkeypatch, tmp_path / file, later)
    assert "is not known" in str(error)
    assert "if memory was short" in str(error)
    assert (error.kind, error.is_limit) == (Kind.FAILED, False)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (signal.SIGTERM, "signal 15 (SIGTERM), which another process sent;"),
        (signal.SIGABRT, "as code in C may where it gets no memory; if memory was short"),
        (signal.SIGXCPU, "the time of the processor that the system allows is over"),
    ],
)
def test_other_signals_say_what_is_known_of_them(how, words, monkeypatch, tmp_path):
    error = ended(how, monkeypatch, tmp_path / "vmstat")
    assert words in str(error)
    assert (error.kind, error.is_limit) == (Kind.FAILED, False)


def test_no_process_is_left():
    def child(note):
        note.text = str(os.getpid())
        os._exit(0)

    with pytest.raises(EndedError) as caught:
        apart(child)
    with pytest.raises(ProcessLookupError):
        os.kill(int(caught.value.where), 0)


@pytest.mark.parametrize(
    ("how", "busy"),
    [
        (signal.SIGTERM, "time.sleep(600)"),
        (signal.SIGKILL, "time.sleep(600)"),
        (signal.SIGINT, "time.sleep(600)"),
        (signal.SIGKILL, "re.match('(a+)+$', 64 * 'a' + 'b')"),  # It holds the interpreter.
    ],
)
def test_the_work_ends_with_the_process_that_waits_for_it(how, busy, tmp_path):
    program = f"""
        import os, re, signal, time, sys
        from trundle.workers import run_apart
        def work(note):
            open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
            print("ready", flush=True)
            {busy}
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run_apart(work, seconds=600, memory=2**28)
    """
    with subprocess.Popen(
        [sys.executable, "-c", dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        worker = int((tmp_path / "pid").read_text())
        process.send_signal(how)
        process.wait(60)
    assert ends(worker)
