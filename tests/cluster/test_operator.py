"""`trundle kube operator` on a real cluster, with packages in a real registry."""

import json

import operators
import pytest
from clusters import until
from operators import condition, installed, shown, thing, wanted
from serving import registry

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with registry(folder / "registry") as host:
        yield operators.Publisher(folder, host)


@pytest.fixture(scope="module")
def operator(cluster, tmp_path_factory):
    running = operators.Operator(cluster, tmp_path_factory.mktemp("operator"))
    try:
        running.start()
        running.define()
        yield running
    finally:
        running.stop(9)


@pytest.fixture
def space(cluster, publisher, request):
    """A namespace with the publisher's root."""
    name = request.node.name.replace("_", "-")[5:45].strip("-")
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl(
        "create", "secret", "generic", "root", "-n", name, f"--from-file={publisher.root}"
    )
    return name


def create(cluster, document):
    cluster.kubectl("apply", "-f", "-", text=json.dumps(document))


def change(cluster, space, name, patch):
    path = f"/apis/trundle.dev/v1/namespaces/{space}/installations/{name}"
    cluster.request("PATCH", path, patch, kind=MERGE).ok()


def config(name, value):
    return thing("ConfigMap", name, data={"value": value})


def there(cluster, space, *what):
    return cluster.kubectl("get", "-n", space, *what, "--ignore-not-found", "-o", "name").stdout


def spec_of(publisher, package, **further):
    trust = {"secretName": "root"}
    return {"registry": f"http://{publisher.host}", "package": package, "trust": trust, **further}


def test_a_channel_is_followed_and_what_a_release_drops_goes(cluster, operator, publisher, space):
    publisher.release("acme/db", "1.0.0", [config("db", "1"), config("old", "1")])
    spec = spec_of(publisher, "acme/db", policy={"major": "approval"})
    create(cluster, wanted("db", space, spec))
    until(lambda: installed(shown(cluster, space, "db")) == ("1.0.0", True))
    assert there(cluster, space, "configmap", "old")

    publisher.release("acme/db", "1.0.1", [config("db", "2")])
    until(lambda: installed(shown(cluster, space, "db")) == ("1.0.1", True))
    assert there(cluster, space, "configmap", "old") == ""
    found = cluster.kubectl("get", "configmap", "db", "-n", space, "-o", "json").stdout
    assert json.loads(found)["data"] == {"value": "2"}

    publisher.release("acme/db", "2.0.0", [config("db", "3")])
    until(lambda: condition(shown(cluster, space, "db"), "MajorAvailable")[0] == "True")
    found = shown(cluster, space, "db")
    assert installed(found) == ("1.0.1", True)
    assert found["status"]["latest"] == "2.0.0"
    older = shown(cluster, space, "db", "v1alpha1")
    assert older["spec"]["source"] == f"http://{publisher.host}"
    assert older["status"] == found["status"]

    approve = {"metadata": {"annotations": {"trundle.dev/approve": "2.0.0"}}}
    change(cluster, space, "db", approve)
    until(lambda: installed(shown(cluster, space, "db")) == ("2.0.0", True))
    events = cluster.kubectl("get", "events", "-n", space, "-o", "name").stdout.split()
    assert events

    cluster.kubectl("delete", "installation", "db", "-n", space, "--timeout=30s")
    assert there(cluster, space, "configmap", "db") == ""
    assert there(cluster, space, "configmap", "trundle-applied-db") == ""


def test_what_is_wrong_with_a_spec_is_said(cluster, operator, publisher, space):
    spec = spec_of(publisher, "acme/none", version="1.0.0", channel="beta")
    create(cluster, wanted("wrong", space, spec | {"policy": {"patch": "sometimes"}}))
    until(lambda: condition(shown(cluster, space, "wrong"), "Ready") is not None)
    found = shown(cluster, space, "wrong")
    assert condition(found, "Ready") == ("False", "InvalidSpec")
    message = next(e["message"] for e in found["status"]["conditions"] if e["type"] == "Blocked")
    assert "a channel, a version or a digest" in message
    assert "spec.policy" in message
