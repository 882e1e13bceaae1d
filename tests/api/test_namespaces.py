"""Namespaces as resources: what is in them goes with them, and nothing is created outside of one."""

import pytest
from apis import GROUP, NEW, OLD, Client, member, serving_clubs

from trundle.store import Key, Store

NAMESPACES = "/api/v1/namespaces"


def namespace(client, name):
    code, found = client.call("POST", NAMESPACES, {"metadata": {"name": name}})
    assert code == 201, found
    return found


def names(client):
    return [x["metadata"]["name"] for x in client.call("GET", NAMESPACES)[1]["items"]]


def test_a_replacement_may_leave_out_the_resource_version(client):
    made = namespace(client, "team")
    made["metadata"] = {"name": "team", "labels": {"a": "b"}}
    code, found = client.call("PUT", f"{NAMESPACES}/team", made)
    assert (code, found["metadata"]["labels"]["a"]) == (200, "b")
    made["metadata"]["resourceVersion"] = "1"
    assert client.call("PUT", f"{NAMESPACES}/team", made)[0] == 409


def test_the_default_namespace_is_there_and_cannot_go(client):
    code, found = client.call("GET", f"{NAMESPACES}/default")
    assert (code, found["apiVersion"], found["kind"]) == (200, "v1", "Namespace")
    assert found["status"] == {"phase": "Active"}
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "default"}
    code, found = client.call("DELETE", f"{NAMESPACES}/default")
    assert (code, found["reason"]) == (403, "Forbidden")
    assert (
        found["message"] == 'namespaces "default" is forbidden: this namespace may not be deleted'
    )
    assert client.call("DELETE", NAMESPACES)[0] == 405
    assert names(client) == ["default"]


@pytest.mark.full
def test_objects_are_created_in_namespaces_that_are_there(client):
    where = client.at(NEW, namespace="red")
    code, found = client.call("POST", where, member("ada", group="red"))
    assert (code, found["message"]) == (404, 'namespaces "red" not found')
    assert client.call("GET", where)[1]["items"] == []
    namespace(client, "red")
    assert client.call("POST", where, member("ada", group="red"))[0] == 201
    assert client.call("POST", where, member("bob", group="red"), dryRun="All")[0] == 201


def test_a_namespace_goes_with_what_is_inside_of_it(client, api):
    for name in ("red", "blue"):
        namespace(client, name)
        client.call("POST", client.at(NEW, namespace=name), member("ada", group="red"))
    code, found = client.call("DELETE", f"{NAMESPACES}/red")
    assert (code, found["status"]["phase"]) == (200, "Terminating")
    assert "deletionTimestamp" in found["metadata"]
    api.controllers.settle()
    assert names(client) == ["blue", "default"]
    left = client.call("GET", f"/apis/{GROUP}/{OLD}/members")[1]["items"]
    assert [x["metadata"]["namespace"] for x in left] == ["blue"]


@pytest.mark.full
def test_a_namespace_waits_for_finalizers_of_what_is_inside(client, api):
    namespace(client, "red")
    where = client.at(NEW, "ada", namespace="red")
    body = {"metadata": {"name": "ada", "finalizers": ["x.org/f"]}, "group": "red"}
    client.call("POST", client.at(NEW, namespace="red"), body)
    client.call("DELETE", f"{NAMESPACES}/red")
    api.controllers.settle()
    assert "deletionTimestamp" in client.call("GET", where)[1]["metadata"]
    code, found = client.call("POST", client.at(NEW, namespace="red"), member("b", group="red"))
    assert (code, found["reason"]) == (403, "Forbidden")
    assert found["message"] == (
        'members.clubs.example.com "b" is forbidden: unable to create new content in namespace red because it is '
        "being terminated"
    )
    merge = "application/merge-patch+json"
    client.call("PATCH", where, {"metadata": {"finalizers": None}}, media_type=merge)
    api.controllers.settle()
    assert names(client) == ["default"]


@pytest.mark.full
def test_what_was_created_while_its_namespace_went_is_taken_back(client, api, monkeypatch):
    namespace(client, "red")
    creation = Store.creation

    def meanwhile(store, key, *given, **options):
        monkeypatch.setattr(Store, "creation", creation)
        client.call("DELETE", f"{NAMESPACES}/red")
        api.controllers.settle()
        return creation(store, key, *given, **options)

    monkeypatch.setattr(Store, "creation", meanwhile)
    code, _ = client.call("POST", client.at(NEW, namespace="red"), member("ada", group="red"))
    assert code == 404
    assert client.call("GET", client.at(NEW, "ada", namespace="red"))[0] == 404


@pytest.mark.full
def test_a_deletion_goes_on_where_a_server_stopped(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        client = Client(api)
        namespace(client, "red")
        client.call("POST", client.at(NEW, namespace="red"), member("ada", group="red"))
        client.call("DELETE", f"{NAMESPACES}/red")
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        api.controllers.settle()
        assert names(Client(api)) == ["default"]


@pytest.mark.full
def test_namespaces_of_objects_that_are_stored_already_are_there(installed, tmp_path):
    with Store(tmp_path / "store.db", installed.scheme) as store:
        key = Key("Member", "old", "ada")
        store.create(key, b'{"apiVersion":"v2","kind":"Member","group":"red"}')
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        assert names(Client(api)) == ["default", "old"]


def test_namespaces_are_discovered_and_described(client):
    assert client.call("GET", "/api")[1]["versions"] == ["v1"]
    found = client.call("GET", "/api/v1")[1]
    assert found["groupVersion"] == "v1"
    listed = {x["name"]: x for x in found["resources"]}
    assert {"namespaces", "namespaces/status", "events"} <= listed.keys()
    assert (listed["namespaces"]["namespaced"], listed["namespaces"]["shortNames"]) == (
        False,
        ["ns"],
    )
    assert "/api/v1/namespaces/{name}" in client.call("GET", "/openapi/v3/api/v1")[1]["paths"]
    headers = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    table = client.http.get(NAMESPACES, headers=headers).json()
    assert table["rows"][0]["cells"][:2] == ["default", "Active"]


@pytest.mark.full
def test_namespaces_are_selected_labelled_and_applied(client):
    where, merge = f"{NAMESPACES}/red", "application/merge-patch+json"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"a": "b"}}}
    apply = "application/apply-patch+yaml"
    code, found = client.call("PATCH", where, body, media_type=apply, fieldManager="ann")
    assert (code, found["status"], found["metadata"]["labels"]["a"]) == (
        201,
        {"phase": "Active"},
        "b",
    )
    assert (
        client.call("PATCH", where, {"metadata": {"labels": {"c": "d"}}}, media_type=merge)[0]
        == 200
    )
    _, chosen = client.call("GET", NAMESPACES, labelSelector="a=b,c=d")
    assert [x["metadata"]["name"] for x in chosen["items"]] == ["red"]
    assert client.call("GET", NAMESPACES, fieldSelector="status.phase=Active")[0] == 200
    assert client.call("GET", f"{where}/status")[1]["status"] == {"phase": "Active"}
    assert client.call("GET", f"{where}/other")[0] == 404
    assert client.call("GET", f"{where}/events")[1]["items"] == []


def test_what_kubectl_sends_of_namespaces_keeps_what_they_are(client):
    """It patches them strategically, and takes away what a configuration does not state any more."""
    where, strategic = f"{NAMESPACES}/red", "application/strategic-merge-patch+json"
    config = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "red"}}
    assert client.call("POST", NAMESPACES, config, fieldManager="kubectl")[0] == 201
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {"finalizers": []}}
    assert client.call("PATCH", where, patch, media_type=strategic)[0] == 200
    for media_type, body in [
        ("application/apply-patch+yaml", config),
        ("application/merge-patch+json", {"metadata": {"labels": None}, "spec": None}),
    ]:
        query = {"fieldManager": "kubectl"}
        code, found = client.call("PATCH", where, body, media_type=media_type, **query)
        assert code == 200, found
        assert found["metadata"]["labels"]["kubernetes.io/metadata.name"] == "red"
        assert found["spec"] == {"finalizers": ["kubernetes"]}
    assert client.call("PATCH", client.at(NEW, "ada"), {}, media_type=strategic)[0] == 415


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"finalizers": ["kubernetes", "a.test/b"]},
            "spec.finalizers",
            'Unsupported value: "a.test/b": supported values: "kubernetes"',
        ),
        (
            {"finalizers": "kubernetes"},
            "spec.finalizers",
            'Invalid value: "string": spec.finalizers in body must be of type array: "string"',
        ),
        (
            "kubernetes",
            "spec",
            'Invalid value: "string": spec in body must be of type object: "string"',
        ),
    ],
)
def test_what_a_new_namespace_asks_for_is_not_dropped(client, spec, field, message):
    """No other controller can say that it is done with a namespace."""
    body = {"metadata": {"name": "red"}, "spec": spec}
    code, found = client.call("POST", NAMESPACES, body)
    assert (code, found["reason"]) == (422, "Invalid")
    (cause,) = found["details"]["causes"]
    assert (cause["field"], cause["message"]) == (field, message)
    assert names(client) == ["default"]
    code, found = client.call("POST", NAMESPACES, {**body, "spec": {"finalizers": ["kubernetes"]}})
    assert (code, found["spec"]) == (201, {"finalizers": ["kubernetes"]})


PROTOBUF = "application/vnd.kubernetes.protobuf"
BY_KUBECTL = "6b3873000a0f0a02763112094e616d657370616365121b0a130a0372656412001a0022002a0032003800420012001a020a001a002200"
"""What `kubectl create namespace red` sends."""


def field(number, content):
    """A field of a protobuf message."""
    content = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2, len(content)]) + content


def post(client, body):
    return client.http.post(NAMESPACES, content=body, headers={"content-type": PROTOBUF})


@pytest.mark.full
def test_namespaces_come_as_protobuf_from_kubectl(client):
    assert post(client, bytes.fromhex(BY_KUBECTL)).status_code == 201
    assert names(client) == ["default", "red"]


@pytest.mark.full
def test_metadata_comes_as_protobuf(client):
    label = field(1, "a") + field(2, "b")
    metadata = field(1, "red") + field(11, label) + field(14, "x.org/f") + field(14, "x.org/g")
    owner = field(13, field(1, "K") + field(3, "o") + field(4, "u") + field(5, "v1") + b"\x30\x01")
    kind = field(1, field(1, "v1") + field(2, "Namespace"))
    body = b"k8s\0" + kind + field(2, field(1, metadata + owner))
    found = post(client, body)
    assert found.status_code == 201, found.text
    made = found.json()["metadata"]
    assert made["finalizers"] == ["x.org/f", "x.org/g"]
    assert made["labels"] == {"a": "b", "kubernetes.io/metadata.name": "red"}
    reference = {"kind": "K", "name": "o", "uid": "u", "apiVersion": "v1", "controller": True}
    assert made["ownerReferences"] == [reference]


@pytest.mark.full
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        bytes.fromhex(BY_KUBECTL)[:-9],
        bytes.fromhex(BY_KUBECTL)[:20],
        b"k8s\0" + field(1, field(1, "v1") + field(2, "Pod")),
        b"k8s\0" + field(1, field(1, "v1") + field(2, "Namespace")) + field(2, field(9, "x")),
        b"k8s\0\xff\xff",
        b"k8s\0" + b"\xff" * 1_000_000,
        *(  # A number where text, bytes or a message belongs, of which one said how much memory to fill.
            b"k8s\0" + field(1, field(1, "v1") + field(2, "Namespace")) + rest
            for rest in (
                b"\x10\x01",
                field(2, b"\x08\x01"),
                field(2, field(1, b"\x08\x80\x80\x80\x80\x80\x80\x80\x01")),
                field(2, field(1, field(1, "red") + b"\x58\x01")),
                field(2, field(1, field(1, "red") + field(7, "1"))),
                field(2, field(1, field(1, "red") + field(10, "1"))),
                field(2, field(1, field(1, "red") + field(13, field(6, "1")))),
            )
        ),
    ],
)
def test_protobuf_that_is_not_understood_is_refused(client, body):
    found = post(client, body)
    assert (found.status_code, found.json()["reason"]) == (400, "BadRequest")
    assert names(client) == ["default"]


def test_names_of_namespaces_have_no_dots(client):
    for metadata in ({"name": "a.b"}, {"generateName": "a.b-"}):
        code, found = client.call("POST", NAMESPACES, {"metadata": metadata})
        assert (code, found["reason"]) == (422, "Invalid")
        assert "must not contain dots" in found["message"]
    assert names(client) == ["default"]
