"""An operator that is killed, one of two, and a registry that goes away."""

import contextlib
import json
import random
import subprocess
import time

import operators
import pytest
import warm
import yaml
from clusters import until
from operators import Operator, condition, installed, said, shown, thing, wanted
from serving import registry
from simulating import Simulator, hang_up, status

MERGE = "application/merge-patch+json"
GROUP = "killing.example.com"


@pytest.fixture
def space(cluster, request):
    name = request.node.name.replace("_", "-")[5:45].strip("-")
    cluster.kubectl("create", "namespace", name)
    return name


def crd(number):
    names = {"plural": f"wheels{number}", "kind": f"Wheel{number}"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    api = "apiextensions.k8s.io/v1"
    return thing("CustomResourceDefinition", f"wheels{number}.{GROUP}", api, spec=spec)


def install(cluster, space, publisher, package, **further):
    spec = {"registry": f"http://{publisher.host}", "package": package} | further
    cluster.kubectl("apply", "-f", "-", text=json.dumps(wanted("it", space, spec)))


def patch(cluster, space, change):
    path = f"/apis/trundle.dev/v1/namespaces/{space}/installations/it"
    cluster.request("PATCH", path, change, kind=MERGE).ok()


def names(cluster, space, *what):
    found = cluster.kubectl("get", *what, "-n", space, "-o", "name").stdout.split()
    return {each.partition("/")[2] for each in found}


def test_kills_at_any_moment_end_where_no_kill_does(cluster, converter, space, tmp_path):
    with registry(tmp_path / "registry") as host:
        publisher = operators.Publisher(tmp_path, host)
        for number in range(4):
            own = [thing("ConfigMap", f"r{number}-{each}", data={}) for each in range(15)]
            shared = thing("ConfigMap", "shared", data={"release": str(number)})
            publisher.release("acme/kill", f"1.{number}.0", [*own, crd(number), shared])
        install(cluster, space, publisher, "acme/kill", version="1.0.0")
        first = Operator(
            *(cluster, tmp_path / "first", "--namespace", space),
            *("--home", space, "--identity", "killed"),
        )
        begun = time.monotonic()
        first.follow()
        until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
        took = time.monotonic() - begun
        first.stop(9)
        chance = random.Random(11)
        seconds, reached = [took * chance.uniform(0.2, 1.4) for _ in range(36)], set()
        for each, pause in enumerate(seconds, 1):
            patch(cluster, space, {"spec": {"version": f"1.{each % 4}.0"}})
            running = Operator(
                *(cluster, tmp_path / f"run{each % 3}", "--namespace", space, "--home", space),
                *("--identity", "killed", *(["--cache", str(tmp_path / "cache")] if each % 2 else [])),
            )  # fmt: skip
            running.follow()
            time.sleep(pause)
            running.stop(9)
            reached.add(installed(shown(cluster, space, "it")))
        assert len(reached) > 2, reached

        patch(cluster, space, {"spec": {"version": "1.2.0"}})
        last = Operator(
            *(cluster, tmp_path / "last", "--namespace", space),
            *("--home", space, "--identity", "killed"),
        )
        last.follow()
        until(lambda: installed(shown(cluster, space, "it")) == ("1.2.0", True))
        expected = {f"r2-{each}" for each in range(15)} | {"shared", "trundle-applied-it"}
        expected |= {f"trundle-installed-{space}", "kube-root-ca.crt"}
        assert names(cluster, space, "configmap") - {"kube-root-ca.crt"} == expected - {
            "kube-root-ca.crt"
        }
        assert {e for e in names(cluster, space, "crd") if e.endswith(GROUP)} == {
            f"wheels2.{GROUP}"
        }
        cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=180s")
        left = {f"trundle-installed-{space}"}
        assert names(cluster, space, "configmap") - {"kube-root-ca.crt"} == left
        last.stop()


def test_a_registry_that_is_away_is_a_condition_until_it_is_back(
    cluster, converter, space, tmp_path
):
    with registry(tmp_path / "registry") as host:
        publisher = operators.Publisher(tmp_path, host)
        publisher.release("acme/away", "1.0.0", [thing("ConfigMap", "it", data={"a": "1"})])
    secret = ["secret", "generic", "root", "-n", space, f"--from-file={publisher.root}"]
    cluster.kubectl("create", *secret)
    install(cluster, space, publisher, "acme/away", trust={"secretName": "root"})
    running = Operator(
        *(cluster, tmp_path / "run", "--namespace", space, "--home", space, "--identity", "away")
    )
    running.follow()
    try:
        until(lambda: condition(shown(cluster, space, "it"), "Ready") == ("False", "Unreachable"))
        with registry(tmp_path / "registry") as host:
            patch(cluster, space, {"spec": {"registry": f"http://{host}"}})
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
        # What is installed stays, and is looked after without the registry.
        until(lambda: condition(shown(cluster, space, "it"), "Blocked") == ("True", "Unreachable"))
        assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
    finally:
        running.stop()


def test_a_registry_that_is_away_does_not_hold_up_what_other_registries_have(
    cluster, converter, space, tmp_path
):
    """Nor does one that is in trouble."""
    running = Operator(
        *(cluster, tmp_path / "run", "--namespace", space, "--home", space, "--identity", "held")
    )
    with registry(tmp_path / "registry") as host, Simulator() as gone, Simulator() as busy:
        gone.faults.append(hang_up())
        busy.faults.append(status(503))
        publisher = operators.Publisher(tmp_path, host)
        publisher.release("acme/there", "1.0.0", [thing("ConfigMap", "it", data={"a": "1"})])
        names = {f"{what}{number}" for what in ("gone", "busy") for number in range(6)}
        for each in names:
            address = (gone if each.startswith("gone") else busy).address
            spec = {"registry": f"http://{address}", "package": f"acme/{each}"}
            cluster.kubectl("apply", "-f", "-", text=json.dumps(wanted(each, space, spec)))
        secret = ["secret", "generic", "root", "-n", space, f"--from-file={publisher.root}"]
        cluster.kubectl("create", *secret)
        install(cluster, space, publisher, "acme/there", trust={"secretName": "root"})
        running.follow()
        try:
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
            for each in (gone, busy):
                # All repetitions for the first that asks it, and none for the others.
                assert 0 < len(each.requests) < 12
            for name in names:
                until(
                    lambda name=name: (
                        condition(shown(cluster, space, name), "Ready") == ("False", "Unreachable")
                    )
                )
        finally:
            running.stop()


def test_one_of_two_operators_acts_and_the_other_goes_on(cluster, converter, space, tmp_path):
    with registry(tmp_path / "registry") as host:
        publisher = operators.Publisher(tmp_path, host)
        publisher.release("acme/two", "1.0.0", [thing("ConfigMap", "it", data={"a": "1"})])
        publisher.release("acme/two", "1.1.0", [thing("ConfigMap", "it", data={"a": "2"})])
        two = [
            Operator(
                *(cluster, tmp_path / each, "--namespace", space, "--home", space),
                *("--identity", each),
            )
            for each in ("one", "other")
        ]
        try:
            for each in two:
                each.follow()
            install(cluster, space, publisher, "acme/two", version="1.0.0")
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
            acts = [each for each in two if "this operator acts" in each.messages]
            assert len(acts) == 1
            acts[0].stop(9)
            patch(cluster, space, {"spec": {"version": "1.1.0"}})
            until(lambda: installed(shown(cluster, space, "it")) == ("1.1.0", True))
            [other] = [each for each in two if each is not acts[0]]
            assert other.stop() == 0
        finally:
            for each in two:
                each.stop(9)


@contextlib.contextmanager
def granted(cluster, roles):
    """Has roles in the cluster for a while; other tests need users without rights."""
    cluster.kubectl("apply", "-f", "-", text=roles)
    try:
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", "--ignore-not-found", text=roles)


def test_the_rights_that_the_manifests_give_are_enough_and_no_more(
    cluster, converter, space, tmp_path
):
    command = [
        warm.TRUNDLE,
        "kube",
        "manifests",
        "--operator",
        "--image",
        "registry.example.com/t:1",
    ]
    subprocess.run(
        [*command, "--namespace", space, "--service", f"{space}/trundle-operator"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    roles = list(yaml.safe_load_all((tmp_path / "manifests" / "roles.yaml").read_text()))
    for each in roles:
        if "subjects" in each:
            # The account is a user here; and no controller of this cluster aggregates roles.
            each["subjects"] = [{"kind": "User", "name": "ann"}]
            if each["roleRef"]["name"] == "trundle-operator-packages":
                each["roleRef"]["name"] = "trundle-operator-beside"
    deployment = str(tmp_path / "manifests" / "operator.yaml")
    made = cluster.kubectl("apply", "--dry-run=server", "-f", deployment, "-o", "json").stdout
    [pod] = [
        each["spec"]["template"]["spec"]
        for each in json.loads(made)["items"]
        if each["kind"] == "Deployment"
    ]
    # The credentials of registries are where it looks for them, also where there are none yet.
    [secret] = [e["secret"] for e in pod["volumes"] if e["name"] == "registries"]
    assert secret["optional"]
    assert secret["items"] == [{"key": ".dockerconfigjson", "path": "config.json"}]
    [mount] = [
        e["mountPath"] for e in pod["containers"][0]["volumeMounts"] if e["name"] == "registries"
    ]
    assert {"name": "DOCKER_CONFIG", "value": mount} in pod["containers"][0]["env"]
    text = "\n---\n".join(json.dumps(each) for each in roles)
    with granted(cluster, text), registry(tmp_path / "registry") as host:
        publisher = operators.Publisher(tmp_path, host)
        publisher.release("acme/rights", "1.0.0", [thing("ConfigMap", "it", data={"a": "1"})])
        further = [thing("ConfigMap", "it", data={"a": "1"}), thing("Service", "more")]
        publisher.release("acme/rights", "1.1.0", further)
        secret = ["secret", "generic", "root", "-n", space, f"--from-file={publisher.root}"]
        cluster.kubectl("create", *secret)
        trust = {"secretName": "root"}
        running = Operator(
            *(cluster, tmp_path / "run", "--context", "ann"),
            *("--namespace", space, "--home", space),
        )
        running.follow()
        try:
            install(cluster, space, publisher, "acme/rights", version="1.0.0")
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
            until(lambda: names(cluster, space, "events"))
            patch(cluster, space, {"spec": {"version": "1.1.0"}})
            refused = "True", "RejectedRelease"
            until(lambda: condition(shown(cluster, space, "it"), "Blocked") == refused)
            assert "aggregate-to-operator" in said(cluster, space, "it", "Blocked")
            assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
            patch(cluster, space, {"spec": {"version": None, "channel": "stable", "trust": trust}})
            until(
                lambda: (
                    condition(shown(cluster, space, "it"), "ChannelUsable") == ("True", "Accepted")
                )
            )
        finally:
            running.stop()
