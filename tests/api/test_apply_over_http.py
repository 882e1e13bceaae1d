"""Requests that say who owns what end alike here and in the real API server: statuses, messages, owners and objects."""

import json
import re

import pytest
import yaml
from apis import GROUP, NEW, SCHEMAS, Client, clubs, serving_clubs

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"


def crd():
    """The resource type of members at its newest version, as a cluster has it."""
    schema = yaml.safe_load(SCHEMAS[f"{NEW}.yaml"])
    del schema["title"]
    schema["properties"]["free"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": NEW, "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"members.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Member", "plural": "members"},
            "versions": [
                {
                    **version,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


@pytest.fixture(scope="module")
def client(cluster, tmp_path_factory):
    cluster.define(crd())
    with (
        clubs(tmp_path_factory.mktemp("clubs")) as installed,
        serving_clubs(installed, tmp_path_factory.mktemp("store") / "store.db") as (api, _),
    ):
        yield Client(api)


class Both:
    """Sends requests about one member to both servers, and holds that the answers are alike."""

    def __init__(self, cluster, client, name):
        self.cluster, self.client, self.name = cluster, client, name

    def __call__(self, method, body=None, *, kind="application/json", part="", **query):
        """The status, and what both answered; `body` may be made from what each server has."""
        path = self.client.at(NEW, "" if method == "POST" else self.name, part=part)
        if kind != APPLY:
            query.setdefault("fieldManager", "someone")
        theirs = self.cluster.request(method, path, self._body(body, 1), kind=kind, **query)
        code, ours = self.client.call(method, path, self._body(body, 0), media_type=kind, **query)
        assert (code, comparable(ours)) == (theirs.status, comparable(theirs.body))
        return code, ours

    def _body(self, body, which):
        if not callable(body):
            return body
        path = self.client.at(NEW, self.name)
        live = self.cluster.request("GET", path).ok() if which else self.client.get(NEW, self.name)
        return body(live)

    def member(self, **properties):
        metadata = {"name": self.name, **properties.pop("metadata", {})}
        return {
            "apiVersion": f"{GROUP}/{NEW}",
            "kind": "Member",
            "metadata": metadata,
            **properties,
        }

    def apply(self, manager, part="", force="false", **properties):
        body = self.member(**properties)
        return self("PATCH", body, kind=APPLY, part=part, fieldManager=manager, force=force)


SERVERS = {"uid", "resourceVersion", "creationTimestamp"}


def comparable(found):
    """An answer without what each server says for itself."""
    if found.get("kind") == "Status":
        text = re.sub(r" at [-0-9]+T[:0-9]+Z", "", json.dumps(found))
        return json.loads(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", text))
    metadata = {key: value for key, value in found["metadata"].items() if key not in SERVERS}
    metadata["managedFields"] = sorted(
        ({**each, "time": "time" in each} for each in metadata.get("managedFields", ())),
        key=lambda each: (each["operation"], each["manager"], each.get("subresource", "")),
    )
    return {**found, "metadata": metadata}


@pytest.fixture
def both(cluster, client, request):
    name = re.sub("[^a-z]+", "-", request.node.name).strip("-")
    return Both(cluster, client, name)


def test_applies_and_updates_by_turns(both):
    assert both.apply("ann", group="red", note="n", labels={"a": "1", "b": "2"})[0] == 201
    both.apply("ann", group="red", note="n", labels={"a": "1", "b": "2"})
    assert both.apply("ben", group="blue", labels={"c": "3"})[0] == 409
    both.apply("ben", group="red", labels={"c": "3"})
    both.apply("ann", group="red")
    assert both.apply("ann", group="green")[0] == 409
    both.apply("ann", group="green", force="true")
    both("PATCH", {"note": "m", "labels": {"c": None, "d": "4"}}, kind=MERGE, fieldManager="cleo")
    assert both.apply("ben", group="green", note="x", labels={"d": "5"})[0] == 409
    both("PUT", lambda live: live | {"group": "pink"}, fieldManager="dora")
    operations = [{"op": "replace", "path": "/group", "value": "plum"}]
    both("PATCH", operations, kind=JSON, fieldManager="eve")
    both("PUT", lambda live: live, fieldManager="finn")
    both.apply("ben", group="plum", metadata={"labels": {"x": "y"}, "annotations": {"a": "b"}})
    both.apply("ben", group="plum")


def test_free_form_data_and_finalizers(both):
    both("POST", both.member(group="red", free={"a": {"b": [1, 2]}}), fieldManager="maker")
    assert both.apply("ann", group="red", free={"a": {"b": [3]}})[0] == 409
    both.apply("ann", group="red", free={"a": {"c": None, "d": {}}})
    both.apply("ann", group="red", metadata={"finalizers": ["x.org/f"]})
    finalizers = {"metadata": {"finalizers": ["x.org/f", "x.org/g"]}}
    both("PATCH", finalizers, kind=MERGE, fieldManager="cleo")
    both.apply("ann", group="red")
    both("PATCH", {"metadata": {"finalizers": None}}, kind=MERGE, fieldManager="maker")


def test_the_status(both):
    both.apply("ann", group="red", status={"phase": "x"})
    both("PATCH", {"status": {"phase": "Up"}}, kind=MERGE, part="status")
    assert both.apply("op", part="status", status={"phase": "Down"})[0] == 409
    both.apply("op", part="status", status={"phase": "Down"}, force="true")
    labels = {"labels": {"a": "b"}}
    both.apply("op", part="status", status={"phase": "Down"}, metadata=labels)
    both("PUT", lambda live: live | {"status": {"phase": "z"}}, part="status")
    both("PUT", lambda live: live | {"status": {"phase": "q"}, "note": "n"})


def test_defaults_nulls_and_what_is_empty(both):
    made = both.member(group="red", level=None, labels={}, metadata={"labels": {}})
    both("POST", made, fieldManager="maker")
    both.apply("ann", group="red", level="high", force="true")
    both.apply("ann", group="red")
    both("PATCH", {"level": None, "free": {"a": None}}, kind=MERGE, fieldManager="cleo")


def test_owners_that_clients_write(both):
    both.apply("ann", group="red", note="n")
    both("PUT", lambda live: _owned(live, []), fieldManager="ben")
    both("PUT", lambda live: _owned(live, [{}]) | {"note": "m"}, fieldManager="ben")
    both("PUT", lambda live: live | {"note": "o"}, fieldManager="ben")
    both.apply("ann", group="red", note="n")


def _owned(live, entries):
    return live | {"metadata": live["metadata"] | {"managedFields": entries}}


def test_what_is_refused(both):
    assert both("PATCH", both.member(group="red"), kind=APPLY)[0] == 422
    both.apply("ann", group="RED")
    both.apply("ann", note="n")
    both.apply("ann", group="red", metadata={"managedFields": [{"manager": "b"}]})
    both(
        "PATCH", both.member(group="red", metadata={"name": "other"}), kind=APPLY, fieldManager="a"
    )
    both.apply("ann", part="status", status={"phase": "x"})
    both.apply("ann", group="red", metadata={"uid": "other"})
    both.apply("ann", group="red", metadata={"resourceVersion": "1"})
    both.apply("ann", group="red")
    both.apply("ann", group="red", metadata={"resourceVersion": "1"})


def test_unknown_fields(both):
    both("POST", both.member(group="red", zzz=1), fieldManager="maker")
    both("PATCH", {"zzz": 1}, kind=MERGE, fieldManager="cleo")


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
def test_unknown_fields_cannot_be_applied(both, validation):
    """The real server says that this is its own fault (500)."""
    where = both.client.at(NEW, both.name)
    query = {"fieldManager": "ann", "fieldValidation": validation}
    body = both.member(group="red", zzz=1)
    theirs = both.cluster.request("PATCH", where, body, kind=APPLY, **query)
    code, ours = both.client.call("PATCH", where, body, media_type=APPLY, **query)
    assert (theirs.status, code) == (500, 400)
    assert ours["message"] == theirs.body["message"]
