"""What a CRD calls its resource type, and the tables with its columns, are the same on Kubernetes' API server and on `trundle serve`."""

import copy
import re

import pytest
from clusters import until
from projects import Installer, installer
from served import both_serving

from trundle.project import check

pytestmark = pytest.mark.cluster

GROUP = "names.test"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
COLUMNS = (
    ("string", ".spec.text"),
    ("string", ".spec.flag"),
    ("string", ".spec.number"),
    ("string", ".spec.list"),
    ("string", ".spec.list[*]"),
    ("string", ".spec.list[0]"),
    ("string", ".spec.list[-1]"),
    ("string", ".spec.list[5]"),
    ("string", ".spec.map"),
    ("string", ".spec.none"),
    ("string", ".spec.rows[*].name"),
    ("string", '.spec.rows[?(@.name=="b")].value'),
    ("string", '.spec.rows[?(@.name=="none")].value'),
    ("integer", ".spec.rows[?(@.value>1)].value"),
    ("string", r".spec.map.a\.b/c"),
    ("string", r".metadata.labels['a\.b/c']"),
    ("string", r".metadata.labels.a\.b/c"),
    ("string", ".metadata.name"),
    ("integer", ".spec.number"),
    ("integer", ".spec.text"),
    ("integer", ".spec.whole"),
    ("number", ".spec.number"),
    ("number", ".spec.whole"),
    ("boolean", ".spec.flag"),
    ("boolean", ".spec.text"),
    ("date", ".spec.when"),
    ("date", ".spec.text"),
    ("string", ".spec.when"),
    ("string", ".spec.free"),
    ("string", ".spec.free.x[0].y"),
    ("string", ".spec"),
)
PROPERTIES = {
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "list": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "rows": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "value": {"type": "integer"}},
        },
    },
    "when": {"type": "string"},
    "free": FREE,
}
SPECS = (
    {},
    {"text": "a", "flag": True, "number": 1.5, "whole": 3, "list": ["x", "y"]},
    {
        "map": {"a.b/c": "d", "e": "f"},
        "rows": [{"name": "a", "value": 1}, {"name": "b", "value": 2}],
    },
    {"when": "2020-01-01T00:00:00Z", "free": {"x": [{"y": {"z": None}}], "a": 1}},
    {"text": "", "flag": False, "number": 2, "whole": 0, "list": [], "map": {}, "rows": []},
    {"text": "ü<&>", "when": "soon", "list": ["ü<&>", ""], "rows": [{"name": "b"}]},
)


def crd(columns):
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v2",
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": PROPERTIES}},
                }
            },
        }
        for name in ("v2", "v1")
    ]
    versions[0]["additionalPrinterColumns"] = [
        {"name": f"Column {number}", "type": type_, "jsonPath": path, "priority": number % 2}
        for number, (type_, path) in enumerate(columns)
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"oxen.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": "Ox",
                "listKind": "Drove",
                "plural": "oxen",
                "singular": "one-ox",
                "shortNames": ["o", "ox"],
                "categories": ["herd"],
            },
            "versions": versions,
        },
    }


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    made = crd(COLUMNS)
    project = Installer(tmp_path_factory.mktemp("names"))({"crd.json": made}).project.folder
    with both_serving(cluster, [made], project) as servers:
        yield servers


def test_names_are_discovered(servers):
    for version in ("v1", "v2"):
        theirs, ours = (each.ask("GET", f"/apis/{GROUP}/{version}").ok() for each in servers)
        for found in (theirs, ours):
            for each in found["resources"]:
                each.pop("storageVersionHash", None)
                each["verbs"].sort()
        assert ours == theirs


def test_lists_have_the_kind_that_the_crd_says(servers):
    path = f"/apis/{GROUP}/v1/namespaces/default/oxen"
    assert [each.ask("GET", path).ok()["kind"] for each in servers] == ["Drove", "Drove"]
    for version, schemas in ("v2", "definitions"), ("v3", "schemas"):
        at = "/openapi/v2" if version == "v2" else f"/openapi/v3/apis/{GROUP}/v1"
        kinds = []
        for each in servers:
            found = each.ask("GET", at).ok()
            known = found.get("components", found)[schemas]
            kinds.append({x: y for x, y in _kinds(known) if x.startswith("test.names.v1.")})
        assert kinds[1] == kinds[0]


def _kinds(definitions):
    """The names of definitions, with the kinds that they are of."""
    for name, each in definitions.items():
        for said in each.get("x-kubernetes-group-version-kind", ()):
            yield name, said["kind"]


def test_tables_have_the_columns_of_each_version(servers):
    head = {"apiVersion": f"{GROUP}/v2", "kind": "Ox"}
    for number, spec in enumerate(SPECS):
        metadata = {"name": f"a{number}", "labels": {"a.b/c": str(number)}}
        for each in servers:
            made = copy.deepcopy({**head, "metadata": metadata, "spec": spec})
            each.ask("POST", f"/apis/{GROUP}/v2/namespaces/default/oxen", made).ok()
    for version in ("v1", "v2"):
        path = f"/apis/{GROUP}/{version}/namespaces/default/oxen"
        theirs, ours = (
            each.ask("GET", path, headers={"accept": TABLE}, includeObject="None").ok()
            for each in servers
        )
        assert ours["columnDefinitions"] == theirs["columnDefinitions"]
        titles = [each["description"][-40:] for each in theirs["columnDefinitions"]]
        rows = zip(theirs["rows"], ours["rows"], strict=True)
        found = [
            each
            for their_row, our_row in rows
            for each in zip(titles, their_row["cells"], our_row["cells"], strict=True)
        ]
        assert [each for each in found if _cell(each[1]) != _cell(each[2])] == []


def _cell(value):
    """A cell as clients print it; ages differ by the moment, and 3.0 is 3 to clients."""
    return "age" if isinstance(value, str) and re.fullmatch("[0-9]+s", value) else value


def simple(kind, /, **names):
    made = crd(())
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower(), **names}
    made["metadata"]["name"] = f"{names['plural']}.clash.test"
    made["spec"] |= {"group": "clash.test", "names": names}
    return made


@pytest.mark.parametrize(
    ("names", "is_accepted"),
    [
        ({"plural": "cow"}, False),
        ({"singular": "cows"}, False),
        ({"singular": "c"}, False),
        ({"shortNames": ["y", "c"]}, False),
        ({"kind": "CowList"}, False),
        ({"listKind": "Cow"}, False),
        ({"shortNames": ["cowlist"], "categories": ["c"]}, True),
    ],
    ids=str,
)
def test_names_that_an_api_server_accepts_once_are_served_once(
    cluster, tmp_path, names, is_accepted
):
    first, second = simple("Cow", shortNames=["c"]), simple("Yak", **names)
    cluster.define(first)
    there = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    try:
        cluster.request("POST", there, second).ok()
        path = f"{there}/{second['metadata']['name']}"
        until(lambda: accepted(cluster.request("GET", path).ok()) is not None)
        assert accepted(cluster.request("GET", path).ok()) == str(is_accepted)
    finally:
        for each in (first, second):
            cluster.undefine(each["metadata"]["name"])
    with installer(tmp_path) as install:
        installed = install({"a.json": first, "b.json": second})
        refused = [each for each in check(installed.project.config) if each.code == "names"]
        assert bool(refused) is not is_accepted


def accepted(found):
    conditions = found.get("status", {}).get("conditions") or ()
    return next((x["status"] for x in conditions if x["type"] == "NamesAccepted"), None)
