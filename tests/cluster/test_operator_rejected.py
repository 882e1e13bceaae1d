"""Releases that the API server rejects: nothing of them is left in the cluster, and the release before stays."""

import json
import subprocess

import pytest
import warm
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
    space_called,
    spec_of,
    there,
    thing,
    wanted,
)

GROUP = "rejected.example.com"


def crd(plural, schema):
    versions = [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    ]
    names = {"plural": plural, "kind": plural.title()[:-1]}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    return thing(
        *("CustomResourceDefinition", f"{plural}.{GROUP}", "apiextensions.k8s.io/v1"), spec=spec
    )


OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
BAD = {
    "invalid": (
        thing("Service", "wrong", spec={"ports": [{"port": 99999}]}),
        "Service wrong",
        "must be between 1 and 65535",
    ),
    "misspelt": (
        thing("Deployment", "wrong", "apps/v1", spec={"replicas": "many"}),
        "Deployment wrong",
        "",
    ),
    "schema": (
        crd("broken", {"type": "object", "properties": {"a": {"type": "strange"}}}),
        f"CustomResourceDefinition broken.{GROUP}",
        'Unsupported value: "strange"',
    ),
    "namespace": (
        {**config("wrong", "1"), "metadata": {"name": "wrong", "namespace": "nowhere"}},
        "ConfigMap nowhere/wrong",
        "create the namespace",
    ),
}


def said_of(cluster, space, name):
    return cluster.kubectl("get", "configmap", name, "-n", space, "-o", "yaml").stdout


@pytest.mark.parametrize("what", BAD)
def test_a_rejected_release_leaves_nothing_and_the_one_before_stays(
    cluster, operator, publisher, what
):
    wrong, name, words = BAD[what]
    space = space_called(cluster, publisher, f"rejected-{what}")
    package = f"acme/rejected-{what}"
    kind = crd(f"{what}things", OPEN)
    publisher.release(package, "1.0.0", [config("own", "1"), config("old", "1")])
    publisher.release(package, "1.0.1", [kind, config("own", "2"), config("new", "1"), wrong])
    create(cluster, wanted("it", space, spec_of(publisher, package, version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"version": "1.0.1"}})
    until(lambda: (condition(shown(cluster, space, "it"), "Blocked") or ("",))[0] == "True")
    assert has(cluster, space, "it", "Blocked", "True", "RejectedRelease")
    message = said(cluster, space, "it", "Blocked")
    assert name in message
    assert words in message
    assert "1.0.1" in message
    assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
    assert (data(cluster, space, "own"), there(cluster, space, "configmap", "new")) == ("1", "")
    assert there(cluster, space, "configmap", "old")
    assert there(cluster, space, "crd", kind["metadata"]["name"]) == ""
    # What is there goes on being looked after.
    cluster.kubectl("delete", "configmap", "old", "-n", space)
    until(lambda: there(cluster, space, "configmap", "old"))
    cluster.kubectl("annotate", "configmap", "own", "-n", space, "trundle.dev/release-")
    until(lambda: "trundle.dev/release" in said_of(cluster, space, "own"))
    assert has(cluster, space, "it", "Blocked", "True", "RejectedRelease")
    assert data(cluster, space, "own") == "1"
    publisher.release(package, "1.0.2", [kind, config("own", "3")])
    change(cluster, space, "it", {"spec": {"version": "1.0.2"}})
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.2", True))
    assert has(cluster, space, "it", "Blocked", "False", "NotBlocked")


POLICY = [
    thing(
        *("ValidatingAdmissionPolicy", "no-forbidden", "admissionregistration.k8s.io/v1"),
        spec={
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["configmaps"],
                    }
                ]
            },
            "validations": [
                {
                    "expression": "object.metadata.name != 'forbidden-here'",
                    "message": "the platform team forbids it",
                }
            ],
        },
    ),
    thing(
        *("ValidatingAdmissionPolicyBinding", "no-forbidden", "admissionregistration.k8s.io/v1"),
        spec={"policyName": "no-forbidden", "validationActions": ["Deny"]},
    ),
]


def test_what_a_policy_refuses_is_said_until_it_is_gone(cluster, operator, publisher, space):
    """All that is refused is said at once; and the release comes by itself when nothing refuses it any more."""
    text = "\n---\n".join(map(json.dumps, POLICY))
    cluster.kubectl("apply", "-f", "-", text=text)
    try:
        trial = json.dumps(config("forbidden-here", "1"))
        until(lambda: cluster.kubectl(
            "create", "-n", space, "--dry-run=server", "-f", "-", text=trial, check=False
        ).returncode)  # fmt: skip
        documents = [config("a", "1"), config("forbidden-here", "1"), config("z", "1")]
        documents.append(thing("Service", "wrong", spec={"ports": [{"port": 99999}]}))
        publisher.release("acme/policed", "1.0.0", documents)
        create(cluster, wanted("it", space, spec_of(publisher, "acme/policed")))
        until(lambda: has(cluster, space, "it", "Ready", "False", "RejectedRelease"))
        message = said(cluster, space, "it", "Ready")
        assert "ConfigMap forbidden-here" in message
        assert "the platform team forbids it" in message
        assert "Service wrong" in message
        assert there(cluster, space, "configmap", "a", "z") == ""
        assert there(cluster, space, "configmap", "trundle-applied-it") == ""
        publisher.release("acme/policed", "1.0.1", documents[:3])
        change(cluster, space, "it", {"spec": {"policy": {"patch": "immediate"}}})
        until(lambda: "Service" not in said(cluster, space, "it", "Ready"))
        assert has(cluster, space, "it", "Ready", "False", "RejectedRelease")
    finally:
        cluster.kubectl("delete", "-f", "-", text=text)
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.1", True))


def test_what_comes_with_a_release_rejects_nothing(cluster, operator, publisher, space):
    """Objects that need a namespace, a CRD or an account of the same release cannot be tried before, and are no fault."""
    inner = f"{space}-inner"
    role = thing(
        *("Role", "reader", "rbac.authorization.k8s.io/v1"),
        rules=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    )
    binding = thing(
        *("RoleBinding", "reader", "rbac.authorization.k8s.io/v1"),
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        subjects=[{"kind": "ServiceAccount", "name": "reader", "namespace": space}],
    )
    first = thing("PriorityClass", f"{space}-first", "scheduling.k8s.io/v1", value=7)
    pod = thing(
        *("Pod", "pod"),
        spec={
            "priorityClassName": f"{space}-first",
            "containers": [{"name": "a", "image": "example.com/a"}],
        },
    )
    away = config("away", "1")
    away["metadata"]["namespace"] = inner
    own = thing("Gadget", "own", f"{GROUP}/v1", size=1)
    documents = [pod, binding, away, own, first, role, thing("Namespace", inner)]
    documents.append(crd("gadgets", OPEN))
    publisher.release("acme/together", "1.0.0", documents)
    create(cluster, wanted("it", space, spec_of(publisher, "acme/together")))
    until(lambda: has(cluster, space, "it", "Ready", "False", "Waiting"))
    assert "Pod pod" in said(cluster, space, "it", "Ready")
    assert there(cluster, space, "pod", "pod")
    assert there(cluster, inner, "configmap", "away")
    assert there(cluster, space, f"gadgets.{GROUP}", "own")


WIDGET = {"type": "object", "properties": {"size": {"type": "integer"}}}


def test_objects_of_a_crd_are_tried_when_it_is_there_and_before_all_else(
    cluster, operator, publisher, space
):
    """Their CRD may have come then, and nothing else of the release."""
    own = thing("Widget", "own", f"{GROUP}/v1", size="large")
    account = thing("ServiceAccount", "before")
    documents = [crd("widgets", WIDGET), own, config("a", "1"), account]
    publisher.release("acme/half", "1.0.0", documents)
    policy = {"patch": "immediate"}
    create(cluster, wanted("it", space, spec_of(publisher, "acme/half", policy=policy)))
    until(lambda: has(cluster, space, "it", "Ready", "False", "RejectedRelease"))
    message = said(cluster, space, "it", "Ready")
    assert "Widget own" in message
    assert f"of 1.0.0 there is CustomResourceDefinition widgets.{GROUP}" in message
    assert there(cluster, space, "configmap", "a") == ""
    assert there(cluster, space, "serviceaccount", "before") == ""
    publisher.release("acme/half", "1.0.1", [config("a", "1")])
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.1", True))
    assert there(cluster, space, "crd", f"widgets.{GROUP}") == ""


def test_a_changed_crd_whose_objects_are_refused_leaves_the_release_before_ready(
    cluster, operator, publisher, space
):
    """The new CRD stays, and takes what the release before has; that is put back where it is deleted."""
    own = thing("Cog", "own", f"{GROUP}/v1", size=1)
    wrong = thing("Cog", "wrong", f"{GROUP}/v1", size=1, teeth="many")
    wider = {**WIDGET, "properties": {**WIDGET["properties"], "teeth": {"type": "integer"}}}
    publisher.release("acme/cogs", "1.0.0", [crd("cogs", WIDGET), own, config("a", "1")])
    publisher.release("acme/cogs", "1.0.1", [crd("cogs", wider), own, wrong, config("a", "2")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/cogs", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"version": "1.0.1"}})
    until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
    assert "Cog wrong" in said(cluster, space, "it", "Blocked")
    assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
    for _ in range(2):
        cluster.kubectl("delete", f"cogs.{GROUP}", "own", "-n", space)
        until(lambda: there(cluster, space, f"cogs.{GROUP}", "own"))
    assert there(cluster, space, f"cogs.{GROUP}", "wrong") == ""
    assert data(cluster, space, "a") == "1"
    generation = "jsonpath={.metadata.generation}"
    found = cluster.kubectl("get", "crd", f"cogs.{GROUP}", "-o", generation).stdout
    assert found == "2"  # It does not change to and fro.


def test_what_requires_a_package_goes_on_with_the_release_that_is_kept_up(
    cluster, operator, publisher, space
):
    wrong = thing("Service", "wrong", spec={"ports": [{"port": 99999}]})
    publisher.release("acme/base", "1.0.0", [config("base", "1")])
    publisher.release("acme/base", "1.0.1", [config("base", "2"), wrong])
    needs = {"dependsOn": {"acme/base": "1"}}
    publisher.release("acme/above", "1.0.0", [config("above", "1")], **needs)
    publisher.release("acme/above", "1.0.1", [config("above", "2")], **needs)
    base = spec_of(publisher, "acme/base", version="1.0.0")
    above = spec_of(publisher, "acme/above", version="1.0.0")
    create(cluster, wanted("base", space, base))
    until(lambda: installed(shown(cluster, space, "base")) == ("1.0.0", True))
    create(cluster, wanted("above", space, above))
    until(lambda: installed(shown(cluster, space, "above")) == ("1.0.0", True))
    change(cluster, space, "base", {"spec": {"version": "1.0.1"}})
    until(lambda: has(cluster, space, "base", "Blocked", "True", "RejectedRelease"))
    change(cluster, space, "above", {"spec": {"version": "1.0.1"}})
    until(lambda: installed(shown(cluster, space, "above")) == ("1.0.1", True))
    assert data(cluster, space, "base") == "1"


def test_a_version_that_is_not_there_leaves_the_one_before_looked_after(
    cluster, operator, publisher, space
):
    publisher.release("acme/pinned", "1.0.0", [config("own", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/pinned", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"version": "7.0.0"}})
    until(lambda: has(cluster, space, "it", "Ready", "False", "ContentMissing"))
    assert "check `spec.version`" in said(cluster, space, "it", "Ready")
    cluster.kubectl("delete", "configmap", "own", "-n", space)
    until(lambda: there(cluster, space, "configmap", "own"))
    assert shown(cluster, space, "it")["status"]["installed"]["version"] == "1.0.0"


ELSEWHERE = {
    "unknown": ({"package": "acme/no-such"}, "False", "ChannelNotFound"),
    "misspelt": ({"package": "acme//moved"}, "False", "InvalidSpec"),
    "contradictory": ({"version": "1.0.0", "channel": "stable"}, "False", "InvalidSpec"),
}


def planned(cluster, space, name, *options):
    """What the command says that comes next."""
    to = ("--namespace", space, "--kubeconfig", str(cluster.kubeconfig), "--context", "admin")
    command = [warm.TRUNDLE, "kube", "installed", "plan", name, *to, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_package_that_is_not_there_leaves_the_release_before_looked_after(
    cluster, operator, publisher, what
):
    """Though the operator has uninstalled the package that it is of."""
    spec, *expected = ELSEWHERE[what]
    space = space_called(cluster, publisher, f"moved-{what}")
    package = f"acme/moved-{what}"
    publisher.release(package, "1.0.0", [config("own", "1"), config("other", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, package)))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": spec})
    until(lambda: has(cluster, space, "it", "Ready", *expected))
    for name in ("own", "other"):
        cluster.kubectl("delete", "configmap", name, "-n", space)
        until(lambda name=name: there(cluster, space, "configmap", name))
    assert shown(cluster, space, "it")["status"]["installed"]["version"] == "1.0.0"
    stopped = said(cluster, space, "it", "Blocked").splitlines()
    assert stopped[0] in planned(cluster, space, "it")
    assert json.loads(planned(cluster, space, "it", "-o", "json"))["stopped"] == stopped
    mended = {"package": package, "version": None, "channel": None}
    change(cluster, space, "it", {"spec": mended})
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert has(cluster, space, "it", "Blocked", "False", "NotBlocked")


def test_a_package_of_the_same_version_in_place_of_another_is_an_event(
    cluster, operator, publisher, space
):
    publisher.release("acme/one", "1.0.0", [config("one", "1")])
    publisher.release("acme/two", "1.0.0", [config("two", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/one")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    first = shown(cluster, space, "it")["status"]["installed"]["digest"]
    change(cluster, space, "it", {"spec": {"package": "acme/two"}})
    until(lambda: there(cluster, space, "configmap", "two"))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert shown(cluster, space, "it")["status"]["installed"]["digest"] != first
    assert there(cluster, space, "configmap", "one") == ""
    listed = cluster.kubectl("get", "events", "-n", space, "-o", "json").stdout
    applied = [each for each in json.loads(listed)["items"] if each["reason"] == "Applied"]
    assert len(applied) == 2, [each["message"] for each in applied]


WRONG = {
    "nameless": ({"kind": "ConfigMap", "apiVersion": "v1"}, "one without"),
    "twice": (config("own", "3"), "ConfigMap own once"),
}


@pytest.mark.parametrize("what", WRONG)
def test_manifests_that_cannot_be_read_leave_the_release_before_looked_after(
    cluster, operator, publisher, what
):
    wrong, words = WRONG[what]
    space = space_called(cluster, publisher, f"misread-{what}")
    package = f"acme/misread-{what}"
    publisher.release(package, "1.0.0", [config("own", "1")])
    publisher.release(package, "1.0.1", [config("own", "2"), wrong])
    create(cluster, wanted("it", space, spec_of(publisher, package, version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"version": "1.0.1"}})
    until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
    message = said(cluster, space, "it", "Blocked")
    assert words in message
    assert message.startswith("manifests")
    assert "of 1.0.1" in message
    cluster.kubectl("delete", "configmap", "own", "-n", space)
    until(lambda: there(cluster, space, "configmap", "own"))
    assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
    assert data(cluster, space, "own") == "1"


def test_advice_stands_behind_answers_that_show_the_whole_object(
    cluster, operator, publisher, space
):
    """As of Jobs, whose template cannot be changed."""

    def job(value):
        variables = [{"name": f"VARIABLE_{each}", "value": value * 50} for each in range(60)]
        container = {"name": "a", "image": "example.com/a", "env": variables}
        pod = {"restartPolicy": "Never", "containers": [container]}
        return thing("Job", "once", "batch/v1", spec={"suspend": True, "template": {"spec": pod}})

    publisher.release("acme/job", "1.0.0", [job("a")])
    publisher.release("acme/job", "1.0.1", [job("b")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/job", version="1.0.0")))
    until(lambda: has(cluster, space, "it", "Ready", "False", "Waiting"))
    change(cluster, space, "it", {"spec": {"version": "1.0.1"}})
    until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
    message = said(cluster, space, "it", "Blocked")
    assert len(message) < 1500
    assert "field is immutable; delete the object" in message
    cluster.kubectl("delete", "job", "once", "-n", space)
    until(lambda: shown(cluster, space, "it")["status"]["installed"]["version"] == "1.0.1")
    assert has(cluster, space, "it", "Blocked", "False", "NotBlocked")
