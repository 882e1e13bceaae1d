"""`trundle kube migrate` and `adopt` killed at each of their writes to the API server: run again, they come where they come without a kill."""

import contextlib
import json
import os
import subprocess

import hand_written
import pytest
import warm
import webhooks
import yaml
from authorities import Authority
from carried import Members, crds, project
from clusters import until
from write_proxy import WriteProxy

MOST = 24
"""More writes than any of the commands has."""
SAMPLE = 5
"""The write at which each is killed where not all are tried."""


class Place:
    """A CRD that is changed by commands of a project."""

    def __init__(self, cluster, folder, group, proxy):
        self.cluster, self.folder, self.proxy = cluster, folder, proxy
        self.members = Members(cluster, group)
        self.name = f"members.{group}"
        self.process = None

    def write(self, count):
        for number in range(count):
            self.members.create("v1", f"m{number}", team="red", age=number)

    @property
    def seen(self):
        """The CRD and what is stored, without times."""
        crd = json.loads(self.cluster.kubectl("get", "crd", self.name, "-o", "json").stdout)
        notes = crd["metadata"].get("annotations")
        stored = self.cluster.stored(self.members.group, "members")
        for each in stored.values():
            for key in ("managedFields", "generation", "uid", "creationTimestamp"):
                each["metadata"].pop(key, None)
        return crd["spec"], crd["status"]["storedVersions"], notes, stored

    def run(self, *arguments, at=None):
        """Runs a command, killed at one of its writes; whether it was."""
        self.proxy.arm(at, self._kill)
        self.process = subprocess.Popen(
            [warm.TRUNDLE, "kube", *arguments, "--context", "admin"], cwd=self.folder, text=True,
            env={**os.environ, "KUBECONFIG": str(self.proxy.kubeconfig)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        said, _ = self.process.communicate(timeout=120)
        assert self.proxy.killed or self.process.returncode == 0, said
        return self.proxy.killed

    def _kill(self):
        self.process.kill()


@pytest.fixture(scope="module")
def proxy(cluster, tmp_path_factory):
    with WriteProxy(cluster, tmp_path_factory.mktemp("proxy")) as found:
        yield found


@pytest.fixture(scope="module")
def adopting(cluster, proxy, tmp_path_factory):
    """A CRD with conversions that were written by hand, the commands that take it over and back, and what each leaves."""
    folder, group = tmp_path_factory.mktemp("adopting"), "adopting.killed.example.com"
    with contextlib.ExitStack() as stack:
        hand = stack.enter_context(hand_written.running(folder / "hand"))
        cluster.define(hand.crd(group))
        place = Place(cluster, project(folder / "ours", group, "v1", "v2"), group, proxy)
        (place.folder / "tls").mkdir()
        ours = stack.enter_context(webhooks.running(place.folder, Authority(place.folder / "tls")))
        stack.callback(cluster.undefine, place.name)
        place.write(4)
        kept = [f"metadata.annotations.{hand_written.KEPT}", "metadata.annotations"]
        expected = folder / "expected.yaml"
        expected.write_text(yaml.safe_dump([{"path": kept, "reason": "the store keeps the age"}]))
        head = ("adopt", place.name, "--pages", "--page", "2", "--rate", "0")
        over = *head, "--url", f"{ours.url}/convert", "--ca", str(ours.authority)
        over, back = (*over, "--except", str(expected)), (*head, "--back")
        assert not place.run(*over)
        taken, counts = place.seen, [len(proxy.writes)]
        assert not place.run(*back)
        counts.append(len(proxy.writes))
        yield place, (over, back), (taken, place.seen), counts


def adopt(adopting, at):
    """Kills what takes the CRD over, and what gives it back, at a write."""
    place, commands, expected, counts = adopting
    assert max(counts) < MOST
    killed = []
    for command, there in zip(commands, expected, strict=True):
        killed.append(place.run(*command, at=at))
        if killed[-1]:
            at_write = place.proxy.writes[-1]
            # What is given back already cannot be given back once more.
            if command is commands[0] or place.seen != there:
                assert not place.run(*command), at_write
            assert place.seen == there, at_write
    assert killed == [at < each for each in counts]


def give_up(adopting, at):
    """Kills what takes the CRD over at a write, and gives it back then."""
    place, (over, back), (_, before), _ = adopting
    if not place.run(*over, at=at):
        assert not place.run(*back)
        return
    at_write = place.proxy.writes[-1]
    if place.seen != before:
        assert not place.run(*back), at_write
    assert place.seen == before, at_write


@pytest.fixture(scope="module")
def migrating(cluster, proxy, tmp_path_factory):
    """Makes objects that are stored in another version, and the command that rewrites them; what it leaves."""
    folder, group = tmp_path_factory.mktemp("migrating"), "migrating.killed.example.com"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    first = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Member", "plural": "members"}
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": [first]}
    foreign = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"members.{group}"}, "spec": spec,
    }  # fmt: skip
    place = Place(cluster, project(folder / "ours", group, "v1", "v2"), group, proxy)
    (place.folder / "tls").mkdir()
    authority = Authority(place.folder / "tls")
    with webhooks.running(place.folder, authority) as ours:
        (crd,) = crds(place.folder, ours)

        def begin():
            cluster.undefine(place.name)
            cluster.define(foreign)
            place.write(4)
            cluster.define(crd)
            # The conversion is used when the stored objects can be read by it.
            until(lambda: cluster.request("GET", place.members.path("v2", "m3")).status == 200)

        command = ("migrate", "--pages", "--page", "2", "--rate", "0")
        begin()
        assert not place.run(*command)
        yield place, begin, command, place.seen, len(proxy.writes)
        cluster.undefine(place.name)


def migrate(migrating, at):
    """Kills what rewrites objects at a write."""
    place, begin, command, expected, count = migrating
    assert count < MOST
    begin()
    killed = place.run(*command, at=at)
    at_write = place.proxy.writes[-1]
    if killed:
        assert not place.run(*command), at_write
    assert place.seen == expected, at_write
    assert killed == (at < count)


def test_a_kill_of_an_adoption_changes_no_result(adopting):
    adopt(adopting, SAMPLE)


def test_a_kill_of_a_migration_changes_no_result(migrating):
    migrate(migrating, SAMPLE)


@pytest.mark.long
@pytest.mark.parametrize("at", range(MOST))
def test_kills_at_every_write_change_no_result(adopting, migrating, at):
    adopt(adopting, at)
    give_up(adopting, at)
    migrate(migrating, at)
