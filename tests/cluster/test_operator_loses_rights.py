"""An operator that may no longer act, or write, in the middle of an apply."""

import json
import threading

import pytest
from clusters import until
from operators import (
    Operator,
    change,
    config,
    create,
    data,
    has,
    installed,
    said,
    shown,
    space_called,
    spec_of,
    thing,
    wanted,
)
from write_proxy import Meddler

RBAC = "rbac.authorization.k8s.io/v1"
NAMES = [f"part-{number}" for number in range(6)]


def release(publisher, package, version, *names):
    """A release of ConfigMaps that say its version."""
    publisher.release(package, version, [config(each, version) for each in names or NAMES])


def values(cluster, space):
    """What the ConfigMaps of the releases say, by their names."""
    listed = json.loads(cluster.kubectl("get", "configmaps", "-n", space, "-o", "json").stdout)
    return {
        each["metadata"]["name"]: each["data"]["value"]
        for each in listed["items"]
        if each["metadata"]["name"].startswith("part-")
    }


def reaches(cluster, space, version, *names):
    until(lambda: installed(shown(cluster, space, "it")) == (version, True))
    until(lambda: values(cluster, space) == dict.fromkeys(names or NAMES, version))


def warnings(cluster, space):
    listed = json.loads(cluster.kubectl("get", "events", "-n", space, "-o", "json").stdout)
    return [each["message"] for each in listed["items"] if each["type"] == "Warning"]


@pytest.mark.parametrize("part", ["part-2", "part-only-then"])
def test_what_arrives_late_of_one_that_was_cut_off_does_not_stay(
    cluster, converter, publisher, tmp_path, part
):
    """A write of the release before is on its way when the operator is cut off, and arrives when another one has applied the next.

    Once it is of an object that both have, and once of one that the next release does not have.
    """
    package, space = f"acme/cut-{part}", space_called(cluster, publisher, f"cut-{part}")
    release(publisher, package, "1.0.0")
    release(publisher, package, "1.1.0", *NAMES, "part-only-then")
    release(publisher, package, "1.2.0")
    own = ["--namespace", space, "--home", space, "--identity"]
    with Meddler(cluster, tmp_path) as proxy:
        first = Operator(cluster, tmp_path / "a", *own, "a", kubeconfig=proxy.kubeconfig)
        second = Operator(cluster, tmp_path / "b", *own, "b")
        try:
            first.follow()
            until(lambda: "this operator acts" in first.messages)
            create(cluster, wanted("it", space, spec_of(publisher, package, version="1.0.0")))
            reaches(cluster, space, "1.0.0")
            second.follow()

            def cut_off():
                proxy.cut()
                change(cluster, space, "it", {"spec": {"version": "1.2.0"}})
                until(lambda: "this operator acts" in second.messages)
                reaches(cluster, space, "1.2.0")
                proxy.mend()

            proxy.meddle(f"/configmaps/{part}", 0, cut_off)
            change(cluster, space, "it", {"spec": {"version": "1.1.0"}})
            until(lambda: "another operator acts" in first.messages)
            reaches(cluster, space, "1.2.0")
            names = [each.rpartition("/")[2] for _, each in proxy.late if "/leases" not in each]
            # Where the next release does not have it, it is recorded once more.
            recorded = ["trundle-applied-it"] if part not in NAMES else []
            assert names == [part, *recorded]
            second.stop(9)
            release(publisher, package, "1.3.0")
            change(cluster, space, "it", {"spec": {"version": "1.3.0"}})
            reaches(cluster, space, "1.3.0")
        finally:
            first.stop(9)
            second.stop(9)
            cluster.kubectl("delete", "installation", "it", "-n", space, "--wait=false")


def roles(cluster, space, *rules):
    """The rights of the operator, as user, each in a role that can be taken away: to act, to its installations, and to some more."""
    base = [
        {"apiGroups": ["trundle.dev"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["events", "secrets"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]},
    ]
    lease = [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]}]
    made = []
    for name, some in (("lease", lease), ("base", base), ("taken", list(rules))):
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}
        made.append(thing("Role", name, RBAC, rules=some))
        made.append(thing("RoleBinding", name, RBAC, roleRef=ref, subjects=[subject]))
    read = [
        {"apiGroups": ["apiextensions.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]},
    ]
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"read-{space}"}
    made.append(thing("ClusterRole", f"read-{space}", RBAC, rules=read))
    made.append(thing("ClusterRoleBinding", f"read-{space}", RBAC, roleRef=ref, subjects=[subject]))
    cluster.kubectl("apply", "-n", space, "-f", "-", text="\n---\n".join(map(json.dumps, made)))


def may(cluster, space, verb, what):
    given = ("auth", "can-i", verb, what, "-n", space)
    return cluster.kubectl(*given, user="ann", check=False).stdout.strip() == "yes"


@pytest.fixture
def restricted(cluster, converter, publisher, tmp_path, request):
    """An operator with few rights, what is between it and the cluster, and its namespace."""
    space = space_called(cluster, publisher, f"robbed-{request.node.callspec.id}")
    with Meddler(cluster, tmp_path, "ann") as proxy:
        own = ["--namespace", space, "--home", space, "--identity", "ann"]
        running = Operator(cluster, tmp_path / "run", *own, kubeconfig=proxy.kubeconfig)
        yield running, proxy, space
        cluster.kubectl("delete", "installation", "--all", "-n", space, "--wait=false", check=False)
        running.stop(9)


ACCOUNTS = {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["*"]}


def account(name, version):
    made = thing("ServiceAccount", name)
    return {**made, "metadata": {"name": name, "labels": {"version": version}}}


def labels(cluster, space):
    """The versions of accounts, by their names."""
    listed = cluster.kubectl("get", "serviceaccounts", "-n", space, "-o", "json").stdout
    return {
        each["metadata"]["name"]: each["metadata"].get("labels", {}).get("version")
        for each in json.loads(listed)["items"]
    }


@pytest.mark.parametrize(
    "names",
    [("taken",), ("taken", "base"), ("taken", "base", "lease")],
    ids=["some", "all-but-to-act", "all"],
)
def test_rights_taken_away_in_the_middle_of_an_apply_are_said_until_they_are_back(
    cluster, restricted, publisher, names
):
    running, proxy, space = restricted
    package, accounts = f"acme/robbed-{len(names)}", ("a", "b", "c", "d")
    for version in ("1.0.0", "1.1.0"):
        own = [account(each, version) for each in accounts]
        publisher.release(package, version, [*own, config("part-x", version)])
    roles(cluster, space, ACCOUNTS)
    running.follow()
    create(cluster, wanted("it", space, spec_of(publisher, package, version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))

    robbed = threading.Event()

    def rob():
        cluster.kubectl("delete", "rolebinding", *names, "-n", space)
        until(lambda: not may(cluster, space, "patch", "serviceaccounts"))
        until(lambda: may(cluster, space, "patch", "configmaps") == ("base" not in names))
        robbed.set()

    proxy.meddle("/serviceaccounts/", 2, rob)
    change(cluster, space, "it", {"spec": {"version": "1.1.0"}})
    words = 'cannot patch resource "serviceaccounts"'
    until(robbed.is_set)
    if "lease" in names:  # Where the Lease ends before its next look, it looks at nothing.
        until(lambda: 'cannot get resource "leases"' in running.messages)
    elif "base" in names:  # It may not say so in the status, and says it before it looks again.
        until(lambda: words in running.messages)
    else:
        until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
        message = said(cluster, space, "it", "Blocked")
        assert "ServiceAccount c of 1.1.0" in message
        assert words in message
        assert "trundle.dev/aggregate-to-operator" in message
        until(lambda: any(words in each for each in warnings(cluster, space)))
        assert installed(shown(cluster, space, "it")) == ("1.0.0", False)
        # Nor may it put back what it had begun to change.
        message = said(cluster, space, "it", "Ready")
        assert message.endswith("; 1.1.0 may be in the cluster in part")
    assert [labels(cluster, space)[each] for each in "abcd"] == ["1.1.0"] * 2 + ["1.0.0"] * 2
    roles(cluster, space, ACCOUNTS)
    until(lambda: installed(shown(cluster, space, "it")) == ("1.1.0", True))
    assert {labels(cluster, space)[each] for each in "abcd"} == {"1.1.0"}
    assert data(cluster, space, "part-x") == "1.1.0"
    assert has(cluster, space, "it", "Blocked", "False", "NotBlocked")
