"""`trundle kube migrate` on a real cluster; what etcd has is looked at past the API server."""

import contextlib
import json
import os
import signal
import subprocess

import pytest
import serving
import warm
import webhooks
import yaml
from authorities import Authority
from carried import MERGE, Members, crds, project
from clusters import until


class Place:
    """A project of members in the cluster, with its webhook and CRDs; the group is that of one test."""

    def __init__(self, cluster, folder, group, stack):
        self.cluster = cluster
        self.folder = folder
        self.members = Members(cluster, group)
        self._stack = stack
        self._name = f"members.{group}"

    def release(self, name, *versions, **more):
        """Generates a release, and starts its webhook; its folder, and its CRD."""
        folder = project(self.folder / name, self.members.group, *versions, **more)
        (folder / "tls").mkdir()
        webhook = self._stack.enter_context(webhooks.running(folder, Authority(folder / "tls")))
        (crd,) = crds(folder, webhook)
        return folder, crd

    def remove(self):
        """Deletes the CRD with all objects, which needs the webhook."""
        self.cluster.undefine(self._name)

    @property
    def crd(self):
        return json.loads(self.cluster.kubectl("get", "crd", self._name, "-o", "json").stdout)

    @property
    def stored(self):
        return self.cluster.stored(self.members.group, "members")


@pytest.fixture
def place(cluster, tmp_path, request):
    name = "".join(each if each.isalnum() else "-" for each in request.node.name).strip("-")
    with contextlib.ExitStack() as stack:
        found = Place(cluster, tmp_path, f"{name[-40:].strip('-')}.migrating.example.com", stack)
        yield found
        found.remove()


def migrate(place, folder, *arguments, code=0, context="admin"):
    """Runs the command; what it prints as JSON."""
    done = subprocess.run(
        command(*arguments, context=context), cwd=folder, check=False, capture_output=True, text=True,
        env={**os.environ, "KUBECONFIG": str(place.cluster.kubeconfig)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    (found,) = json.loads(done.stdout)
    return found


def command(*arguments, context="admin"):
    return [warm.TRUNDLE, "kube", "migrate", "-o", "json", "--context", context, *arguments]


def shapes(place):
    """The version whose shape each stored object has; that of the API server's for one that is stored at it."""
    return {
        json.loads(each["stored"])["apiVersion"] if "stored" in each else each["apiVersion"]
        for each in place.stored.values()
    }


def noted(place):
    """How far the CRD says that its migration is; nothing where none goes on."""
    annotations = place.crd["metadata"].get("annotations") or {}
    return json.loads(annotations.get(f"{place.members.group}/migration", "{}"))


def foreign(place):
    """A CRD that somebody wrote by hand, which stores objects at v1, and has some."""
    group = place.members.group
    schema = {"type": "object", "properties": {"team": {"type": "string"}, "age": {"type": "integer"}}}  # fmt: skip
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Member", "listKind": "MemberList", "plural": "members", "singular": "member"}
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": [version]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    place.cluster.define({**head, "metadata": {"name": f"members.{group}"}, "spec": spec})
    for number in range(7):
        place.members.create("v1", f"m{number}", team="red", age=number)


@pytest.mark.parametrize("by", ["pages", "cluster"])
def test_objects_of_another_storage_version(place, by):
    foreign(place)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.define(crd)
    assert place.crd["status"]["storedVersions"] == ["v1", "storage"]
    dropped = json.loads(json.dumps(crd))
    dropped["spec"]["versions"] = [each for each in crd["spec"]["versions"] if each["name"] != "v1"]
    refused = place.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(dropped), check=False)  # fmt: skip
    assert "status.storedVersions" in refused.stderr
    before = place.stored
    tried = migrate(place, folder, "--dry-run")
    assert (tried["objects"], tried["rewritten"], tried["findings"]) == (7, 0, [])
    assert place.stored == before
    done = migrate(place, folder, *(["--pages", "--page", "3"] if by == "pages" else []))
    assert (done["objects"], done["rewritten"]) == (7, 7)
    assert shapes(place) == {"v2"}
    assert place.crd["status"]["storedVersions"] == ["storage"]
    assert "annotations" not in place.crd["metadata"]
    assert [place.members.at("v1", f"m{each}")["age"] for each in range(7)] == list(range(7))
    place.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(dropped))  # fmt: skip
    if by == "cluster":
        left = place.cluster.kubectl("get", "storageversionmigrations", "-o", "name").stdout
        assert place.members.group not in left


def test_a_crd_that_was_applied_just_before(place):
    """The API server is not waited for between: the command does that."""
    foreign(place)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(crd))  # fmt: skip
    done = migrate(place, folder, "--pages")
    assert (done["rewritten"], done["former"]) == (7, ["v1"])
    assert shapes(place) == {"v2"}
    assert place.crd["status"]["storedVersions"] == ["storage"]
    assert migrate(place, folder, "--pages")["former"] == []


def test_discovery_shows_whether_the_api_server_stores_at_a_version_that_is_served(place):
    """What the command waits for; the objects of etcd say that it is true."""
    foreign(place)
    resources = place.cluster.request("GET", f"/apis/{place.members.group}/v1").ok()["resources"]
    assert all(each["storageVersionHash"] for each in resources if each["name"] == "members")
    _, crd = place.release("ours", "v1", "v2")
    place.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(crd))  # fmt: skip

    def follows():
        found = place.cluster.request("GET", f"/apis/{place.members.group}/v1").ok()["resources"]
        return not any(each.get("storageVersionHash") for each in found)

    until(follows)
    place.members.create("v1", "after", team="red", age=1)
    assert "stored" in place.stored["default/after"]


def test_objects_of_an_earlier_release_get_the_shape_of_this_one(place):
    _, crd = place.release("first", "v1", "v2")
    place.cluster.define(crd)
    for number in range(5):
        place.members.create("v1", f"m{number}", team="red", age=number)
    folder, crd = place.release("second", "v1", "v2", "v3")
    place.cluster.define(crd)
    assert shapes(place) == {"v2"}
    assert migrate(place, folder, "--pages")["rewritten"] == 5
    assert shapes(place) == {"v3"}
    assert migrate(place, folder, "--pages")["rewritten"] == 0
    assert [place.members.at("v1", f"m{each}")["age"] for each in range(5)] == list(range(5))


def test_one_that_is_killed_goes_on_where_it_was(place):
    foreign(place)
    for number in range(7, 60):
        place.members.create("v1", f"m{number}", team="red", age=number)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.define(crd)
    given = command("--pages", "--page", "5", "--rate", "5")
    environment = {**os.environ, "KUBECONFIG": str(place.cluster.kubeconfig)}
    process = subprocess.Popen(given, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    until(lambda: noted(place).get("after"))  # At first it says only that it has begun.
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(shapes(place)) == 2
    assert place.crd["status"]["storedVersions"] == ["v1", "storage"]
    rewritten = {key: each for key, each in place.stored.items() if "stored" in each}
    assert rewritten
    done = migrate(place, folder, "--pages", "--rate", "0")
    assert 0 < done["rewritten"] <= 60 - len(rewritten)
    assert shapes(place) == {"v2"}
    assert rewritten.items() <= place.stored.items()
    assert place.crd["status"]["storedVersions"] == ["storage"]


def test_an_object_that_cannot_be_read_stops_everything(place):
    first, old = place.release("first", "v1", "v2")
    _, new = place.release("second", "v1", "v2", "v3")
    place.cluster.define(new)
    place.members.create("v1", "ada", team="red", age=7)
    place.cluster.define(old)
    # It has no version that is served anew.
    note = f"{place.members.group}/not-shown"
    until(lambda: note in place.members.at("v1", "ada")["metadata"].get("annotations", {}))
    before = place.stored
    found = migrate(place, first, code=3)
    assert {each["code"] for each in found["findings"]} == {"unmigrated-object"}
    assert "Member default/ada at v1" in json.dumps(found["findings"])
    assert place.stored == before


HOOKS = """
from pathlib import Path

from trundle.runtime import ABSENT, hook


class Teams:
    @hook(reads=("team",), writes=("group",))
    def assign_to(self, source, /):
        return {"group": source.team}

    @hook(reads=("group",), writes=("team",))
    def assign_from(self, source, /):
        if Path(__file__).with_name("broken").exists():
            raise ValueError("not yet")
        return {"team": source.group}
"""


@pytest.mark.parametrize("alone", [False, True], ids=["beside another version", "alone"])
def test_an_object_that_the_api_server_remembers_as_unreadable_is_read_anew(place, alone):
    """A watch cache keeps what the webhook once answered until the object is written again; lists and patches come from it."""
    folder = place.folder / "ours"
    folder.mkdir()
    (folder / "member_hooks.py").write_text(HOOKS)
    hooks = [{"type": "Member", "between": ["v1", "v2"], "use": "member_hooks:Teams"}]
    folder = project(folder, place.members.group, "v1", "v2", hooks=hooks, changes={})
    authority, port = Authority(folder), str(serving.free_port())
    with webhooks.running(folder, authority, "--port", port) as webhook:
        (crd,) = crds(folder, webhook)
        place.cluster.define(crd)
        is_remembered = remember_as_broken(place, folder, crd, alone=alone)
    with webhooks.running(folder, authority, "--port", port):
        require_read_anew(place, folder, is_remembered)
        place.remove()


def remember_as_broken(place, folder, crd, *, alone):
    """Has the API server remember an object that its webhook cannot show; says whether it does."""
    members, listed = place.members, place.members.path("v1")
    members.create("v2", "ada", group="red")
    broken = folder / "broken"
    broken.touch()
    members.merge("v2", "ada", {"group": "blue"}).ok()
    if alone:  # The only version, and it takes no object without a team.
        for each in crd["spec"]["versions"]:
            each["served"] = each["name"] == "v1"
            if each["served"]:
                each["schema"]["openAPIV3Schema"]["required"] = ["team"]
        place.cluster.define(crd)

    def remembered():
        (found,) = place.cluster.request("GET", listed).ok()["items"]
        return f"{members.group}/not-shown" in found["metadata"].get("annotations", {})

    until(remembered)
    broken.unlink()
    return remembered


def require_read_anew(place, folder, remembered):
    members = place.members
    assert remembered()
    before = members.at("v1", "ada")
    assert before["team"] == "blue"
    refused = members.merge("v1", "ada", {"team": "green"})
    assert refused.status == 500
    assert "the API server remembers it" in refused.body["message"]
    tried = migrate(place, folder, "--dry-run")
    assert (tried["findings"], tried["outdated"]) == ([], ["default/ada"])
    assert remembered()
    assert migrate(place, folder)["findings"] == []
    until(lambda: not remembered())
    after = members.at("v1", "ada")
    for each in (before, after):
        del each["metadata"]["resourceVersion"]
        # Of a picture without content, an API server counts what is put over it as a change.
        del each["metadata"]["generation"]
    assert after == before
    members.merge("v1", "ada", {"age": 7}).ok()
    assert members.at("v1", "ada")["age"] == 7


def test_an_object_without_room_for_its_carrier_is_written_at_another_version(place):
    _, crd = place.release("first", "v1", "v2")
    place.cluster.define(crd)
    place.members.create("v1", "ada", team="red", age=7)
    large = {"metadata": {"annotations": {"large": "x" * (256 * 1024 - 60)}}}
    place.members.merge("v1", "ada", large).ok()
    folder, crd = place.release("second", "v1", "v2", "v3")
    place.cluster.define(crd)
    place.cluster.request("GET", place.members.path("v3", "ada")).ok()
    assert migrate(place, folder)["findings"] == []  # The cluster's own would try for ever.
    assert shapes(place) == {"v3"}
    assert place.members.at("v1", "ada")["age"] == 7
    place.members.merge("v1", "ada", {"metadata": {"annotations": {"large": None}}}).ok()


def test_a_migration_by_the_cluster_is_taken_over_after_a_kill(place):
    foreign(place)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.define(crd)
    environment = {**os.environ, "KUBECONFIG": str(place.cluster.kubeconfig)}
    process = subprocess.Popen(command(), cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    name = f"trundle-members.{place.members.group}"
    path = f"/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations/{name}"
    while place.cluster.request("GET", path).status != 200:  # kubectl would come too late.
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert place.crd["status"]["storedVersions"] == ["v1", "storage"]
    assert migrate(place, folder)["objects"] == 7
    assert shapes(place) == {"v2"}
    assert place.crd["status"]["storedVersions"] == ["storage"]
    assert place.cluster.request("GET", path).status == 404


def test_what_the_project_cannot_read_is_not_given_up(place):
    foreign(place)
    _, crd = place.release("theirs", "v1", "v2")
    place.cluster.define(crd)
    folder = project(place.folder / "ours", place.members.group, "v2", "v3")
    found = migrate(place, folder, code=3)
    assert "some at v1, which would be lost" in json.dumps(found["findings"])
    assert place.crd["status"]["storedVersions"] == ["v1", "storage"]


def test_a_crd_that_is_not_there_or_not_ready(place):
    folder, _ = place.release("ours", "v1", "v2")
    assert migrate(place, folder, code=3)["findings"][0]["code"] == "missing-crd"
    foreign(place)
    assert migrate(place, folder, code=3)["findings"][0]["code"] == "unready-crd"


@pytest.mark.parametrize("first_goes", ["owners", "version"])
def test_owners_at_a_version_that_leaves(place, first_goes):
    """A later release serves v1 no more. What was owned at it is owned by the name that it has now, also where the version went before it should."""
    _, crd = place.release("first", "v1", "v2")
    place.cluster.define(crd)
    members, cluster = place.members, place.cluster
    body = members.member("v1", "ada", team="red", age=7)
    path, kind = members.path("v1", "ada"), "application/apply-patch+yaml"
    cluster.request("PATCH", path, body, kind=kind, fieldManager="applier").ok()
    cluster.request("PATCH", members.path("v2", "ada"), {"note": "n"}, kind=MERGE, fieldManager="x").ok()  # fmt: skip
    folder, later = place.release("later", "v1", "v2", "v3", horizon={"ga": 2})
    assert [each["name"] for each in later["spec"]["versions"]] == ["v3", "v2", "storage"]
    both = json.loads(json.dumps(later))
    (first,) = [each for each in crd["spec"]["versions"] if each["name"] == "v1"]
    both["spec"]["versions"].append({**first, "served": False})
    place.cluster.define(both if first_goes == "owners" else later)
    assert migrate(place, folder)["leaving"] == (["v1"] if first_goes == "owners" else [])
    entries = members.at("v2", "ada")["metadata"]["managedFields"]
    assert not [each for each in entries if each["apiVersion"].endswith("/v1")]
    place.cluster.define(later)
    taken = {"kind": kind, "fieldManager": "other"}
    body = members.member("v2", "ada", group="blue")
    refused = cluster.request("PATCH", members.path("v2", "ada"), body, **taken)
    assert (refused.status, "applier" in refused.body["message"]) == (409, True)
    assert (
        json.loads(place.stored["default/ada"]["stored"])["$propertyBag"]["age"]["v1"]["value"] == 7
    )


def test_clients_write_meanwhile_and_nothing_of_them_is_lost(place):
    foreign(place)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.define(crd)
    environment = {**os.environ, "KUBECONFIG": str(place.cluster.kubeconfig)}
    given = command("--pages", "--page", "1", "--rate", "2")
    process = subprocess.Popen(given, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    age = 100
    while process.poll() is None:
        age += 1
        for number in range(7):
            place.members.merge("v1", f"m{number}", {"age": age + number}).ok()
    assert process.returncode == 0
    assert age > 102
    ages = [place.members.at("v1", f"m{each}")["age"] for each in range(7)]
    assert ages == [age + number for number in range(7)]


def test_the_role_that_is_written_suffices_and_is_needed(place):
    foreign(place)
    folder, crd = place.release("ours", "v1", "v2")
    place.cluster.define(crd)
    manifests = [warm.TRUNDLE, "kube", "manifests", "--url", "https://hook.test/convert", "--name", "migrating"]  # fmt: skip
    subprocess.run(manifests, cwd=folder, check=True, capture_output=True)
    roles = yaml.safe_load_all((folder / "manifests" / "roles.yaml").read_text())
    (role,) = [each for each in roles if each["metadata"]["name"] == "migrating-migrate"]
    done = subprocess.run(
        command(context="ann"), cwd=folder, check=False, capture_output=True, text=True,
        env={**os.environ, "KUBECONFIG": str(place.cluster.kubeconfig)},
    )  # fmt: skip
    assert (done.returncode, "403" in done.stderr) == (7, True), done
    place.cluster.kubectl("apply", "-f", "-", text=json.dumps(role))
    name = "migrating-ann"
    place.cluster.kubectl("create", "clusterrolebinding", name, "--clusterrole=migrating-migrate", "--user=ann")  # fmt: skip
    try:
        until(lambda: place.cluster.kubectl("get", f"crd/members.{place.members.group}", user="ann", check=False).returncode == 0)  # fmt: skip
        assert migrate(place, folder, context="ann")["rewritten"] == 7
        assert place.crd["status"]["storedVersions"] == ["storage"]
    finally:
        place.cluster.kubectl("delete", "clusterrolebinding", name)
        place.cluster.kubectl("delete", "clusterrole", "migrating-migrate")
