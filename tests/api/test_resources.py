"""Objects at every version over HTTP: created, read, listed, replaced, patched, deleted."""

import contextlib
import datetime as dt
import json
import sqlite3
import time

import pytest
from apis import GROUP, NEW, OLD, member, whole

from trundle.api._tables import _cell
from trundle.database import BusyError, UnreachableError
from trundle.runtime import ConversionError
from trundle.schema import PrinterColumn
from trundle.store import Store

SAID = b'{"apiVersion":"clubs.example.com/v2","kind":"Member"'


def test_what_one_version_writes_every_version_reads(client):
    client.create(OLD, "ada", team="red", age=36)
    found = client.get(NEW, "ada")
    assert found["apiVersion"] == f"{GROUP}/v2"
    assert found["kind"] == "Member"
    assert (found["group"], "age" in found) == ("red", False)
    assert client.get(OLD, "ada")["age"] == 36


@pytest.mark.full
def test_an_old_client_that_replaces_keeps_what_it_cannot_see(client):
    client.create(NEW, "ada", group="red", note="seen by v2 only", free={"a": [1, {"b": None}]})
    seen = client.get(OLD, "ada")
    code, found = client.call("PUT", client.at(OLD, "ada"), seen | {"team": "blue", "age": 5})
    assert (code, found["team"], found["age"]) == (200, "blue", 5)
    newer = client.get(NEW, "ada")
    assert (newer["group"], newer["note"]) == ("blue", "seen by v2 only")
    assert newer["free"] == {"a": [1, {"b": None}]}


@pytest.mark.full
def test_an_old_client_that_patches_keeps_what_it_cannot_see(client):
    client.create(NEW, "ada", group="red", note="n")
    assert client.patch(OLD, "ada", {"team": "blue"})[1]["team"] == "blue"
    assert client.get(NEW, "ada")["note"] == "n"
    operations = [
        {"op": "test", "path": "/team", "value": "blue"},
        {"op": "replace", "path": "/team", "value": "green"},
    ]
    code, _ = client.call(
        "PATCH", client.at(OLD, "ada"), operations, media_type="application/json-patch+json"
    )
    assert code == 200
    assert client.get(NEW, "ada") | {"group": "green", "note": "n"} == client.get(NEW, "ada")


@pytest.mark.full
def test_numbers_keep_their_digits(client):
    body = b'{"apiVersion":"clubs.example.com/v2","kind":"Member","metadata":{"name":"ada"},"group":"red","free":{"a":1.10,"b":12345678901234567890,"c":1e3}}'
    assert client.call("POST", client.at(NEW), body)[0] == 201
    client.patch(NEW, "ada", {"note": "x"})
    text = client.http.get(client.at(NEW, "ada")).text
    assert '"a":1.10' in text
    assert '"b":12345678901234567890' in text


@pytest.mark.full
def test_a_write_over_something_newer_is_a_conflict(client):
    made = client.create(NEW, "ada", group="red")
    client.patch(NEW, "ada", {"note": "first"})
    code, found = client.call("PUT", client.at(NEW, "ada"), made | {"note": "second"})
    assert (code, found["reason"]) == (409, "Conflict")
    assert found["message"] == (
        'Operation cannot be fulfilled on members.clubs.example.com "ada": the object has been modified; please apply '
        "your changes to the latest version and try again"
    )
    assert client.get(NEW, "ada")["note"] == "first"


@pytest.mark.full
def test_a_replacement_says_what_it_replaces(client):
    client.create(NEW, "ada", group="red")
    code, found = client.call("PUT", client.at(NEW, "ada"), member("ada", group="blue"))
    assert (code, found["reason"]) == (422, "Invalid")
    assert found["details"]["causes"][0]["field"] == "metadata.resourceVersion"


@pytest.mark.parametrize(
    ("properties", "field", "message"),
    [
        ({}, "group", "Required value"),
        (
            {"group": 1},
            "group",
            'Invalid value: "integer": group in body must be of type string: "integer"',
        ),
        ({"group": "R"}, "group", "Invalid value: \"R\": group in body should match '^[a-z]+$'"),
        ({"group": "a", "note": "x" * 21}, "note", "Too long: may not be more than 20 bytes"),
        (
            {"group": "a", "level": "mid"},
            "level",
            'Unsupported value: "mid": supported values: "low", "high"',
        ),
    ],
)
def test_what_a_schema_forbids_is_refused(client, properties, field, message):
    code, found = client.call("POST", client.at(NEW), member("ada", **properties))
    assert (code, found["reason"]) == (422, "Invalid")
    assert [(x["field"], x["message"]) for x in found["details"]["causes"]] == [(field, message)]
    assert client.call("GET", client.at(NEW, "ada"))[0] == 404


def test_defaults_are_filled_in_and_nulls_dropped(client):
    assert client.create(NEW, "ada", group="red", level=None)["level"] == "low"


def test_what_is_stored_but_not_valid_at_a_version_may_be_written_back(client):
    client.create(OLD, "ada", team="red", age=36)
    client.call(
        "PATCH", client.at(NEW, "ada"), {"level": "low"}, media_type="application/merge-patch+json"
    )
    seen = client.get(OLD, "ada")
    assert client.call("PUT", client.at(OLD, "ada"), seen)[0] == 200


@pytest.mark.parametrize(
    ("validation", "code", "said"),
    [
        ("Strict", 400, 'strict decoding error: unknown field "zzz"'),
        ("Warn", 201, '299 - "unknown field \\"zzz\\""'),
        ("Ignore", 201, ""),
    ],
)
def test_unknown_fields_are_refused_dropped_or_warned_of(client, validation, code, said):
    body = json.dumps(whole(NEW, "ada", group="red", zzz=1))
    found = client.http.post(client.at(NEW), content=body, params={"fieldValidation": validation})
    assert found.status_code == code, found.text
    assert said in (found.json().get("message", "") + found.headers.get("warning", ""))
    assert (said == "") is ("warning" not in found.headers and code == 201)
    assert "zzz" not in found.json()


def test_many_warnings_are_shortened_and_the_last_left_out(client):
    many = {f"z{number:02}" + "y" * 400: 1 for number in range(60)}
    body = json.dumps(whole(NEW, "ada", group="red", **many))
    found = client.http.post(client.at(NEW), content=body)
    said = [value for name, value in found.headers.multi_items() if name == "warning"]
    assert (found.status_code, len(said)) == (201, 4096 // 256)
    assert said[0] == '299 - "' + ('unknown field \\"z00' + "y" * 400)[:257] + '"'


@pytest.mark.full
def test_the_status_is_written_apart(client):
    client.create(NEW, "ada", group="red", status={"phase": "ignored"})
    assert "status" not in client.get(NEW, "ada")
    merge = "application/merge-patch+json"
    patch = {"status": {"phase": "Ready"}, "group": "ignored"}
    code, found = client.call(
        "PATCH", client.at(NEW, "ada", part="status"), patch, media_type=merge
    )
    assert (code, found["status"], found["group"]) == (200, {"phase": "Ready"}, "red")
    assert found["metadata"]["generation"] == 1
    client.patch(NEW, "ada", {"status": {"phase": "ignored"}, "note": "n"})
    found = client.get(NEW, "ada")
    assert (found["status"], found["note"]) == ({"phase": "Ready"}, "n")
    assert found["metadata"]["generation"] == 2
    client.patch(OLD, "ada", {"age": 3})
    assert client.get(NEW, "ada")["status"] == {"phase": "Ready"}


@pytest.mark.full
def test_lists_come_in_pages_of_one_moment(client):
    for name in "abcde":
        client.create(NEW, name, group="red")
    names, token, versions = [], "", set()
    while True:
        _, page = client.call("GET", client.at(OLD), limit="2", **{"continue": token})
        names += [each["metadata"]["name"] for each in page["items"]]
        versions.add(page["metadata"]["resourceVersion"])
        token = page["metadata"].get("continue", "")
        client.call("DELETE", client.at(NEW, "e"))
        if not token:
            break
    assert names == [*"abcde"]
    assert len(versions) == 1


@pytest.mark.full
def test_more_objects_than_are_counted_have_no_number(client, monkeypatch):
    monkeypatch.setattr("trundle.store._reader._COUNTED", 4)
    for name in "abcd":
        client.create(NEW, name, group="red")
    _, page = client.call("GET", client.at(OLD), limit="1")
    assert page["metadata"]["remainingItemCount"] == 3
    client.create(NEW, "e", group="red")
    _, page = client.call("GET", client.at(OLD), limit="1")
    assert "remainingItemCount" not in page["metadata"]
    _, page = client.call(
        "GET", client.at(OLD), limit="1", **{"continue": page["metadata"]["continue"]}
    )
    assert (len(page["items"]), "remainingItemCount" in page["metadata"]) == (1, False)


@pytest.mark.full
def test_a_list_in_pages_says_how_many_objects_follow(client):
    """As Kubernetes' API server does: not without pages, and not of what selectors choose."""
    for name in "abcde":
        client.create(NEW, name, group="red")
    token, remaining = "", []
    while token is not None:
        _, page = client.call("GET", client.at(OLD), limit="2", **{"continue": token})
        remaining.append(page["metadata"].get("remainingItemCount"))
        token = page["metadata"].get("continue") or None
        client.create(NEW, f"f{len(remaining)}", group="red")
    assert remaining == [3, 1, None]
    selected = {"labelSelector": "!none"}, {"fieldSelector": "metadata.namespace=default"}
    for query in ({}, {"limit": "100"}, *({"limit": "2", **each} for each in selected)):
        _, page = client.call("GET", client.at(OLD), **query)
        assert "remainingItemCount" not in page["metadata"], query
    _, table = client.call("GET", client.at(OLD), limit="2")
    assert table["metadata"]["remainingItemCount"] == 6


@pytest.mark.full
def test_selectors_choose(client):
    client.call(
        "POST", client.at(NEW), {"metadata": {"name": "a", "labels": {"x": "1"}}, "group": "r"}
    )
    client.call(
        "POST", client.at(NEW), {"metadata": {"name": "b", "labels": {"x": "2"}}, "group": "r"}
    )

    def names(**query):
        code, found = client.call("GET", f"/apis/{GROUP}/v1/members", **query)
        assert code == 200, found
        return [each["metadata"]["name"] for each in found["items"]]

    assert names(labelSelector="x in (1,3)") == ["a"]
    assert names(labelSelector="x!=1") == ["b"]
    assert names(labelSelector=f"x>{'0' * 5000}1") == ["b"]
    assert client.call("GET", client.at(NEW), labelSelector=f"x>{'9' * 5000}")[0] == 400
    assert names(fieldSelector="metadata.name=b") == ["b"]
    assert names(fieldSelector="metadata.name!=b,metadata.namespace=default") == ["a"]
    code, found = client.call("GET", client.at(NEW), fieldSelector="spec.x=1")
    assert (code, found["message"]) == (400, "field label not supported: spec.x")


@pytest.mark.full
def test_an_object_with_finalizers_waits_for_them(client):
    client.call(
        "POST", client.at(NEW), {"metadata": {"name": "a", "finalizers": ["x.org/f"]}, "group": "r"}
    )
    code, found = client.call("DELETE", client.at(NEW, "a"))
    assert (code, "deletionTimestamp" in found["metadata"]) == (200, True)
    client.patch(OLD, "a", {"metadata": {"finalizers": None}})
    assert client.call("GET", client.at(NEW, "a"))[0] == 404


def test_watchers_see_the_last_finalizers_of_what_goes(client):
    made = {"metadata": {"name": "a", "finalizers": ["x.org/f"]}, "group": "r"}
    client.call("POST", client.at(NEW), made)
    marked = client.call("DELETE", client.at(NEW, "a"))[1]["metadata"]
    _, gone = client.patch(NEW, "a", {"metadata": {"finalizers": None}})
    assert "finalizers" not in gone["metadata"]
    query = {"watch": "true", "timeoutSeconds": "1", "resourceVersion": marked["resourceVersion"]}
    lines = client.http.get(client.at(NEW), params=query).text.splitlines()
    (event,) = map(json.loads, lines)
    shown = event["object"]["metadata"]
    assert (event["type"], shown["finalizers"]) == ("DELETED", ["x.org/f"])
    assert int(shown["resourceVersion"]) > int(marked["resourceVersion"])


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"uid": "x", "resourceVersion": None}, "Precondition failed: UID in precondition: x"),
        ({"uid": "x", "resourceVersion": "1"}, "Precondition failed: UID in precondition: x"),
        ({"resourceVersion": "1", "finalizers": ["x.org/g"]}, "the object has been modified"),
    ],
    ids=["uid", "uid-and-version", "version"],
)
def test_another_object_or_state_is_named_before_what_a_write_may_not_change(
    client, metadata, message
):
    made = {"metadata": {"name": "a", "finalizers": ["x.org/f"]}, "group": "r"}
    client.call("POST", client.at(NEW), made)
    document = client.call("DELETE", client.at(NEW, "a"))[1]
    said = {**document["metadata"], **metadata}
    document["metadata"] = {key: each for key, each in said.items() if each is not None}
    code, found = client.call("PUT", client.at(NEW, "a"), document)
    assert code == 409
    assert message in found["message"]


@pytest.mark.full
def test_deleting_says_what_is_gone_or_why_not(client):
    made = client.create(NEW, "ada", group="red")
    body = {"preconditions": {"uid": "another"}}
    assert client.call("DELETE", client.at(NEW, "ada"), body)[0] == 409
    code, found = client.call("DELETE", client.at(NEW, "ada"))
    assert (code, found["status"], found["details"]["uid"]) == (
        200,
        "Success",
        made["metadata"]["uid"],
    )
    code, found = client.call("DELETE", client.at(NEW, "ada"))
    assert (code, found["message"]) == (404, 'members.clubs.example.com "ada" not found')


@pytest.mark.full
def test_a_dry_run_stores_nothing(client):
    code, found = client.call("POST", client.at(NEW), member("ada", group="red"), dryRun="All")
    assert (code, found["group"]) == (201, "red")
    assert client.call("GET", client.at(NEW, "ada"))[0] == 404
    client.create(NEW, "ada", group="red")
    assert client.patch(NEW, "ada", {"note": "n"}, dryRun="All")[1]["note"] == "n"
    assert client.call("DELETE", client.at(NEW, "ada"), dryRun="All")[0] == 200
    assert "note" not in client.get(NEW, "ada")


def test_names_are_made_where_that_is_asked_for(client):
    body = {"metadata": {"generateName": "ada-"}, "group": "red"}
    first, second = (client.call("POST", client.at(NEW), body)[1] for _ in range(2))
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["metadata"]["name"].startswith("ada-")


@pytest.mark.parametrize("name", ["Ada", "a_b", "-a", "a" * 254, "a/b", "ä"])
def test_names_that_cannot_be_are_refused(client, name):
    code, found = client.call("POST", client.at(NEW), member(name, group="red"))
    assert (code, found["reason"]) == (422, "Invalid")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b"\xff\xfe{}", "no JSON"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "nested"),
        (b"{}", "Object 'Kind' is missing"),
        (b'{"kind":1}', "kind is no text"),
        (b'{"kind":"Member"}', "the API version in the data () does not match"),
        (b'{"kind":"Member","apiVersion":"other/v1"}', "does not match the expected API version"),
        (SAID + b',"metadata":1}', 'metadata in body must be of type object: "integer"'),
        (SAID + b',"metadata":{"name":[]}}', "metadata.name in body must be of type string"),
        (SAID + b',"metadata":{"namespace":"x","name":"a"}}', "namespace"),
    ],
)
def test_bodies_that_make_no_sense_are_refused(client, body, message):
    code, found = client.call("POST", client.at(NEW), body)
    assert (code, found["reason"]) == (400, "BadRequest")
    assert message in found["message"]


def test_a_body_that_is_too_large_is_refused(client):
    code, found = client.call("POST", client.at(NEW), b" " * (3 * 1024 * 1024 + 1))
    assert (code, found["reason"]) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/nothing", 404),
        ("GET", f"/apis/{GROUP}/v3/members", 404),
        ("GET", f"/apis/{GROUP}/v2/others", 404),
        ("GET", f"/apis/{GROUP}/v2/members/ada", 404),
        ("GET", f"/apis/{GROUP}/v2/namespaces/default/members/ada/scale", 404),
        ("POST", f"/apis/{GROUP}/v2/members", 405),
        ("PUT", f"/apis/{GROUP}/v2/namespaces/default/members", 405),
        ("DELETE", f"/apis/{GROUP}/v2/namespaces/default/members/ada/status", 405),
    ],
)
def test_paths_with_nothing_there_are_said(client, method, path, code):
    found, status = client.call(method, path)
    assert (found, status["kind"], status["code"]) == (code, "Status", code)


@pytest.mark.full
def test_tables_have_the_columns_of_the_project(client):
    client.create(NEW, "ada", group="red", level="high")
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    found = client.http.get(client.at(NEW), headers={"accept": accept}).json()
    assert [x["name"] for x in found["columnDefinitions"]] == ["Name", "Level", "Phase", "Age"]
    assert found["rows"][0]["cells"][:3] == ["ada", "high", None]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_a_number_in_a_table_may_have_more_digits_than_a_float():
    column = PrinterColumn("Much", ".much", "number")
    assert _cell(column, {"much": 10**400}, dt.datetime.now(dt.UTC)) == 10**400


@pytest.mark.parametrize(
    ("name", "form", "code"),
    [
        ("", "PartialObjectMetadataList", 200),
        ("", "PartialObjectMetadata", 406),
        ("ada", "PartialObjectMetadata", 200),
        ("ada", "PartialObjectMetadataList", 406),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_metadata_alone_is_that_of_a_list_or_of_an_object(client, name, form, code, version):
    client.create(NEW, "ada", group="red")
    accept = f"application/json; as={form}; g = meta.k8s.io; v={version},application/json"
    answer = client.http.get(client.at(NEW, name), headers={"accept": accept})
    assert answer.status_code == code
    if code == 200:
        found = answer.json()
        assert (found["kind"], found["apiVersion"]) == (form, f"meta.k8s.io/{version}")


@pytest.mark.parametrize("more", ["g=meta.k8s.io;v=v1", "stream=other", "as=Table;v=v1"])
def test_forms_that_there_are_not_are_not_acceptable(client, more):
    accept = f"application/json;{more}"
    assert client.http.get(client.at(NEW), headers={"accept": accept}).status_code == 406


@pytest.mark.parametrize("name", ["a%00b", "%00", "a" * 600])
def test_what_nothing_can_be_called_is_not_found(client, name):
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", {})):
        media_type = "application/merge-patch+json" if body is not None else ""
        code, found = client.call(method, client.at(NEW, name), body, media_type=media_type)
        assert (code, found["reason"]) == (404, "NotFound")
    code, found = client.call("POST", client.at(NEW, namespace=name), member("a", group="red"))
    assert (code, found["details"]["kind"]) == (404, "namespaces")


def test_an_object_that_a_version_cannot_show_blocks_no_other(client, installed, monkeypatch):
    client.create(NEW, "ada", group="red")
    client.create(NEW, "bob", group="red")
    kind = type(installed.scheme)

    def failing(read):
        def tried(self, version, stored, *more):
            if version == OLD and b'"ada"' in stored:
                raise ConversionError("ada has no past")
            return read(self, version, stored, *more)

        return tried

    for name in ("read", "read_quickly"):
        monkeypatch.setattr(kind, name, failing(getattr(kind, name)))
    code, found = client.call("GET", client.at(OLD))
    assert code == 200
    first, second = found["items"]
    assert first["metadata"]["annotations"] == {
        "trundle.dev/cannot-be-converted": "ada has no past"
    }
    assert second["team"] == "red"
    assert client.call("GET", client.at(OLD, "ada"))[0] == 500
    assert client.get(NEW, "ada")["group"] == "red"


@pytest.mark.parametrize("error", [UnreachableError, BusyError])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_a_database_that_is_away_is_no_fault_of_the_client(client, monkeypatch, error, method):
    made = client.create(NEW, "ada", group="red")

    def find(*_, **__):
        raise error("the database", "a server that answers", "none", "try again")

    monkeypatch.setattr(Store, "find", find)
    monkeypatch.setattr(Store, "delete", find)
    path = client.at(NEW) if method == "POST" else client.at(NEW, "ada")
    bodies = {"POST": whole(NEW, "eve", group="red"), "PUT": made, "DELETE": {}, "GET": None}
    found = client.http.request(method, path, json=bodies[method])
    assert (found.status_code, found.headers["retry-after"]) == (503, "1")
    assert found.json()["reason"] == "ServiceUnavailable"
    assert found.json()["details"] == {"retryAfterSeconds": 1}


WRITES = [
    ("POST", "", {**member("eve", team="red")}, ""),
    ("PATCH", "ada", {"team": "blue"}, "application/merge-patch+json"),
    ("PATCH", "ada", {"team": "blue"}, "application/apply-patch+yaml"),
]


@pytest.mark.parametrize("stored", ["v1", "v9"])
@pytest.mark.parametrize(("method", "name", "body", "kind"), WRITES)
def test_a_store_that_this_release_cannot_write_is_no_fault_of_the_client(
    client, tmp_path, stored, method, name, body, kind
):
    """The lock does not record that `v1` is stored; `v9` is of a release to come."""
    made = client.create(OLD, "ada", team="red")
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        changed = connection.execute(
            "UPDATE store_resources SET storage_version = ? WHERE name = 'Member'", [stored]
        )
        assert changed.rowcount == 1
    if "apply" in kind:
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Member", **body}
    query = {"fieldManager": "m", "force": "true"} if "apply" in kind else {}
    code, found = client.call(method, client.at(OLD, name), body, media_type=kind, **query)
    assert (code, found["reason"]) == (500, "InternalError")
    assert f"found {stored}" in found["message"]
    assert client.get(OLD, "ada") == made


@pytest.mark.full
def test_what_is_stored_and_is_no_document_of_its_version_is_no_fault_of_the_client(
    client, tmp_path
):
    client.create(NEW, "ada", group="red")
    with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
        (data,) = connection.execute(
            "SELECT data FROM store_revisions WHERE name = 'ada'"
        ).fetchone()
        spoilt = data.replace(b'"group":"red"', b'"group":7')
        assert spoilt != data
        connection.execute("UPDATE store_revisions SET data = ? WHERE name = 'ada'", [spoilt])
    for method, body in (("GET", None), ("PATCH", {"note": "x"})):
        kind = "application/merge-patch+json" if body else ""
        code, found = client.call(method, client.at(NEW, "ada"), body, media_type=kind)
        assert (code, found["reason"]) == (500, "InternalError"), found


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("", 201), ("application/json", 201), ("application/json; charset=utf-8", 201), ("APPLICATION/JSON", 201),
        ("application/yaml", 201), ("application/xml", 415), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
        ("application/merge-patch+json", 415), ("application/apply-patch+yaml", 415),
    ],
)  # fmt: skip
def test_bodies_have_a_form_that_is_understood(client, kind, code):
    body = (
        b"apiVersion: clubs.example.com/v1\nkind: Member\nmetadata: {name: ada}\nteam: red\n"
        if "yaml" in kind
        else b'{"apiVersion":"clubs.example.com/v1","kind":"Member","metadata":{"name":"ada"},"team":"red"}'
    )
    headers = {"content-type": kind} if kind else {}
    found = client.http.post(client.at(OLD), content=body, headers=headers)
    assert found.status_code == code, found.text
    if code == 415:
        assert found.json()["reason"] == "UnsupportedMediaType"
        assert found.json()["message"].endswith("application/json, application/yaml")
        assert client.call("GET", client.at(OLD, "ada"))[0] == 404
    else:
        made = found.json()
        again = client.http.put(
            client.at(OLD, "ada"), json=made, headers={"content-type": kind or "application/json"}
        )
        assert again.status_code == 200


def test_yaml_has_each_member_once(client):
    headers = {"content-type": "application/yaml"}
    body = b"metadata: {name: ada}\nteam: red\nteam: blue\n"
    found = client.http.post(client.at(OLD), content=body, headers=headers)
    assert (found.status_code, found.json()["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize("age", [b"36.0", b"3.6e1", b"36"])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_whole_numbers_may_be_written_with_a_fraction(client, age, method):
    """Clients of many languages know no integers."""
    if method == "POST":
        body = (
            b'{"apiVersion":"clubs.example.com/v1","kind":"Member","metadata": {"name": "ada"}, "team": "red", "age": %b}'
            % age
        )
        code, _ = client.call("POST", client.at(OLD), body)
    else:
        client.create(OLD, "ada", team="red")
        media_type = "application/merge-patch+json"
        code, _ = client.call(
            "PATCH", client.at(OLD, "ada"), b'{"age": %b}' % age, media_type=media_type
        )
    assert code in {200, 201}
    assert client.http.get(client.at(OLD, "ada")).text.count('"age":36,') == 1


@pytest.mark.parametrize("age", [b"36.5", b"1e400", b"-1e999", b"1e30"])
def test_other_numbers_are_no_integers(client, age):
    body = (
        b'{"apiVersion":"clubs.example.com/v1","kind":"Member","metadata": {"name": "ada"}, "team": "red", "age": %b}'
        % age
    )
    assert client.call("POST", client.at(OLD), body)[0] in {400, 422}
    code, found = client.call("POST", client.at(NEW), body.replace(b"team", b"group"))
    assert (code, "age" in found) in {(201, False), (400, False)}


def test_free_numbers_stay_as_they_are_written(client):
    body = b'{"apiVersion":"clubs.example.com/v2","kind":"Member","metadata": {"name": "ada"}, "group": "red", "free": {"a": 2.0, "b": 1.10}}'
    assert client.call("POST", client.at(NEW), body)[0] == 201
    assert '"free":{"a":2.0,"b":1.10}' in client.http.get(client.at(NEW, "ada")).text


def test_labels_without_a_value_are_empty(client):
    made = {"metadata": {"name": "ada", "labels": {"a": None}}, "group": "red"}
    code, found = client.call("POST", client.at(NEW), made)
    assert (code, found["metadata"]["labels"]) == (201, {"a": ""})


@pytest.mark.parametrize(
    "options",
    [
        {"dryRun": "All"},
        {"dryRun": ["Some"]},
        {"kind": "Member"},
        {"preconditions": []},
        {"preconditions": {"uid": 1}},
        {"gracePeriodSeconds": "soon"},
        {"orphanDependents": "yes"},
        {"propagationPolicy": 1},
    ],
    ids=json.dumps,
)
def test_options_that_make_no_sense_delete_nothing(client, options):
    client.create(NEW, "ada", group="red")
    for path in (client.at(NEW, "ada"), client.at(NEW)):
        assert client.call("DELETE", path, options)[0] in {400, 422}
        assert client.call("GET", client.at(NEW, "ada"))[0] == 200


def test_no_more_is_deleted_than_is_asked(client):
    for name in "abc":
        client.create(NEW, name, group="red")
    assert client.call("DELETE", f"/apis/{GROUP}/{NEW}/members")[0] == 405
    assert client.call("DELETE", client.at(NEW), limit="2")[0] == 200
    found = client.call("GET", client.at(NEW))[1]
    assert [each["metadata"]["name"] for each in found["items"]] == ["c"]


def test_a_list_is_not_older_than_a_client_wants(client):
    made = client.create(NEW, "ada", group="red")
    reached = made["metadata"]["resourceVersion"]
    assert client.call("GET", client.at(NEW), resourceVersion=reached)[0] == 200
    code, found = client.call("GET", client.at(NEW), resourceVersion=f"{int(reached) + 1}")
    assert (code, found["reason"]) == (504, "Timeout")
    assert found["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert client.call("GET", client.at(NEW), resourceVersion="x")[0] == 400


def test_a_patch_takes_no_name_away(client):
    client.call("POST", client.at(NEW), member("ada", group="red"))
    client.patch(NEW, "ada", {"metadata": {"labels": {"a": "b"}}})
    for patch in ({"metadata": None}, {"metadata": {"name": None}}):
        assert client.patch(NEW, "ada", patch)[0] == 400
    assert client.get(NEW, "ada")["metadata"]["labels"] == {"a": "b"}


def test_no_answer_about_objects_is_kept_by_caches(client):
    for path in (client.at(NEW), client.at(NEW, "none")):
        assert client.http.get(path).headers["cache-control"] == "no-cache, private"


def test_finalizers_may_stand_again(client):
    made = {"metadata": {"name": "ada", "finalizers": ["x.y/z", "x.y/z"]}, "group": "red"}
    assert client.call("POST", client.at(NEW), made)[0] == 201


@pytest.mark.full
@pytest.mark.parametrize("kind", ["Member", "PartialObjectMetadata", "Table"])
def test_bookmarks_have_the_form_of_objects(client, kind):
    """Clients that know metadata alone can read nothing else."""
    client.create(NEW, "ada", group="red")
    query = {"watch": "true", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
    query |= {"sendInitialEvents": "True", "resourceVersionMatch": "NotOlderThan"}
    form = "" if kind == "Member" else f";as={kind};v=v1;g=meta.k8s.io"
    headers = {"accept": f"application/json{form}"}
    lines = client.http.get(client.at(NEW), params=query, headers=headers).text.splitlines()
    found = [(each["type"], each["object"]["kind"]) for each in map(json.loads, lines)]
    assert found == [("ADDED", kind), ("BOOKMARK", kind)]


@pytest.mark.full
def test_what_is_there_is_given_whole_before_the_time_of_a_watch_begins(client, monkeypatch):
    """A client that is cut off within it would begin anew, and be cut off again."""
    for name in ("ada", "eve"):
        client.create(NEW, name, group="red")
    answered = Store.list

    def slow(*arguments, **more):
        time.sleep(1.1)
        return answered(*arguments, **more)

    monkeypatch.setattr(Store, "list", slow)
    query = {"watch": "true", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
    lines = client.http.get(client.at(NEW), params=query).text.splitlines()
    assert [json.loads(each)["type"] for each in lines] == ["ADDED", "ADDED", "BOOKMARK"]


@pytest.mark.full
def test_a_watch_may_begin_with_what_comes(client):
    client.create(NEW, "ada", group="red")
    query = {"watch": "true", "timeoutSeconds": "1", "sendInitialEvents": "false"}
    query["resourceVersionMatch"] = "NotOlderThan"
    assert client.http.get(client.at(NEW), params=query).text == ""


def test_the_order_of_members_is_no_change(client):
    """Clients in Go sort the members of maps; with one that does not, each would write over the other for ever."""
    said = {"labels": {"b": "1", "a": "2"}, "free": {"d": [{"f": 1.50, "e": 2}], "c": {}}}
    client.create(NEW, "ada", group="red", metadata={"name": "ada"}, **said)
    for version in OLD, NEW:
        read = client.get(version, "ada")
        turned = json.loads(json.dumps(read, sort_keys=True))
        assert client.call("PUT", client.at(version, "ada"), turned) == (200, read)
    changed = {"labels": {"a": "2", "b": "1", "c": "3"}}
    assert client.patch(NEW, "ada", changed)[1]["metadata"]["generation"] == 2
    code, found = client.patch(NEW, "ada", {"free": {"d": [{"e": 2, "f": 1.5}]}})
    assert (code, found["metadata"]["generation"]) == (200, 2)


def test_a_change_of_metadata_with_another_order_is_none_of_content(client):
    client.create(NEW, "ada", group="red", labels={"b": "1", "a": "2"})
    read = client.get(NEW, "ada")
    read["labels"] = {"a": "2", "b": "1"}
    read["metadata"]["annotations"] = {"x": "y"}
    _, found = client.call("PUT", client.at(NEW, "ada"), read)
    assert found["metadata"]["annotations"] == {"x": "y"}
    assert found["metadata"]["generation"] == 1
