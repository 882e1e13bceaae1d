"""A package that arrives slowly, and one that requires it: nothing is installed that does not fit together, and no version in between."""

import itertools
import threading

import pytest
from clusters import until
from operators import (
    Operator,
    Publisher,
    change,
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
from simulating import Simulator, trickle

LARGE = 2**20
GROUP = "slow.clubs.example.com"
LAMP = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"lamps.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": "Lamp", "plural": "lamps"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"watts": {"type": "integer"}},
                    }
                },
            }
        ],
    },
}


class Slow:
    """A registry that sends what is large slowly, as long as it may not hurry."""

    def __init__(self, folder, simulator):
        self.publisher = Publisher(folder, simulator.address)
        self.simulator = simulator
        self.hurry = threading.Event()
        self.fault = trickle(LARGE, self.hurry)
        simulator.faults.append(self.fault)

    def release(self, name, version, documents, **manifest):
        self.publisher.fill(f"{name}-{version}", 8 * LARGE)
        self.publisher.release(name, version, documents, **manifest)

    def again(self):
        """What is asked for from now on arrives slowly once more."""
        self.hurry = threading.Event()
        self.simulator.faults[:] = [trickle(LARGE, self.hurry)]


@pytest.fixture
def slow(tmp_path):
    (tmp_path / "slow").mkdir()
    with Simulator() as simulator:
        found = Slow(tmp_path / "slow", simulator)
        yield found
        found.hurry.set()


@pytest.fixture
def running(cluster, space, tmp_path):
    found = Operator(cluster, tmp_path / "run", "--namespace", space, "--home", space)
    found.follow()
    try:
        yield found
    finally:
        found.stop(9)
        cluster.kubectl("delete", "installation", "--all", "-n", space, "--wait=false")


def versions(cluster, space):
    return [installed(shown(cluster, space, each)) for each in ("app", "base")]


_numbers = itertools.count()


def looked_at(cluster, space, times=3):
    """Waits until the operator has looked several times, which another installation shows."""
    for _ in range(times):
        name = f"further{next(_numbers)}"
        create(cluster, wanted(name, space, {"registry": "http://127.0.0.1:9", "package": name}))
        until(lambda name=name: has(cluster, space, name, "Ready", "False", "Unreachable"))
        cluster.kubectl("delete", "installation", name, "-n", space, "--wait=true")


def roll_back(cluster, space, name, version):
    named = {"trundle.dev/roll-back": version}
    change(cluster, space, name, {"metadata": {"annotations": named}})


def test_what_requires_a_slow_package_waits_for_it_and_skips_no_step(
    cluster, converter, publisher, slow, space, running
):
    policy = {"patch": "immediate", "minor": "immediate"}
    lamp = thing("Lamp", "lamp", f"{GROUP}/v1", watts=5)
    slow.release("acme/base", "1.0.0", [config("base", "1.0.0"), LAMP])
    needs = {"dependsOn": {"acme/base": ">=1.0.0"}}
    publisher.release("acme/app", "1.0.0", [config("app", "1.0.0"), lamp], **needs)
    base = spec_of(slow.publisher, "acme/base", trust={"unsigned": True}, policy=policy)
    create(cluster, wanted("app", space, spec_of(publisher, "acme/app", policy=policy)))
    create(cluster, wanted("base", space, base))
    until(lambda: has(cluster, space, "base", "Ready", "False", "Fetching"))
    until(lambda: has(cluster, space, "app", "Ready", "False", "PackageMissing"))
    assert "acme/base" in said(cluster, space, "app", "Ready")
    assert there(cluster, space, "configmap/app", "configmap/base") == ""
    slow.hurry.set()
    until(lambda: versions(cluster, space) == [("1.0.0", True), ("1.0.0", True)])
    assert there(cluster, space, f"lamps.{GROUP}/lamp")

    slow.again()
    slow.release("acme/base", "1.1.0", [config("base", "1.1.0"), LAMP])
    later = {"dependsOn": {"acme/base": ">=1.1.0"}}
    publisher.release("acme/app", "1.1.0", [config("app", "1.1.0"), lamp], **later)
    publisher.release("acme/app", "1.0.1", [config("app", "1.0.1"), lamp], **needs)
    until(lambda: has(cluster, space, "base", "Blocked", "True", "Fetching"))
    until(lambda: has(cluster, space, "app", "Blocked", "True", "Fetching"))
    assert "8.0 MiB" in said(cluster, space, "app", "Blocked")
    looked_at(cluster, space)
    assert versions(cluster, space) == [("1.0.0", True), ("1.0.0", True)]
    slow.hurry.set()
    until(lambda: versions(cluster, space) == [("1.1.0", True), ("1.1.0", True)])
    assert [data(cluster, space, each) for each in ("app", "base")] == ["1.1.0", "1.1.0"]
    came = [
        each["message"]
        for each in cluster.request("GET", f"/api/v1/namespaces/{space}/events").ok()["items"]
        if each["involvedObject"]["name"] == "app"
    ]
    assert not [each for each in came if "1.0.1" in each], came


def test_what_was_lost_with_the_pod_arrives_slowly_for_packages_that_need_each_other(
    cluster, converter, publisher, slow, space, running
):
    """What is in the cluster is kept up, and both go back when both are here."""
    names = ("one", "two")
    policy = {"minor": "immediate", "major": "immediate"}
    one = spec_of(slow.publisher, "acme/one", trust={"unsigned": True}, policy=policy)
    two = spec_of(publisher, "acme/two", policy=policy)

    def release(version, needs):
        slow.release("acme/one", version, [config("one", version)], dependsOn=needs)
        needs = {"acme/one": version[0]}
        publisher.release("acme/two", version, [config("two", version)], dependsOn=needs)

    def are(version):
        found = [installed(shown(cluster, space, each)) for each in names]
        return found == [(version, True)] * 2

    def restarted():
        running.stop(9)
        slow.again()
        running.follow()

    slow.hurry.set()
    release("1.0.0", {})
    for name, spec in zip(names, (one, two), strict=True):
        create(cluster, wanted(name, space, spec))
    until(lambda: are("1.0.0"))
    release("2.0.0", {"acme/two": "2"})
    until(lambda: are("2.0.0"))

    restarted()
    until(lambda: has(cluster, space, "one", "Blocked", "True", "Fetching"))
    cluster.kubectl("delete", "configmap", "two", "-n", space)
    until(lambda: there(cluster, space, "configmap/two"))
    assert data(cluster, space, "two") == "2.0.0"
    assert data(cluster, space, "one") == "2.0.0"
    slow.hurry.set()
    until(lambda: not has(cluster, space, "one", "Blocked", "True", "Fetching"))
    until(lambda: are("2.0.0"))

    slow.again()
    for each in names:
        roll_back(cluster, space, each, "2.0.0")
    for each in names:
        until(lambda each=each: has(cluster, space, each, "Blocked", "True", "Fetching"))
    until(lambda: "acme/one 1.0.0" in said(cluster, space, "two", "Blocked"))
    looked_at(cluster, space)
    assert [data(cluster, space, each) for each in names] == ["2.0.0"] * 2
    slow.hurry.set()
    until(lambda: are("1.0.0"))
    assert [data(cluster, space, each) for each in names] == ["1.0.0"] * 2
