"""What a store does for one writer: writes, lists, changes, deletion."""

import contextlib
import json
import threading

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool
from storing import V1, V2, document, kept, key, seen

from trundle.runtime import DocumentError
from trundle.store import (
    ConflictError,
    FutureVersionError,
    InvalidContinueError,
    InvalidKeyError,
    InvalidMetadataError,
    Key,
    LabelSelector,
    NoSuchObjectError,
    ObjectExistsError,
    Store,
    UnknownResourceError,
)
from trundle.store._decisions import Expected, putting, replacing
from trundle.store._writer import Write


def changed(store, after=1, **options):
    """The changes after a resource version: kind, name, resource version."""
    found = store.changes("Thing", after, **options)
    return [(each.kind, each.object.key.name, each.resource_version) for each in found.changes]


def test_an_object_is_created_and_read_at_every_version(either):
    made = either.create(key(), document(V1, team="x", age=3, metadata={"labels": {"a": "b"}}))
    assert (made.resource_version, made.generation, made.storage_version) == (2, 1, V2)
    assert (made.written_with, made.labels) == (V1, {"a": "b"})
    assert either.get(key()) == made
    metadata = {
        "labels": {"a": "b"},
        "name": "ada",
        "namespace": "default",
        "uid": made.uid,
        "resourceVersion": "2",
        "generation": 1,
        "creationTimestamp": f"{made.created[:19]}Z",
    }
    assert seen(either, made) == {
        "apiVersion": V2, "kind": "Thing", "metadata": metadata, "group": "x",
    }  # fmt: skip
    assert seen(either, made, V1) == {
        "apiVersion": V1, "kind": "Thing", "metadata": metadata, "team": "x", "age": 3,
    }  # fmt: skip


def test_what_columns_have_is_not_in_the_bytes(store):
    given = {"uid": "mine", "resourceVersion": "77", "creationTimestamp": "x", "generation": 9}
    made = store.create(key(), document(group="x", metadata=given))
    assert kept(made)["metadata"] == {"name": "ada", "namespace": "default"}
    assert made.uid != "mine"
    assert made.generation == 1


def test_a_write_of_an_old_version_keeps_what_it_cannot_see(either):
    either.create(key(), document(V2, group="x", note="keep me"))
    either.replace(key(), document(V1, team="y", age=4))
    found = either.get(key())
    assert (seen(either, found)["group"], seen(either, found)["note"]) == ("y", "keep me")
    assert seen(either, found, V1)["age"] == 4


@pytest.mark.parametrize("version", [V1, V2])
def test_writing_back_what_was_read_changes_nothing(either, version):
    made = either.create(key(), document(V1, team="x", age=3, metadata={"labels": {"b": "c"}}))
    read = either.shown(made, version)
    for text in (read, json.dumps(json.loads(read), indent=2, sort_keys=True).encode()):
        assert either.replace(key(), text, resource_version=2) == made
    assert changed(either) == [("added", "ada", 2)]


def test_generation_grows_with_content_alone(store):
    made = store.create(key(), document(group="x"))
    labelled = store.replace(key(), document(group="x", metadata={"labels": {"a": "1"}}))
    assert (labelled.generation, labelled.labels) == (1, {"a": "1"})
    assert store.replace(key(), document(group="y")).generation == 2
    assert store.replace(key(), document(group="z"), counts=False).generation == 2
    assert store.get(key()).uid == made.uid


def test_a_writer_that_read_something_older_is_refused(either):
    first = either.create(key(), document(group="x"))
    second = either.replace(key(), document(group="y"), resource_version=first.resource_version)
    with pytest.raises(
        ConflictError, match="expected resource version 2, found resource version 3"
    ):
        either.replace(key(), document(group="z"), resource_version=2)
    with pytest.raises(ConflictError):
        either.delete(key(), resource_version=2)
    with pytest.raises(ConflictError):
        either.replace(key(), document(group="z"), uid="another")
    assert either.get(key()) == second


def test_what_is_not_there_or_there_already_is_said(store):
    for attempt in (
        lambda: store.get(key()),
        lambda: store.replace(key(), document()),
        lambda: store.delete(key()),
        lambda: store.edit_metadata(key(), dict),
        lambda: store.update(key(), lambda _: None),
    ):
        with pytest.raises(NoSuchObjectError, match="Thing default/ada: expected an object"):
            attempt()
    store.create(key(), document())
    with pytest.raises(ObjectExistsError):
        store.create(key(), document())
    with pytest.raises(UnknownResourceError, match="did you mean Thing"):
        store.get(Key("Thin", "", "x"))
    assert changed(store) == [("added", "ada", 2)]


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{", b'"x"', b"\xff", b"[" * 100_000, document(group=1), document(other=1)],
)
def test_a_document_that_is_none_is_refused(store, data):
    with pytest.raises(DocumentError):
        store.create(key(), data, version=V2)
    assert store.newest("Thing") == 1


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        "x",
        {"name": "bea"},
        {"namespace": "other"},
        {"name": 1},
        {"labels": {"a": 1}},
        {"labels": []},
        {"labels": {"a": "\0"}},
        {"finalizers": "x"},
        {"finalizers": [1]},
        {"ownerReferences": [1]},
    ],
)
def test_metadata_that_cannot_be_kept_is_refused(store, metadata):
    with pytest.raises(InvalidMetadataError):
        store.create(key(), document(metadata=metadata))
    assert store.newest("Thing") == 1


@pytest.mark.parametrize("name", ["", "a/b", "a\0b", "a\nb", "x" * 513, "\ud800", "a\u200eb"])
def test_names_that_no_object_can_have_are_refused(store, name):
    with pytest.raises(InvalidKeyError):
        store.create(key(name), document())
    with pytest.raises(InvalidKeyError):
        store.find(key(name))


def test_names_of_many_kinds_are_kept(either):
    names = ["ä", "a b", "a'b", 'a"b', "%s", "a\\b", "日本", "A", "a", "z" * 512, "a.b", "a:b"]
    for each in names:
        either.create(key(each), document(group=each))
    assert [each.key.name for each in either.list("Thing").objects] == sorted(names, key=str.encode)
    assert seen(either, either.get(key("a'b")))["group"] == "a'b"


def test_a_dry_run_gives_the_result_and_stores_nothing(either):
    made = either.create(key(), document(group="x"), dry_run=True)
    assert (made.generation, made.labels, made.resource_version) == (1, {}, 2)
    assert either.find(key()) is None
    either.create(key(), document(group="x"))
    assert kept(either.replace(key(), document(group="y"), dry_run=True))["group"] == "y"
    assert either.delete(key(), dry_run=True).kind == "deleted"
    assert kept(either.get(key()))["group"] == "x"
    with pytest.raises(ObjectExistsError):
        either.create(key(), document(), dry_run=True)


def test_update_tries_again_after_another_write(store):
    store.create(key(), document(group="0"))
    calls = []

    def change(current):
        calls.append(current.resource_version)
        if len(calls) == 1:
            store.replace(key(), document(group="5"))
        return document(group=str(int(kept(current)["group"]) + 1))

    assert kept(store.update(key(), change))["group"] == "6"
    assert calls == [2, 3]
    made = store.update(key("bea"), lambda found: document(group=str(found)))
    assert kept(made)["group"] == "None"


# Deletion


def test_an_object_without_finalizers_is_gone(either):
    made = either.create(key(), document(group="x"))
    done = either.delete(key(), uid=made.uid)
    assert (done.kind, done.object.resource_version, done.object.data) == ("deleted", 3, made.data)
    assert either.find(key()) is None
    assert either.list("Thing").objects == ()
    again = either.create(key(), document(group="x"))
    assert again.uid != made.uid
    assert changed(either) == [("added", "ada", 2), ("deleted", "ada", 3), ("added", "ada", 4)]


def test_an_object_with_finalizers_is_gone_when_the_last_one_is(either):
    either.create(key(), document(group="x", metadata={"finalizers": ["a", "b"]}))
    marked = either.delete(key())
    assert (marked.kind, marked.object.generation) == ("modified", 2)
    shown = seen(either, either.get(key()))["metadata"]
    assert (shown["deletionTimestamp"], shown["deletionGracePeriodSeconds"]) == (
        f"{marked.object.deleted[:19]}Z",
        0,
    )
    assert either.delete(key()).kind is None
    one = either.replace(key(), document(group="x", metadata={"finalizers": ["b"]}))
    assert (one.deleted, one.finalizers) == (marked.object.deleted, ("b",))
    either.edit_metadata(key(), lambda found: {**found, "finalizers": []})
    assert either.find(key()) is None
    assert [kind for kind, *_ in changed(either)] == ["added", "modified", "modified", "deleted"]


def test_a_deletion_can_add_finalizers(store):
    store.create(key(), document(metadata={"finalizers": ["a"]}))
    marked = store.delete(key(), finalizers=("foregroundDeletion", "a")).object
    assert marked.finalizers == ("a", "foregroundDeletion")
    assert kept(marked)["metadata"]["finalizers"] == ["a", "foregroundDeletion"]


def test_metadata_is_edited_without_a_conversion(store):
    store.create(key(), document(V1, team="x", age=1))
    before = store.get(key())
    done = store.edit_metadata(key(), lambda found: {**found, "annotations": {"a": "b"}})
    assert (done.kind, done.object.generation, done.object.written_with) == ("modified", 1, V1)
    assert kept(done.object) == {
        **kept(before),
        "metadata": {**kept(before)["metadata"], "annotations": {"a": "b"}},
    }
    assert store.edit_metadata(key(), dict).kind is None
    with pytest.raises(InvalidMetadataError):
        store.edit_metadata(key(), lambda found: {**found, "name": "bea"})


def test_dependents_are_those_that_name_an_owner(either):
    owner = either.create(key("owner"), document())
    other = either.create(key("other"), document())

    def owned_by(*owners):
        return {
            "ownerReferences": [
                {"uid": each.uid, "kind": "Thing", "name": each.key.name} for each in owners
            ]
        }

    either.create(key("one", "b"), document(metadata=owned_by(owner)))
    either.create(key("both", "a"), document(metadata=owned_by(other, owner)))
    either.create(key("late"), document(metadata=owned_by(other)))
    assert [each.key.name for each in either.dependents(owner.uid)] == ["both", "one"]
    assert [each.key.name for each in either.dependents(other.uid)] == ["both", "late"]
    assert list(either.dependents("%")) == []
    either.replace(key("one", "b"), document())
    either.delete(key("both", "a"))
    assert list(either.dependents(owner.uid)) == []


# Lists


@pytest.mark.full
def test_pages_show_one_moment(either):
    for name in "abcdef":
        either.create(key(name), document(group="old"))
    page = either.list("Thing", limit=2)
    found = list(page.objects)
    either.replace(key("c"), document(group="new"))
    either.delete(key("d"))
    either.create(key("cc"), document(group="new"))
    either.create(key("d"), document(group="new"))
    while page.token:
        page = either.list("Thing", limit=2, token=page.token)
        assert page.resource_version == 7
        found += page.objects
    assert [(each.key.name, kept(each)["group"]) for each in found] == [
        (name, "old") for name in "abcdef"
    ]
    now = either.list("Thing")
    assert [each.key.name for each in now.objects] == ["a", "b", "c", "cc", "d", "e", "f"]
    assert now.resource_version == 11


def test_a_list_shows_any_moment(either):
    states = [(1, {})]
    writes = [
        lambda: either.create(key("a"), document(group="1")),
        lambda: either.create(key("b"), document(group="1")),
        lambda: either.replace(key("a"), document(group="2")),
        lambda: either.delete(key("b")),
        lambda: either.delete(key("a")),
        lambda: either.create(key("b"), document(group="3")),
    ]
    for write in writes:
        write()
        page = either.list("Thing")
        now = {each.key.name: kept(each)["group"] for each in page.objects}
        states.append((page.resource_version, now))
    assert len({version for version, _ in states}) == 7
    for version, then in states:
        page = either.list("Thing", at=version)
        assert {each.key.name: kept(each)["group"] for each in page.objects} == then


@pytest.mark.full
def test_lists_of_a_namespace_a_name_and_of_labels(either):
    numbers = ["5", "10", "low", "007", "", "9223372036854775807", "9223372036854775808", "5.5"]
    for at, number in enumerate(numbers):
        made = document(metadata={"labels": {"rank": number}})
        either.create(key(f"r{at}", "three"), made)
    for text in ("rank>4", "rank>5,rank<8", "rank < 010", "rank>0", "rank<99999999999"):
        selector = LabelSelector.parse(text)
        chosen = either.list("Thing", labels=selector).objects
        wanted = [x for x in either.list("Thing").objects if selector.matches(x.labels)]
        assert [each.key for each in chosen] == [each.key for each in wanted], text
    ranks = [
        x.labels["rank"] for x in either.list("Thing", labels=LabelSelector.parse("rank>5")).objects
    ]
    assert ranks == ["10", "007", "9223372036854775807"]
    for at in range(len(numbers)):
        either.delete(key(f"r{at}", "three"))
    for at, labels in enumerate([{"app": "web", "x.io/tier": "1"}, {"app": "db"}, {}, {"app": ""}]):
        made = document(metadata={"labels": labels})
        either.create(key(f"n{at}", "one" if at % 2 else "two"), made)

    def names(**options):
        return [each.key.name for each in either.list("Thing", **options).objects]

    assert names() == ["n1", "n3", "n0", "n2"]
    assert names(namespace="one") == ["n1", "n3"]
    assert names(name="n2") == ["n2"]
    labels = [each.labels for each in either.list("Thing").objects]
    for text in (
        "app=web", "app==db", "app!=web", "app", "!app", "app in (web, db)", "app notin (web)",
        "x.io/tier=1", "app=", "app,app!=db", "app in (web,)", "!x.io/tier,app", "", " app = web ",
        "app in (db),!x.io/tier", "nothing=x",
    ):  # fmt: skip
        selector = LabelSelector.parse(text)
        wanted = [
            each.key.name for each in either.list("Thing").objects if selector.matches(each.labels)
        ]
        assert names(labels=selector) == wanted, text
    assert {"app": "db"} in labels


def test_a_token_of_something_else_is_refused(store):
    for name in "ab":
        store.create(key(name), document())
    token = store.list("Thing", limit=1).token
    for wrong in ("x", "Ä", token[:-3], "W10", token + "A" * 5, "bnVsbA"):
        with pytest.raises(InvalidContinueError, match="the continue token: expected"):
            store.list("Thing", token=wrong)


def test_a_resource_version_of_the_future_is_refused(store):
    store.create(key(), document())
    with pytest.raises(FutureVersionError):
        store.list("Thing", at=3)
    with pytest.raises(FutureVersionError):
        store.list("Thing", since=3)
    assert store.list("Thing", since=2).resource_version == 2
    with pytest.raises(FutureVersionError):
        store.changes("Thing", 3)


# Changes


def test_changes_go_on_from_where_they_ended(either):
    for name in "abc":
        either.create(key(name), document(group="x"))
    either.replace(key("b"), document(group="y"))
    first = either.changes("Thing", 1, limit=2)
    assert (len(first.changes), first.resource_version) == (2, 3)
    rest = either.changes("Thing", first.resource_version)
    assert [each.resource_version for each in rest.changes] == [4, 5]
    last = rest.changes[-1]
    assert (kept(last.previous)["group"], kept(last.object)["group"]) == ("x", "y")
    assert either.changes("Thing", 5).changes == ()


def test_a_watcher_waits_for_changes(either):
    stop = threading.Event()
    found = []

    def watch():
        for each in either.watch("Thing", 1, stop=stop):
            found.append((each.kind, each.object.key.name))
            if each.kind == "deleted":
                return

    thread = threading.Thread(target=watch)
    thread.start()
    either.create(key(), document(group="x"))
    either.replace(key(), document(group="y"))
    either.delete(key())
    thread.join(60)
    stop.set()
    assert found == [("added", "ada"), ("modified", "ada"), ("deleted", "ada")]


def test_changes_of_another_process_are_seen(url, scheme):
    with Store(url, scheme) as one, Store(url, scheme) as other:
        other.create(key(), document())
        assert changed(one, wait=60) == [("added", "ada", 2)]


def test_an_object_that_leaves_a_selection_is_deleted_for_its_watcher(store):
    for labels in ({}, {"a": "1"}, {"a": "1", "b": "2"}, {"a": "2"}, {"a": "1"}):
        given = document(group="x", metadata={"labels": labels})
        store.update(key(), lambda _, given=given: given)
    store.delete(key())
    stop = threading.Event()
    found = []
    for each in store.watch("Thing", 1, labels=LabelSelector.parse("a=1"), stop=stop):
        found.append((each.kind, each.resource_version, dict(each.object.labels)))
        if each.resource_version == 7:
            break
    assert found == [
        ("added", 3, {"a": "1"}),
        ("modified", 4, {"a": "1", "b": "2"}),
        ("deleted", 5, {"a": "1", "b": "2"}),
        ("added", 6, {"a": "1"}),
        ("deleted", 7, {"a": "1"}),
    ]


def test_what_is_asked_for_is_found_by_an_index(store):
    """What a statement costs depends on what it finds, not on what is stored: SQLite says which index it uses."""
    for name in "abc":
        store.create(key(name), document(group="x"))
    asked = []

    def see(statement):
        if "store_revisions" in statement and statement.startswith(("SELECT", "UPDATE")):
            asked.append(statement)

    with listening(see):
        token = store.list("Thing", limit=1).token
        store.get(key("a"))
        store.list("Thing", limit=1, token=token)
        store.list("Thing", namespace="default", limit=1)
        store.replace(key("a"), document(group="y"))
        store.list("Thing", limit=1, token=token)
        store.changes("Thing", 3)
        writes = [Write(key(name), creating_or_not(name)) for name in "abc"]
        store.writer.write_all(writes)
    assert len(asked) >= 9
    with store.database.reading() as connection:
        for statement in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all()
            first, *more = (each[3] for each in plan)
            narrow = "namespace" in first or "resource_version" in first or "LIMIT" in statement
            assert first.startswith("SEARCH store_revisions USING INDEX"), (statement, plan)
            assert narrow, (statement, plan)
            assert "USE TEMP B-TREE FOR ORDER BY" not in more, (statement, plan)
            if "replaced IS NULL" in statement:
                assert "store_revisions_current" in first, (statement, plan)


@contextlib.contextmanager
def listening(see):
    """Shows the statements that the driver of SQLite runs, as it is asked past SQLAlchemy, too."""

    def taken(driver, *_):
        driver.set_trace_callback(see)

    def left(driver, *_):
        driver.set_trace_callback(None)

    for name, each in (("checkout", taken), ("checkin", left)):
        event.listen(Pool, name, each)
    try:
        yield
    finally:
        for name, each in (("checkout", taken), ("checkin", left)):
            event.remove(Pool, name, each)


def creating_or_not(name):
    return replacing(key(name), putting(key(name), document(group="z")), Expected(), counts=True)


def test_what_garbage_is_among_has_owners_or_is_marked(either):
    either.create(key("plain"), document(group="x"))
    owner = {"apiVersion": V2, "kind": "Thing", "name": "plain", "uid": "u"}
    either.create(key("owned"), document(group="x", metadata={"ownerReferences": [owner]}))
    either.create(key("marked"), document(group="x", metadata={"finalizers": ["x/f"]}))
    either.create(key("held"), document(group="x", metadata={"finalizers": ["x/f"]}))
    either.delete(key("marked"))
    assert [each.key.name for each in either.unsettled("Thing")] == ["marked", "owned"]


def test_namespaces_are_those_of_current_objects(either):
    for namespace in ("red", "red", "blue"):
        name = f"n{len(list(either.stream('Thing')))}"
        either.create(key(name, namespace), document(group="x"))
    either.delete(key("n2", "blue"))
    assert either.namespaces() == {"red"}


def test_a_store_beside_another_is_in_the_same_database(either, scheme):
    beside = either.beside(scheme)
    heard = []
    beside.listen(lambda: heard.append("commit"))
    beside.create(key(), document(group="x"))
    assert heard == ["commit"]
    either.create(key("bob"), document(group="x"))
    assert heard == ["commit"]
    assert [each.key.name for each in beside.stream("Thing")] == ["ada", "bob"]
    assert either.get(key()) == beside.get(key())
