"""What a CRD calls its resource type, and its columns; `tests/cluster/test_names_like_kubernetes.py` holds it to an API server."""

import copy

import pytest
from apis import Client, serving_clubs
from projects import installer

from trundle.api import converted_kinds, served_kinds
from trundle.kubernetes import WebhookAddress, definitions
from trundle.project import check
from trundle.schema import SchemaError

GROUP = "names.test"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NAMES = {
    "kind": "Ox",
    "listKind": "Drove",
    "plural": "oxen",
    "singular": "one-ox",
    "shortNames": ["o"],
    "categories": ["herd"],
}
WEIGHT = {"name": "Weight", "type": "integer", "format": "int32", "jsonPath": ".spec.weight"}
AGE = {
    "name": "Age",
    "type": "date",
    "jsonPath": ".metadata.creationTimestamp",
    "description": "Since when.",
    "priority": 1,
}


def version(name, *columns):
    spec = {"type": "object", "properties": {"weight": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "name": name,
        "served": True,
        "storage": name == "v2",
        "schema": {"openAPIV3Schema": schema},
        **({"additionalPrinterColumns": list(columns)} if columns else {}),
    }


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"oxen.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": NAMES,
        "versions": [version("v1"), version("v2", WEIGHT, AGE)],
    },
}


def resources(client, label="v2"):
    code, found = client.call("GET", f"/apis/{GROUP}/{label}")
    assert code == 200, found
    return found["resources"]


def headings(client, label, plural="oxen"):
    path = f"/apis/{GROUP}/{label}/namespaces/default/{plural}"
    found = client.http.get(path, headers={"accept": TABLE}).json()
    return [(each["name"], each["format"]) for each in found["columnDefinitions"]]


@pytest.fixture
def install(tmp_path):
    with installer(tmp_path) as install:
        yield install


def test_clients_call_it_as_its_crd_does(install, tmp_path):
    installed = install({"crd.json": CRD})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        client = Client(api)
        (found,) = resources(client)
        assert (found["name"], found["singularName"]) == ("oxen", "one-ox")
        assert (found["shortNames"], found["categories"]) == (["o"], ["herd"])
        assert headings(client, "v1") == [("Name", "name"), ("Age", "")]
        assert headings(client, "v2") == [("Name", "name"), ("Weight", "int32"), ("Age", "")]


def test_lists_have_the_kind_that_its_crd_says(install, tmp_path):
    installed = install({"crd.json": CRD})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        client, path = Client(api), f"/apis/{GROUP}/v2/namespaces/default/oxen"
        assert client.call("GET", path)[1]["kind"] == "Drove"
        table = client.http.get(path, headers={"accept": TABLE}).json()
        assert (table["kind"], table["rows"]) == ("Table", [])
        schemas = client.call("GET", f"/openapi/v3/apis/{GROUP}/v2")[1]["components"]["schemas"]
        (found,) = schemas["test.names.v2.Drove"]["x-kubernetes-group-version-kind"]
        assert found["kind"] == "Drove"


def test_lists_are_called_after_the_kind_that_the_project_says(install):
    types = {"Ox": {"kind": "Bull"}}
    installed = install({"crd.json": CRD}, config={"kubernetes": {"types": types}})
    (found,) = served_kinds([installed.project], installed.scheme)
    assert (found.kind, found.list_kind) == ("Bull", "BullList")


def test_lists_of_two_kinds_have_two_names(install):
    other = copy.deepcopy(CRD)
    other["metadata"]["name"] = f"yaks.{GROUP}"
    other["spec"]["names"] = {"kind": "Yak", "listKind": "Drove", "plural": "yaks"}
    installed = install({"a.json": CRD, "b.json": other})
    (found,) = [each for each in check(installed.project.config) if each.code == "names"]
    assert "Drove" in found.found


def test_what_the_project_says_counts_more(install, tmp_path):
    columns = [{"name": "Of", "path": ".metadata.namespace"}]
    called = {"plural": "cattle", "shortNames": ["c"], "columns": columns}
    installed = install({"crd.json": CRD}, config={"kubernetes": {"types": {"Ox": called}}})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        client = Client(api)
        (found,) = resources(client)
        assert (found["name"], found["singularName"]) == ("cattle", "one-ox")
        assert (found["shortNames"], found["categories"]) == (["c"], ["herd"])
        for label in ("v1", "v2"):
            assert headings(client, label, "cattle") == [("Name", "name"), ("Of", "")]


def test_the_crd_that_a_cluster_gets_has_them(install):
    installed = install({"crd.json": CRD})
    kinds = served_kinds([installed.project], installed.scheme)
    webhook = WebhookAddress(url="https://hooks.test/convert")
    (made,) = definitions(kinds, webhook, note=lambda _: None)
    assert made["metadata"]["name"] == f"oxen.{GROUP}"
    assert made["spec"]["names"] == NAMES
    columns = {x["name"]: x.get("additionalPrinterColumns") for x in made["spec"]["versions"]}
    assert columns["v2"] == [WEIGHT, AGE]
    assert [each["name"] for each in columns["v1"]] == ["Age"]


def test_of_several_crds_that_of_the_preferred_version_counts(install, tmp_path):
    older, newer = copy.deepcopy(CRD), copy.deepcopy(CRD)
    older["spec"] |= {"versions": [{**version("v1"), "storage": False}]}
    older["spec"]["names"] = {"kind": "Ox", "plural": "oxes", "shortNames": ["x"]}
    newer["spec"] |= {"versions": [version("v2")]}
    installed = install({"a.json": older, "b.json": newer})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        for label in ("v1", "v2"):
            (found,) = resources(Client(api), label)
            assert (found["name"], found["shortNames"]) == ("oxen", ["o"])


@pytest.mark.parametrize("served", [True, False])
def test_a_version_in_another_format_changes_no_name(install, served):
    crd = copy.deepcopy(CRD)
    crd["spec"] |= {"versions": [{**version("v1"), "storage": False, "served": served}]}
    schema = {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": GROUP, "version": "v2", "kind": "Ox"}],
        "properties": {
            **{each: {"type": "string"} for each in ("apiVersion", "kind")},
            **{each: {"type": "object"} for each in ("metadata", "spec")},
        },
    }
    api = {"openapi": "3.0.0", "info": {"title": "Oxen", "version": "v2"}, "paths": {}}
    api["components"] = {"schemas": {"Ox": schema}}
    installed = install({"crd.json": crd, "v2.json": api})
    for kinds in (served_kinds, converted_kinds):
        (found,) = kinds([installed.project], installed.scheme)
        assert (found.plural, found.singular, found.short_names) == ("oxen", "one-ox", ("o",))
    assert [*found.versions] == ["v2", "v1"]


def test_columns_of_all_versions_of_an_early_crd(install, tmp_path):
    crd = copy.deepcopy(CRD)
    crd["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    crd["spec"]["versions"] = [version("v1"), version("v2")]
    path = WEIGHT["jsonPath"]
    column = {key: each for key, each in WEIGHT.items() if key != "jsonPath"}
    crd["spec"]["additionalPrinterColumns"] = [{**column, "JSONPath": path}]
    installed = install({"crd.json": crd})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        for label in ("v1", "v2"):
            assert headings(Client(api), label) == [("Name", "name"), ("Weight", "int32")]


@pytest.mark.parametrize(
    ("names", "columns", "expected"),
    [
        ({"plural": "Oxen"}, [], "names/plural: expected a name in lower-case letters"),
        ({"shortNames": "o"}, [], "names/shortNames: expected a list"),
        ({"listKind": "Ox"}, [], "names/listKind: expected a name of letters, digits and -"),
        ({"listKind": "a b"}, [], "names/listKind: expected a name of letters, digits and -"),
        ({"listKind": 1}, [], "names/listKind: expected a name of letters, digits and -"),
        ({"categories": ["all", 1]}, [], "categories/1: expected a name in lower-case letters"),
        ({}, [{**AGE, "type": "time"}], "type: expected one of string, integer"),
        ({}, [{**AGE, "jsonPath": "metadata"}], "jsonPath: expected a path such as .status.phase"),
        ({}, [{"name": "A", "type": "date"}], "0: expected a path such as .status.phase"),
        ({}, [{**AGE, "priority": "1"}], "priority: expected a whole number"),
        ({}, ["Age"], "additionalPrinterColumns/0: expected a column (an object)"),
    ],
)
def test_what_a_cluster_would_refuse_is_refused(install, names, columns, expected):
    crd = copy.deepcopy(CRD)
    crd["spec"]["names"] |= names
    crd["spec"]["versions"] = [version("v2", *columns)]
    with pytest.raises(SchemaError) as caught:
        install({"crd.json": crd})
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ({"jsonPath": r".metadata.labels.a\.b/c"}, "x"),
        ({"jsonPath": r".metadata.labels['a\.b/c']"}, "x"),
        ({"jsonPath": ".metadata.labels"}, r'{"a.b/c":"x","d":""}'),
        ({"jsonPath": ".metadata.annotations"}, r'{"e":"\u003c\u0026\u003e"}'),
        ({"type": "date", "jsonPath": ".metadata.labels.d"}, "<unknown>"),
        ({"type": "number", "jsonPath": ".spec.weight"}, 3),
    ],
)
def test_cells(install, tmp_path, column, shown):
    crd = copy.deepcopy(CRD)
    crd["spec"]["versions"] = [version("v2", {"name": "A", "type": "string", **column})]
    installed = install({"crd.json": crd})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        client, path = Client(api), f"/apis/{GROUP}/v2/namespaces/default/oxen"
        labels, annotations = {"d": "", "a.b/c": "x"}, {"e": "<&>"}
        metadata = {"name": "a", "labels": labels, "annotations": annotations}
        head = {"apiVersion": f"{GROUP}/v2", "kind": "Ox", "metadata": metadata}
        code, found = client.call("POST", path, {**head, "spec": {"weight": 3}})
        assert code == 201, found
        table = client.http.get(path, headers={"accept": TABLE}).json()
        assert [each["cells"] for each in table["rows"]] == [["a", shown]]
