"""Applies to objects with elements that cannot be distinguished, since their lists had no keys when they were written: both servers answer alike."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
import trundle_servers
import widgets
from clusters import until
from projects import Installer

pytestmark = pytest.mark.cluster

APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
LISTS = {
    "twins": {"parts": [{"name": "x"}, {"name": "x"}]},
    "repeated": {"tags": ["x", "x"]},
    "none": {"parts": [{"name": "x"}], "tags": ["x"]},
}
"""The objects, by their names."""
CONFIGS = [
    {"title": "Ann", "weight": 2},
    {"title": "Ann", "color": "red"},
    {"title": "Bob", "parts": [{"name": "x", "material": "m"}]},
    {"title": "Bob", "tags": ["x"]},
    {"title": "Ann", "parts": [{"name": "y"}]},
]

Request = Callable[..., Any]

GROUP = "duplicates.test"
"""Of its own: the CRD changes and goes, and other tests of the same cluster have objects of theirs."""
CRD = json.loads(json.dumps(widgets.CRD).replace(widgets.GROUP, GROUP))
CONFIG = json.loads(json.dumps(widgets.project()).replace(widgets.GROUP, GROUP))


def path(name: str = "") -> str:
    """The path of widgets, or of one of them."""
    return f"/apis/{GROUP}/v1/namespaces/default/widgets{name and f'/{name}'}"


def without_keys() -> dict[str, Any]:
    """The CRD before its lists had keys."""
    crd = copy.deepcopy(CRD)
    for version in crd["spec"]["versions"]:
        spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for name in ("parts", "tags"):
            spec[name] = {key: each for key, each in spec[name].items() if key[:2] != "x-"}
    return crd


def widget(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": f"{GROUP}/v1", "kind": "Widget"}
    return {**head, "metadata": {"name": name}, "spec": spec}


def write(request: Request) -> None:
    """Writes the objects, while lists have no keys."""
    for name, lists in LISTS.items():
        mine = widget(name, {"title": "Ann", "weight": 1})
        where = path(name)
        assert request("PATCH", where, mine, kind=APPLY, fieldManager="mine")[0] == 201
        assert request("PATCH", where, {"spec": lists}, kind=MERGE)[0] == 200


def answers(request: Request) -> list[Any]:
    """What comes of applies of another manager to each object, where lists have keys."""
    found = []
    for name in LISTS:
        for config in CONFIGS:
            for force in ("false", "true"):
                given = {"fieldManager": "they", "force": force, "dryRun": "All"}
                status, body = request(
                    "PATCH", path(name), widget(name, config), kind=APPLY, **given
                )
                found.append((name, config, force, status, body.get("spec", body)))
    return found


def test_applies_beside_elements_that_cannot_be_distinguished(cluster, tmp_path):
    def request(*arguments, **more):
        answer = cluster.request(*arguments, **more)
        return answer.status, answer.body

    twins = widget("other", {"title": "Ann", **LISTS["twins"]})
    cluster.define(without_keys())
    try:
        write(request)
        cluster.define(CRD)
        until(lambda: request("POST", path(), twins, dryRun="All")[0] == 422)
        theirs = answers(request)
    finally:
        cluster.undefine(CRD["metadata"]["name"])
    store = ("--store", f"sqlite:///{tmp_path}/store.db")
    for crd, name in ((without_keys(), "before"), (CRD, "after")):
        install = Installer(tmp_path / name)
        project = install({"crd.json": crd}, config=CONFIG).project.folder
        with trundle_servers.running(project, *store) as served:
            if name == "before":
                write(served.request)
            else:
                ours = answers(served.request)
    assert ours == theirs
    assert {each[3] for each in ours} == {200, 409}
