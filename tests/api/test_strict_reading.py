"""Unknown and repeated fields of documents that are wrong otherwise, too: strict clients hear of them first, others beside the rest."""

import json

import pytest
from apis import NEW, Client, clubs, serving_clubs, whole
from projects import installer

from trundle.api import Api, served_kinds
from trundle.store import Store

MERGE, JSON = "application/merge-patch+json", "application/json-patch+json"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    with clubs(tmp_path_factory.mktemp("clubs")) as installed:
        yield installed


@pytest.fixture
def client(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        yield Client(api)


WRONG = whole(NEW, "ada", group="A", zzz=1)
STRICT, WARN = {"fieldValidation": "Strict"}, {"fieldValidation": "Warn"}
UNKNOWN = 'unknown field "zzz"'


def sent(client, method, path, body, query, media_type="application/json"):
    return client.http.request(
        method, path, content=json.dumps(body), params=query, headers={"content-type": media_type}
    )


@pytest.mark.parametrize("wrong", [{}, {"metadata": {"name": "A_"}}, {"group": 1}], ids=json.dumps)
def test_a_strict_client_hears_of_unknown_fields_first(client, wrong):
    answer = sent(client, "POST", client.at(NEW), {**WRONG, **wrong}, STRICT)
    assert answer.status_code == 400
    assert answer.json()["message"].endswith(f"strict decoding error: {UNKNOWN}")


def test_unknown_fields_are_warned_about_where_the_rest_is_refused(client):
    answer = sent(client, "POST", client.at(NEW), WRONG, WARN)
    assert (answer.status_code, answer.headers["warning"]) == (
        422,
        r'299 - "unknown field \"zzz\""',
    )
    client.create(NEW, "ada", group="red")
    answer = sent(client, "POST", client.at(NEW), {**WRONG, "group": "red"}, WARN)
    assert (answer.status_code, "zzz" in answer.headers["warning"]) == (409, True)


def test_unknown_fields_come_first_in_replacements_and_patches(client):
    client.create(NEW, "ada", group="red")
    answer = sent(
        client, "PUT", client.at(NEW, "ada"), {**WRONG, "metadata": {"name": "b"}}, STRICT
    )
    assert (answer.status_code, UNKNOWN in answer.json()["message"]) == (400, True)
    answer = sent(client, "PATCH", client.at(NEW, "ada"), {"group": "A", "zzz": 1}, STRICT, MERGE)
    assert answer.json()["details"]["causes"][0]["field"] == "patch"


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({"zzz": 1}, 'json patch unknown field "[0].zzz"'),
        ({"value": {"a": 1}, "path": "/free"}, 'json patch duplicate field "[0].value.a"'),
    ],
)
def test_what_is_unknown_or_stands_again_in_operations_is_said(client, operation, said):
    client.create(NEW, "ada", group="red")
    body = json.dumps([{"op": "add", "path": "/note", "value": "n", **operation}])
    body = body.replace('"a": 1', '"a": 1, "a": 2').encode()
    headers = {"content-type": JSON}
    path = client.at(NEW, "ada")
    answer = client.http.patch(path, content=body, params=STRICT, headers=headers)
    assert (answer.status_code, said in answer.json()["message"]) == (422, True)
    answer = client.http.patch(path, content=body, params=WARN, headers=headers)
    quoted = said.replace('"', r"\"")
    assert (answer.status_code, answer.headers["warning"]) == (200, f'299 - "{quoted}"')


def test_a_bad_name_is_said_with_what_else_is_wrong(client):
    answer = sent(client, "POST", client.at(NEW), whole(NEW, "A_", group="A"), {})
    fields = [each["field"] for each in answer.json()["details"]["causes"]]
    assert fields == ["metadata.name", "group"]


def test_a_missing_name_is_said_with_what_else_is_wrong(client):
    answer = sent(client, "POST", client.at(NEW), {**whole(NEW, "", group="A"), "metadata": {}}, {})
    fields = [each["field"] for each in answer.json()["details"]["causes"]]
    assert fields == ["metadata.name", "group"]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_missing_namespace_is_said_before_what_is_wrong(client, method):
    applied = {"fieldManager": "me"} if method == "PATCH" else {}
    path = client.at(NEW, "ada" if applied else "", namespace="none")
    media_type = "application/apply-patch+yaml" if applied else "application/json"
    wrong = whole(NEW, "ada", group="A")
    answer = sent(client, method, path, wrong, applied, media_type)
    details = answer.json()["details"]
    assert (answer.status_code, details) == (404, {"name": "none", "kind": "namespaces"})


def test_a_patch_that_does_not_fit_is_not_warned_about(client):
    client.create(NEW, "ada", group="red")
    operations = [{"op": "remove", "path": "/note", "zzz": 1}]
    answer = sent(client, "PATCH", client.at(NEW, "ada"), operations, WARN, JSON)
    assert (answer.status_code, "warning" in answer.headers) == (422, False)


NESTED = """
    title: Shelf
    type: object
    properties:
      outer:
        type: object
        properties:
          inner: {type: object, default: {size: 1}, properties: {size: {type: integer}}}
    """


def test_a_value_of_a_wrong_type_has_its_place_within_what_has_a_default(tmp_path):
    config = {"kubernetes": {"group": "shop.test", "types": {"Shelf": {"plural": "shelves"}}}}
    with installer(tmp_path / "shop") as install:
        made = install({"v1.yaml": NESTED}, config=config)
        with Store(tmp_path / "store.db", made.scheme) as store:
            client = Client(Api(store, served_kinds([made.project], made.scheme), "0.0.0"))
            path = "/apis/shop.test/v1/namespaces/default/shelves"
            head = {"apiVersion": "shop.test/v1", "kind": "Shelf", "metadata": {"name": "a"}}
            wrong = {**head, "outer": {"inner": {"size": "x"}}}
            code, said = client.call("POST", path, wrong)
    assert (code, said["details"]["causes"][0]["field"]) == (422, "outer.inner.size")


@pytest.mark.parametrize(
    ("part", "said"),
    [("", {"status": {"zzz": 1}}), ("status", {"zzz": 1}), ("status", {"group": "red", "zzz": 1})],
    ids=str,
)
def test_unknown_fields_are_said_in_what_is_not_written(client, part, said):
    """The status is not written with the rest of an object, and the rest not with the status."""
    client.create(NEW, "ada", group="red", status={"phase": "on"})
    path = client.at(NEW, "ada", part=part)
    place = "status.zzz" if "status" in said else "zzz"
    strict = sent(client, "PATCH", path, said, STRICT, MERGE)
    assert (strict.status_code, place in strict.json()["message"]) == (422, True)
    warned = sent(client, "PATCH", path, said, WARN, MERGE)
    assert warned.headers["warning"] == rf'299 - "unknown field \"{place}\""'
    found = client.get(NEW, "ada")
    replaced = sent(client, "PUT", path, {**found, **said}, STRICT)
    assert (replaced.status_code, place in replaced.json()["message"]) == (400, True)
    config = {**whole(NEW, "ada"), **said}
    code, answer = client.call(
        "PATCH", path, config, media_type="application/apply-patch+yaml", fieldManager="me"
    )
    assert (code, answer["message"].endswith(f".{place}: field not declared in schema")) == (
        400,
        True,
    )
    assert client.get(NEW, "ada") == found


def test_an_object_is_created_without_its_status_but_not_without_a_word_of_it(client):
    made = whole(NEW, "ada", group="red", status={"zzz": 1})
    assert sent(client, "POST", client.at(NEW), made, STRICT).status_code == 400
    answer = sent(client, "POST", client.at(NEW), made, WARN)
    assert (answer.status_code, answer.headers["warning"]) == (
        201,
        r'299 - "unknown field \"status.zzz\""',
    )
    assert "status" not in answer.json()


def test_new_finalizers_without_a_domain_are_warned_of(client):
    client.create(NEW, "ada", group="red")
    path = client.at(NEW, "ada")

    def warned(finalizers):
        patch = {"metadata": {"finalizers": finalizers}}
        return sent(client, "PATCH", path, patch, {}, MERGE).headers.get("warning", "")

    assert 'metadata.finalizers: \\"mine\\": prefer a domain-qualified' in warned(["mine", "a.b/c"])
    assert warned(["mine", "a.b/c", "d.e/f"]) == ""
    assert "including a path (/)" in warned(["mine", "a.b"])
    assert warned([]) == ""


def test_a_slash_at_the_end_is_no_other_path(client):
    """A redirect named the server as its client had called it."""
    for path in ("/healthz/", "/metrics/", "/openapi/v2/"):
        answer = client.http.get(path, headers={"host": "other.test"}, follow_redirects=False)
        assert (answer.status_code, answer.headers.get("location")) == (404, None)
