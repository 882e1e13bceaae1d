"""What a store does when the disk is full, the clock goes back, or a process dies in the middle of a write."""

import datetime as dt
import os
import tracemalloc

import psycopg
import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine
from sqlalchemy.pool import Pool
from storing import document, kept, key
from test_store_under_load import SERVER_IN_FULL, ended, in_child

from trundle.database import UnwritableError
from trundle.store import GoneError, Store, compact


def fill(store):
    """Creates objects until the disk is full; gives how many were stored."""
    for number in range(200):
        try:
            store.create(key(str(number)), document(group="x" * 3000))
        except UnwritableError:
            return number
    raise AssertionError("the disk is never full")


def test_a_full_disk_keeps_what_was_there(in_file, scheme):
    """The database may not grow over some size; a write that needs more is refused as a whole."""

    def limit(connection, _record):
        connection.execute("PRAGMA max_page_count = 60")

    event.listen(Engine, "connect", limit)
    try:
        with Store(in_file, scheme) as store:
            store.create(key("first"), document(group="x"))
            done = fill(store)
            before = store.newest("Thing")
            assert before == done + 2
            assert len(store.list("Thing").objects) == done + 1
            with pytest.raises(UnwritableError, match="make room on the disk"):
                store.replace(key("first"), document(group="y" * 100_000))
            assert kept(store.get(key("first")))["group"] == "x"
    finally:
        event.remove(Engine, "connect", limit)
    with Store(in_file, scheme) as store:
        assert store.newest("Thing") == before
        store.replace(key("first"), document(group="y" * 100_000))
        assert [each.resource_version for each in store.changes("Thing", before).changes] == [
            before + 1
        ]


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.time = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def __call__(self):
        return self.time

    def go(self, **by):
        self.time += dt.timedelta(**by)


def test_times_of_writes_never_go_back(in_file, scheme):
    clock = Clock()
    with Store(in_file, scheme, clock=clock) as store:
        first = store.create(key("a"), document())
        clock.go(minutes=-50)
        second = store.create(key("b"), document())
        clock.go(minutes=50, seconds=1)
        third = store.replace(key("b"), document(group="x"))
    assert first.written == second.written == "2026-01-01T00:00:00.000000Z"
    assert third.written == "2026-01-01T00:00:01.000000Z"
    assert third.created == "2025-12-31T23:10:00.000000Z"


def test_a_clock_that_was_far_ahead_once_leaves_nothing_for_ever(in_file, scheme):
    """Everything was written a hundred years from now, however right the clock was again: kubectl had no ages, and compaction by age forgot nothing."""
    clock = Clock()
    with Store(in_file, scheme, clock=clock) as store:
        store.create(key("a"), document())
        clock.go(days=36500)
        ahead = store.create(key("b"), document())
        assert ahead.created.startswith("2125-")
        clock.go(days=-36500)
        made = store.create(key("c"), document())
        assert made.created == made.written == "2026-01-01T00:00:00.000000Z"
        for at in range(5):
            store.replace(key("b"), document(group=str(at)))
        last = store.newest("Thing")
        clock.go(minutes=4)
        assert compact(store)[0].removed == 0
        clock.go(minutes=1)
        assert (compact(store)[0].resource_version, compact(store)[0].removed) == (last, 0)
        with pytest.raises(GoneError):
            store.changes("Thing", last - 1)


def test_a_clock_that_goes_back_compacts_nothing_too_early(in_file, scheme):
    clock = Clock()
    with Store(in_file, scheme, clock=clock) as store:
        for at in range(5):
            store.update(key(), lambda _, at=at: document(group=str(at)))
        clock.go(minutes=-30)
        for at in range(5, 10):
            store.update(key(), lambda _, at=at: document(group=str(at)))
        compact(store)
        assert len(store.changes("Thing", 1).changes) == 10
        clock.go(minutes=34, seconds=59)
        compact(store)
        assert len(store.changes("Thing", 1).changes) == 10
        clock.go(seconds=1)
        compact(store)
        with pytest.raises(GoneError):
            store.changes("Thing", 10)
        assert store.changes("Thing", 11).changes == ()


def dying(url, scheme, at, work):
    """Works in a process that dies before some statement that changes rows; whether it died."""

    def run():
        left = at

        def step(statement):
            nonlocal left
            if statement.startswith(("INSERT", "UPDATE", "DELETE")):
                left -= 1
                if left < 0:
                    os._exit(9)

        def stepped(run):
            def ran(cursor, statement, *given, **options):
                step(statement)
                return run(cursor, statement, *given, **options)

            return ran

        with Store(url, scheme) as store:  # The drivers are asked past SQLAlchemy, too.
            if url.startswith("sqlite"):
                event.listen(Pool, "checkout", lambda driver, *_: driver.set_trace_callback(step))
            else:
                for name in ("execute", "executemany"):
                    setattr(psycopg.Cursor, name, stepped(getattr(psycopg.Cursor, name)))
            work(store)
        return 0

    return ended(in_child(run)) == 9


@pytest.mark.full
@SERVER_IN_FULL
@pytest.mark.parametrize(
    "work",
    [
        lambda store: store.create(key("new"), document(group="z")),
        lambda store: store.replace(key(), document(group="y")),
        lambda store: store.delete(key()),
    ],
)
def test_a_process_that_dies_in_a_write_leaves_nothing_of_it(url, scheme, work):
    with Store(url, scheme) as store:
        store.create(key(), document(group="x"))
        store.create(key("other"), document(group="x"))
    at = 0
    while dying(url, scheme, at, work):
        with Store(url, scheme) as store:
            assert store.newest("Thing") == 3
            assert [kept(each)["group"] for each in store.stream("Thing")] == ["x", "x"]
            assert len(store.changes("Thing", 1).changes) == 2
        at += 1
    assert at >= 2, "the revision and the counter"
    with Store(url, scheme) as store:
        assert len(store.changes("Thing", 1).changes) == store.newest("Thing") - 1 == 3


@pytest.mark.full
def test_a_stream_takes_memory_for_a_page_only(in_file, scheme):
    """4,000 objects of 5 KB are read while less than a tenth of them is held."""
    with Store(in_file, scheme) as store:
        made = store.create(key("0"), document(group="x" * 5000))
        with store.database.writing() as connection:
            statement = text(
                "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 4002) "
                "INSERT INTO store_revisions SELECT resource, i, namespace, 'n' || i, change, previous, replaced, uid, "
                "generation, created, deleted, written, labels, finalizers, owners, storage_version, written_with, data "
                "FROM store_revisions, n WHERE name = '0'"
            )
            connection.execute(statement)
            connection.execute(text("UPDATE store_resources SET resource_version = 4002"))
        tracemalloc.start()
        try:
            sizes = [len(store.shown(each, "2020-01-01")) for each in store.stream("Thing")]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(sizes) == 4001
    assert sum(sizes) > 20_000_000
    assert peak < 2 * 501 * (len(made.data) + 2000)
