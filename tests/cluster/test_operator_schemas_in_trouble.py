"""Packages that carry schemas while an operator is killed, a webhook lags behind, and a release cannot be used."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time

import operators
import pytest
import urllib3
import warm
import yaml
from carried import MERGE, Members
from clusters import until
from members_releases import crd_versions, has_reached, install, publish, reaches, removing, shapes
from operators import Operator, condition, shown
from serving import registry

KILLS = int(os.environ.get("TRUNDLE_KILLS", "4"))
"""How often the operator is killed; at least once in each upgrade."""

PACKAGE, GROUP = "acme/members", "trouble.clubs.example.com"
RELEASES = {"1.0.0": ["v1"], "1.1.0": ["v1", "v2"], "1.2.0": ["v1", "v2", "v3"]}


@pytest.fixture(scope="module")
def publisher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("publisher")
    with registry(folder / "registry") as host:
        found = operators.Publisher(folder, host)
        for version, versions in RELEASES.items():
            publish(found, PACKAGE, version, GROUP, *versions)
        yield found


@pytest.fixture
def space(cluster, publisher, request):
    name = re.sub(r"\W|_", "-", request.node.name)[5:45].strip("-")
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl(
        "create", "secret", "generic", "root", "-n", name, f"--from-file={publisher.root}"
    )
    return name


@pytest.fixture
def steady(cluster, space, tmp_path):
    """An operator that converts, and acts only where the one that is killed is away for long."""
    running = Operator(cluster, tmp_path / "steady", "--home", space, "--namespace", space)
    yield running
    running.stop(9)


@pytest.fixture
def cleaning(steady):
    """What is done at the end, before the operator ends."""
    with contextlib.ExitStack() as stack:
        yield stack


def killed_during(cluster, space, publisher, folder, version, pauses):
    """Upgrades to a version with an operator that is killed after each pause, until it has nothing left to do."""
    install(cluster, publisher, space, PACKAGE, version=version, crds="Delete")
    options = "--namespace", space, "--home", space, "--identity", "killed"
    kills = 0
    for each in pauses:
        victim = Operator(cluster, folder / "victim", *options)
        victim.start(wait=False)
        time.sleep(each)
        victim.stop(9)
        kills += 1
        if has_reached(cluster, space, version):
            break
    last = Operator(cluster, folder / "victim", *options)
    last.start()
    try:
        reaches(cluster, space, version)
    finally:
        last.stop(9)
    return kills


def test_an_operator_that_is_killed_at_any_moment_rolls_on(
    cluster, publisher, space, steady, tmp_path
):
    members, chance = Members(cluster, GROUP), random.Random(7)
    first = Operator(
        *(cluster, tmp_path / "victim", "--namespace", space, "--home", space),
        *("--identity", "killed"),
    )
    first.start()
    until(lambda: "this operator acts" in first.messages, 180)
    steady.start()
    steady.define()
    kills = 0
    while kills < KILLS:
        install(cluster, publisher, space, PACKAGE, version="1.0.0", crds="Delete")
        reaches(cluster, space, "1.0.0")
        first.stop(9)
        for number in range(5):
            members.create("v1", f"m{number}", team=f"t{number}", age=number)
        for version, key in (("1.1.0", "v2"), ("1.2.0", "v3")):
            pauses = [chance.uniform(1, 6) for _ in range(max(1, min(4, KILLS - kills)))]
            kills += killed_during(cluster, space, publisher, tmp_path, version, pauses)
            assert shapes(cluster, GROUP) == {key}
            for number in range(5):
                answer = members.merge("v2", f"m{number}", {"note": version})
                assert answer.ok()["group"] == f"t{number}"
        for number in range(5):
            found = [members.at(each, f"m{number}") for each in ("v1", "v2", "v3")]
            assert [found[0]["team"], found[0]["age"]] == [f"t{number}", number]
            assert [found[1]["group"], found[1]["note"]] == [f"t{number}", "1.2.0"]
            assert [found[2]["crew"], found[2]["note"]] == [f"t{number}", "1.2.0"]
        first.start()
        cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=180s")
        until(lambda: cluster.stored(GROUP, "members") == {}, 180)
    first.stop(9)


def said(cluster, space, kind):
    """The message of a condition."""
    conditions = shown(cluster, space, "it")["status"]["conditions"]
    return next((each["message"] for each in conditions if each["type"] == kind), "")


def test_a_release_that_cannot_be_converted_by_is_blocked_and_the_one_before_stays(
    cluster, publisher, space, steady, cleaning
):
    package, group = "acme/broken", "broken.clubs.example.com"
    members = Members(cluster, group)
    cleaning.enter_context(removing(cluster, group))
    steady.start()
    steady.define()
    publish(publisher, package, "1.0.0", group, "v1")
    install(cluster, publisher, space, package)
    reaches(cluster, space, "1.0.0")
    members.create("v1", "ada", team="red", age=36)
    before = crd(cluster, group)

    webhook = {"name": "ask.example.com", "url": "https://localhost:1/", "operations": ["create"]}
    asks = [{"type": "Member", "version": "v2", "webhook": webhook}]
    publish(publisher, package, "1.1.0", group, "v1", "v2", admission=asks)
    until(
        lambda: condition(shown(cluster, space, "it"), "Blocked") == ("True", "UnusableSchemas"),
        180,
    )
    assert "the webhook https://localhost:1/" in said(cluster, space, "Blocked")
    assert shown(cluster, space, "it")["status"]["installed"]["version"] == "1.0.0"
    assert crd(cluster, group) == before
    assert members.at("v1", "ada")["team"] == "red"

    publish(publisher, package, "1.1.1", group, "v1", "v2")
    reaches(cluster, space, "1.1.1")
    assert members.at("v2", "ada")["group"] == "red"


def crd(cluster, group):
    """What a CRD says."""
    found = cluster.kubectl("get", "crd", f"members.{group}", "-o", "json").stdout
    return json.loads(found)["spec"]


def test_a_crd_is_changed_when_every_webhook_can_convert_by_the_release(
    cluster, publisher, space, steady, cleaning, tmp_path
):
    """The second webhook is halted: nothing is stored that it could not read, and the CRD stays, until it goes on or is gone."""
    package, group = "acme/lagging", "lagging.clubs.example.com"
    members = Members(cluster, group)
    steady.start()
    steady.define()
    other = Operator(cluster, tmp_path / "other", "--home", space, "--namespace", space)
    other.start()
    cleaning.enter_context(removing(cluster, group))
    try:
        publish(publisher, package, "1.0.0", group, "v1")
        install(cluster, publisher, space, package)
        reaches(cluster, space, "1.0.0")
        converts(other, f"{space}/it", group)
        members.create("v1", "ada", team="red", age=36)
        acting, lagging = (
            (steady, other) if "this operator acts" in steady.messages else (other, steady)
        )
        assert acting is steady
        lagging.process.send_signal(signal.SIGSTOP)
        publish(publisher, package, "1.1.0", group, "v1", "v2")
        until(lambda: "not every webhook converts" in said(cluster, space, "Ready"), 180)
        members.create("v1", "ben", team="blue", age=7)
        assert "v2" not in crd_versions(cluster, group)
        assert shapes(cluster, group) == {"v1"}
        lagging.process.send_signal(signal.SIGCONT)
        reaches(cluster, space, "1.1.0")
        assert members.at("v2", "ben")["group"] == "blue"
        assert shapes(cluster, group) == {"v2"}

        lagging.process.send_signal(signal.SIGSTOP)
        publish(publisher, package, "1.2.0", group, "v1", "v2", "v3")
        reaches(cluster, space, "1.2.0")  # Its Lease has expired.
    finally:
        other.stop(9)


def converts(operator, owner, group):
    """Whether an operator that does not act converts, too."""
    found = {"apiVersion": f"{group}/v1", "kind": "Member", "metadata": {"name": "x"}, "team": "a"}
    request = {"uid": "1", "desiredAPIVersion": f"{group}/storage", "objects": [found]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    authority = str(operator.authority.certificate)
    with urllib3.PoolManager(ca_certs=authority, retries=False) as pool:
        answer = pool.request(
            "POST", f"{operator.url}/convert/{owner}", json={**kind, "request": request}
        ).json()
    [made] = answer["response"]["convertedObjects"]
    assert json.loads(made["stored"])["team"] == "a"


def keeps(members, bare):
    """Whether the API server follows the admission of carriers; it refuses writes until it can follow a policy."""
    found = members.at("v2", bare["metadata"]["name"])
    bare["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
    path = members.path("v2", bare["metadata"]["name"])
    made = members.cluster.request("PUT", path, bare, dryRun="All")
    assert made.status in {200, 503}, made
    del bare["metadata"]["resourceVersion"]
    return members.carrier in made.body["metadata"].get("annotations", {})


@pytest.mark.parametrize("admission", ["webhook", "policy"])
def test_what_the_manifests_grant_suffices(
    cluster, publisher, space, cleaning, tmp_path, admission
):
    command = [warm.TRUNDLE, "kube", "manifests", "--operator", "--image", "example.com/t:1"]
    subprocess.run(
        [*command, "--namespace", space, "--service", f"{space}/trundle-operator", "--admission", admission],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    roles = list(yaml.safe_load_all((tmp_path / "manifests" / "roles.yaml").read_text()))
    package, group = f"acme/{admission}", f"{admission}.rights.example.com"
    rule = {
        "apiGroups": [group],
        "resources": ["members"],
        "verbs": ["get", "list", "patch", "update"],
    }
    for each in roles:
        if "subjects" in each:
            # The account is a user here; and no controller of this cluster aggregates roles.
            each["subjects"] = [{"kind": "User", "name": "ann"}]
            if each["roleRef"]["name"] == "trundle-operator-packages":
                each["roleRef"]["name"] = "trundle-operator-beside"
        elif each["metadata"]["name"] == "trundle-operator":
            each["rules"] = [*each["rules"], *([rule] if each["kind"] == "ClusterRole" else [])]
    written = "\n---\n".join(json.dumps(each) for each in roles)
    cluster.kubectl("apply", "-f", "-", text=written)
    pod = yaml.safe_load_all((tmp_path / "manifests" / "operator.yaml").read_text())
    [container] = [
        each["spec"]["template"]["spec"]["containers"][0]
        for each in pod
        if each["kind"] == "Deployment"
    ]
    assert f"--admission={admission}" in container["args"]
    running = Operator(
        *(cluster, tmp_path / "run", "--context", "ann", "--namespace", space, "--home", space),
        *("--admission", admission),
    )
    members = Members(cluster, group)
    try:
        running.start()
        running.define()
        cleaning.enter_context(removing(cluster, group))
        publish(publisher, package, "1.0.0", group, "v1", "v2")
        install(cluster, publisher, space, package)
        reaches(cluster, space, "1.0.0")
        members.create("v1", "ada", team="red", age=36)
        # One that drops the carrier loses nothing.
        bare = members.member("v2", "ada", group="blue")
        until(lambda: members.carrier in members.at("v2", "ada")["metadata"]["annotations"], 180)
        until(lambda: keeps(members, bare))
        cluster.kubectl("replace", "-f", "-", text=json.dumps(bare))
        assert (members.at("v1", "ada")["team"], members.at("v1", "ada")["age"]) == ("blue", 36)
        publish(publisher, package, "1.1.0", group, "v1", "v2", "v3")
        reaches(cluster, space, "1.1.0")
        assert shapes(cluster, group) == {"v3"}
        cleaning.close()
    finally:
        running.stop(9)
        cluster.kubectl("delete", "-f", "-", text=written)  # The user has no rights in other tests.


def test_the_way_back_keeps_what_the_later_release_stored(
    cluster, publisher, space, steady, cleaning
):
    package, group = "acme/back", "back.clubs.example.com"
    members = Members(cluster, group)
    cleaning.enter_context(removing(cluster, group))
    steady.start()
    steady.define()
    publish(publisher, package, "1.0.0", group, "v1", "v2")
    install(cluster, publisher, space, package)
    reaches(cluster, space, "1.0.0")
    members.create("v1", "ada", team="red", age=36)
    publish(publisher, package, "1.1.0", group, "v1", "v2", "v3")
    reaches(cluster, space, "1.1.0")
    members.create("v3", "ben", crew="blue", note="of v3")
    members.merge("v3", "ada", {"crew": "green"}).ok()
    assert shapes(cluster, group) == {"v3"}

    path = f"/apis/trundle.dev/v1/namespaces/{space}/installations/it"
    back = {"metadata": {"annotations": {"trundle.dev/roll-back": "1.1.0"}}}
    cluster.request("PATCH", path, back, kind=MERGE).ok()
    reaches(cluster, space, "1.0.0")
    assert shapes(cluster, group) == {"v2"}
    assert crd_versions(cluster, group) == {"v1": True, "v2": True, "storage": False}
    ada, ben = members.at("v1", "ada"), members.at("v2", "ben")
    assert [ada["team"], ada["age"], ben["group"], ben["note"]] == ["green", 36, "blue", "of v3"]
    owners = ada["metadata"]["managedFields"] + ben["metadata"]["managedFields"]
    assert {each["apiVersion"] for each in owners} <= {f"{group}/v1", f"{group}/v2"}

    members.merge("v2", "ben", {"level": "high"}).ok()
    publish(publisher, package, "1.1.1", group, "v1", "v2", "v3")
    reaches(cluster, space, "1.1.1")
    assert members.at("v3", "ben")["crew"] == "blue"
    assert members.at("v2", "ben")["level"] == "high"
