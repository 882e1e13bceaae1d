"""`trundle kube operator` on a real cluster, with packages in a real registry."""

import datetime as dt
import json
import os
import sys
import time

from clusters import until
from operators import (
    change,
    condition,
    config,
    create,
    data,
    has,
    installed,
    said,
    shown,
    spec_of,
    there,
    thing,
    wanted,
)

MERGE = "application/merge-patch+json"


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

    cluster.kubectl("delete", "installation", "db", "-n", space, "--timeout=180s")
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


def test_a_package_waits_for_one_that_it_requires(cluster, operator, publisher, space):
    publisher.release("acme/base", "1.0.0", [config("base", "1")])
    needs = {"acme/base": "1"}
    publisher.release("acme/top", "1.0.0", [config("top", "1")], dependsOn=needs)
    create(cluster, wanted("a-top", space, spec_of(publisher, "acme/top")))
    until(lambda: has(cluster, space, "a-top", "Ready", "False", "PackageMissing"))
    assert there(cluster, space, "configmap", "top") == ""

    create(cluster, wanted("b-base", space, spec_of(publisher, "acme/base")))
    until(lambda: installed(shown(cluster, space, "a-top")) == ("1.0.0", True))
    cluster.kubectl("delete", "installation", "b-base", "-n", space, "--wait=false")
    until(lambda: has(cluster, space, "b-base", "Ready", "False", "DependencyConflict"))
    assert there(cluster, space, "configmap", "base")
    cluster.kubectl("delete", "installation", "a-top", "-n", space, "--timeout=180s")
    until(lambda: shown(cluster, space, "b-base") == {})
    assert there(cluster, space, "configmap", "base") == ""


def test_holds_and_the_way_back(cluster, operator, publisher, space):
    publisher.release("acme/held", "1.0.0", [config("held", "1")])
    create(cluster, wanted("held", space, spec_of(publisher, "acme/held")))
    until(lambda: installed(shown(cluster, space, "held")) == ("1.0.0", True))
    hold = {"metadata": {"annotations": {"trundle.dev/hold": "an audit"}}}
    change(cluster, space, "held", hold)
    until(lambda: has(cluster, space, "held", "Held", "True", "Held"))
    publisher.release("acme/held", "1.1.0", [config("held", "2")])
    until(lambda: shown(cluster, space, "held")["status"].get("latest") == "1.1.0")
    assert installed(shown(cluster, space, "held")) == ("1.0.0", True)
    change(cluster, space, "held", {"metadata": {"annotations": {"trundle.dev/hold": None}}})
    spec = {"policy": {"minor": "immediate"}}
    change(cluster, space, "held", {"spec": spec})
    until(lambda: installed(shown(cluster, space, "held")) == ("1.1.0", True))

    back = {"metadata": {"annotations": {"trundle.dev/roll-back": "1.1.0"}}}
    change(cluster, space, "held", back)
    until(lambda: installed(shown(cluster, space, "held")) == ("1.0.0", True))
    found = cluster.kubectl("get", "configmap", "held", "-n", space, "-o", "json").stdout
    assert json.loads(found)["data"] == {"value": "1"}
    publisher.trundle(
        *("unpublish", "1.0.0", "--from", f"http://{publisher.host}/acme/held"),
        *("--channel", "stable", "--reason", "a leak", "--keys", publisher.keys),
    )
    until(lambda: has(cluster, space, "held", "Published", "False", "Unpublished"))
    events = cluster.kubectl("get", "events", "-n", space, "-o", "json").stdout
    found = [each for each in json.loads(events)["items"] if each["reason"] == "Unpublished"]
    assert [each["type"] for each in found] == ["Warning"]


def test_a_pinned_version_that_is_unpublished_is_warned_about(cluster, operator, publisher, space):
    publisher.release("acme/pin", "1.0.0", [config("pin", "1")])
    create(cluster, wanted("pin", space, spec_of(publisher, "acme/pin")))
    until(lambda: installed(shown(cluster, space, "pin")) == ("1.0.0", True))
    change(cluster, space, "pin", {"spec": {"version": "1.0.0"}})
    until(lambda: has(cluster, space, "pin", "ChannelUsable", "Unknown", "Pinned"))
    assert has(cluster, space, "pin", "Published", "True", "Listed")
    publisher.release("acme/pin", "1.1.0", [config("pin", "2")])
    publisher.trundle(
        *("unpublish", "1.0.0", "--from", f"http://{publisher.host}/acme/pin"),
        *("--channel", "stable", "--reason", "a leak", "--keys", publisher.keys),
    )
    until(lambda: has(cluster, space, "pin", "Published", "False", "Unpublished"))
    assert said(cluster, space, "pin", "Published").endswith(": a leak")
    assert installed(shown(cluster, space, "pin")) == ("1.0.0", True)
    events = cluster.kubectl("get", "events", "-n", space, "-o", "json").stdout
    found = [each for each in json.loads(events)["items"] if each["reason"] == "Unpublished"]
    assert [each["type"] for each in found] == ["Warning"]


def test_windows_are_those_of_the_policy(cluster, operator, publisher, space):
    publisher.release("acme/window", "1.0.0", [config("window", "1")])
    windows = [{"start": "0 2 1 1 *", "duration": "PT30M", "timezone": "Europe/Berlin"}]
    policy = {"patch": "window", "windows": windows}
    create(cluster, wanted("window", space, spec_of(publisher, "acme/window", policy=policy)))
    until(lambda: installed(shown(cluster, space, "window")) == ("1.0.0", True))
    publisher.release("acme/window", "1.0.1", [config("window", "2")])
    until(lambda: shown(cluster, space, "window")["status"].get("scheduled"))
    found = shown(cluster, space, "window")["status"]
    [waiting] = found["scheduled"]
    assert waiting["version"] == "1.0.1"
    assert waiting["notBefore"].endswith("-01-01T01:00:00Z")
    assert found["installed"]["version"] == "1.0.0"
    opens = (dt.datetime.now(dt.UTC) + dt.timedelta(seconds=65)).replace(second=0, microsecond=0)
    soon = [{"start": f"{opens:%M %H * * *}", "duration": "PT30M", "timezone": "UTC"}]
    change(cluster, space, "window", {"spec": {"policy": {"windows": soon}}})
    until(lambda: installed(shown(cluster, space, "window")) == ("1.0.1", True))
    fields = ("-o", "json", "--show-managed-fields")
    found = cluster.kubectl("get", "configmap", "window", "-n", space, *fields).stdout
    written = [each["time"] for each in json.loads(found)["metadata"]["managedFields"]]
    assert min(map(dt.datetime.fromisoformat, written)) >= opens
    change(cluster, space, "window", {"spec": {"policy": {"patch": "immediate", "windows": None}}})
    publisher.release("acme/window", "1.0.2", [config("window", "3")])
    until(lambda: installed(shown(cluster, space, "window")) == ("1.0.2", True))


def stack_definition():
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }  # fmt: skip
    names, group = {"plural": "stackinstalls", "kind": "StackInstall"}, "stacks.crossplane.io"
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    kind, api = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
    return thing(kind, f"stackinstalls.{group}", api, spec=spec)


def test_a_stack_install_is_read_too(cluster, operator, publisher, space):
    cluster.define(stack_definition())
    publisher.release("acme/stack", "1.2.3", [config("stack", "1")])
    source = f"http://{publisher.host}"
    install = {
        "apiVersion": "stacks.crossplane.io/v1alpha1",
        "kind": "StackInstall",
        "metadata": {
            "name": "aws", "namespace": space, "annotations": {"trundle.dev/trust": "root"},
        },
        "spec": {"source": source, "package": "acme/stack", "channel": "stable"},
    }  # fmt: skip
    create(cluster, install)

    def found():
        path = f"/apis/stacks.crossplane.io/v1alpha1/namespaces/{space}/stackinstalls/aws"
        return cluster.request("GET", path).body

    until(lambda: installed(found()) == ("1.2.3", True))
    publisher.release("acme/stack", "1.2.4", [config("stack", "2")])
    until(lambda: installed(found()) == ("1.2.4", True))
    again = wanted("again", space, spec_of(publisher, "acme/stack"))
    create(cluster, again)
    until(lambda: has(cluster, space, "again", "Ready", "False", "InvalidSpec"))
    assert installed(found()) == (
        "1.2.4",
        True,
    )  # The older one has the package, whatever their names.
    cluster.kubectl("delete", "stackinstall", "aws", "-n", space, "--timeout=180s")
    until(lambda: has(cluster, space, "again", "Ready", "True", "Applied"))
    until(lambda: there(cluster, space, "configmap", "stack") != "")
    cluster.undefine("stackinstalls.stacks.crossplane.io")


def test_a_package_that_is_no_longer_asked_for_goes(cluster, operator, publisher, space):
    publisher.release("acme/first", "1.0.0", [config("first", "1")])
    publisher.release("acme/second", "1.0.0", [config("second", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/first")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"package": "acme/second"}})
    until(lambda: there(cluster, space, "configmap", "second") != "")
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert there(cluster, space, "configmap", "first") == ""
    assert shown(cluster, space, "it")["status"]["package"] == "acme/second"


GROUP = "gates.example.com"


def crd(*versions, stored, plural="gates"):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = [
        {"name": e, "served": True, "storage": e == stored, "schema": {"openAPIV3Schema": schema}}
        for e in versions
    ]
    names = {"plural": plural, "kind": plural.title()[:-1]}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": made}
    kind, api = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
    return thing(kind, f"{plural}.{GROUP}", api, spec=spec)


def test_a_release_waits_for_migration_and_one_that_cannot_read_is_blocked(
    cluster, operator, publisher, space
):
    releases = {
        "1.0.0": crd("v1", stored="v1"),
        "1.1.0": crd("v1", "v2", stored="v2"),
        "1.2.0": crd("v2", stored="v2"),
        "1.3.0": crd("v3", stored="v3"),
    }
    for version, each in releases.items():
        publisher.release("acme/gates", version, [each])
    create(cluster, wanted("gates", space, spec_of(publisher, "acme/gates", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "gates")) == ("1.0.0", True))
    mine = thing("Gate", "mine", f"{GROUP}/v1", data="kept")
    cluster.kubectl("create", "-n", space, "-f", "-", text=json.dumps(mine))
    change(cluster, space, "gates", {"spec": {"version": "1.3.0"}})
    until(lambda: has(cluster, space, "gates", "Blocked", "True", "UnreadableStorage"))
    assert installed(shown(cluster, space, "gates"))[0] == "1.0.0"
    change(cluster, space, "gates", {"spec": {"version": "1.1.0"}})
    until(lambda: installed(shown(cluster, space, "gates")) == ("1.1.0", True))
    change(cluster, space, "gates", {"spec": {"version": "1.2.0"}})
    until(lambda: has(cluster, space, "gates", "Blocked", "True", "WaitsForMigration"))
    assert installed(shown(cluster, space, "gates"))[0] == "1.1.0"

    def is_rewritten():
        """Writes the object, and looks at which version it is stored: an API server may follow a CRD some time later."""
        touched = {"metadata": {"annotations": {"touched": str(time.monotonic())}}}
        path = f"/apis/{GROUP}/v1/namespaces/{space}/gates/mine"
        cluster.request("PATCH", path, touched, kind=MERGE).ok()
        return cluster.stored(GROUP, "gates")[f"{space}/mine"]["apiVersion"] == f"{GROUP}/v2"

    until(is_rewritten)
    status = {"status": {"storedVersions": ["v2"]}}
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gates.{GROUP}/status"
    cluster.request("PATCH", path, status, kind=MERGE).ok()
    until(lambda: installed(shown(cluster, space, "gates")) == ("1.2.0", True))
    found = cluster.kubectl("get", f"gates.{GROUP}", "mine", "-n", space, "-o", "json").stdout
    assert json.loads(found)["data"] == "kept"

    cluster.kubectl("delete", "installation", "gates", "-n", space, "--timeout=180s")
    assert there(cluster, space, f"gates.{GROUP}", "mine")
    create(
        cluster,
        wanted("gates", space, spec_of(publisher, "acme/gates", version="1.2.0", crds="Delete")),
    )
    until(lambda: installed(shown(cluster, space, "gates")) == ("1.2.0", True))
    cluster.kubectl("delete", "installation", "gates", "-n", space, "--timeout=180s")
    assert there(cluster, space, "crd", f"gates.{GROUP}") == ""


def test_the_plugin_of_kubectl(cluster, operator, publisher, space, tmp_path):
    publisher.release("acme/plug", "1.0.0", [config("plug", "1")])
    spec = spec_of(publisher, "acme/plug", policy={"major": "approval"})
    create(cluster, wanted("plug", space, spec))
    until(lambda: installed(shown(cluster, space, "plug")) == ("1.0.0", True))
    publisher.release("acme/plug", "2.0.0", [config("plug", "2")])
    until(lambda: has(cluster, space, "plug", "Blocked", "True", "Approval"))
    plugin = tmp_path / "kubectl-trundle"
    call = "from trundle.__main__ import kubectl_trundle as run; run()"
    plugin.write_text(f"#!{sys.executable}\n{call}\n")
    plugin.chmod(0o755)
    os.environ["PATH"] += f":{tmp_path}"  # kubectl looks for plug-ins there.
    shows = cluster.kubectl("trundle", "status", "-n", space).stdout
    assert shows.splitlines()[1].split() == [
        space,
        "plug",
        "1.0.0",
        "2.0.0",
        "True",
        "False",
        "True",
    ]
    assert f"{space}/plug\n  blocked    2.0.0: major upgrades need an approval; " in shows
    assert "acme/plug" in cluster.kubectl("trundle", "status", "plug", "-n", space).stdout
    assert cluster.kubectl("trundle", "plan", "plug", "-n", space).stdout.startswith(
        "blocked    2.0.0"
    )
    wrong = cluster.kubectl("trundle", "approve", "plug", "3.0.0", "-n", space, check=False)
    assert (wrong.returncode, "2.0.0" in wrong.stderr) == (1, True) or wrong.returncode == 3
    cluster.kubectl("trundle", "approve", "plug", "-n", space)
    until(lambda: installed(shown(cluster, space, "plug")) == ("2.0.0", True))


def uid(cluster, space, name):
    return cluster.kubectl(
        "get", "configmap", name, "-n", space, "-o", "jsonpath={.metadata.uid}"
    ).stdout


def test_what_another_installation_takes_over_is_never_deleted(cluster, operator, publisher, space):
    publisher.release("acme/heir", "1.0.0", [config("kept", "1"), config("gone", "1")])
    publisher.release("acme/heir", "1.1.0", [config("kept", "2")])
    create(cluster, wanted("first", space, spec_of(publisher, "acme/heir", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "first")) == ("1.0.0", True))
    create(cluster, wanted("second", space, spec_of(publisher, "acme/heir", version="1.1.0")))
    until(lambda: has(cluster, space, "second", "Ready", "False", "InvalidSpec"))
    before = uid(cluster, space, "kept")
    cluster.kubectl("delete", "installation", "first", "-n", space, "--timeout=180s")
    until(lambda: installed(shown(cluster, space, "second")) == ("1.1.0", True))
    assert (uid(cluster, space, "kept"), data(cluster, space, "kept")) == (before, "2")
    assert there(cluster, space, "configmap", "gone") == ""
    assert there(cluster, space, "configmap", "trundle-applied-first") == ""


def test_two_packages_with_one_object_do_not_fight_over_it(cluster, operator, publisher, space):
    publisher.release("acme/left", "1.0.0", [config("both", "left"), config("left", "1")])
    publisher.release("acme/right", "1.0.0", [config("both", "right"), config("right", "1")])
    create(cluster, wanted("left", space, spec_of(publisher, "acme/left")))
    until(lambda: installed(shown(cluster, space, "left")) == ("1.0.0", True))
    create(cluster, wanted("right", space, spec_of(publisher, "acme/right")))
    until(lambda: has(cluster, space, "right", "Blocked", "True", "OwnedByAnotherRelease"))
    assert f"ConfigMap both of {space}/left" in said(cluster, space, "right", "Blocked")
    assert there(cluster, space, "configmap", "right") == ""
    assert (data(cluster, space, "both"), installed(shown(cluster, space, "left"))[1]) == (
        "left",
        True,
    )
    before = uid(cluster, space, "both")
    cluster.kubectl("delete", "installation", "left", "-n", space, "--timeout=180s")
    until(lambda: installed(shown(cluster, space, "right")) == ("1.0.0", True))
    assert (uid(cluster, space, "both"), data(cluster, space, "both")) == (before, "right")
    assert there(cluster, space, "configmap", "left") == ""


def test_another_root_in_the_secret_stops_upgrades_until_the_first_is_back(
    cluster, operator, publisher, space, tmp_path
):
    publisher.release("acme/rooted", "1.0.0", [config("rooted", "1")])
    create(cluster, wanted("rooted", space, spec_of(publisher, "acme/rooted")))
    until(lambda: installed(shown(cluster, space, "rooted")) == ("1.0.0", True))
    publisher.trundle("keys", "init", tmp_path / "other", "--no-passphrase")

    def put(root):
        made = cluster.kubectl(
            *("create", "secret", "generic", "root", "-n", space, f"--from-file={root}"),
            *("--dry-run=client", "-o", "yaml"),
        ).stdout
        cluster.kubectl("apply", "-f", "-", text=made)

    put(tmp_path / "other" / "root.json")
    publisher.release("acme/rooted", "1.0.1", [config("rooted", "2")])
    until(lambda: has(cluster, space, "rooted", "Blocked", "True", "BadSignature"))
    assert installed(shown(cluster, space, "rooted")) == ("1.0.0", True)
    assert "another root" in said(cluster, space, "rooted", "Blocked")
    assert data(cluster, space, "rooted") == "1"
    cluster.kubectl("delete", "secret", "root", "-n", space)  # It was needed once.
    until(lambda: installed(shown(cluster, space, "rooted")) == ("1.0.1", True))
    put(publisher.root)
    publisher.release("acme/rooted", "1.0.2", [config("rooted", "3")])
    until(lambda: installed(shown(cluster, space, "rooted")) == ("1.0.2", True))
