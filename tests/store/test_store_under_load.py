"""Sixteen writers in several processes, some of them killed, and watchers that reconnect: none misses or repeats a change."""

import json
import os
import random
import signal
import threading
import time

import pytest
from amounts import ALL, full
from children import ended, in_child
from storing import V1, V2, document, kept, key

from trundle.database import DatabaseError
from trundle.store import (
    ConflictError,
    GoneError,
    NoSuchObjectError,
    ObjectExistsError,
    Store,
    _group_commit,
    compact,
)

WRITERS, PROCESSES = 16, 4
WRITES = 40 if ALL else 12
SHARED = 5
SERVER_IN_FULL = pytest.mark.parametrize("url", ["sqlite", full("postgresql")], indirect=True)
"""On the server where all tests run."""


def writing(store, number, log, writes):
    """One writer: creates, replaces and deletes objects of its own and shared ones; logs what was answered."""
    draw = random.Random(number)
    for at in range(writes):
        name = f"own-{number}" if draw.random() < 0.5 else f"shared-{draw.randrange(SHARED)}"
        value = f"{number}.{at}"
        try:
            if draw.random() < 0.2:
                done = store.delete(key(name)).object.resource_version
                os.write(log, json.dumps([done, name, None]).encode() + b"\n")
                continue
            given = document(V1, team=value) if number % 2 else document(V2, group=value)
            current = store.find(key(name))
            if current is None:
                done = store.create(key(name), given)
            else:
                version = current.resource_version if draw.random() < 0.5 else None
                done = store.replace(key(name), given, resource_version=version)
            os.write(log, json.dumps([done.resource_version, name, value]).encode() + b"\n")
        except (ConflictError, NoSuchObjectError, ObjectExistsError):
            continue


def process(url, scheme, first, log, writes=WRITES):
    """A process with a few writers."""

    def work():
        with Store(url, scheme) as store:
            numbers = range(first, first + WRITERS // PROCESSES)
            threads = [
                threading.Thread(target=writing, args=(store, number, log, writes))
                for number in numbers
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join()

    return in_child(work)


class Watcher(threading.Thread):
    """Follows all changes, and reconnects now and then; where it is too late it lists again."""

    def __init__(self, url, scheme, seed):
        super().__init__()
        self.url, self.scheme, self.draw = url, scheme, random.Random(seed)
        self.done = threading.Event()
        self.seen = []
        self.replica = {}
        self.after = 1
        self.lists = 0
        self.failure = None

    def run(self):
        try:
            while not self.done.is_set():
                with Store(self.url, self.scheme) as store:
                    for _ in range(self.draw.randrange(1, 8)):
                        self.follow(store)
            with Store(self.url, self.scheme) as store:
                while self.after < store.newest("Thing"):
                    self.follow(store)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.failure = error

    def follow(self, store):
        try:
            found = store.changes("Thing", self.after, limit=self.draw.randrange(1, 20), wait=0.05)
        except GoneError:
            self.lists += 1
            page = store.list("Thing", limit=10_000)
            self.replica = {each.key.name: each for each in page.objects}
            self.after = page.resource_version
            return
        for each in found.changes:
            self.seen.append(each)
            if each.kind == "deleted":
                self.replica.pop(each.object.key.name, None)
            else:
                self.replica[each.object.key.name] = each.object
        self.after = found.resource_version


def answered(path):
    """What was answered to writers; a line that a killed one did not finish does not count."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def run(url, scheme, tmp_path, beside=lambda _store: None):
    """Sixteen writers, of which a quarter is killed, and four watchers; gives the watchers, and what was answered."""
    Store(url, scheme).close()
    path = tmp_path / "answers"
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    victim = process(url, scheme, 0, log, 100_000)
    others = [process(url, scheme, each * 4, log) for each in range(1, PROCESSES)]
    watchers = [Watcher(url, scheme, seed) for seed in range(4)]
    for each in watchers:
        each.start()
    deadline = time.monotonic() + 600
    with Store(url, scheme) as store:
        while len(answered(path)) < WRITES * 2 and time.monotonic() < deadline:
            beside(store)
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        assert ended(victim) == -signal.SIGKILL
        while others and time.monotonic() < deadline:
            beside(store)
            done, status = os.waitpid(-1, os.WNOHANG)
            if done:
                assert status == 0
                others.remove(done)
    assert others == []
    os.close(log)
    for each in watchers:
        each.done.set()
    for each in watchers:
        each.join(60)
        assert each.failure is None, repr(each.failure)
        assert not each.is_alive()
    return watchers, answered(path)


@pytest.mark.full
@SERVER_IN_FULL
def test_no_watcher_misses_or_repeats_a_change(url, scheme, tmp_path):
    watchers, answers = run(url, scheme, tmp_path)
    with Store(url, scheme) as store:
        newest = store.newest("Thing")
        everything = store.changes("Thing", 1, limit=100_000).changes
        now = {each.key.name: each for each in store.list("Thing", limit=10_000).objects}
    assert [each.resource_version for each in everything] == list(range(2, newest + 1))
    for each in watchers:
        assert each.seen == list(everything)
        assert each.replica == now
    check_states(everything)
    by_version = {each.resource_version: each for each in everything}
    assert len(answers) > WRITES * 2
    for version, name, value in answers:
        change = by_version[version]
        assert change.object.key.name == name
        if value is None:
            assert change.kind == "deleted"
        else:
            assert kept(change.object)["group"] == value


def check_states(changes):
    """Each change follows from the one before it."""
    objects = {}
    for each in changes:
        before = objects.get(each.object.key)
        assert each.previous == before
        assert (each.kind == "added") == (before is None)
        if each.kind == "deleted":
            del objects[each.object.key]
        else:
            objects[each.object.key] = each.object
        if before is not None:
            assert (each.object.uid, each.object.created) == (before.uid, before.created)


@pytest.mark.full
@SERVER_IN_FULL
def test_watchers_that_come_too_late_list_again_and_see_what_is_there(url, scheme, tmp_path):
    """Compaction leaves so little that watchers fall behind."""
    watchers, _ = run(url, scheme, tmp_path, lambda store: compact(store, most=3))
    with Store(url, scheme) as store:
        now = {each.key.name: each for each in store.list("Thing", limit=10_000).objects}
        compact(store, most=3)
        with pytest.raises(GoneError):  # How many watchers fell behind depends on the machine.
            store.changes("Thing", 1)
        compact(store, most=0)
        assert {each.key.name: each for each in store.stream("Thing")} == now
    for each in watchers:
        assert each.replica == now
        versions = [change.resource_version for change in each.seen]
        assert versions == sorted(set(versions))


@pytest.mark.full
@SERVER_IN_FULL
def test_ten_writers_of_one_object_lose_no_write(url, scheme):
    """Each reads, adds one and writes; in the end nothing is lost. A conflict is tried again."""
    Store(url, scheme).close()
    writers, times = 10, 20 if ALL else 6

    def work():
        with Store(url, scheme) as store:
            for _ in range(times):
                store.update(key(), add_one)

    children = [in_child(work) for _ in range(writers)]
    assert [ended(each) for each in children] == [0] * writers
    with Store(url, scheme) as store:
        assert kept(store.get(key()))["group"] == str(writers * times)
        assert store.newest("Thing") == writers * times + 1


def add_one(current):
    before = 0 if current is None else int(kept(current)["group"])
    return document(group=str(before + 1))


def test_threads_share_transactions(store, monkeypatch):
    """While one commits, the others gather behind it."""
    transactions = []
    real = store.database.writing

    def writing_slowly():
        transactions.append(1)
        while len(transactions) == 1 and len(store.writer._group._queue) < 39:
            time.sleep(0.01)
        return real()

    monkeypatch.setattr(store.database, "writing", writing_slowly)
    threads = [
        threading.Thread(target=lambda name=name: store.create(key(name), document()))
        for name in map(str, range(40))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert store.newest("Thing") == 41
    assert len(transactions) < 15


@pytest.mark.full
def test_writers_that_come_back_one_by_one_share_transactions_again(store, monkeypatch):
    """Eight threads write again and again. The first one that comes back does not commit alone each time."""
    sizes = []
    real = store.database.writing

    def writing_slowly():
        sizes.append(store.newest("Thing"))
        time.sleep(0.03)
        return real()

    for name in range(8):
        store.create(key(str(name)), document())
    monkeypatch.setattr(store.database, "writing", writing_slowly)
    monkeypatch.setattr(
        _group_commit, "_PATIENCE", 100
    )  # Threads come back slowly where much runs.
    monkeypatch.setattr(_group_commit, "_LONGEST", 1)

    def write(name):
        for at in range(10):
            store.replace(key(name), document(group=str(at)))

    threads = [threading.Thread(target=write, args=(str(name),)) for name in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert store.newest("Thing") == 89
    assert len(sizes) <= 16, "ten rounds, and few more"


def test_a_writer_that_is_alone_does_not_wait(store, monkeypatch):
    store.create(key(), document())
    monkeypatch.setattr(store.writer._group._lock, "wait_for", None)
    for at in range(5):
        store.replace(key(), document(group=str(at)))
    assert store.newest("Thing") == 7


def test_a_refused_write_does_not_stop_those_beside_it(store, monkeypatch):
    store.create(key("there"), document())
    real = store.database.writing
    gate = threading.Barrier(6)
    outcomes = {}

    def writing_late():
        time.sleep(0.2)
        return real()

    monkeypatch.setattr(store.database, "writing", writing_late)

    def write(name, data):
        gate.wait()
        try:
            outcomes[name] = store.create(key(name), data).resource_version
        except Exception as error:  # noqa: BLE001 - the test looks at it
            outcomes[name] = type(error).__name__

    jobs = {
        "a": document(),
        "there": document(),
        "b": document(group=5),
        "c": document(),
        "d": b"{",
        "e": document(),
    }
    threads = [threading.Thread(target=write, args=each) for each in jobs.items()]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes[name] for name in "ace") == [3, 4, 5]
    assert [outcomes[name] for name in ("there", "b", "d")] == [
        "ObjectExistsError", "DocumentError", "DocumentError",
    ]  # fmt: skip


@pytest.mark.full
def test_a_row_that_the_database_refuses_does_not_stop_those_beside_it(
    on_server, scheme, monkeypatch
):
    """A written object that no check foresees: all others of its transaction are stored."""
    with Store(on_server, scheme) as store:
        real = store.database.writing

        def writing_late():
            time.sleep(0.2)
            return real()

        monkeypatch.setattr(store.database, "writing", writing_late)
        monkeypatch.setattr("trundle.store._resources._is_kept", lambda _: True)
        outcomes = {}

        def write(name):
            try:
                outcomes[name] = store.create(key(name), document()).generation
            except Exception as error:  # noqa: BLE001 - the test looks at it
                outcomes[name] = type(error)

        threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b\0", "c", "d")]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert outcomes.pop("b\0") not in {1, None}
        assert outcomes == {"a": 1, "c": 1, "d": 1}


@pytest.mark.full
def test_a_lost_connection_loses_no_answered_write(on_server, scheme, tmp_path):
    """The server ends all connections, again and again, while writers write."""
    import psycopg

    with Store(on_server, scheme) as store:
        answers, failures = [], []

        def write(number):
            for at in range(60):
                try:
                    done = store.update(key(str(number)), lambda _, at=at: document(group=str(at)))
                    answers.append((done.resource_version, str(number), str(at)))
                except DatabaseError as error:
                    failures.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        with psycopg.connect(on_server, autocommit=True) as connection:
            while any(each.is_alive() for each in threads):
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'trundle' AND datname = current_database()"
                )
                time.sleep(0.1)
        for each in threads:
            each.join()
        changes = {
            each.resource_version: each for each in store.changes("Thing", 1, limit=10_000).changes
        }
    assert failures
    assert answers
    for version, name, value in answers:
        assert (changes[version].object.key.name, kept(changes[version].object)["group"]) == (
            name,
            value,
        )
