"""A journal in a file."""

import json
import os
import resource
import signal

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle._locking import LockBusyError
from trundle.engine.effects import MemoryJournal, ProviderError, Record
from trundle.providers import FileJournal


def record(key, state="done", wanted=None):
    return Record(key, "p", "document", wanted, state, {"x": [1.0, True, None]}, None, "ff")


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.text(max_size=3), st.integers())),
        max_size=30,
    )
)
@settings(max_examples=amount(200))
def test_it_is_what_a_journal_in_memory_is_also_when_it_is_opened_again(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("journal") / "j"
    memory = MemoryJournal()
    for key, wanted in steps:
        with FileJournal(path) as journal:
            for each in (journal, memory):
                if wanted is None:
                    each.forget(key)
                else:
                    each.write(record(key, wanted=wanted))
            assert journal.records() == memory.records()
    with FileJournal(path) as journal:
        assert journal.records() == memory.records()


def test_every_cut_of_the_file_is_a_journal_of_whole_writes(tmp_path):
    path = tmp_path / "j"
    with FileJournal(path) as journal:
        states = [journal.records()]
        for each in (record("a"), record("b"), record("a", "removing")):
            journal.write(each)
            states.append(journal.records())
        journal.forget("a")
        states.append(journal.records())
    data = path.read_bytes()
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        with FileJournal(path) as journal:
            assert journal.records() == states[data[:end].count(b"\n")]
            journal.write(record("c"))
        with FileJournal(path) as journal:
            assert journal.records()[-1].key == "c"


@pytest.mark.parametrize(
    "line", ["x", "{}", "[]", "1", '{"write": {"key": 1}}', '{"forget": "no"}']
)
def test_a_file_that_is_no_journal_is_refused_and_stays(tmp_path, line):
    path = tmp_path / "j"
    text = json.dumps({"write": record("a").to_plain()}) + f"\n{line}\n"
    path.write_text(text)
    with pytest.raises(ProviderError, match="j:2: expected a line of a journal"), FileJournal(path):
        pass
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_what_only_reads_makes_no_file(tmp_path):
    with FileJournal(tmp_path / "j") as journal:
        journal.forget("a")
        assert journal.records() == ()
    assert list(tmp_path.iterdir()) == []


def test_one_run_at_a_time(tmp_path):
    with FileJournal(tmp_path / "j"), pytest.raises(LockBusyError), FileJournal(tmp_path / "j"):
        pass
    with FileJournal(tmp_path / "j") as journal:
        pass
    with pytest.raises(ValueError, match="is closed"):
        journal.write(record("a"))


def test_it_does_not_grow_for_ever(tmp_path):
    path = tmp_path / "j"
    for _ in range(3):
        with FileJournal(path) as journal:
            for number in range(150):
                journal.write(record("a", wanted=number))
    with FileJournal(path) as journal:
        assert [each.wanted for each in journal.records()] == [149]
    assert len(path.read_text().splitlines()) < 250
    assert path.stat().st_mode & 0o077 == 0


def test_a_write_that_fails_halfway_never_happened(tmp_path):
    path = tmp_path / "j"
    with FileJournal(path) as journal:
        journal.write(record("a"))
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, most))
        try:
            with pytest.raises(OSError, match="File too large"):
                journal.write(record("b"))
            with pytest.raises(OSError, match="File too large"):
                journal.forget("a")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            signal.signal(signal.SIGXFSZ, before)
        assert [each.key for each in journal.records()] == ["a"]
        journal.write(record("c"))
    with FileJournal(path) as journal:
        assert [each.key for each in journal.records()] == ["a", "c"]


def test_a_write_is_on_disk_before_it_returns(tmp_path, monkeypatch):
    calls = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda *each: calls.append("write") or write(*each))
    monkeypatch.setattr(os, "fsync", lambda each: calls.append("fsync") or fsync(each))
    with FileJournal(tmp_path / "j") as journal:
        journal.write(record("b"))
        for act in (lambda: journal.write(record("a")), lambda: journal.forget("a")):
            calls.clear()
            act()
            assert calls == ["write", "fsync"]
