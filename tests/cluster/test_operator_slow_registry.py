"""Registries that are there and hardly answer: installations of other registries go on, the Lease is kept, and each says why it does not."""

import contextlib
import json
import threading

from clusters import until
from dripping import dripping
from operators import (
    Operator,
    Publisher,
    condition,
    config,
    create,
    has,
    installed,
    said,
    shown,
    space_called,
    spec_of,
    wanted,
)
from simulating import Simulator, trickle

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"
SLOW = {
    "silent": (b"", b""),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n" * 10000),
    "content": (HEAD + b"\r\n", b" " * 100000),
}


def test_slow_registries_do_not_hold_up_the_others(cluster, converter, publisher, space, tmp_path):
    own = ["--namespace", space, "--home", space, "--identity", "patient"]
    running = Operator(cluster, tmp_path / "run", *own)
    publisher.release("acme/brisk", "1.0.0", [config("it", "1")])
    with contextlib.ExitStack() as stack:
        for name, (at_once, then) in SLOW.items():
            address = stack.enter_context(dripping(at_once, then))
            for number in range(3):
                spec = {"registry": f"http://{address}", "package": f"acme/{name}{number}"}
                spec["trust"] = {"unsigned": True}
                create(cluster, wanted(f"{name}{number}", space, spec))
        policy = {"patch": "immediate"}
        create(cluster, wanted("z", space, spec_of(publisher, "acme/brisk", policy=policy)))
        running.follow()
        try:
            until(lambda: installed(shown(cluster, space, "z")) == ("1.0.0", True))
            for name in SLOW:
                for number in range(3):
                    found = shown(cluster, space, f"{name}{number}")
                    assert condition(found, "Ready") == ("False", "Unreachable")
            until(lambda: "timed out" in said(cluster, space, "silent0", "Ready"))
            words = "no whole answer within 15 seconds"
            until(lambda: words in said(cluster, space, "headers2", "Ready"))
            until(lambda: "takes too long" in said(cluster, space, "content1", "Ready"))
            publisher.release("acme/brisk", "1.0.1", [config("it", "2")])
            until(lambda: installed(shown(cluster, space, "z")) == ("1.0.1", True))
            lease = cluster.kubectl("get", "lease", "trundle-operator", "-n", space, "-o", "json")
            assert json.loads(lease.stdout)["spec"]["leaseTransitions"] == 1
            assert "another operator acts" not in running.messages
        finally:
            running.stop(9)
            cluster.kubectl("delete", "installation", "--all", "-n", space, "--wait=false")


def test_channels_at_servers_that_never_answer_hold_up_no_other(
    cluster, converter, publisher, space, tmp_path
):
    """Each one has a host of its own; one after the other, they took 20 seconds each, in each look."""
    own = ["--namespace", space, "--home", space, "--identity", "patient"]
    running = Operator(cluster, tmp_path / "run", *own)
    publisher.release("acme/channelled", "1.0.0", [config("it", "1")])
    with contextlib.ExitStack() as stack:
        for number in range(10):
            address = stack.enter_context(dripping(b"", b""))
            channel = f"http://{address}/stable"
            spec = spec_of(publisher, f"acme/silent{number}", channel=channel)
            create(cluster, wanted(f"silent{number}", space, spec))
        policy = {"patch": "immediate"}
        create(cluster, wanted("z", space, spec_of(publisher, "acme/channelled", policy=policy)))
        running.follow()
        try:
            until(lambda: installed(shown(cluster, space, "z")) == ("1.0.0", True), 120)
            for number in range(10):
                until(lambda name=f"silent{number}": has_no_answer(cluster, space, name))
            publisher.release("acme/channelled", "1.0.1", [config("it", "2")])
            until(lambda: installed(shown(cluster, space, "z")) == ("1.0.1", True), 120)
        finally:
            running.stop(9)
            cluster.kubectl("delete", "installation", "--all", "-n", space, "--wait=false")


def test_a_large_package_that_arrives_slowly_holds_up_no_other(
    cluster, converter, publisher, space, tmp_path
):
    """It would take half an hour; two namespaces that want it fetch it once."""
    other = space_called(cluster, publisher, f"{space}-2")
    own = ["--namespace", "*", "--home", space, "--identity", "patient"]
    running = Operator(cluster, tmp_path / "run", *own)
    publisher.release("acme/light", "1.0.0", [config("it", "1")])
    with Simulator() as simulator:
        (heavy := Publisher(tmp_path, simulator.address)).fill("acme/heavy-1.0.0", 32 * 2**20)
        heavy.release("acme/heavy", "1.0.0", [config("heavy", "1")])
        hurry = threading.Event()
        simulator.faults.append(trickle(2**20, hurry))
        spec = spec_of(heavy, "acme/heavy", trust={"unsigned": True})
        policy = {"patch": "immediate"}
        try:
            for each in (space, other):
                create(cluster, wanted("a", each, spec))
            create(cluster, wanted("z", other, spec_of(publisher, "acme/light", policy=policy)))
            running.follow()
            until(lambda: installed(shown(cluster, other, "z")) == ("1.0.0", True))
            for each in (space, other):
                until(lambda each=each: has(cluster, each, "a", "Ready", "False", "Fetching"))
            assert "32.0 MiB" in said(cluster, space, "a", "Ready")
            publisher.release("acme/light", "1.0.1", [config("it", "2")])
            until(lambda: installed(shown(cluster, other, "z")) == ("1.0.1", True))
            assert has(cluster, space, "a", "Ready", "False", "Fetching")
            hurry.set()
            for each in (space, other):
                until(lambda each=each: installed(shown(cluster, each, "a")) == ("1.0.0", True))
            layers = {
                f"/blobs/{digest}" for digest, each in simulator.blobs.items() if len(each) > 2**20
            }
            assert [sum(simulator.asked("GET", each) for each in layers), len(layers)] == [1, 1]
        finally:
            hurry.set()
            running.stop(9)
            for each in (space, other):
                cluster.kubectl("delete", "installation", "--all", "-n", each, "--wait=false")


def has_no_answer(cluster, space, name):
    return condition(shown(cluster, space, name), "Ready") == ("False", "Unreachable")
