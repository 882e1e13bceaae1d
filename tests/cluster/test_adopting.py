"""`trundle kube adopt` on a real cluster: a CRD with conversions that were written by hand is taken over, and given back."""

import contextlib
import json
import os
import signal
import subprocess

import hand_written
import pytest
import serving
import warm
import webhooks
import yaml
from authorities import Authority
from carried import Members, project
from clusters import until

from trundle.api import converted_kinds, served_kinds
from trundle.kubernetes import WebhookAddress, definitions
from trundle.kubernetes.migration import Adoption, Migration, connect, subjects
from trundle.project import generated_scheme, load_config, load_parts


class Place:
    """A CRD with a hand-written webhook and some members, and a project that is to take it over."""

    def __init__(self, cluster, folder, group, stack):
        self.cluster, self.folder = cluster, folder
        self.members = Members(cluster, group)
        self.name = f"members.{group}"
        self.hand = stack.enter_context(hand_written.running(folder / "hand"))
        cluster.define(self.hand.crd(group))
        self.project = project(folder / "ours", group, "v1", "v2")
        (self.project / "tls").mkdir()
        self.webhook = stack.enter_context(webhooks.running(self.project, Authority(self.project / "tls")))  # fmt: skip
        stack.callback(cluster.undefine, self.name)
        for number in range(6):
            self.members.create("v1", f"m{number}", team="red", age=number)

    @property
    def crd(self):
        return json.loads(self.cluster.kubectl("get", "crd", self.name, "-o", "json").stdout)

    @property
    def stored(self):
        return self.cluster.stored(self.members.group, "members")

    @property
    def stored_at(self):
        """The versions that objects are stored at, and what the CRD says about that."""
        found = {each["apiVersion"].rpartition("/")[2] for each in self.stored.values()}
        return found, self.crd["status"]["storedVersions"]

    def command(self, *arguments, url=None, context="admin"):
        to = [] if "--back" in arguments else ["--url", url or f"{self.webhook.url}/convert", "--ca", str(self.webhook.authority)]  # fmt: skip
        return [warm.TRUNDLE, "kube", "adopt", self.name, "--context", context, "-o", "json", *to, *arguments]  # fmt: skip

    @property
    def environment(self):
        return {**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig)}

    def adopt(self, *arguments, code=0, **chosen):
        """Runs the command; what it prints as JSON."""
        done = subprocess.run(
            self.command(*arguments, **chosen), cwd=self.project, env=self.environment, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return json.loads(done.stdout)

    def until_asked(self):
        """Waits until the API server asks the former webhook; until then it asks that of the project."""
        asked = self.hand.asked

        def asks():
            self.members.at("v2", "m1")
            return self.hand.asked > asked

        until(asks)

    def adopted(self, url):
        """Takes the CRD over with another webhook, as the command does after its comparison; goes on when the API server follows a change."""
        config = load_config(self.project / "trundle.yaml")
        address = WebhookAddress(url, None, self.webhook.authority.read_bytes())

        def follows():
            there = self.crd["spec"]["conversion"]["webhook"]["clientConfig"].get("url") != url
            return all(
                (self.cluster.request("GET", self.members.path(each)).status == 200) == there
                for each in ("v1", "v2")
                if each != self.stored_version  # That needs no conversion.
            )

        with generated_scheme(config) as scheme:
            parts = list(load_parts(config).values())
            [(kind, known)] = subjects(served_kinds(parts, scheme), converted_kinds(parts, scheme))
            [made] = definitions([kind], address, print)
            reached = connect(self.cluster.kubeconfig, "admin")
            migration = Migration(reached, "one", sleep=lambda _: until(follows))
            return Adoption(migration, kind, known, made).adopted()

    @property
    def stored_version(self):
        """The version that objects are stored at now."""
        return next(each["name"] for each in self.crd["spec"]["versions"] if each["storage"])

    def ages(self):
        return [self.members.at("v1", f"m{each}").get("age") for each in range(6)]


@pytest.fixture
def place(cluster, tmp_path, request):
    name = "".join(each if each.isalnum() else "-" for each in request.node.name).strip("-")
    with contextlib.ExitStack() as stack:
        yield Place(cluster, tmp_path, f"{name[-40:].strip('-')}.adopting.example.com", stack)


def todo(found):
    return [each["step"] for each in found["steps"] if not each["done"]]


EXPECTED = [
    {
        "path": ["metadata.annotations", f"metadata.annotations.{hand_written.KEPT}"],
        "reason": "the store keeps the age",
    }
]


@pytest.fixture
def expected(place):
    """The options that list what is expected to differ."""
    file = place.folder / "expected.yaml"
    file.write_text(yaml.safe_dump(EXPECTED))
    return "--except", str(file)


@contextlib.contextmanager
def granted(place):
    """A user has the role that is written for those who migrate, and no other."""
    command = [warm.TRUNDLE, "kube", "manifests", "--url", "https://hook.test/convert", "--name", "adopting"]  # fmt: skip
    subprocess.run(command, cwd=place.project, check=True, capture_output=True)
    roles = yaml.safe_load_all((place.project / "manifests" / "roles.yaml").read_text())
    (role,) = [each for each in roles if each["metadata"]["name"] == "adopting-migrate"]
    kubectl = place.cluster.kubectl
    kubectl("apply", "-f", "-", text=json.dumps(role))
    kubectl("create", "clusterrolebinding", "adopting", "--clusterrole=adopting-migrate", "--user=ann")  # fmt: skip
    try:
        until(lambda: kubectl("get", f"crd/{place.name}", user="ann", check=False).returncode == 0)
        yield
    finally:
        kubectl("delete", "clusterrolebinding/adopting", "clusterrole/adopting-migrate")


def test_it_is_taken_over_and_given_back(place, expected):
    before, stored = place.crd, place.stored
    planned = place.adopt("--dry-run", *expected)
    assert todo(planned) == ["compare", "add storage", "convert", "store", "migrate"]
    assert (place.crd, place.stored) == (before, stored)
    with granted(place):
        taken = place.adopt(*expected, context="ann")
    assert (todo(taken), taken["objects"], taken["rewritten"]) == ([], 6, 6)
    assert place.stored_at == ({"storage"}, ["storage"])
    asked = place.hand.asked
    place.members.merge("v2", "m3", {"group": "blue", "note": "n"}).ok()
    assert (place.members.at("v1", "m3")["team"], place.ages()) == ("blue", list(range(6)))
    place.members.create("v2", "m6", group="red", note="of the newer")
    assert place.hand.asked == asked
    again = place.adopt()
    assert (todo(again), again["rewritten"]) == ([], 0)
    assert todo(place.adopt("--back", "--dry-run")) == ["store", "migrate", "restore"]
    back = place.adopt("--back")
    assert (todo(back), back["carriers"]) == ([], 2)
    after = place.crd
    assert after["spec"] == before["spec"]
    assert after["metadata"].get("annotations") == before["metadata"].get("annotations")
    assert place.stored_at == ({"v1"}, ["v1"])
    assert place.ages() == list(range(6))
    place.until_asked()
    place.members.merge("v2", "m0", {"group": "green"}).ok()
    assert place.members.at("v1", "m0")["team"] == "green"
    assert place.adopt("--back", code=3)["findings"][0]["code"] == "missing-crd"
    # What the older version does not show is still there when it is taken over once more.
    assert todo(place.adopt(*expected)) == []
    assert place.members.at("v2", "m6")["note"] == "of the newer"
    assert place.members.at("v2", "m3")["note"] == "n"


def test_objects_that_the_project_converts_otherwise_change_nothing(place, expected):
    before, stored = place.crd, place.stored
    found = place.adopt(code=3)
    assert {each["path"] for each in found["differences"]} == {"metadata.annotations"}
    assert (place.crd, place.stored) == (before, stored)

    def shouting(document, version):
        made = hand_written.converted(document, version)
        return {**made, "group": made["group"].upper()} if version == "v2" else made

    place.hand.convert = shouting
    place.members.merge("v1", "m3", {"age": 30}).ok()  # An API server keeps what it has converted.
    stored = place.stored
    found = place.adopt(*expected, code=3)
    (one,) = found["differences"]
    assert (one["path"], one["documents"], one["example"]["expected"]) == ("group", 1, '"RED"')
    assert (place.crd, place.stored) == (before, stored)


def test_a_webhook_that_does_not_answer_is_left_at_once(place, expected):
    before = place.crd["spec"]["conversion"]
    with serving.refusing() as address:
        found = place.adopted(f"https://{address}/convert")
    assert {each.code for each in found.findings} == {"unmigrated-object"}
    assert place.crd["spec"]["conversion"] == before
    assert place.members.at("v2", "m1")["group"] == "red"
    place.members.merge("v2", "m1", {"group": "blue"}).ok()
    assert todo(place.adopt("--back", "--dry-run")) == ["restore"]
    assert todo(place.adopt(*expected)) == []
    assert place.ages() == list(range(6))
    assert place.members.at("v1", "m1")["team"] == "blue"


def test_another_webhook_that_does_not_answer_leaves_the_one_that_converts(place, expected):
    place.adopt(*expected)
    before = place.crd["spec"]
    with serving.refusing() as address:
        found = place.adopted(f"https://{address}/convert")
    assert {each.code for each in found.findings} == {"unmigrated-object"}
    assert place.crd["spec"] == before
    assert place.members.at("v2", "m1")["group"] == "red"


def test_another_webhook_of_the_project_takes_over_without_a_comparison(place, expected):
    place.adopt(*expected)
    place.members.merge("v2", "m1", {"note": "of v2"}).ok()
    url = f"{place.webhook.url}/convert".replace("127.0.0.1", "localhost")
    assert todo(place.adopt(url=url)) == []
    assert place.crd["spec"]["conversion"]["webhook"]["clientConfig"]["url"] == url
    assert place.ages() == list(range(6))
    assert place.members.at("v2", "m1")["note"] == "of v2"


def test_the_former_storage_version_may_be_unserved_and_later_ones_stay(place, expected):
    def serve(number, *, served):
        change = [{"op": "replace", "path": f"/spec/versions/{number}/served", "value": served}]
        place.cluster.kubectl("patch", "crd", place.name, "--type=json", "-p", json.dumps(change))

    def answers(version):
        return place.cluster.request("GET", place.members.path(version)).status == 200

    serve(0, served=False)
    before = place.crd["spec"]
    place.adopt(*expected)
    place.members.create("v2", "m6", group="red", note="of the newer")
    added = {**before["versions"][1], "name": "v3"}
    change = [{"op": "add", "path": "/spec/versions/-", "value": added}]
    place.cluster.kubectl("patch", "crd", place.name, "--type=json", "-p", json.dumps(change))
    assert "v3" in json.dumps(place.adopt("--back", code=3)["findings"])
    assert place.stored_at == ({"storage"}, ["storage"])
    serve(3, served=False)
    back = place.adopt("--back")
    assert (todo(back), back["carriers"]) == ([], 1)
    assert place.crd["spec"] == before
    assert place.stored_at == ({"v1"}, ["v1"])
    serve(0, served=True)
    until(lambda: answers("v1"))  # an API server serves a version some time after its CRD says so
    assert place.ages() == list(range(6))


def test_one_that_is_killed_goes_on_or_is_given_back(place, expected):
    for number in range(6, 20):
        place.members.create("v1", f"m{number}", team="red", age=number)
    before = place.crd["spec"]

    def killed(*arguments, after, by=signal.SIGKILL):
        given = place.command("--pages", "--page", "3", "--rate", "4", *arguments)
        process = subprocess.Popen(
            given, cwd=place.project, env=place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - ignored in the background
        )  # fmt: skip
        try:
            until(lambda: after in json.dumps(place.crd["metadata"].get("annotations")))
        finally:
            process.send_signal(by)
            said = process.communicate()[1]
        return said

    note = '\\"after\\":\\"default/m1'
    killed(*expected, after=note)
    assert place.stored_at == ({"v1", "storage"}, ["v1", "storage"])
    killed("--back", after='\\"to\\":\\"v1\\"')
    assert todo(place.adopt("--rate", "0", "--pages")) == []
    assert place.stored_at == ({"storage"}, ["storage"])
    assert "the same command goes on from there" in killed("--back", after=note, by=signal.SIGINT)
    assert todo(place.adopt("--back", "--rate", "0", "--pages")) == []
    assert place.stored_at == ({"v1"}, ["v1"])
    assert place.crd["spec"] == before
    assert [place.members.at("v1", f"m{each}")["age"] for each in range(20)] == list(range(20))


def test_what_cannot_be_adopted(place, expected):
    crd = place.crd
    version = {**crd["spec"]["versions"][0], "name": "v3", "storage": False}
    crd["spec"]["versions"].append(version)
    place.cluster.define({key: value for key, value in crd.items() if key != "status"} | {"metadata": {"name": place.name}})  # fmt: skip
    found = place.adopt(*expected, code=3)
    assert "one without v3" in json.dumps(found["findings"])
    place.cluster.undefine(place.name)
    assert place.adopt(*expected, code=3)["findings"][0]["code"] == "missing-crd"


def test_one_with_a_single_version_and_no_conversions(place):
    crd = place.hand.crd(place.members.group)
    crd["spec"]["versions"] = crd["spec"]["versions"][:1]
    crd["spec"]["conversion"] = {"strategy": "None"}
    place.cluster.kubectl("replace", "-f", "-", text=json.dumps(crd))
    before = place.crd["spec"]
    assert todo(place.adopt()) == []
    assert place.stored_at == ({"storage"}, ["storage"])
    assert place.ages() == list(range(6))
    assert todo(place.adopt("--back")) == []
    assert (place.crd["spec"], place.ages()) == (before, list(range(6)))
    assert place.stored_at == ({"v1"}, ["v1"])
