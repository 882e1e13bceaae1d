"""What clients do to carriers, on a real API server: with the webhook at admission, with the policy, and with neither."""

import contextlib
import json
import subprocess

import pytest
import warm
import webhooks
import yaml
from authorities import Authority
from carried import MERGE, Members, project
from clusters import until

MODES = ("webhook", "policy", "none")
APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module", params=MODES)
def guarded(request, cluster, tmp_path_factory):
    """Members in the cluster, and how it is guarded: installed with what `kube manifests` writes."""
    mode = request.param
    group = f"{mode}.guarded.example.com"
    folder = project(tmp_path_factory.mktemp("guarded") / mode, group, "v1", "v2")
    (folder / "tls").mkdir()
    with webhooks.running(folder, Authority(folder / "tls"), "--admission", mode) as webhook:
        command = [
            warm.TRUNDLE,
            "kube",
            "manifests",
            "--admission",
            mode,
            "--name",
            f"guard-{mode}",
        ]
        given = ["--url", f"{webhook.url}/convert", "--ca", str(webhook.authority)]
        subprocess.run([*command, *given], cwd=folder, check=True, capture_output=True)
        cluster.kubectl("apply", "-k", folder / "manifests", "--dry-run=server")
        cluster.kubectl("apply", "-k", folder / "manifests")
        members = Members(cluster, group)
        for at in map(members.path, ("v1", "v2")):
            until(lambda at=at: cluster.request("GET", at).status == 200)
        try:
            _until_asked(members, mode)
            yield members, mode
        finally:
            cluster.kubectl("delete", "-k", folder / "manifests", "--ignore-not-found")


def _until_asked(members, mode):
    """Waits until the API server follows the configuration; it refuses writes until it can follow a policy."""
    members.create("v1", "probe", team="red", age=7)
    dropped = members.member("v2", "probe", group="red")

    def kept():
        found = members.at("v2", "probe")
        dropped["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
        path = members.path("v2", "probe")
        made = members.cluster.request("PUT", path, dropped, dryRun="All")
        assert made.status in {200, 503}, made
        return members.carrier in made.body["metadata"].get("annotations", {})

    if mode != "none":
        until(kept)
    members.delete("probe")


@pytest.fixture
def ada(guarded):
    """A member with an age, which only v1 shows, and a note, which only v2 does."""
    members, mode = guarded
    members.create("v1", "ada", team="red", age=7)
    members.merge("v2", "ada", {"note": "n"}).ok()
    yield members, mode
    members.delete("ada")


def exported(members, version):
    """A file as people keep it: without what the server says about the object."""
    found = members.at(version, "ada")
    annotations = found["metadata"]["annotations"]
    return {**found, "metadata": {"name": "ada", "annotations": annotations}}


def put_without_annotations(members):
    found = members.at("v2", "ada")
    del found["metadata"]["annotations"]
    members.cluster.request("PUT", members.path("v2", "ada"), {**found, "group": "blue"}).ok()


def patch_the_carrier_away(members):
    members.merge("v2", "ada", {"metadata": {"annotations": {members.carrier: None}}}).ok()


def patch_all_annotations_away(members):
    patch = [{"op": "remove", "path": "/metadata/annotations"}]
    kind = "application/json-patch+json"
    members.cluster.request("PATCH", members.path("v2", "ada"), patch, kind=kind).ok()


def replace_with_a_file_of_somebody(members):
    members.cluster.kubectl(
        "replace", "-f", "-", text=json.dumps(members.member("v2", "ada", group="blue"))
    )


def patch_in_a_damaged_carrier(members):
    members.merge("v2", "ada", {"metadata": {"annotations": {members.carrier: "x"}}}).ok()


@pytest.mark.parametrize(
    "drop",
    [
        put_without_annotations,
        patch_the_carrier_away,
        patch_all_annotations_away,
        replace_with_a_file_of_somebody,
        patch_in_a_damaged_carrier,
    ],
)
def test_a_client_that_drops_the_carrier(ada, drop):
    members, mode = ada
    drop(members)
    shown = members.at("v1", "ada")
    assert shown.get("age") == (None if mode == "none" else 7)
    owned = [each for each in owners(members) if each["manager"] == "maker"]
    assert ("f:age" in json.dumps(owned)) == (mode == "webhook")


def owners(members):
    return members.at("v2", "ada")["metadata"]["managedFields"]


def replace_with(members, file):
    members.cluster.kubectl("replace", "-f", "-", text=json.dumps(file))


def apply(members, file):
    members.cluster.kubectl("apply", "-f", "-", text=json.dumps(file))


def apply_on_server(members, file):
    on_server = ("apply", "--server-side", "--force-conflicts", "-f", "-")
    members.cluster.kubectl(*on_server, text=json.dumps(file))


@pytest.mark.parametrize("write", [replace_with, apply, apply_on_server])
def test_a_file_that_was_exported_long_ago(ada, write):
    members, mode = ada
    file = exported(members, "v2")
    path = members.path("v1", "ada")
    members.cluster.request("PATCH", path, {"age": 8}, kind=MERGE, fieldManager="ager").ok()
    write(members, {**file, "group": "blue"})
    shown = members.at("v1", "ada")
    assert (shown["team"], shown["age"]) == ("blue", 7 if mode == "none" else 8)
    assert members.at("v2", "ada")["note"] == "n"
    assert ("ager" in {each["manager"] for each in owners(members)}) == (mode == "webhook")
    if mode != "none":
        assert members.carrier not in json.dumps(owners(members))


def test_a_file_of_an_older_version_brings_back_nothing_of_a_newer_one(ada):
    members, mode = ada
    file = exported(members, "v1")
    members.merge("v2", "ada", {"note": "later"}).ok()
    replace_with(members, {**file, "team": "blue"})
    found = members.at("v2", "ada")
    assert (found["group"], found["note"]) == ("blue", "n" if mode == "none" else "later")


def test_what_was_applied_last_brings_nothing_back(ada):
    members, mode = ada
    file = exported(members, "v2")
    apply(members, file)
    members.merge("v1", "ada", {"age": 9}).ok()
    file["metadata"] = {"name": "ada"}
    apply(members, {**file, "group": "green"})
    shown = members.at("v1", "ada")
    assert (shown["team"], shown.get("age")) == ("green", None if mode == "none" else 9)


def test_diff_is_quiet_about_a_file_that_was_exported(ada):
    members, mode = ada
    file = json.dumps(exported(members, "v2"))
    assert diff(members, file) == ""
    members.merge("v1", "ada", {"age": 8}).ok()
    assert (diff(members, file) == "") == (mode != "none")
    apply(members, json.loads(file))
    assert diff(members, file) == ""


def diff(members, text):
    return members.cluster.kubectl("diff", "-f", "-", text=text, check=False).stdout


def test_an_applier_that_goes_to_another_version(ada):
    members, mode = ada
    for version, content in (("v1", {"team": "blue", "age": 5}), ("v2", {"group": "green"})):
        body = members.member(version, "ada", **content)
        given = {"kind": APPLY, "fieldManager": "me", "force": "true"}
        members.cluster.request("PATCH", members.path(version, "ada"), body, **given).ok()
    shown = members.at("v1", "ada")
    assert (shown["team"], shown.get("age")) == ("green", None if mode == "none" else 5)


def test_what_an_applier_states_no_longer_and_the_version_of_another_hides(guarded):
    members, mode = guarded

    def applied(version, manager, **content):
        given = {"kind": APPLY, "fieldManager": manager, "force": "true"}
        body = members.member(version, "joe", **content)
        members.cluster.request("PATCH", members.path(version, "joe"), body, **given).ok()

    applied("v1", "one", team="red", age=5)
    applied("v2", "other", group="red", note="n")
    applied("v2", "other", group="red")
    found = members.at("v2", "joe")
    assert (found["group"], found["level"], members.at("v1", "joe")["age"]) == ("red", "low", 5)
    assert found.get("note") == (None if mode == "webhook" else "n")
    members.merge("v2", "joe", {"note": "kept"}).ok()
    applied("v2", "other", group="red", note="kept")
    applied("v2", "other", group="red")
    assert members.at("v2", "joe")["note"] == "kept"  # Another manager owns it, too.
    members.delete("joe")


def test_what_needs_no_admission(ada):
    """Labels, the status and dry runs lose nothing, guarded or not."""
    members, _ = ada
    kubectl, called = members.cluster.kubectl, f"members.v2.{members.group}"
    kubectl("label", called, "ada", "a=b")
    found = members.at("v2", "ada")
    del found["metadata"]["annotations"]
    path = members.path("v2", "ada", "status")
    members.cluster.request("PUT", path, {**found, "status": {"phase": "on"}}).ok()
    assert members.at("v2", "ada")["status"] == {"phase": "on"}
    members.cluster.request("PUT", members.path("v2", "ada"), {
        **members.member("v2", "ada", group="grey"),
        "metadata": {"name": "ada", "resourceVersion": members.at("v2", "ada")["metadata"]["resourceVersion"]},
    }, dryRun="All").ok()  # fmt: skip
    shown = members.at("v1", "ada")
    assert (shown["team"], shown["age"], shown["metadata"]["labels"]) == ("red", 7, {"a": "b"})


def test_a_backup_is_restored_with_all_that_it_has(ada):
    members, mode = ada
    backup = members.at("v2", "ada")
    members.delete("ada")
    members.cluster.kubectl("create", "-f", "-", text=json.dumps(exported_of(backup)))
    assert members.at("v1", "ada")["age"] == 7
    assert (members.carrier in json.dumps(owners(members))) == (mode != "webhook")


def exported_of(found):
    kept = {key: found["metadata"][key] for key in ("name", "annotations")}
    return {**found, "metadata": kept}


@pytest.mark.parametrize("carrier", ["nonsense", "too-large.9", "1.00.eJw"])
def test_a_carrier_that_cannot_be_used_on_create(guarded, carrier):
    members, mode = guarded
    body = members.member("v2", "bob", group="red")
    body["metadata"]["annotations"] = {members.carrier: carrier}
    answer = members.cluster.request("POST", members.path("v2"), body)
    with contextlib.ExitStack() as stack:
        stack.callback(members.delete, "bob")
        if mode == "webhook":
            assert answer.status == 422
            assert members.carrier in answer.body["message"]
        elif carrier.startswith("too-large"):
            assert answer.status >= 400
        else:
            assert members.carrier not in answer.ok()["metadata"].get("annotations", {})


@pytest.fixture
def roomless(guarded):
    """A member whose annotations leave no room for the carrier of v2; v1 shows all that there is."""
    members, mode = guarded
    members.create("v1", "eve", team="red", age=7)
    large = {"metadata": {"annotations": {"large": "x" * (256 * 1024 - 60)}}}
    members.merge("v1", "eve", large).ok()
    assert members.at("v2", "eve")["metadata"]["annotations"][members.carrier].startswith("too-")
    yield members, mode
    members.delete("eve")


SAID = "write it at a version that shows more"


def test_a_version_without_room_for_the_carrier_cannot_be_written(roomless):
    members, mode = roomless
    refused = [members.merge("v2", "eve", {"note": "m"})]
    found = members.at("v2", "eve")
    del found["metadata"]["annotations"]
    refused.append(members.cluster.request("PUT", members.path("v2", "eve"), found))
    refused.append(members.merge("v2", "eve", {"metadata": {"labels": {"a": "b"}}}))
    for each in refused:
        assert each.status == (500 if mode == "none" else 422)
        assert SAID in each.body["message"]
    members.merge("v1", "eve", {"metadata": {"annotations": {"large": None}}}).ok()
    until(
        lambda: members.merge("v2", "eve", {"note": "n"}).status == 200
    )  # A cache may lag behind.
    assert (members.at("v1", "eve")["age"], members.at("v2", "eve")["note"]) == (7, "n")


def test_an_object_without_room_for_its_carrier_can_be_deleted(roomless):
    members, mode = roomless
    members.merge("v1", "eve", {"metadata": {"finalizers": ["example.com/wait"]}}).ok()
    path = members.path("v2", "eve")
    refused = members.cluster.request("DELETE", path)
    assert refused.status == (500 if mode == "none" else 422)
    assert SAID in refused.body["message"]
    assert "deletionTimestamp" not in members.at("v1", "eve")["metadata"]
    members.merge("v1", "eve", {"metadata": {"finalizers": None}}).ok()
    assert members.cluster.request("DELETE", path, propagationPolicy="Foreground").status >= 400
    assert members.cluster.request("GET", members.path("v1", "eve")).status == 200
    assert members.cluster.request("DELETE", path).status == (500 if mode == "none" else 200)


def test_roles_are_added_to_those_of_the_cluster(guarded):
    members, mode = guarded
    for name, verb in (("view", "get"), ("edit", "patch")):
        (rule,) = yaml.safe_load(
            members.cluster.kubectl(
                "get", "clusterrole", f"guard-{mode}-{name}", "-o", "yaml"
            ).stdout
        )["rules"]
        assert rule["apiGroups"] == [members.group]
        assert rule["resources"] == ["members", "members/status"]
        assert verb in rule["verbs"]


@pytest.mark.parametrize("admission", MODES)
def test_all_that_a_service_needs_is_taken(cluster, tmp_path, admission):
    """A server that has all kinds but cert-manager's takes what is written, and would create it."""
    folder = project(tmp_path / "crm", "service.guarded.example.com", "v1", "v2")
    command = [warm.TRUNDLE, "kube", "manifests", "--service", "guarded/hook", "--image", "crm:1"]
    given = ["--admission", admission]
    subprocess.run([*command, *given], cwd=folder, check=True, capture_output=True)
    made = cluster.kubectl("kustomize", folder / "manifests").stdout
    documents = [
        each
        for each in yaml.safe_load_all(made)
        if not each["apiVersion"].startswith("cert-manager.io/")
    ]
    cluster.kubectl("create", "namespace", "guarded")
    try:
        for each in documents:
            done = cluster.kubectl(
                "apply", "--dry-run=server", "-f", "-", text=json.dumps(each)
            ).stdout
            assert "created (server dry run)" in done
    finally:
        cluster.kubectl("delete", "namespace", "guarded")
    kinds = {each["kind"] for each in documents}
    assert {"Deployment", "Service", "CustomResourceDefinition", "ClusterRole"} <= kinds
