"""Servers that share a database wake each other up; where they cannot, they look by themselves."""

import threading
import time

import psycopg
import pytest
from storing import V1, document, key

from trundle.store import Store

RARELY = 120.0


@pytest.fixture
def pair(on_server, scheme, monkeypatch):
    """Two stores over one database, as two servers have them, which look by themselves only when the test has failed."""
    monkeypatch.setattr("trundle.store._news._POLL", RARELY)
    monkeypatch.setattr("trundle.store._news._RARELY", RARELY)
    with Store(on_server, scheme) as ours, Store(on_server, scheme) as theirs:
        yield ours, theirs


class Watcher(threading.Thread):
    """Reads changes until it has some; says when it had each."""

    def __init__(self, store, number):
        super().__init__(daemon=True)
        self.seen, self._store, self._number = [], store, number
        self.start()

    def run(self):
        after = 1
        while len(self.seen) < self._number:
            found = self._store.changes("Thing", after, wait=RARELY)
            after = found.resource_version
            self.seen += [(x.object.key.name, time.monotonic()) for x in found.changes]


def heard(store, seconds=60):
    deadline = time.monotonic() + seconds
    while not store._news.signals.is_connected:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_change_of_another_server_is_seen_at_once(pair):
    ours, theirs = pair
    ours.create(key("first"), document(V1, team="x"))
    watcher = Watcher(theirs, 21)
    heard(theirs)
    written = {}
    for number in range(20):
        time.sleep(0.05)
        ours.create(key(f"n{number}"), document(V1, team="x"))
        written[f"n{number}"] = time.monotonic()
    watcher.join(RARELY / 2)
    late = [at - written[name] for name, at in watcher.seen if name in written]
    assert [name for name, _ in watcher.seen] == ["first", *written]
    assert max(late) < RARELY / 4, late  # By itself it looks after all of that time.


def test_a_server_does_not_wake_itself_up_over_the_database(pair):
    ours, _ = pair
    calls = []
    threading.Thread(target=lambda: ours.changes("Thing", 1, wait=5), daemon=True).start()
    heard(ours)
    ours._news.signals.listen(lambda: calls.append(1))
    for number in range(5):
        ours.create(key(f"n{number}"), document(V1, team="x"))
        time.sleep(0.05)
    assert calls == []


@pytest.mark.full
def test_a_lost_connection_is_opened_again_and_polling_bridges_the_time(
    pair, on_server, monkeypatch
):
    ours, theirs = pair
    ours.create(key("first"), document(V1, team="x"))
    watcher = Watcher(theirs, 3)
    heard(theirs)
    monkeypatch.setattr("trundle.store._news._POLL", 0.2)
    monkeypatch.setattr("trundle.database._signals._PAUSE", 6.0)
    with psycopg.connect(on_server, autocommit=True) as connection:
        killed = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        ).fetchone()
    assert killed == (1,)
    deadline = time.monotonic() + 60
    while theirs._news.signals.is_connected:
        assert time.monotonic() < deadline
    theirs._news.wake()  # The watcher waits for a signal still, as the test made it patient.
    ours.create(key("second"), document(V1, team="x"))
    start = time.monotonic()
    while len(watcher.seen) < 2:
        assert time.monotonic() - start < RARELY / 2
        time.sleep(0.01)
    assert not theirs._news.signals.is_connected, "it was seen by polling"
    heard(theirs)
    monkeypatch.setattr("trundle.store._news._POLL", RARELY)
    ours.create(key("third"), document(V1, team="x"))
    watcher.join(RARELY / 2)
    assert [name for name, _ in watcher.seen] == ["first", "second", "third"]


def test_a_store_that_is_closed_leaves_no_connection(on_server, scheme):
    with Store(on_server, scheme) as store:
        store.create(key("first"), document(V1, team="x"))
        store.changes("Thing", 2, wait=0.3)
        heard(store)
    with psycopg.connect(on_server, autocommit=True) as connection:
        deadline = time.monotonic() + 60
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        while connection.execute(others).fetchone() != (0,):
            assert time.monotonic() < deadline
    assert not [x for x in threading.enumerate() if x.name.startswith("trundle_store")]
