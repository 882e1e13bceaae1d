"""Rules in CEL, by Kubernetes' API server and by `trundle serve`: both have the same against a document, and say the same."""

import itertools
import re

import pytest
from projects import Installer
from ruled import CRD, GROUP, VALUES
from served import both_serving

pytestmark = pytest.mark.cluster

NUMBERS = itertools.count()
NAMESPACE = f"/apis/{GROUP}/v1/namespaces/default/rules"

CHANGES = [
    ("fixed", "a", "a"),
    ("fixed", "a", "b"),
    ("fixed", "a", None),
    ("growing", 1, 2),
    ("growing", 2, 1),
    ("growing", 2, None),
    ("quoted", "a", "b"),
    ("born", 1, 2),
    ("once", 1, 2),
    ("once", 1, 1),
    (
        "elements",
        [{"k": "a", "v": 1}, {"k": "b", "v": 5}],
        [{"k": "b", "v": 5}, {"k": "a", "v": 2}],
    ),
    (
        "elements",
        [{"k": "a", "v": 1}, {"k": "b", "v": 5}],
        [{"k": "b", "v": 1}, {"k": "a", "v": 1}],
    ),
    ("elements", [{"k": "a", "v": 1}], [{"k": "c", "v": 0}]),
    ("values", {"a": 1}, {"a": 0, "b": 0}),
    ("values", {"a": 1}, {"b": 0}),
    ("several", 4, 2),
]
STANDING = [
    ({"small": 10}, {"said": 1}),
    ({"small": 10}, {"said": 10}),
    ({"small": 10}, {"small": 11}),
    ({"small": 10}, {"small": None}),
    ({"division": 0}, {"division": 0, "small": 1}),
    ({"deep": [[1], [2, 10], [11]]}, {"small": 1}),
    ({"deep": [[1], [2, 10], [11]]}, {"deep": [[1], [2, 10], [12]]}),
    ({"named": {"x": {"a": 10}}}, {"named": {"y": {"a": 1}}}),
    ({"named": {"x": {"a": 10}}}, {"named": {"x": {"a": 11}}}),
    ({"forbidden": 10, "required": {}, "duplicate": ["a", "a"]}, {"small": 1}),
    ({"explained": 10, "when": "2000-01-01T00:00:00Z", "amount": "2Gi"}, {"small": 1}),
    ({"alone": 1}, {"small": 1}),
    ({"required": {}}, {"required": {"b": None}}),
    ({"duplicate": ["a", "a"]}, {"duplicate": ["a", "a", "b"]}),
]
"""What was written where there are no rules, and what is changed where there are."""


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    project = Installer(tmp_path_factory.mktemp("ruled"))(
        {"rules.json": CRD}, config={"kubernetes": {"group": GROUP}}
    ).project.folder
    with both_serving(cluster, [CRD], project) as servers:
        yield servers


def rule(spec, version="v1"):
    name = f"r{next(NUMBERS)}"
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Rule", "metadata": {"name": name}}
    return {**head, "spec": spec}


def answered(answer):
    """What a client learns of what is wrong."""
    warnings = sorted(answer.headers.get_all("warning") or ())
    if answer.status < 300:
        return answer.status, answer.body.get("spec"), warnings
    causes = answer.body.get("details", {}).get("causes", [])
    found = [(each["reason"], each.get("field"), said(each["message"])) for each in causes]
    return answer.status, answer.body["reason"], sorted(found, key=repr), warnings


def said(message):
    """A message without what the two libraries say in words of their own of a rule that fails."""
    before, evaluating, rule = re.split(r"( evaluating rule: | for rule: |$)", message, maxsplit=1)
    return (before.partition('": ')[0], rule) if evaluating else message


def both(servers, method, path, body, **more):
    theirs, ours = (each.ask(method, path, body, **more) for each in servers)
    assert answered(ours) == answered(theirs), body
    return ours


@pytest.mark.parametrize(
    "spec",
    [{name: each} for name, both in VALUES.items() for values in both for each in values],
    ids=str,
)
def test_a_new_object_breaks_the_same_rules(servers, spec):
    both(servers, "POST", NAMESPACE, rule(spec))


@pytest.mark.parametrize(("name", "before", "after"), CHANGES, ids=str)
def test_a_changed_object_breaks_the_same_rules(servers, name, before, after):
    made = rule({name: before})
    for each in servers:
        each.ask("POST", NAMESPACE, made).ok()
    path = f"{NAMESPACE}/{made['metadata']['name']}"
    patch = {"spec": {name: after}}
    both(servers, "PATCH", path, patch, media_type="application/merge-patch+json")


@pytest.mark.parametrize(("before", "after"), STANDING, ids=str)
def test_what_was_there_before_a_rule_is_warned_of(servers, before, after):
    made = rule(before, "v1beta1")
    for each in servers:
        each.ask("POST", NAMESPACE.replace("v1", "v1beta1"), made).ok()
    path = f"{NAMESPACE}/{made['metadata']['name']}"
    both(servers, "PATCH", path, {"spec": after}, media_type="application/merge-patch+json")
    seen = servers[0].ask("GET", path).ok()
    for written in (seen, {**seen, "metadata": {**seen["metadata"], "labels": {"a": "b"}}}):
        both(servers, "PUT", path, {**written, "metadata": {"name": made["metadata"]["name"]}})


def test_a_status_keeps_to_its_rules(servers):
    made = rule({})
    for each in servers:
        each.ask("POST", NAMESPACE, made).ok()
    path = f"{NAMESPACE}/{made['metadata']['name']}"
    for number in (5, 3, 10, 6):
        both(
            servers,
            "PATCH",
            f"{path}/status",
            {"status": {"n": number}},
            media_type="application/merge-patch+json",
        )


@pytest.mark.parametrize("spec", [{"small": 1}, {"small": 10}, {"defaulted": {"a": 2}}], ids=str)
def test_configurations_keep_to_rules(servers, spec):
    made = rule({})
    path = f"{NAMESPACE}/{made['metadata']['name']}"
    given = {"media_type": "application/apply-patch+yaml", "fieldManager": "test"}
    both(servers, "PATCH", path, {**made, "spec": spec}, **given)
    both(servers, "PATCH", path, {**made, "spec": {"said": 1}}, **given)
    both(servers, "PATCH", path, {**made, "spec": spec}, **given)
