"""What kubectl and releases do to objects that have more than a version shows, behind a real API server."""

import json

import pytest
import webhooks
import yaml
from authorities import Authority
from carried import crds, project
from clusters import until

GROUP = "flows.example.com"
CARRIER, NOT_SHOWN = f"{GROUP}/carrier", f"{GROUP}/not-shown"
RESOURCE = f"members.v2.{GROUP}"


@pytest.fixture(scope="module")
def first(cluster, tmp_path_factory):
    """The first release, installed: its folder and its webhook."""
    folder = project(tmp_path_factory.mktemp("flows") / "first", GROUP, "v1", "v2")
    (folder / "tls").mkdir()
    with webhooks.running(folder, Authority(folder / "tls")) as webhook:
        for each in crds(folder, webhook):
            cluster.define(each)
        yield folder, webhook
        cluster.undefine(f"members.{GROUP}")


def path(version, name=""):
    return f"/apis/{GROUP}/{version}/namespaces/default/members{name and '/' + name}"


def member(version, name, **properties):
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": name}}
    return {**head, **properties}


@pytest.fixture
def ada(cluster, first):
    """A member with an age, which only the first version shows."""
    cluster.request("POST", path("v1"), member("v1", "ada", team="red", age=7)).ok()
    yield "ada"
    cluster.request("DELETE", path("v1", "ada"))


def at(cluster, version, name):
    return cluster.request("GET", path(version, name)).ok()


def test_whatever_kubectl_does_at_one_version_the_other_keeps(cluster, ada):
    def kubectl(*arguments, text=""):
        done = cluster.kubectl(*arguments, text=text)
        assert at(cluster, "v1", ada)["age"] == 7, arguments
        return done.stdout

    kubectl("label", RESOURCE, ada, "a=b")
    kubectl("annotate", RESOURCE, ada, "mine=x")
    kubectl("patch", RESOURCE, ada, "--type=merge", "-p", '{"note": "n"}')
    kubectl("patch", RESOURCE, ada, "--type=json", "-p", '[{"op": "remove", "path": "/note"}]')
    kubectl(
        "patch",
        RESOURCE,
        ada,
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status": {"phase": "on"}}',
    )
    assert at(cluster, "v2", ada)["status"] == {"phase": "on"}
    manifest = json.dumps(member("v2", ada, group="blue", note="m"))
    kubectl("apply", "-f", "-", text=manifest)
    assert kubectl("apply", "-f", "-", text=manifest).endswith("unchanged\n")
    assert kubectl("diff", "-f", "-", text=manifest) == ""
    on_server = ("apply", "--server-side", "--force-conflicts", "-f", "-")
    kubectl(*on_server, text=json.dumps(member("v2", ada, group="green")))
    kubectl(*on_server, "--dry-run=server", text=json.dumps(member("v2", ada, group="grey")))
    seen = at(cluster, "v1", ada)
    assert (seen["team"], seen["metadata"]["labels"]) == ("green", {"a": "b"})
    shown = yaml.safe_load(kubectl("get", RESOURCE, ada, "-o", "yaml"))
    kubectl("replace", "-f", "-", text=json.dumps({**shown, "group": "white"}))
    assert at(cluster, "v1", ada)["team"] == "white"
    owners = at(cluster, "v2", ada)["metadata"]["managedFields"]
    assert {each["manager"] for each in owners} >= {"kubectl-label", "kubectl-replace"}
    assert CARRIER not in json.dumps(owners)


def test_an_object_with_a_finalizer_goes_when_that_does(cluster, ada):
    finalizers = {"metadata": {"finalizers": [f"{GROUP}/wait"]}}
    kind = "application/merge-patch+json"
    cluster.request("PATCH", path("v2", ada), finalizers, kind=kind).ok()
    cluster.request("DELETE", path("v2", ada)).ok()
    assert at(cluster, "v1", ada)["age"] == 7
    cluster.request("PATCH", path("v2", ada), {"metadata": {"finalizers": None}}, kind=kind).ok()
    until(lambda: cluster.request("GET", path("v2", ada)).status == 404)


def test_what_a_client_drops_is_lost_and_a_bad_carrier_stops_nothing(cluster, ada):
    found = at(cluster, "v2", ada)
    found["metadata"]["annotations"] = {CARRIER: "nonsense"}
    changed = cluster.request("PUT", path("v2", ada), found).ok()
    assert CARRIER not in changed["metadata"].get("annotations", {})
    assert "age" not in at(cluster, "v1", ada)


def test_a_mistake_is_said_by_the_server_and_changes_nothing(cluster, ada):
    """Annotations leave no room for the carrier: the version that needs it can be read, and not written."""
    kind = "application/merge-patch+json"
    large = {"metadata": {"annotations": {"large": "x" * (256 * 1024 - 50)}}}
    cluster.request("PATCH", path("v1", ada), large, kind=kind).ok()
    marker = at(cluster, "v2", ada)["metadata"]["annotations"][CARRIER]
    assert marker.startswith("too-large.")
    refused = cluster.request("PATCH", path("v2", ada), {"note": "n"}, kind=kind)
    assert refused.status >= 400
    assert at(cluster, "v1", ada)["age"] == 7


def test_a_new_release_rolls_objects_and_a_replica_that_lags_behind_breaks_no_list(
    cluster, first, ada, tmp_path
):
    folder, webhook = first
    later = project(tmp_path / "later", GROUP, "v1", "v2", "v3")
    (tmp_path / "tls").mkdir()
    with webhooks.running(later, Authority(tmp_path / "tls")) as other:
        new, old = crds(later, other), crds(folder, webhook)
        try:
            cluster.define(new[0])
            kind = "application/merge-patch+json"
            until(lambda: cluster.request("GET", path("v3", ada)).status == 200)
            cluster.request("PATCH", path("v3", ada), {"note": "new"}, kind=kind).ok()
            assert at(cluster, "v1", ada)["age"] == 7
            whole = at(cluster, "v2", ada)
            cluster.define(old[0])
            until(lambda: NOT_SHOWN in at(cluster, "v2", ada)["metadata"].get("annotations", {}))
            (listed,) = cluster.request("GET", path("v1")).ok()["items"]
            assert "age" not in listed
            cluster.request(
                "PATCH", path("v1", ada), {"metadata": {"labels": {"x": "y"}}}, kind=kind
            ).ok()
            cluster.define(new[0])
            until(lambda: "age" in at(cluster, "v1", ada))
            assert (at(cluster, "v1", ada)["age"], at(cluster, "v2", ada)["note"]) == (7, "new")
            assert (
                at(cluster, "v2", ada)["metadata"]["annotations"].keys()
                == whole["metadata"]["annotations"].keys()
            )
            assert at(cluster, "v2", ada)["metadata"]["labels"] == {"x": "y"}
        finally:
            cluster.request("DELETE", path("v1", ada))
            cluster.define(old[0])
