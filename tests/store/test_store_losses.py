"""What a store would lose if a version went, held against results that were written by hand."""

import datetime as dt
import json

import pytest
from evolving import evolve
from storing import V1, V2, document, key, people_before
from test_store_rolling import spoil

from trundle.store import Store, UnknownVersionError, compact, losses, roll

V3 = "2024-03-03"


def places(found):
    """The values that are shown by no other version: path, how many objects, an example."""
    return [
        (each.path, each.objects, each.example, each.value)
        for _, each in sorted(found.places.items())
    ]


def test_values_that_one_version_alone_shows_are_counted(either):
    either.create(key("ada"), document(V1, team="x", age=36))
    either.create(key("bob"), document(V1, team="y"))
    either.create(key("cy"), document(V2, group="z", note="new"))
    either.create(key("dot"), document(V1, team="x", age=3))
    (found,) = losses(either, V1)
    assert places(found) == [("$.age", 2, "Thing default/ada", 36)]
    assert (found.stored, found.is_written, found.remaining) == (None, False, (V2,))
    (found,) = losses(either, V2)
    assert places(found) == [("$.note", 1, "Thing default/cy", "new")]
    assert found.is_written


def test_what_another_version_can_express_is_not_lost(in_file):
    """The third shows again what the second has not: nothing is lost without the first, whatever the second says."""
    schema = {
        V1: {"Thing": {"id": "string", "age": "integer", "old": "string"}},
        V2: {"Thing": {"id": "string"}},
        V3: {"Thing": {"id": "string", "age": "integer"}},
    }
    with Store(in_file, evolve(schema)) as store:
        store.create(key("ada"), document(V1, id="a", age=36))
        (found,) = losses(store, V1)
        assert places(found) == []
        assert found.is_free
        store.create(key("bob"), document(V1, id="b", age=1, old="o"))
        (found,) = losses(store, V1)
        assert places(found) == [("$.old", 1, "Thing default/bob", "o")]
        assert losses(store, V2)[0].is_free


def test_values_within_lists_and_objects_have_general_paths(in_file):
    schema = {
        V1: {
            "Thing": {"id": "string", "rows": "[Row]"},
            "Row": {"name": "string", "size": "integer"},
        },
        V2: {"Thing": {"id": "string", "rows": "[Row]"}, "Row": {"name": "string"}},
    }
    with Store(in_file, evolve(schema)) as store:
        rows = [{"name": "a", "size": 1}, {"name": "b"}, {"name": "c", "size": 3}]
        store.create(key("ada"), document(V1, id="a", rows=rows))
        (found,) = losses(store, V1)
        assert places(found) == [("$.rows[].size", 1, "Thing default/ada", 1)]


def test_what_is_stored_in_a_version_and_cannot_leave_it_is_named(either, url, scheme):
    with Store(url, people_before()) as old:
        for name in ("ada", "bob", "cy"):
            old.create(key(name), document(V1, team=name))
        old.replace(key("cy"), document(V1, team="again"))
    spoil(either, "bob", b'{"$writtenWith":"2020-01-01","apiVersion":"2020-01-01","team":5}')
    (found,) = losses(either, V1)
    assert (found.stored.objects, found.stored.earlier) == (3, 1)
    (finding,) = found.unconvertible
    assert finding.place.object.startswith("Thing default/bob at")
    assert "Expected `str" in finding.found
    assert [each.place.object for each in found.unseen] == [finding.place.object]
    roll(either)
    compact(either, age=dt.timedelta(0))
    (found,) = losses(either, V1)
    assert (found.stored.objects, found.stored.earlier) == (1, 0)


def test_the_report_of_the_only_version_lists_everything(in_file):
    with Store(in_file, people_before()) as store:
        store.create(key("ada"), document(V1, team="x"))
        (found,) = losses(store, V1)
        assert places(found) == [("$.team", 1, "Thing default/ada", "x")]
        assert found.remaining == ()
        assert json.loads(json.dumps(found.to_plain()))["lost"][0]["path"] == "$.team"


def test_a_version_that_there_is_not_is_refused(store):
    with pytest.raises(UnknownVersionError, match="expected a version of the project: 2020-01-01"):
        losses(store, "1999-01-01")


def test_a_version_is_understood_as_clients_spell_it(store):
    assert losses(store, "v20200101")[0].version == V1
