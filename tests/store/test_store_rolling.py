"""Rolling forward: every view stays, nothing is written over, what cannot be converted stays and is named."""

import json
import threading

import pytest
from evolving import evolve, hooked, rules
from sqlalchemy import text
from storing import V1, V2, document, kept, key, people_before, seen
from test_store_trouble import dying
from test_store_under_load import SERVER_IN_FULL

from trundle.store import (
    MovedVersionError,
    NoSuchObjectError,
    Pace,
    ServerLease,
    Store,
    check,
    compact,
    dropped,
    plan_roll,
    roll,
    roll_part,
    status,
)
from trundle.store._rows import Rows


@pytest.fixture(scope="module")
def before():
    return people_before()


def fill(url, before, number=250):
    with Store(url, before) as old:
        for at in range(number):
            old.create(
                key(f"n{at:04}"),
                document(V1, team=str(at), age=at, metadata={"labels": {"n": str(at % 3)}}),
            )
        old.replace(key("n0000"), document(V1, team="again", age=0))
        old.delete(key("n0001"))


def views(store):
    """What each version shows of each object."""
    return {
        each.key: [seen(store, each, version) for version in (V1, V2)]
        for each in store.stream("Thing")
    }


def spoil(store, name, data):
    with store.database.writing() as connection:
        statement = text("UPDATE store_revisions SET data = :data WHERE name = :name")
        connection.execute(statement, {"data": data, "name": name})


def versions(store):
    (found,) = status(store).resources
    return {each.version: (each.objects, each.earlier) for each in found.versions}


@pytest.mark.full
def test_every_view_is_as_before_and_no_watcher_sees_anything(url, scheme, before, monkeypatch):
    monkeypatch.setattr("trundle.store._rolling._BATCH", 30)
    fill(url, before, 80)
    with Store(url, scheme) as store:
        shown, newest = views(store), store.newest("Thing")
        assert versions(store) == {V1: (79, 3)}
        looked = roll(store, dry_run=True, verify=True)
        assert versions(store) == {V1: (79, 3)}
        steps = []
        done = roll(store, verify=True, progress=lambda *step: steps.append(step))
        assert (done.resources, done.findings) == (looked.resources, ())
        assert done.resources[0].rolled == {V1: 82}
        assert versions(store) == {V2: (79, 3)}
        assert views(store) == shown
        assert store.newest("Thing") == newest
        assert steps[-1] == ("Thing", 82, 82)
        assert roll(store).resources[0].rolled == {}
        assert kept(store.get(key("n0002")))["apiVersion"] == V2
        assert len(store.changes("Thing", 1).changes) == 82


@SERVER_IN_FULL
def test_an_object_that_cannot_be_converted_is_named_and_left(url, scheme, before):
    fill(url, before, 5)
    bad = b'{"apiVersion":"2020-01-01","kind":"Thing","team":5,"$writtenWith":"2020-01-01"}'
    with Store(url, scheme) as store:
        spoil(store, "n0002", bad)
        spoil(store, "n0003", b"no JSON")
        for options in ({"dry_run": True}, {}, {"verify": True}):
            done = roll(store, **options)
            assert [each.code for each in done.findings] == ["object-not-convertible"] * 2
            assert (
                "Thing default/n0002 at resource version 4: expected an object that can be converted"
                in str(done.findings[0])
            )
            assert "`$.team`" in str(done.findings[0]) or "$.team" in str(done.findings[0])
        assert versions(store) == {V1: (2, 0), V2: (2, 3)}
        assert store.get(key("n0002")).data == bad
        # It blocks no list, no watch, and it can be deleted.
        assert len(store.list("Thing").objects) == 4
        assert len(store.changes("Thing", 1).changes) == 7
        assert [str(each.place.object)[:19] for each in check(store)] == [
            "Thing default/n0002",
            "Thing default/n0003",
        ]
        store.delete(key("n0002"))
        with pytest.raises(NoSuchObjectError):
            store.get(key("n0002"))


def test_a_view_that_would_differ_is_a_finding(in_file, scheme, before, monkeypatch):
    fill(in_file, before, 4)
    real = type(scheme).convert_json

    def wrong(self, data, *arguments, **options):
        found = real(self, data, *arguments, **options)
        return found.replace(b'"group":"2"', b'"group":"3"')

    monkeypatch.setattr(type(scheme), "convert_json", wrong)
    with Store(in_file, scheme) as store:
        stored = store.get(key("n0002"))
        assert roll(store, verify=True, dry_run=True).findings != ()
        (finding,) = roll(store, verify=True).findings
        assert finding.code == "view-differs-after-rolling"
        assert store.get(key("n0002")) == stored


@pytest.mark.full
@SERVER_IN_FULL
def test_rolling_that_dies_goes_on(url, scheme, before, monkeypatch):
    monkeypatch.setattr("trundle.store._rolling._BATCH", 10)
    fill(url, before, 25)
    with Store(url, scheme) as store:
        shown = views(store)
    at = 0
    while dying(url, scheme, at, roll):
        with Store(url, scheme) as store:
            assert views(store) == shown
        at += 1
    assert at >= 3, "three batches, and the move with the first"
    with Store(url, scheme) as store:
        assert set(versions(store)) == {V2}
        assert views(store) == shown


@pytest.mark.full
def test_rolling_beside_writers_loses_no_write(url, scheme, before):
    fill(url, before, 120)
    with Store(url, scheme) as store:
        stop, failures = threading.Event(), []
        wrote = {}

        def write(number):
            at = 0
            while not stop.is_set():
                name = f"n{2 + (number * 7 + at * 3) % 118:04}"
                if int(name[1:]) % 4 != number:
                    at += 1
                    continue
                try:
                    found = store.replace(key(name), document(V1, team=f"{number}.{at}", age=at))
                    wrote[name] = (found.resource_version, f"{number}.{at}")
                except Exception as error:  # noqa: BLE001 - the test looks at it
                    failures.append(error)
                at += 1

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        try:
            done = roll(store, verify=True)
        finally:
            stop.set()
            for each in threads:
                each.join()
        assert failures == []
        assert done.findings == ()
        assert roll(store).resources[0].rolled == {}
        assert wrote
        for name, (version, value) in wrote.items():
            found = store.get(key(name))
            assert (found.resource_version, seen(store, found, V1)["team"]) == (version, value)
        changes = [
            each.resource_version for each in store.changes("Thing", 1, limit=100_000).changes
        ]
        assert changes == list(range(2, store.newest("Thing") + 1))


@pytest.mark.full
def test_rolling_waits_for_a_writer_before_it_locks_a_revision(url, scheme, before, monkeypatch):
    """Writers lock the resource type first, then revisions in any order; rolling in another order would end in a deadlock."""
    monkeypatch.setattr("trundle.store._rolling._BATCH", 3)
    fill(url, before, 5)
    one_batch_done, go_on = threading.Event(), threading.Event()

    def progress(*_):
        one_batch_done.set()
        go_on.wait()

    with Store(url, scheme) as store:
        rolling = threading.Thread(target=roll, args=(store,), kwargs={"progress": progress})
        rolling.start()
        one_batch_done.wait()
        with store.database.writing() as connection:
            assert Rows(connection).resource("", "Thing", locked=True)
            go_on.set()
            rolling.join(0.5)
            assert rolling.is_alive()
            if connection.dialect.name == "postgresql":  # A file has one writer at a time.
                connection.execute(text("SET LOCAL lock_timeout = '20s'"))
            connection.execute(text("UPDATE store_revisions SET labels = labels"))
        rolling.join()
        assert versions(store) == {V2: (4, 3)}


class Stopwatch:
    def __init__(self):
        self.time = 0.0

    def seconds(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


def test_rolling_keeps_to_a_rate(in_file, scheme, before):
    fill(in_file, before, 30)
    with Store(in_file, scheme) as store:
        timer = Stopwatch()
        roll(store, rate=10, timer=timer)
        assert timer.time == pytest.approx(3.2)


@SERVER_IN_FULL
def test_a_storage_version_that_is_still_stored_is_named(url, scheme, before):
    fill(url, before, 3)
    with Store(url, scheme) as store:
        newer = {("", "Thing"): {V2}}
        (finding,) = dropped(url, newer)
        assert finding.code == "storage-version-still-stored"
        assert (
            "Thing: expected Thing to be stored in 2022-02-02, found 2 objects and 3 earlier states in 2020-01-01"
            in str(finding)
        )
        assert "roll" in finding.advice
        assert dropped(url, {})[0].expected == "a store without it"
        roll(store)
        assert dropped(url, newer) == ()
        assert check(store) == ()


def test_what_a_store_agreed_on_is_in_no_ones_way_until_something_is_stored_so(
    in_file, scheme, before
):
    """What is let through is what a server of that release can follow: see `test_store_leases.py`."""
    older = {("", "Thing"): {V1}}
    fill(in_file, before, 3)
    with Store(in_file, scheme) as store:
        with ServerLease(store):
            assert status(store).resources[0].storage_version == V2
            assert dropped(in_file, older) == ()
        roll(store)
    (finding,) = dropped(in_file, older)
    assert finding.code == "stored-by-a-newer-release"
    assert "roll" not in finding.advice


def test_a_roll_stops_where_a_server_of_the_release_before_came_back(in_file, scheme, before):
    """It went on to store what that server could not read."""
    fill(in_file, before, 3)
    with Store(in_file, scheme) as store, Store(in_file, before) as old:
        _, (part,) = plan_roll(store)
        with ServerLease(old) as lease:
            with pytest.raises(
                MovedVersionError, match=f"in {V2} from now on, found {V1}, to which"
            ):
                roll_part(store, part, Pace(None))
            assert roll(store).moves[0].held_by == (lease.holder,)
            assert set(versions(store)) == {V1}
        assert roll(store).resources[0].rolled == {V1: 5}


def test_a_store_that_never_was_has_nothing_to_be_dropped(in_file):
    assert dropped(in_file, {}) == ()


def test_objects_at_the_new_version_are_rewritten_with_the_labels_that_they_have(
    in_file, scheme, before
):
    fill(in_file, before, 9)
    with Store(in_file, scheme) as store:
        roll(store)
        compact(store, most=0)
        for each in store.stream("Thing"):
            assert dict(each.labels) == json.loads(each.data)["metadata"].get("labels", {})


def test_an_object_that_no_version_can_have_is_a_finding(in_file):
    versions = {V1: {"Thing": {"team!": "string"}}, V2: {"Thing": {"group!": "string"}}}
    both = evolve(versions, rules(V1, rename={"team": "group"}), kept=(V1,))
    with Store(in_file, both) as store:
        store.create(key("whole"), document(V2, group="red"))
        store.create(key("damaged"), document(V2, group="red"))
        assert check(store) == ()
        stored = store.get(key("damaged")).data
        spoil(store, "damaged", stored.replace(b'"group"', b'"gruop"'))
        assert seen(store, store.get(key("damaged")))["group"] == ""
        (finding,) = check(store)
        assert finding.code == "object-lacks-required"
        assert "default/damaged" in str(finding.place)
        assert f"nothing stored for $.group in {V2}; $.team in {V1}" in finding.message


def test_what_a_version_requires_may_lack_where_another_version_wrote_the_object(in_file):
    versions = {
        V1: {"Thing": {"team": "string"}},
        V2: {"Thing": {"team": "string", "note!": "string"}},
    }
    with Store(in_file, evolve(versions, kept=(V1,))) as store:
        store.create(key("older"), document(V1, team="red"))
        found = store.get(key("older"))
        assert seen(store, found) == {**seen(store, found, V1), "apiVersion": V2, "note": ""}
        assert check(store) == ()
        # An edit by the newer version writes back what it was shown: there is nothing in it to keep.
        store.replace(key("older"), document(V2, team="blue", note=""))
        assert check(store) == ()


class Loud:
    def assign_to(self, source):
        return {"o": {"d": source.text, "x": "x"}}

    def assign_from(self, source):
        return {"text": source.o.d.upper()}


def test_a_hook_that_needs_what_is_lacking_ends_no_check(in_file):
    """An earlier release did not require it; a hook of the next one takes it for there, as every version shows it."""
    older = {"Thing": {"text": "string"}}
    newer = {"Thing": {"o": "O"}, "O": {"d": "string", "x": "string"}}
    with Store(in_file, evolve({V1: older, V2: newer})) as store:
        store.create(key("kept"), document(V2, o={"x": "1"}))
    newer = {"Thing": {"o": "O"}, "O": {"d!": "string", "x": "string"}}
    hook = hooked(V1, V2, Loud, to=(("text",), ("o",)), back=(("o",), ("text",)))
    with Store(in_file, evolve({V1: older, V2: newer}, hook)) as store:
        assert seen(store, store.get(key("kept")), V1)["text"] == ""
        assert check(store) == ()
