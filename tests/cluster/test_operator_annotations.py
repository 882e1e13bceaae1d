"""Annotations that are misspelt: an installation that works goes on working, and says what is wrong with them."""

import json

import pytest
from clusters import until
from operators import (
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
    there,
    wanted,
)


@pytest.mark.parametrize(
    ("name", "value", "reason", "words"),
    [
        ("approve", "two", "InvalidAnnotation", "annotation trundle.dev/approve: expected a version"),
        ("approve", "7.0.0", "VersionNotFound", "it lists 2.0.0, 1.0.0"),
        ("roll-back", "1.0", "InvalidAnnotation", "annotation trundle.dev/roll-back"),
        ("roll-back", "7.0.0", "NotInstalled", "the version that is installed, 1.0.0"),
        ("roll-back", "1.0.0", "NotInstalled", "a version that was installed before 1.0.0"),
    ],
)  # fmt: skip
def test_a_misspelt_annotation_is_reported_and_nothing_else_changes(
    cluster, operator, publisher, name, value, reason, words
):
    space = space_called(cluster, publisher, f"{name}-{value.replace('.', '-')}")
    package = f"acme/{space}"
    publisher.release(package, "1.0.0", [config("it", "1")])
    policy = {"patch": "immediate", "minor": "immediate", "major": "approval"}
    create(cluster, wanted("it", space, spec_of(publisher, package, policy=policy)))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    publisher.release(package, "2.0.0", [config("it", "2")])
    until(lambda: has(cluster, space, "it", "Blocked", "True", "Approval"))
    was = ready_since(cluster, space)
    change(cluster, space, "it", {"metadata": {"annotations": {f"trundle.dev/{name}": value}}})
    until(lambda: has(cluster, space, "it", "Blocked", "True", reason))
    assert words in said(cluster, space, "it", "Blocked")
    assert repr(value) in said(cluster, space, "it", "Blocked") or value.endswith(".0.0")
    listed = cluster.kubectl("get", "events", "-n", space, "-o", "json").stdout
    events = [each for each in json.loads(listed)["items"] if each["reason"] == "Blocked"]
    assert any(words in each["message"] and each["type"] == "Warning" for each in events)
    # Objects that drift are still put back, and lesser releases still come.
    cluster.kubectl("delete", "configmap", "it", "-n", space)
    until(lambda: there(cluster, space, "configmap", "it"))
    assert data(cluster, space, "it") == "1"
    publisher.release(package, "1.0.1", [config("it", "3")])
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.1", True))
    assert ready_since(cluster, space) == was
    change(cluster, space, "it", {"metadata": {"annotations": {f"trundle.dev/{name}": None}}})
    until(lambda: has(cluster, space, "it", "Blocked", "True", "Approval"))
    assert reason not in str(shown(cluster, space, "it")["status"]["conditions"])


def ready_since(cluster, space):
    conditions = shown(cluster, space, "it")["status"]["conditions"]
    return next(each["lastTransitionTime"] for each in conditions if each["type"] == "Ready")
