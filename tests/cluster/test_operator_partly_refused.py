"""Releases of which the API server refuses an object that it took in a dry run: the release before stays as it was."""

import contextlib
import json

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


def refusing(space, name, value):
    """A policy that takes a ConfigMap with a value in a dry run, and refuses it afterwards."""
    api = "admissionregistration.k8s.io/v1"
    called = f"after-trials-{space}"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    rule["operations"] = ["CREATE", "UPDATE"]
    expression = (
        f"request.namespace != '{space}' || object.metadata.name != '{name}'"
        f" || object.data.value != '{value}' || request.dryRun"
    )
    validation = {"expression": expression, "message": "not more than in trials"}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]}
    binding = {"policyName": called, "validationActions": ["Deny"]}
    return [
        thing("ValidatingAdmissionPolicy", called, api, spec=spec),
        thing("ValidatingAdmissionPolicyBinding", called, api, spec=binding),
    ]


@contextlib.contextmanager
def refused(cluster, space, name, value):
    text = "\n---\n".join(map(json.dumps, refusing(space, name, value)))
    cluster.kubectl("apply", "-f", "-", text=text)
    given = ("create", "-n", space, "-f", "-")
    trial = json.dumps(config(name, value))

    def is_refused():
        done = cluster.kubectl(*given, text=trial, check=False)
        if done.returncode == 0:
            cluster.kubectl("delete", "configmap", name, "-n", space)
        return "not more than in trials" in done.stderr

    try:
        if not there(cluster, space, "configmap", name):
            until(is_refused)
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", text=text)


def of_object(cluster, space, name, path):
    given = ("get", "configmap", name, "-n", space, "-o", f"jsonpath={{{path}}}")
    return cluster.kubectl(*given).stdout


def test_an_object_that_is_refused_after_the_trial_takes_the_release_back(
    cluster, operator, publisher, space
):
    publisher.release("acme/late", "1.0.0", [config("a", "1"), config("old", "1")])
    after = [config("a", "2"), config("b", "2"), config("new", "2"), config("z", "2")]
    publisher.release("acme/late", "1.0.1", after)
    create(cluster, wanted("it", space, spec_of(publisher, "acme/late", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    with refused(cluster, space, "new", "2"):
        change(cluster, space, "it", {"spec": {"version": "1.0.1"}})
        until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
        message = said(cluster, space, "it", "Blocked")
        assert "ConfigMap new of 1.0.1" in message
        assert "not more than in trials" in message
        until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
        assert "of 1.0.1 there is ConfigMap b" in said(cluster, space, "it", "Ready")
        assert data(cluster, space, "a") == "1"
        assert there(cluster, space, "configmap", "new", "z") == ""
        # It is tried again, and what is refused comes first then: nothing else changes to and fro.
        written = of_object(cluster, space, "a", ".metadata.resourceVersion")
        cluster.kubectl("delete", "configmap", "old", "-n", space)
        until(lambda: there(cluster, space, "configmap", "old"))
        cluster.kubectl("delete", "configmap", "old", "-n", space)
        until(lambda: there(cluster, space, "configmap", "old"))
        assert of_object(cluster, space, "a", ".metadata.resourceVersion") == written
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.1", True))
    assert [data(cluster, space, each) for each in ("a", "b", "new", "z")] == ["2"] * 4
    assert there(cluster, space, "configmap", "old") == ""
    assert condition(shown(cluster, space, "it"), "Blocked") == ("False", "NotBlocked")


def test_a_first_release_that_is_refused_in_part_says_what_is_there(
    cluster, operator, publisher, space
):
    publisher.release("acme/first", "1.0.0", [config(each, "1") for each in "abc"])
    with refused(cluster, space, "b", "1"):
        create(cluster, wanted("it", space, spec_of(publisher, "acme/first", version="1.0.0")))
        until(lambda: has(cluster, space, "it", "Ready", "False", "RejectedRelease"))
        message = said(cluster, space, "it", "Ready")
        assert "ConfigMap b of 1.0.0" in message
        assert message.endswith("; of 1.0.0 there is ConfigMap a")
        assert "installed" not in shown(cluster, space, "it")["status"]
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))


def test_a_release_that_is_refused_in_part_goes_with_its_installation(
    cluster, operator, publisher, space
):
    publisher.release("acme/gone", "1.0.0", [config(each, "1") for each in "abc"])
    with refused(cluster, space, "b", "1"):
        create(cluster, wanted("it", space, spec_of(publisher, "acme/gone", version="1.0.0")))
        until(lambda: has(cluster, space, "it", "Ready", "False", "RejectedRelease"))
        cluster.kubectl("delete", "installation/it", "-n", space, "--timeout=120s")
        assert there(cluster, space, "configmap", "a", "b", "c") == ""
