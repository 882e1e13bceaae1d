"""Export and import: nothing is lost, nothing is half there, what is damaged is named by its line."""

import io
import json
import threading

import pytest
from storing import V1, V2, document, key, people_before
from test_store_trouble import dying

from trundle.api import core_scheme
from trundle.store import (
    ConflictError,
    GoneError,
    Key,
    RefusedImportError,
    Store,
    export,
    import_,
    roll,
)


def fill(store):
    for at in range(7):
        made = document(
            V1,
            team=str(at),
            age=at,
            metadata={"labels": {"n": str(at)}, "finalizers": ["f"] if at == 3 else []},
        )
        store.create(key(f"n{at}", "a" if at % 2 else "b"), made)
    store.create(key("cluster", ""), document(V2, group="ü\u2028", note="n"))
    store.replace(key("n0", "b"), document(V2, group="new"))
    store.delete(key("n3", "a"))
    store.delete(key("n5", "a"))


def exported(store):
    target = io.BytesIO()
    number = export(store, target)
    assert number == target.getvalue().count(b"\n") - 2
    return target.getvalue()


def objects(store):
    """What is stored, but for resource versions and the times of writes."""
    return [
        (
            each.key,
            each.uid,
            each.generation,
            each.created,
            each.deleted,
            each.labels,
            each.finalizers,
            each.storage_version,
            each.written_with,
            each.data,
        )
        for each in store.stream("Thing")
    ]


@pytest.fixture
def other(tmp_path, scheme):
    with Store(tmp_path / "other.db", scheme) as opened:
        yield opened


def test_what_is_exported_is_imported_as_it_was(either, other, tmp_path):
    fill(either)
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported(either))
    assert import_(other, path, dry_run=True).to_plain() == {"stored": 7, "there": 0}
    assert objects(other) == []
    assert import_(other, path).to_plain() == {"stored": 7, "there": 0}
    assert objects(other) == objects(either)
    newest = other.newest("Thing")
    assert [each.kind for each in other.changes("Thing", newest - 7).changes] == ["added"] * 7
    assert import_(other, path).to_plain() == {"stored": 0, "there": 7}
    lines = exported(other).splitlines()
    assert [strip(each) for each in lines[1:]] == [
        strip(each) for each in path.read_bytes().splitlines()[1:]
    ]


def test_resource_versions_of_the_other_store_mean_nothing_after_an_import(either, other, tmp_path):
    """They were counted anew: a client's number could be that of another state, whose changes it had not seen."""
    either.create(key("ada"), document(V2, group="seen"))
    for at in range(9):
        either.replace(key("ada"), document(V2, group=str(at)))
    seen = either.get(key("ada")).resource_version
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported(either))
    later = either.replace(key("ada"), document(V2, group="after the export"))
    import_(other, path, dry_run=True)
    assert other.newest("Thing") == 1
    import_(other, path)
    for at in range(later.resource_version):
        other.replace(key("ada"), document(V2, group=f"other {at}"))
    for number in (1, seen - 5, seen, later.resource_version):
        with pytest.raises(ConflictError):
            other.replace(key("ada"), document(V2, group="lost"), resource_version=number)
        with pytest.raises(GoneError):
            other.changes("Thing", number)


def test_what_was_all_deleted_is_remembered_by_an_import(store, other, tmp_path):
    store.create(key(), document(V1))
    store.delete(key())
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported(store))
    import_(other, path)
    other.create(key(), document(V1))
    other.replace(key(), document(V1, team="x"))
    with pytest.raises(GoneError):
        other.changes("Thing", store.newest("Thing"))


def test_what_was_first_written_after_an_export_is_gone_after_an_import(
    store, other, scheme, tmp_path
):
    """Clients know resource versions of it, which the other store would give anew."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported(store.beside(core_scheme)))
    assert b"Thing" not in path.read_bytes()
    store.create(key(), document(V2, group="x"))
    seen = store.newest("Thing")
    import_(other, path)
    other.create(key(), document(V2, group="y"))
    with pytest.raises(ConflictError):
        other.replace(key(), document(V2, group="lost"), resource_version=seen)
    with pytest.raises(GoneError):
        other.changes("Thing", seen)


def test_what_else_the_database_keeps_is_imported_by_its_own_scheme(either, other, tmp_path):
    fill(either)
    space = Key("Namespace", "", "north")
    body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"a":"b"}}}'
    made = either.beside(core_scheme).create(space, body)
    path = tmp_path / "export.jsonl"
    path.write_bytes(exported(either))
    with pytest.raises(RefusedImportError, match="a resource type of the project"):
        import_(other, path)
    assert objects(other) == []
    assert import_(other, path, beside=[core_scheme]).to_plain() == {"stored": 8, "there": 0}
    assert objects(other) == objects(either)
    found = other.beside(core_scheme).get(space)
    assert (found.uid, found.data, found.labels) == (made.uid, made.data, {"a": "b"})
    assert import_(other, path, beside=[core_scheme]).to_plain() == {"stored": 0, "there": 8}


def strip(line):
    return {name: each for name, each in json.loads(line).items() if name != "written"}


def test_an_export_of_a_release_before_is_read_by_the_next(in_file, other, tmp_path):
    with Store(in_file, people_before()) as old:
        old.create(key(), document(V1, team="x", age=1))
        (tmp_path / "e").write_bytes(exported(old))
    import_(other, tmp_path / "e")
    assert other.get(key()).storage_version == V1
    assert roll(other).resources[0].rolled == {V1: 1}


def test_an_export_shows_one_moment(either, tmp_path):
    """A writer changes two objects together again and again; each export has both of one round."""
    for name in "ab":
        either.create(key(name), document(group="0"))
    stop = threading.Event()

    def write():
        at = 0
        while not stop.is_set():
            at += 1
            for name in "ab":
                either.replace(key(name), document(group=str(at)))

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(10):
        lines = [json.loads(each) for each in exported(either).splitlines()]
        one, two = (int(each["document"]["group"]) for each in lines[1:-1])
        assert one - two in {0, 1}
        assert lines[0]["resources"]["/Thing"] == 3 + one + two
    stop.set()
    thread.join()


def test_line_breaks_within_a_document_break_no_line(store, other, tmp_path):
    """Bytes that another release wrote may have white space; they stay byte for byte."""
    from test_store_rolling import spoil

    store.create(key(), document(group="x"))
    data = (
        b'{"apiVersion":"2022-02-02",\r\n "kind":"Thing",\n"group":"x","$writtenWith":"2022-02-02"}'
    )
    spoil(store, "ada", data)
    path = tmp_path / "e"
    path.write_bytes(exported(store))
    import_(other, path)
    assert other.get(key()).data == data


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda lines: lines[:-1], "a last line with the number of objects"),
        (lambda lines: lines[:3] + lines[4:], "expected 6 objects, found 7"),
        (lambda lines: [b"", *lines[1:]], "e:1: expected the first line"),
        (lambda _: [], "e:1: expected the first line"),
        (
            lambda lines: [lines[0].replace(b'"format":1', b'"format":2'), *lines[1:]],
            "found format 2",
        ),
        (lambda lines: [*lines[:2], b"{", *lines[3:]], "e:3: expected an object of an export"),
        (lambda lines: [*lines[:2], lines[1], *lines[3:]], "e:3: expected each object once"),
        (
            lambda lines: [*lines[:2], lines[2].replace(b"Thing", b"Thong"), *lines[3:]],
            "did you mean /Thing",
        ),
        (
            lambda lines: [
                *lines[:2],
                lines[2].replace(b'"name":"n1"', b'"name":"n/1"'),
                *lines[3:],
            ],
            "e:3",
        ),
        (
            lambda lines: [*lines[:2], lines[2].replace(b"2022-02-02", b"2033-03-03"), *lines[3:]],
            "found 2033-03-03",
        ),
        (
            lambda lines: [
                *lines[:2],
                lines[2].replace(b'"created":"2', b'"created":"x'),
                *lines[3:],
            ],
            "e:3",
        ),
    ],
)
def test_a_damaged_file_is_refused_as_a_whole(store, other, tmp_path, damage, expected):
    fill(store)
    path = tmp_path / "e"
    path.write_bytes(b"".join(each + b"\n" for each in damage(exported(store).splitlines())))
    with pytest.raises(RefusedImportError) as caught:
        import_(other, path)
    assert expected in str(caught.value)
    assert objects(other) == []


def test_an_object_in_another_state_is_not_written_over(store, other, tmp_path):
    fill(store)
    path = tmp_path / "e"
    path.write_bytes(exported(store))
    other.create(key("n1", "a"), document(group="mine"))
    before = objects(other)
    with pytest.raises(RefusedImportError, match="found another object; delete it"):
        import_(other, path)
    assert objects(other) == before


@pytest.mark.full
def test_an_import_that_dies_goes_on(scheme, store, tmp_path, monkeypatch):
    monkeypatch.setattr("trundle.store._exchange._TOGETHER", 3)
    fill(store)
    path = tmp_path / "e"
    path.write_bytes(exported(store))
    place = f"sqlite:///{tmp_path / 'new.db'}"
    at = 0
    while dying(place, scheme, at, lambda opened: import_(opened, path)):
        at += 1
    assert at >= 4
    with Store(place, scheme) as found:
        assert objects(found) == objects(store)
        newest = found.newest("Thing")
        assert len(found.changes("Thing", newest - 7).changes) == 7
        with pytest.raises(GoneError):
            found.changes("Thing", newest - 8)
