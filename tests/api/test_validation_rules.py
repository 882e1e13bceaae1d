"""Rules in CEL of a version's schema; `tests/cluster` holds the same, and what is said of it, to an API server."""

import copy

import pytest
from apis import Client
from projects import installer
from ruled import CRD, GROUP, VALUES, ruled

from trundle.api import AdmissionRequest, Api, served_kinds
from trundle.project import AdmissionHook, AdmissionRule
from trundle.store import Store
from trundle.version import ApiVersion

NAMESPACE = f"/apis/{GROUP}/v1/namespaces/default/rules"
BEFORE = f"/apis/{GROUP}/v1beta1/namespaces/default/rules"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("ruled")) as install:
        yield install({"rules.json": CRD}, config={"kubernetes": {"group": GROUP}})


@pytest.fixture
def serve(installed, tmp_path):
    """Serves the resource type, with hooks."""
    with Store(tmp_path / "store.db", installed.scheme) as store:

        def make(*hooks):
            kinds = served_kinds([installed.project], installed.scheme)
            return Client(Api(store, kinds, "0.0.0", admission=hooks))

        yield make


def rule(spec, version="v1"):
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Rule", "metadata": {"name": "a"}}
    return {**head, "spec": spec}


@pytest.mark.parametrize("name", VALUES)
def test_values_keep_to_the_rules_of_their_place(serve, name):
    client = serve()

    def written(value):
        return client.call("POST", NAMESPACE, rule({name: value}), dryRun="All")[0]

    kept, broken = VALUES[name]
    assert [written(each) for each in kept] == [201] * len(kept)
    assert [written(each) for each in broken] == [422] * len(broken)


def test_what_is_wrong_is_said_with_its_place(serve):
    code, said = serve().call("POST", NAMESPACE, rule({"named": {"x": {"a": 10}}, "said": 10}))
    assert code == 422
    causes = {each["field"]: each["message"] for each in said["details"]["causes"]}
    assert causes == {
        "spec.named[x]": "Invalid value: failed rule: self.a < 10",
        "spec.said": "Invalid value: 10: has to be small",
    }


def test_what_was_there_before_a_rule_may_stay(serve):
    client = serve()
    client.call("POST", BEFORE, rule({"small": 10, "growing": 5}, "v1beta1"))
    change = "application/merge-patch+json"

    def patched(spec):
        body = {"spec": spec}
        found = client.http.patch(f"{NAMESPACE}/a", json=body, headers={"content-type": change})
        return found.status_code, found.headers.get("warning")

    warned = '299 - "spec.small: Invalid value: 10: failed rule: self < 10"'
    assert patched({"growing": 6}) == (200, warned)
    assert patched({"small": 11}) == (422, None)
    assert patched({"growing": 5}) == (422, warned)
    assert patched({"small": 1}) == (200, None)


def test_hooks_keep_to_rules(serve):
    def grow(request: AdmissionRequest):
        request.object["spec"]["small"] = 10

    class Growing:
        create = update = staticmethod(grow)

    placed = AdmissionRule(
        type="Rule", version=ApiVersion.parse("v1"), use="rules:Growing", where="trundle.yaml:9"
    )
    code, said = serve(AdmissionHook(placed, Growing())).call("POST", NAMESPACE, rule({}))
    assert code == 500
    assert "spec.small: Invalid value: 10: failed rule: self < 10" in said["message"]


@pytest.fixture(scope="module")
def create(tmp_path_factory):
    """Creates an object of a type whose rules no API server takes; the status, what is said, and the warning."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    properties = {
        "open": {**numbers, **ruled("self.all(x, self.exists_one(y, x == y))")},
        "nested": {"type": "string", **ruled("self.find('(a+)+$') == ''")},
        "unknown": {**numbers, **ruled("self.unheard(1) == 0")},
        "misspelt": {**numbers, **ruled("self.al(x, x > 0)")},
    }
    found = copy.deepcopy(CRD)
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    for each in found["spec"]["versions"]:
        each["schema"] = {"openAPIV3Schema": schema}
    with installer(tmp_path_factory.mktemp("odd")) as install:
        made = install({"rules.json": found}, config={"kubernetes": {"group": GROUP}})
        with Store(tmp_path_factory.mktemp("store") / "store.db", made.scheme) as store:
            client = Client(Api(store, served_kinds([made.project], made.scheme), "0.0.0"))

            def create(spec):
                answer = client.http.post(f"{NAMESPACE}?dryRun=All", json=rule(spec))
                return answer.status_code, answer.text, answer.headers.get("warning", "")

            yield create


def test_a_rule_does_not_hold_the_server_for_long(create):
    assert create({"open": [*range(99)]})[0] == 201
    code, said, _ = create({"open": [*range(100)]})
    assert code == 422
    assert "more values to go through than a rule may have" in said
    assert create({"nested": "a" * 10_000 + "!"})[0] == 201


@pytest.mark.parametrize(("name", "what"), [("unknown", "unheard"), ("misspelt", "al")])
def test_a_rule_that_cannot_be_read_is_said_to_each_who_writes_by_it(create, name, what):
    code, _, warning = create({name: [1, 2]})
    assert code == 201
    assert f"spec.{name}: the rule is not evaluated, as this server cannot read it" in warning
    assert what in warning
    assert create({"open": [1]})[2] == ""
