"""Reviews: who one is, whose a token is, and who may do what. Rules say who may ask; without access control all is allowed."""

import pytest
from access import written
from apis import GROUP, Client
from starlette.testclient import TestClient

from trundle.api import Api, served_kinds
from trundle.api.access import Access, Guard
from trundle.store import Store

AUTHORIZATION, AUTHENTICATION = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
OWN = f"{AUTHORIZATION}/selfsubjectaccessreviews"
OF_USERS = f"{AUTHORIZATION}/subjectaccessreviews"
LOCAL = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
OF_RULES = f"{AUTHORIZATION}/selfsubjectrulesreviews"
ONESELF = f"{AUTHENTICATION}/selfsubjectreviews"
TOKENS = f"{AUTHENTICATION}/tokenreviews"
READ = {"verb": "get", "group": GROUP, "resource": "members", "namespace": "default"}
ABOUT = {"resourceAttributes": READ}
MORE = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ann-asks}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects:
- {kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}
"""


@pytest.fixture
def secured(installed, tmp_path):
    """A client of a server with users and rules: gives what a user is answered."""
    _, tokens, _, rules = written(tmp_path)
    rules.write_text(rules.read_text() + MORE)
    access = Access(tokens, rules)
    with Store(tmp_path / "store.db", installed.scheme) as store:
        kinds = served_kinds([installed.project], installed.scheme)
        api = Api(store, kinds, "0", access=access)
        http = TestClient(Guard(api.application, access))

        def ask(user, path, body):
            headers = {"authorization": f"Bearer {user}-token"}
            if isinstance(body, bytes):
                headers["content-type"] = "application/vnd.kubernetes.protobuf"
                found = http.post(path, content=body, headers=headers)
            else:
                found = http.post(path, json=body, headers=headers)
            return found.status_code, found.json()

        yield ask


def status(answer):
    code, body = answer
    assert code == 201, body
    return body["status"]


def test_rules_say_what_others_may_do(secured):
    for subject, allowed in (
        ({"user": "ben"}, False),
        ({"user": "ben", "groups": ["writers"]}, True),
        ({"groups": ["writers"]}, True),
        ({"user": "x", "groups": ["system:masters"]}, True),
        ({"user": "ann"}, False),
    ):
        found = status(secured("ann", OF_USERS, {"spec": {**ABOUT, **subject}}))
        assert found["allowed"] is allowed, subject
    found = status(secured("ann", OF_USERS, {"spec": {**ABOUT, "groups": ["writers"]}}))
    assert found["reason"].startswith('RBAC: allowed by ClusterRoleBinding "writers-read"')
    path = {"nonResourceAttributes": {"path": "/logs/a", "verb": "get"}, "groups": ["staff"]}
    assert status(secured("ann", OF_USERS, {"spec": path}))["allowed"]


def test_rules_say_who_may_ask(secured):
    body = {"spec": {**ABOUT, "user": "ann"}}
    for user, codes in (
        ("ben", [403, 403, 403]),
        ("ann", [201, 403, 201]),
        ("root", [201, 201, 201]),
    ):
        spec = {"spec": {"token": "x"}}
        asked = ((OF_USERS, body), (LOCAL, body), (TOKENS, spec))
        assert [secured(user, path, each)[0] for path, each in asked] == codes, user
    assert secured("ben", OWN, {"spec": ABOUT})[0] == 201


def test_a_token_is_of_its_user(secured):
    found = status(secured("ann", TOKENS, {"spec": {"token": "ben-token"}}))
    assert found == {
        "authenticated": True,
        "user": {
            "username": "ben",
            "uid": "u2",
            "groups": ["writers", "staff", "system:authenticated"],
        },
    }
    unknown = {"user": {}, "error": "invalid bearer token"}
    for spec in ({"token": "x"}, {"token": "ben-token", "audiences": ["another"]}):
        assert status(secured("ann", TOKENS, {"spec": spec})) == unknown
    code, body = secured("ann", TOKENS, {"spec": {}})
    assert (code, body["message"]) == (400, "token is required for TokenReview in authentication")


@pytest.mark.parametrize(
    ("path", "body", "wrong"),
    [
        (OF_USERS, {"spec": ABOUT}, ["spec.user"]),
        (OF_USERS, {"spec": {"user": "x"}}, ["spec.resourceAttributes"]),
        (OWN, {}, ["spec.resourceAttributes"]),
        (OWN, {"spec": {**ABOUT, "nonResourceAttributes": {}}}, ["spec.nonResourceAttributes"]),
        (OWN, {"spec": ABOUT, "metadata": {"name": "x"}}, ["metadata"]),
        (OWN, {"spec": {"resourceAttributes": {"verb": 1}}}, ["spec.resourceAttributes.verb"]),
        (
            LOCAL,
            {"spec": {"resourceAttributes": {**READ, "namespace": "x"}, "user": "x"}},
            ["spec.resourceAttributes.namespace"],
        ),
        (
            LOCAL,
            {"spec": {"nonResourceAttributes": {"path": "/x"}, "user": "x"}},
            ["spec.nonResourceAttributes"],
        ),
    ],
)
def test_questions_without_sense_are_refused(secured, path, body, wrong):
    code, found = secured("root", path, body)
    assert (code, [each["field"] for each in found["details"]["causes"]]) == (422, wrong)


def test_selectors_change_no_answer(secured):
    term = {"key": "a", "operator": "In", "values": ["b"]}
    for selectors, ignored in (
        ({"labelSelector": {"rawSelector": "a=b"}}, ""),
        ({"fieldSelector": {"requirements": [term]}}, ""),
        ({"labelSelector": {"rawSelector": "a b"}}, "labelSelector ignored"),
        (
            {"fieldSelector": {"requirements": [term, {**term, "operator": "Sees"}]}},
            "fieldSelector partially ignored",
        ),
    ):
        spec = {"resourceAttributes": {**READ, **selectors}, "groups": ["writers"]}
        found = status(secured("ann", OF_USERS, {"spec": spec}))
        assert found["allowed"]
        assert ignored in found.get("evaluationError", "")
        assert ("evaluationError" in found) is bool(ignored)


def test_without_access_control_all_is_allowed(client):
    for path, spec in ((OWN, ABOUT), (OF_USERS, {**ABOUT, "user": "x"})):
        assert status(client.call("POST", path, {"spec": spec})) == {"allowed": True}
    found = status(client.call("POST", TOKENS, {"spec": {"token": "x"}}))
    assert found == {"user": {}, "error": "invalid bearer token"}
    found = status(client.call("POST", ONESELF, {}))
    assert found["userInfo"]["username"] == "system:unsecured"
    assert status(client.call("POST", OF_RULES, {"spec": {"namespace": "default"}}))[
        "resourceRules"
    ]


def test_nothing_is_stored_of_a_review(client):
    for path in (OWN, OF_USERS, TOKENS):
        assert client.call("POST", path, {"spec": {**ABOUT, "user": "x", "token": "x"}})[0] == 201
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            assert client.call(method, path)[0] == 405
            assert client.call(method, f"{path}/x")[0] == 404
    assert client.call("GET", AUTHORIZATION + "/localsubjectaccessreviews")[0] == 404


def test_unknown_fields_are_refused_where_a_client_asks_for_it(client):
    body = {"spec": {**ABOUT, "colour": "red"}}
    assert client.call("POST", OWN, body)[0] == 201
    code, found = client.call("POST", OWN, body, fieldValidation="Strict")
    assert code == 400
    assert 'unknown field "spec.colour"' in found["message"]


def test_a_namespace_goes_while_reviews_are_served(client: Client, api: Api):
    """What is only answered has no objects that a namespace could have."""
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": "red"}})
    client.call("DELETE", "/api/v1/namespaces/red")
    api.controllers.settle()
    assert client.call("GET", "/api/v1/namespaces/red")[0] == 404


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/apis/authorization.k8s.io/v1"])
def test_openapi_describes_them(client, path):
    document = client.call("GET", path)[1]
    schemas = document.get("definitions") or document["components"]["schemas"]
    found = schemas["io.k8s.api.authorization.v1.SelfSubjectAccessReview"]
    assert set(found["properties"]) == {"apiVersion", "kind", "metadata", "spec", "status"}
    assert not [each for each in schemas if each.endswith("ReviewList")]
    assert set(document["paths"][OWN]) - {"parameters"} == {"post"}


def test_fields_of_later_clients_are_passed_over_in_protobuf(secured):
    """`kubectl` sends reviews in protobuf, and API servers pass over fields that they do not know."""

    def field(number, content):
        content = content.encode() if isinstance(content, str) else content
        return bytes([number << 3 | 2, len(content)]) + content

    head = field(1, field(1, "authorization.k8s.io/v1") + field(2, "SelfSubjectAccessReview"))
    asked = field(2, "delete") + field(3, GROUP) + field(5, "members") + field(15, "new")
    spec = field(1, asked + b"\x60\x01") + field(9, "new") + b"\x50\x01"
    for user, allowed in (("root", True), ("ben", False)):
        body = b"k8s\0" + head + field(2, field(2, spec) + field(7, "new"))
        found = status(secured(user, OWN, body))
        assert found["allowed"] is allowed
