"""What `selectableFields` of a CRD lets clients select by is the same on Kubernetes' API server and on `trundle serve`."""

import itertools
import json

import pytest
from clusters import until
from projects import Installer
from served import both_serving

pytestmark = pytest.mark.cluster

GROUP = "select.test"
PROPERTIES = {
    "color": {"type": "string"},
    "size": {"type": "integer"},
    "loud": {"type": "boolean"},
    "kind": {"type": "string", "default": "plain"},
    "inner": {"type": "object", "properties": {"name": {"type": "string"}}},
    "other": {"type": "string"},
}
SELECTABLE = {
    "v2": [".spec.color", ".spec.size", ".spec.loud", ".spec.kind", ".spec.inner.name"],
    "v1": [".spec.other"],
}
SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": PROPERTIES}},
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"lamps.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Lamp", "plural": "lamps", "singular": "lamp"},
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v2",
                "selectableFields": [{"jsonPath": each} for each in paths],
                # API servers refuse versions of one schema that differ in these fields.
                "schema": {"openAPIV3Schema": {**SCHEMA, "description": f"A lamp of {name}."}},
            }
            for name, paths in SELECTABLE.items()
        ],
    },
}
NUMBERS = itertools.count()
MERGE = "application/merge-patch+json"
SPECS = (
    {"color": "red", "size": 1, "loud": True, "other": "x"},
    {"color": "red", "size": 2, "loud": False, "inner": {"name": "i"}},
    {"color": "blue", "kind": "odd", "inner": {}, "other": "x"},
    {"color": "a,b=c"},
    {},
)


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    config = {"kubernetes": {"group": GROUP}}
    project = Installer(tmp_path_factory.mktemp("lamps"))({"lamps.json": CRD}, config=config)
    with both_serving(cluster, [CRD], project.project.folder) as servers:
        yield servers


@pytest.fixture(scope="module")
def lamps(servers):
    """The path of some objects."""
    return make(servers)


def make(servers):
    namespace = f"select-{next(NUMBERS)}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    path = f"/apis/{GROUP}/v2/namespaces/{namespace}/lamps"
    for server in servers:
        server.ask("POST", "/api/v1/namespaces", made).ok()
        for number, spec in enumerate(SPECS):
            server.ask("POST", path, lamp(f"l{number}", spec)).ok()
    return path


def lamp(name, spec):
    head = {"apiVersion": f"{GROUP}/v2", "kind": "Lamp", "metadata": {"name": name}}
    return {**head, "spec": spec}


def chosen(answer):
    if answer.status >= 300:
        return answer.status, answer.body["reason"]
    return answer.status, [each["metadata"]["name"] for each in answer.body["items"]]


@pytest.mark.parametrize(
    ("version", "selector"),
    [
        *(
            ("v2", each)
            for each in (
                "spec.color=red", "spec.color!=red", "spec.color=", "spec.color!=", r"spec.color=a\,b\=c", "spec.size=1", "spec.size=01",
                "spec.size=", "spec.loud=true", "spec.loud=True", "spec.loud!=true", "spec.kind=plain", "spec.kind!=plain",
                "spec.inner.name=i", "spec.inner.name!=i", "spec.color=red,spec.size=2", "spec.color=red,metadata.name!=l0",
                "metadata.name=l0,spec.color=blue", "spec.other=x", ".spec.color=red", "spec=1", "spec.inner=1",
            )
        ),
        ("v1", "spec.other=x"),
        ("v1", "spec.other!=x"),
        ("v1", "spec.color=red"),
    ],
)  # fmt: skip
def test_a_list_has_what_its_version_lets_clients_select(servers, lamps, version, selector):
    path = lamps.replace("/v2/", f"/{version}/")
    theirs, ours = (chosen(each.ask("GET", path, fieldSelector=selector)) for each in servers)
    assert ours == theirs


def test_a_deletion_takes_what_fields_choose(servers):
    path = make(servers)
    for server in servers:
        server.ask("DELETE", path, fieldSelector="spec.color=red").ok()
    theirs, ours = (chosen(each.ask("GET", path)) for each in servers)
    assert ours == theirs == (200, ["l2", "l3", "l4"])


def test_a_watch_says_what_begins_and_what_ceases_to_be_chosen(servers):
    path = make(servers)
    seen = []
    for server in servers:
        since = server.ask("GET", path).body["metadata"]["resourceVersion"]
        for name, spec in (
            ("l0", {"color": "blue"}),
            ("l2", {"color": "red"}),
            ("l1", {"size": 7}),
            ("l4", {"size": 1}),
            ("l0", {"size": 5}),
        ):
            server.ask("PATCH", f"{path}/{name}", {"spec": spec}, media_type=MERGE).ok()
        server.ask("DELETE", f"{path}/l1").ok()
        server.ask("DELETE", f"{path}/l0").ok()
        query = {"watch": "true", "resourceVersion": since, "timeoutSeconds": "3"}
        answer = server.ask("GET", path, fieldSelector="spec.color=red", **query)
        seen.append([events(answer), names_of(server, path)])
    theirs, ours = seen
    assert ours == theirs
    assert [each[:2] for each in ours[0]] == [
        ("DELETED", "l0"), ("ADDED", "l2"), ("MODIFIED", "l1"), ("DELETED", "l1"),
    ]  # fmt: skip


def events(answer):
    found = [json.loads(line) for line in answer.body.splitlines()]
    return [(x["type"], x["object"]["metadata"]["name"], x["object"]["spec"]) for x in found]


def names_of(server, path):
    """What a watch from the beginning says first."""
    query = {"watch": "true", "timeoutSeconds": "1"}
    answer = server.ask("GET", path, fieldSelector="spec.color=red", **query)
    return sorted(events(answer))


def test_clients_find_in_the_openapi_what_they_may_select_by(servers):
    found, path = [], f"/openapi/v3/apis/{GROUP}/v2"
    for server in servers:
        until(lambda server=server: "test.select.v2.Lamp" in str(server.ask("GET", path).body))
        document = server.ask("GET", path).body
        schemas = document["components"]["schemas"]
        found.append(
            {
                name: schemas[f"test.select.v2.{name}"].get("x-kubernetes-selectable-fields")
                for name in ("Lamp", "LampList")
            }
        )
    assert found[0] == found[1]
    assert found[0]["Lamp"][0] == {"fieldPath": "spec.color"}
