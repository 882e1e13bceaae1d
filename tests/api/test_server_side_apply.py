"""Server-side apply over HTTP: who owns what at which version, conflicts, and what becomes of fields that are not stated any more."""

import json

import pytest
import yaml
from apis import GROUP, NEW, OLD, Client, member, serving_clubs, whole
from projects import installer

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


def apply(client, version, manager, properties, *, part="", name="ada", **query):
    """Applies a configuration of a member; the status, and what the server says."""
    metadata = {"name": name, **properties.pop("metadata", {})}
    config = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": metadata}
    body = yaml.safe_dump({**config, **properties}).encode()
    where = client.at(version, name, part=part)
    return client.call("PATCH", where, body, media_type=APPLY, fieldManager=manager, **query)


def applied(client, version, manager, properties, **query):
    """What the server says of a configuration that it takes."""
    code, found = apply(client, version, manager, properties, **query)
    assert code in {200, 201}, found
    return found


def owned(found):
    """What each manager owns: paths by name, operation and subresource."""
    result = {}
    for each in found["metadata"].get("managedFields", ()):
        who = "/".join(filter(None, (each["manager"], each["operation"], each.get("subresource"))))
        assert who not in result
        result[who] = sorted(_paths(each["fieldsV1"]))
    return result


def _paths(fields, at=""):
    for name, inner in fields.items():
        if name == ".":
            yield at
        else:
            here = f"{at}.{name.partition(':')[2]}"
            yield from _paths(inner, here) if inner else (here,)


def test_an_object_that_is_not_there_is_created(client):
    code, found = apply(client, NEW, "ann", {"group": "red", "free": {"a": {"b": 1}}})
    assert (code, found["group"], found["level"]) == (201, "red", "low")
    assert owned(found) == {"ann/Apply": [".free.a", ".free.a.b", ".group"]}  # Not its default.
    (entry,) = found["metadata"]["managedFields"]
    assert (entry["apiVersion"], entry["fieldsType"]) == (f"{GROUP}/v2", "FieldsV1")
    assert client.get(NEW, "ada") == found


@pytest.mark.full
def test_applying_the_same_again_writes_nothing(client):
    first = applied(client, NEW, "ann", {"group": "red", "labels": {"a": "b"}})
    assert applied(client, NEW, "ann", {"group": "red", "labels": {"a": "b"}}) == first


def test_what_is_not_stated_any_more_goes(client):
    applied(client, NEW, "ann", {"group": "red", "note": "n", "labels": {"a": "1", "b": "2"}})
    applied(client, NEW, "ben", {"labels": {"b": "2", "c": "3"}})
    found = applied(client, NEW, "ann", {"group": "red"})
    assert "note" not in found
    assert found["labels"] == {"b": "2", "c": "3"}


@pytest.mark.full
def test_a_conflict_names_the_owner_and_the_field_in_the_words_of_the_version_that_asks(client):
    applied(client, NEW, "ann", {"group": "red"})
    code, found = apply(client, OLD, "ben", {"team": "blue"})
    assert (code, found["reason"]) == (409, "Conflict")
    assert found["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "ann"',
            "field": ".team",
        }
    ]
    assert found["message"] == 'Apply failed with 1 conflict: conflict with "ann": .team'
    assert client.get(NEW, "ada")["group"] == "red"
    assert applied(client, OLD, "ben", {"team": "red"})["team"] == "red"  # Both own it now.
    assert owned(client.get(NEW, "ada")) == {"ann/Apply": [".group"], "ben/Apply": [".group"]}


@pytest.mark.full
def test_force_takes_fields_over(client):
    applied(client, NEW, "ann", {"group": "red", "note": "n"})
    found = applied(client, OLD, "ben", {"team": "blue"}, force="true")
    assert found["team"] == "blue"
    assert owned(found) == {"ben/Apply": [".team"]}  # The old version has no note.
    assert owned(client.get(NEW, "ada")) == {"ann/Apply": [".note"], "ben/Apply": [".group"]}


@pytest.mark.full
def test_applying_at_an_older_version_gives_up_nothing_that_it_cannot_show(client):
    applied(client, NEW, "ann", {"group": "red", "note": "n", "labels": {"a": "1"}})
    found = applied(client, OLD, "ann", {"team": "red", "age": 5})
    assert "labels" not in found
    newer = client.get(NEW, "ada")
    assert (newer["note"], owned(newer)) == ("n", {"ann/Apply": [".group", ".note"]})
    assert owned(client.get(OLD, "ada")) == {"ann/Apply": [".age", ".team"]}
    found = applied(client, NEW, "ann", {"group": "red"})
    assert "note" not in found
    assert client.get(OLD, "ada")["age"] == 5


@pytest.mark.full
def test_updates_own_what_they_change(client):
    client.call("POST", client.at(NEW), member("ada", group="red", note="n"), fieldManager="maker")
    made = client.get(NEW, "ada")
    assert owned(made) == {"maker/Update": [".group", ".level", ".note"]}
    client.patch(OLD, "ada", {"age": 3}, fieldManager="patcher")
    found = client.get(OLD, "ada")
    assert owned(found) == {"maker/Update": [".level", ".team"], "patcher/Update": [".age"]}
    found = {**found, "team": "blue"}
    client.call("PUT", client.at(OLD, "ada"), found, fieldManager="putter")
    assert owned(client.get(NEW, "ada")) == {
        "maker/Update": [".level", ".note"],
        "putter/Update": [".group"],
    }
    code, found = apply(client, NEW, "ann", {"group": "green", "note": "m"})
    assert code == 409
    assert sorted((x["field"], x["message"]) for x in found["details"]["causes"]) == [
        (".group", f'conflict with "putter" using {GROUP}/v1'),
        (".note", f'conflict with "maker" using {GROUP}/v2'),
    ]


def test_updates_are_owned_by_the_program_where_no_manager_is_named(client):
    headers = {"user-agent": "kubectl-edit/v1.36 (linux)"}
    client.http.post(client.at(NEW), json=whole(NEW, "ada", group="red"), headers=headers)
    assert [*owned(client.get(NEW, "ada"))] == ["kubectl-edit/Update"]


def test_the_status_has_owners_of_its_own(client):
    applied(client, NEW, "ann", {"group": "red", "status": {"phase": "ignored"}})
    status = {"status": {"phase": "Ready"}}
    client.call("PATCH", client.at(NEW, "ada", part="status"), status, media_type=MERGE)
    found = applied(client, NEW, "ann", {"group": "red", "status": {"phase": "x"}})
    assert found["status"] == {"phase": "Ready"}
    updated = {"testclient/Update/status": [".status", ".status.phase"]}
    assert owned(found) == {"ann/Apply": [".group"], **updated}
    code, _ = apply(client, NEW, "op", {"status": {"phase": "Gone"}}, part="status")
    assert code == 409
    query = {"part": "status", "force": "true"}
    found = applied(client, NEW, "op", {"group": "z", "status": {"phase": "Gone"}}, **query)
    assert (found["status"], found["group"]) == ({"phase": "Gone"}, "red")
    gone = {"testclient/Update/status": [".status"]}  # It made the object that it was in.
    assert owned(found) == {"ann/Apply": [".group"], "op/Apply/status": [".status.phase"], **gone}
    assert found["metadata"]["generation"] == 1


def test_owners_survive_a_write_that_does_not_name_them(client):
    applied(client, NEW, "ann", {"group": "red"})
    found = client.get(OLD, "ada")
    del found["metadata"]["managedFields"]
    client.call("PUT", client.at(OLD, "ada"), found | {"age": 4}, fieldManager="ben")
    assert owned(client.get(OLD, "ada")) == {"ann/Apply": [".team"], "ben/Update": [".age"]}


@pytest.mark.full
def test_writing_back_what_one_reads_changes_nothing(client):
    applied(client, NEW, "ann", {"group": "red", "note": "n"})
    client.patch(OLD, "ada", {"age": 4})
    for version in (OLD, NEW):
        seen = client.get(version, "ada")
        assert client.call("PUT", client.at(version, "ada"), seen) == (200, seen)
    assert client.get(NEW, "ada")["note"] == "n"


@pytest.mark.full
def test_a_dry_run_of_an_apply_stores_nothing(client):
    assert applied(client, NEW, "ann", {"group": "red"}, dryRun="All")["group"] == "red"
    assert client.call("GET", client.at(NEW, "ada"))[0] == 404
    before = applied(client, NEW, "ann", {"group": "red"})
    assert applied(client, NEW, "ann", {"group": "blue"}, dryRun="All")["group"] == "blue"
    assert client.get(NEW, "ada") == before


def test_lists_of_objects_show_owners_in_their_words(client):
    applied(client, NEW, "ann", {"group": "red"})
    _, found = client.call("GET", client.at(OLD))
    assert owned(found["items"][0]) == {"ann/Apply": [".team"]}


@pytest.mark.parametrize(
    ("query", "body", "code", "message"),
    [
        ({}, {}, 422, "fieldManager: Required value"),
        ({"fieldManager": "x" * 129}, {}, 422, "fieldManager: Too long"),
        ({"fieldManager": "a"}, b"a: [", 400, "the body of the request"),
        ({"fieldManager": "a"}, b"a: 1\n---\nb: 2\n", 400, "one document"),
        (
            {"fieldManager": "a"},
            {"metadata": {"name": "other"}},
            400,
            "does not match the name on the URL",
        ),
        ({"fieldManager": "a"}, {"kind": "Other"}, 400, "kind"),
        ({"fieldManager": "a"}, b"{}", 400, "invalid object type: /, Kind="),
        (
            {"fieldManager": "a"},
            {"group": {}},
            422,
            'group in body must be of type string: "object"',
        ),
        ({"fieldManager": "a"}, {"group": None}, 422, 'must be of type string: "null"'),
        ({"fieldManager": "a"}, {"free": 1}, 422, 'free in body must be of type object: "integer"'),
        ({"fieldManager": "a"}, {"group": "RED"}, 422, "should match"),
        ({"fieldManager": "a"}, {}, 422, "group: Required value"),
        (
            {"fieldManager": "a"},
            {"group": "red", "metadata": {"managedFields": [{"manager": "b"}]}},
            400,
            "metadata.managedFields must be nil",
        ),
        (
            {"fieldManager": "a"},
            {"group": "red", "metadata": {"finalizers": ["x.org/f", "x.org/f"]}},
            422,
            "metadata.finalizers",
        ),
    ],
)
def test_configurations_that_make_no_sense_are_refused(client, query, body, code, message):
    found, status = client.call("PATCH", client.at(NEW, "ada"), body, media_type=APPLY, **query)
    assert (found, status["code"]) == (code, code)
    assert message in status["message"]
    assert client.call("GET", client.at(NEW, "ada"))[0] == 404


def test_a_subresource_of_nothing_cannot_be_applied(client):
    code, found = apply(client, NEW, "ann", {"status": {"phase": "x"}}, part="status")
    assert (code, found["reason"]) == (404, "NotFound")


def test_what_client_side_apply_left_behind_may_have_fractions(client):
    """The annotation is kept up to date, as JSON."""
    last = "kubectl.kubernetes.io/last-applied-configuration"
    made = {"metadata": {"name": "ada", "annotations": {last: "{}"}}, "group": "red"}
    assert client.call("POST", client.at(NEW), made)[0] == 201
    said = {"group": "red", "free": {"a": 1.5, "b": [2.25]}}
    found = applied(client, NEW, "kubectl", said, force="true")
    assert json.loads(found["metadata"]["annotations"][last])["free"] == said["free"]
    assert found["free"] == said["free"]


def test_nothing_in_the_metadata_is_not_kept(client):
    found = applied(client, NEW, "ann", {"group": "red", "metadata": {"labels": None}})
    assert "labels" not in found["metadata"]
    found = applied(client, NEW, "ann", {"group": "red", "metadata": {"labels": {"a": None}}})
    assert found["metadata"]["labels"] == {"a": ""}


PORTS = """
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      required: [name]
      properties: {{name: {{type: string}}, {0}: {{type: string}}}}
"""
INNER = """
title: Member
type: object
properties:
  city: {{type: string}}
  box: {{type: object, properties: {{shared: {{type: string}}, {0}: {{type: string}}}}}}
  ports:
    type: array"""


@pytest.fixture(scope="module")
def inner(tmp_path_factory):
    """A client of objects and elements of which each version shows something that the other one does not."""
    folder = tmp_path_factory.mktemp("inner")
    schemas = {f"{version}.yaml": (INNER + PORTS).format(f"of_{version}") for version in (OLD, NEW)}
    placed = "place: {type: object, properties: {city: {type: string}, zip: {type: string}}}"
    schemas["v2.yaml"] = schemas["v2.yaml"].replace("city: {type: string}", placed)
    changes = {OLD: {"Member": {"move": {"city": "place.city"}}}}
    with installer(folder) as install:
        config = {"kubernetes": {"group": GROUP}, "changes": changes}
        installed = install(schemas, config=config)
        with serving_clubs(installed, folder / "store.db") as (api, _):
            yield Client(api)


def test_what_another_version_shows_in_an_object_stays_when_its_applier_gives_up_the_rest(inner):
    """API servers ask at the version of each owner; the object went, with what another manager owns in it."""
    applied(inner, OLD, "ben", {"box": {"of_v1": "kept"}}, name="box")
    applied(inner, NEW, "ann", {"box": {"of_v2": "x", "shared": "x"}}, name="box")
    found = applied(inner, NEW, "ann", {}, name="box")
    assert found["box"] == {}
    assert owned(found) == {}
    found = inner.get(OLD, "box")
    assert found["box"] == {"of_v1": "kept"}
    assert owned(found) == {"ben/Apply": [".box.of_v1"]}


def test_an_object_that_nothing_is_left_in_goes_with_its_applier(inner):
    applied(inner, OLD, "ben", {"box": {"shared": "x"}}, name="empty")
    found = applied(inner, OLD, "ben", {}, name="empty")
    assert "box" not in found


def test_what_is_removed_has_no_owners_at_other_versions(inner):
    """Where such an element comes again, a conflict named who had owned it before."""
    applied(inner, OLD, "ben", {"ports": [{"name": "a", "of_v1": "x"}]}, name="ports")
    for patch in {"ports": [{"name": "b"}]}, {"ports": [{"name": "a"}]}:
        code, found = inner.patch(NEW, "ports", patch, fieldManager="ann")
        assert code == 200, found
    assert owned(inner.get(OLD, "ports")) == {
        "ann/Update": ['.ports.{"name":"a"}', '.ports.{"name":"a"}.name']
    }
    said = {"ports": [{"name": "a", "of_v1": "y"}]}
    applied(inner, OLD, "cat", said, name="ports")


def test_who_made_an_object_that_is_gone_is_in_no_conflict(inner):
    """Another version took out the only value in it."""
    made = {"metadata": {"name": "placed"}, "place": {"city": "x"}}
    assert inner.call("POST", inner.at(NEW), made, fieldManager="ben")[0] == 201
    assert inner.patch(OLD, "placed", {"city": None}, fieldManager="cat")[0] == 200
    assert "place" not in inner.get(NEW, "placed")
    found = applied(inner, NEW, "ann", {"place": {"zip": "1"}}, name="placed")
    assert found["place"] == {"zip": "1"}
