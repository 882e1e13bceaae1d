"""Objects of a resource type that is in no namespace."""

import json

import pytest
from apis import CONFIG, GROUP, SCHEMAS, Client, member
from projects import installer

from trundle.api import Api, served_kinds
from trundle.store import Store

MEMBERS = f"/apis/{GROUP}/v1/members"
APPLY = "application/apply-patch+yaml"


@pytest.fixture
def client(tmp_path):
    kubernetes = {**CONFIG["kubernetes"], "types": {"Member": {"scope": "Cluster"}}}
    with installer(tmp_path / "clubs") as install:
        made = install(SCHEMAS, config={**CONFIG, "kubernetes": kubernetes})
        with Store(tmp_path / "store.db", made.scheme) as store:
            yield Client(Api(store, served_kinds([made.project], made.scheme), "0.0.0"))


def test_they_are_created_read_changed_and_deleted(client):
    code, made = client.call("POST", MEMBERS, member("ada", team="red", age=7))
    assert (code, "namespace" in made["metadata"]) == (201, False), made
    merge = "application/merge-patch+json"
    changed = client.call("PATCH", f"/apis/{GROUP}/v2/members/ada", {"note": "n"}, media_type=merge)
    assert (changed[0], changed[1]["note"]) == (200, "n")
    config = {"apiVersion": f"{GROUP}/v1", "kind": "Member", **member("ben", team="blue")}
    body = json.dumps(config).encode()
    applied = client.call("PATCH", f"{MEMBERS}/ben", body, media_type=APPLY, fieldManager="x")
    assert applied[0] == 201
    listed = client.call("GET", MEMBERS)[1]["items"]
    assert [(each["metadata"]["name"], each.get("age")) for each in listed] == [
        ("ada", 7),
        ("ben", None),
    ]
    assert client.call("DELETE", f"{MEMBERS}/ada")[0] == 200
    assert client.call("GET", f"{MEMBERS}/ada")[0] == 404
    assert client.call("POST", client.at("v1"), member("eve", team="red"))[0] == 404


def test_a_namespace_that_they_name_means_nothing(client):
    """Configurations often name one for all that they have."""
    made = member("ada", team="red")
    made["metadata"]["namespace"] = "default"
    code, found = client.call("POST", MEMBERS, made)
    assert (code, "namespace" in found["metadata"]) == (201, False)
    config = json.dumps({"apiVersion": f"{GROUP}/v1", "kind": "Member", **made}).encode()
    options = {"fieldManager": "x", "force": "true"}
    code, found = client.call("PATCH", f"{MEMBERS}/ada", config, media_type=APPLY, **options)
    assert (code, "namespace" in found["metadata"]) == (200, False)


def test_they_are_not_selected_by_a_namespace(client):
    for path in (MEMBERS, "/api/v1/namespaces"):
        code, said = client.call("GET", path, fieldSelector="metadata.namespace=default")
        assert (code, said["message"]) == (400, "field label not supported: metadata.namespace")
