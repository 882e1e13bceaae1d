"""What `selectableFields` of a CRD lets clients select by; `tests/cluster/test_selectable_fields_like_kubernetes.py` holds it to an API server."""

import json

import pytest
from apis import Client, serving_clubs
from projects import installer

from trundle.api import served_kinds
from trundle.api._views import Views
from trundle.kubernetes import WebhookAddress, definitions

GROUP = "select.test"
LAMPS = f"/apis/{GROUP}/%s/namespaces/default/lamps"


def version(name, field):
    properties = {field: {"type": "string"}, "size": {"type": "integer"}}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    return {
        "name": name,
        "served": True,
        "storage": name == "v2",
        "selectableFields": [{"jsonPath": f".spec.{field}"}],
        "schema": {"openAPIV3Schema": schema},
    }


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"lamps.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Lamp", "plural": "lamps"},
        "versions": [version("v1", "colour"), version("v2", "color")],
    },
}
CONFIG = {
    "kubernetes": {"group": GROUP},
    "changes": {"v1": {"LampSpec": {"rename": {"colour": "color"}}}},
}


@pytest.fixture
def served(tmp_path):
    """An API with objects, and the CRDs that a cluster would get of it."""
    with installer(tmp_path) as install:
        installed = install({"crd.json": CRD}, config=CONFIG)
        with serving_clubs(installed, tmp_path / "store.db") as (api, _):
            client = Client(api)
            for name, color in (("a", "red"), ("b", "blue"), ("c", "red")):
                create(client, name, color)
            yield client, served_kinds([installed.project], installed.scheme)


def create(client, name, color):
    head = {"apiVersion": f"{GROUP}/v2", "kind": "Lamp", "metadata": {"name": name}}
    code, found = client.call("POST", LAMPS % "v2", {**head, "spec": {"color": color}})
    assert code == 201, found


def paint(client, name, color):
    patch = {"spec": {"color": color}}
    media_type = "application/merge-patch+json"
    code, found = client.call("PATCH", f"{LAMPS % 'v2'}/{name}", patch, media_type=media_type)
    assert code == 200, found


@pytest.mark.parametrize(
    ("at", "selector", "chosen"),
    [
        ("v1", "spec.colour=red", ["a", "c"]),
        ("v2", "spec.color!=red", ["b"]),
        ("v2", "spec.color=red,metadata.name=c", ["c"]),
        ("v1", "spec.color=red", "field label not supported: spec.color"),
        ("v2", "spec.size=1", "field label not supported: spec.size"),
    ],
)
def test_each_version_is_selected_from_in_its_own_words(served, at, selector, chosen):
    client, _ = served
    code, found = client.call("GET", LAMPS % at, fieldSelector=selector)
    if code == 200:
        assert [each["metadata"]["name"] for each in found["items"]] == chosen
    else:
        assert found["message"] == chosen


def test_pages_are_full_and_in_order(served):
    client, _ = served
    query = {"fieldSelector": "spec.colour=red", "limit": "1"}
    _, first = client.call("GET", LAMPS % "v1", **query)
    token = first["metadata"]["continue"]
    _, second = client.call("GET", LAMPS % "v1", **query, **{"continue": token})
    names = [each["metadata"]["name"] for found in (first, second) for each in found["items"]]
    assert names == ["a", "c"]


@pytest.mark.full
def test_a_watch_says_what_begins_and_what_ceases_to_be_chosen(served):
    client, _ = served
    since = client.call("GET", LAMPS % "v1")[1]["metadata"]["resourceVersion"]
    paint(client, "b", "red")
    paint(client, "a", "blue")
    paint(client, "a", "green")
    query = {"watch": "true", "resourceVersion": since, "timeoutSeconds": "1"}
    query["fieldSelector"] = "spec.colour=red"
    lines = client.http.get(LAMPS % "v1", params=query).text.splitlines()
    events = [(x["type"], x["object"]["spec"]["colour"]) for x in map(json.loads, lines)]
    assert events == [("ADDED", "red"), ("DELETED", "red")]


def test_the_first_part_of_a_watch_converts_each_object_once(served, monkeypatch):
    client, _ = served
    convert, converted = Views._converted, []

    def counted(views, found, *of):
        converted.append(found.key.name)
        return convert(views, found, *of)

    monkeypatch.setattr(Views, "_converted", counted)
    # Nothing may be remembered of the requests that wrote the objects.
    monkeypatch.setattr(Views, "kept", counted)
    query = {"watch": "true", "timeoutSeconds": "1", "fieldSelector": "spec.colour=red"}
    lines = client.http.get(LAMPS % "v1", params=query).text.splitlines()
    found = [json.loads(each)["object"]["metadata"]["name"] for each in lines]
    assert found == ["a", "c"]
    assert converted == ["a", "b", "c"]


def test_clusters_and_clients_see_them(served):
    client, kinds = served
    _, found = client.call("GET", f"/openapi/v3/apis/{GROUP}/v1")
    name = "test.select.v1.Lamp"
    said = found["components"]["schemas"][name]["x-kubernetes-selectable-fields"]
    assert said == [{"fieldPath": "spec.colour"}]
    [made] = definitions(kinds, WebhookAddress("https://w.test/convert"), print)
    fields = {each["name"]: each.get("selectableFields") for each in made["spec"]["versions"]}
    assert fields == {
        "v2": [{"jsonPath": ".spec.color"}],
        "v1": [{"jsonPath": ".spec.colour"}],
        "storage": None,
    }
