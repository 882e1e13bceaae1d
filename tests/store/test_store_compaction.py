"""What compaction forgets, and what it keeps."""

import datetime as dt
import shutil
import threading

import pytest
from sqlalchemy import text
from storing import document, kept, key
from test_store_trouble import Clock, dying
from test_store_under_load import SERVER_IN_FULL

from trundle.api import core_scheme
from trundle.store import ConflictError, GoneError, Store, begin_anew, compact

NEVER = dt.timedelta(days=365)


def filled(store, times=20):
    """Four objects, written again and again; one of them is deleted and made anew now and then."""
    for at in range(times):
        name = "abcd"[at % 4]
        if name == "d" and store.find(key("d")) is not None:
            store.delete(key("d"))
        else:
            store.update(key(name), lambda _, at=at: document(group=str(at)))


def rows(store):
    with store.database.reading() as connection:
        return connection.execute(text("SELECT count(*) FROM store_revisions")).scalar()


def test_what_is_current_stays_and_what_was_is_gone(either):
    filled(either)
    now = list(either.stream("Thing"))
    assert rows(either) == 20
    (done,) = compact(either, age=NEVER, most=5)
    assert (done.before, done.resource_version, done.removed) == (1, 16, 20 - rows(either))
    assert list(either.stream("Thing")) == now
    with pytest.raises(
        GoneError, match="expected a resource version of Thing from 16 on, found 15"
    ):
        either.changes("Thing", 15)
    with pytest.raises(GoneError):
        either.list("Thing", at=15)
    assert [each.resource_version for each in either.changes("Thing", 16).changes] == [
        17,
        18,
        19,
        20,
        21,
    ]
    assert all(
        each.previous is not None
        for each in either.changes("Thing", 16).changes
        if each.kind != "added"
    )
    compact(either, most=0)
    assert rows(either) == len(now)
    assert list(either.stream("Thing")) == now
    assert compact(either, most=0)[0].removed == 0


@pytest.mark.full
def test_every_moment_that_is_kept_is_shown_as_before(store):
    filled(store, 30)

    def moments(first):
        return {
            at: [kept(each)["group"] for each in store.list("Thing", at=at).objects]
            for at in range(first, 32)
        }

    before = moments(1)
    for most in (25, 12, 3):
        compact(store, age=NEVER, most=most)
        first = 31 - most
        assert moments(first) == {at: before[at] for at in range(first, 32)}


def test_a_list_whose_moment_is_gone_says_so(store):
    for name in "abc":
        store.create(key(name), document())
    token = store.list("Thing", limit=1).token
    store.create(key("d"), document())
    compact(store, most=0)
    with pytest.raises(GoneError, match="list again"):
        store.list("Thing", limit=1, token=token)


def test_changes_are_forgotten_by_age(in_file, scheme):
    clock = Clock()
    with Store(in_file, scheme, clock=clock) as store:
        for at in range(10):
            clock.go(minutes=1)
            store.update(key(), lambda _, at=at: document(group=str(at)))
        assert compact(store, age=dt.timedelta(minutes=3), dry_run=True)[0].resource_version == 8
        assert rows(store) == 10
        assert compact(store, age=dt.timedelta(minutes=3))[0].resource_version == 8
        assert len(store.changes("Thing", 8).changes) == 3


@pytest.mark.full
@SERVER_IN_FULL
def test_a_compaction_that_dies_goes_on(url, scheme):
    with Store(url, scheme) as store:
        filled(store)
        now = list(store.stream("Thing"))
    at = 0
    while dying(url, scheme, at, lambda store: compact(store, most=2)):
        with Store(url, scheme) as store:
            assert list(store.stream("Thing")) == now
        at += 1
    assert at == 3
    with Store(url, scheme) as store:
        assert list(store.stream("Thing")) == now
        assert rows(store) <= len(now) + 4
        assert len(store.changes("Thing", 19).changes) == 2


def changed_since(store, number):
    """What a client does that knows the store by an earlier resource version."""
    with pytest.raises(GoneError):
        store.changes("Thing", number)
    with pytest.raises(ConflictError):
        store.replace(key("a"), document(group="over"), resource_version=number)


def test_a_copy_that_is_put_back_repeats_no_resource_version_that_clients_have_seen(
    in_file, scheme, tmp_path
):
    """As `etcdutl snapshot restore --bump-revision --mark-compacted`; plain files are copied, as users do it. It is put back twice."""
    path, copy = tmp_path / "test.db", tmp_path / "copy.db"
    with Store(in_file, scheme) as store:
        for at in range(5):
            store.update(key("a"), lambda _, at=at: document(group=str(at)))
        kept_until = store.newest("Thing")
    shutil.copy(path, copy)
    seen = []
    for _ in range(2):
        with Store(in_file, scheme) as store:
            for at in range(20):
                written = store.update(key("a"), lambda _, at=at: document(group=f"lost {at}"))
                seen.append(written.resource_version)
        shutil.copy(copy, path)
        with Store(in_file, scheme) as store:
            before = store.get(key("a"))
            assert begin_anew(store, dry_run=True)[0].removed == 0
            assert store.newest("Thing") == kept_until
            (done,) = begin_anew(store)
            assert (done.before, done.removed) == (1, 4)
            assert done.resource_version == store.newest("Thing") > max(seen)
            assert store.get(key("a")) == before
            for number in seen:
                changed_since(store, number)
            assert store.changes("Thing", done.resource_version).changes == ()
            made = store.replace(
                key("a"), document(group="new"), resource_version=before.resource_version
            )
            assert made.resource_version == done.resource_version + 1
            seen.append(made.resource_version)


def test_what_a_server_only_answers_has_no_resource_versions(in_file, scheme):
    """Reviews are resource types whose objects are stored nowhere; exports had their numbers."""
    with Store(in_file, scheme) as store:
        done = begin_anew(store, beside=[core_scheme])
        assert [each.resource for each in done] == ["Thing", "Event", "Lease", "Namespace"]


@pytest.mark.full
def test_what_was_first_written_after_a_copy_repeats_no_resource_version_either(
    in_file, scheme, tmp_path
):
    """The copy does not have the resource type at all."""
    path, copy = tmp_path / "test.db", tmp_path / "copy.db"
    shutil.copy(path, copy)
    with Store(in_file, scheme) as store:
        seen = store.create(key("a"), document(group="lost")).resource_version
    shutil.copy(copy, path)
    with Store(in_file, core_scheme) as store:
        dry = begin_anew(store, beside=[scheme], dry_run=True)
        assert len(dry) > 1
        assert {each.removed for each in dry} == {0}
        begin_anew(store, beside=[scheme])
        things = store.beside(scheme)
        assert things.create(key("a"), document(group="new")).resource_version > seen + 10**9
        changed_since(things, seen)


def test_compaction_runs_beside_writers(either):
    stop = threading.Event()

    def keep_compacting():
        while not stop.is_set():
            compact(either, most=2)

    thread = threading.Thread(target=keep_compacting)
    thread.start()
    filled(either, 40)
    stop.set()
    thread.join()
    assert either.newest("Thing") == 41
    assert [each.key.name for each in either.stream("Thing")] == ["a", "b", "c"]
