"""What requests do, and which of it rules allow."""

import tracemalloc

import asgi
import pytest
from access import RULES, TOKENS
from apis import GROUP

from trundle.api.access import (
    Access,
    AccessFileError,
    Attributes,
    Decision,
    Guard,
    User,
    attributes_of,
    read_rules,
    read_tokens,
)

BASE = f"/apis/{GROUP}/v1"


@pytest.mark.parametrize(
    ("method", "path", "query", "expected"),
    [
        ("GET", "/apis", b"", ("get", "/apis")),
        ("GET", f"/apis/{GROUP}/v1", b"", ("get", f"/apis/{GROUP}/v1")),
        ("POST", "/convert", b"", ("post", "/convert")),
        ("GET", f"{BASE}/members", b"", ("list", "members", "", "")),
        ("HEAD", f"{BASE}/members/", b"", ("list", "members", "", "")),
        ("GET", f"{BASE}/members", b"watch=1", ("watch", "members", "", "")),
        ("GET", f"{BASE}/members", b"watch=false", ("list", "members", "", "")),
        (
            "GET",
            f"{BASE}/members",
            b"fieldSelector=a%3Db,metadata.name%3D%3Dx",
            ("list", "members", "", "x"),
        ),
        (
            "GET",
            f"{BASE}/members",
            b"fieldSelector=metadata.name!%3Dx",
            ("list", "members", "", ""),
        ),
        # What the answer is about, where parameters are given again or commas are escaped.
        ("GET", f"{BASE}/members", b"watch=0&watch=1", ("list", "members", "", "")),
        ("GET", f"{BASE}/members", b"watch=1&watch=0", ("watch", "members", "", "")),
        (
            "GET",
            f"{BASE}/members",
            b"fieldSelector=metadata.name=x&fieldSelector=metadata.name=y",
            ("list", "members", "", "x"),
        ),
        (
            "GET",
            f"{BASE}/members",
            b"fieldSelector=metadata.namespace!=a%5C,metadata.name=x,metadata.name=y",
            ("list", "members", "", ""),
        ),
        ("GET", f"{BASE}/namespaces/a/members/b", b"", ("get", "members", "a", "b")),
        ("GET", f"{BASE}/watch/members", b"", ("watch", "members", "", "")),
        ("GET", f"{BASE}/watch/namespaces/a/members", b"", ("watch", "members", "a", "")),
        ("GET", f"{BASE}/watch/namespaces/a/members/b", b"", ("watch", "members", "a", "b")),
        ("GET", "/api/v1/watch/namespaces/a", b"", ("watch", "namespaces", "a", "a")),
        ("GET", f"{BASE}/watch", b"", ("list", "watch", "", "")),
        (
            "PUT",
            f"{BASE}/namespaces/a/members/b/status",
            b"",
            ("update", "members/status", "a", "b"),
        ),
        ("DELETE", f"{BASE}/namespaces/a/members", b"", ("deletecollection", "members", "a", "")),
        ("DELETE", "/api/v1/namespaces/a", b"", ("delete", "namespaces", "a", "a")),
        ("PUT", "/api/v1/namespaces/a/status", b"", ("update", "namespaces/status", "a", "a")),
        ("PATCH", f"{BASE}/namespaces/a/members/b", b"", ("patch", "members", "a", "b")),
        ("BREW", f"{BASE}/members", b"", ("", "members", "", "")),
        ("GET", "/v1/tenants/acme/packages", b"", ("list", "packages", "acme", "")),
        (
            "GET",
            "/v1/tenants/acme/packages/a/versions/b",
            b"",
            ("get", "packages", "acme", "a/versions/b"),
        ),
        (
            "GET",
            "/v2/tenants/acme/packages/a/versions/1/content",
            b"",
            ("get", "packages/content", "acme", "a"),
        ),
        ("POST", "/v2/tenants/acme/packages", b"", ("create", "packages", "acme", "")),
        ("GET", "/v1/tenants/acme/packages/a/b", b"", ("get", "packages", "acme", "a/b")),
        (
            "GET",
            "/v2/tenants/acme/packages/a/b/versions/1.0.0/content",
            b"",
            ("get", "packages/content", "acme", "a/b"),
        ),
        ("GET", "/v1/tenants/acme/channels", b"", ("list", "channels", "acme", "")),
        ("GET", "/v2/tenants/acme/channels/a/b/beta", b"", ("get", "channels", "acme", "a/b/beta")),
        (
            "GET",
            "/v2/tenants/acme/channels/a/b/beta/files/1.root.json",
            b"",
            ("get", "channels/files", "acme", "a/b/beta"),
        ),
        (
            "HEAD",
            "/v1/tenants/acme/channels/a/stable/files/all",
            b"",
            ("get", "channels/files", "acme", "a/stable"),
        ),
        (
            "GET",
            "/v1/tenants/acme/channels/a/b/files/beta",
            b"",
            ("get", "channels", "acme", "a/b/files/beta"),
        ),
        ("POST", "/v1/tenants/acme/actions", b"", ("create", "actions", "acme", "")),
        ("GET", "/v1/tenants/acme/places", b"", ("list", "places", "acme", "")),
        ("GET", "/v2/tenants/acme/environments", b"", ("list", "environments", "acme", "")),
        ("DELETE", "/v2/tenants/acme/environments/e", b"", ("delete", "environments", "acme", "e")),
        (
            "GET",
            "/v1/tenants/acme/environments/e/actions/3/log",
            b"",
            ("get", "environments/actions", "acme", "e"),
        ),
        (
            "POST",
            "/v2/tenants/acme/environments/e/drafts/d/applications",
            b"",
            ("update", "environments/drafts", "acme", "e"),
        ),
        (
            "POST",
            "/v1/tenants/acme/environments/e/form",
            b"",
            ("update", "environments/drafts", "acme", "e"),
        ),
        (
            "POST",
            "/v2/tenants/acme/environments/e/deploy",
            b"",
            ("create", "environments/deploy", "acme", "e"),
        ),
        ("GET", "/v3/tenants/acme/packages", b"", ("get", "/v3/tenants/acme/packages")),
    ],
)
def test_a_request_is_a_verb_on_a_resource_or_a_path(method, path, query, expected):
    found = attributes_of(method, path, query)
    shown = (
        (found.verb, found.combined, found.namespace, found.name)
        if found.is_resource
        else (found.verb, found.path)
    )
    assert shown == expected


@pytest.fixture
def rules(tmp_path):
    (tmp_path / "rules.yaml").write_text(RULES)
    return read_rules(tmp_path / "rules.yaml")


def on(verb, resource="members", namespace="default", name="", version="v1", subresource=""):
    return Attributes(verb, "", True, GROUP, version, resource, subresource, namespace, name)


def test_a_rule_may_be_about_some_versions_only(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(
        f"""\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: old}}
rules: [{{apiGroups: [{GROUP}], resources: [members], verbs: ["*"], apiVersions: [v1]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: old}}
roleRef: {{kind: ClusterRole, name: old}}
subjects: [{{kind: User, name: ann}}]
"""
    )
    found = read_rules(path)
    ann = User("ann")
    assert found.decide(ann, on("get", version="v1")).allowed
    assert not found.decide(ann, on("get", version="v2")).allowed
    assert not found.decide(ann, on("get", version="*")).allowed, "all versions are asked for"
    assert found.of(ann, "default")[0][-1].to_plain()["apiVersions"] == ["v1"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 200),
        ("versions=", 200),
        ("versions=v1", 200),
        ("versions=v1,v2", 403),
        ("versions=v2", 403),
        ("%76ersions=v2", 403),
        ("dryRun=All&versions=v2", 403),
        ("versions=v2&versions=v1", 403),
        ("versions=v1&versions=v2", 200),
        ("Versions=v2", 200),
    ],
)
def test_an_answer_at_another_version_needs_the_right_to_it(tmp_path, query, status):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(
        RULES.replace("verbs: [get, list, watch]", "verbs: [get, list, watch], apiVersions: [v1]")
    )
    seen = []

    async def answering(scope, receive, send):
        seen.append(scope["query_string"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    guard = Guard(answering, Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml"))
    path = f"{BASE}/namespaces/default/members/ada?{query}"
    answer = asgi.call(guard, "GET", path, headers={"authorization": "Bearer ben-token"})
    assert (answer.status, len(seen)) == (status, 1 if status == 200 else 0)
    if status != 200:
        assert '`versions` names v2"' in answer.text


@pytest.mark.parametrize(("number", "status"), [(200, 200), (100_000, 400)])
def test_a_request_asks_the_rules_about_as_many_versions_as_there_can_be(number, status):
    """Each of them was asked about, of a cluster by a request, however many a client made up."""
    asked = []

    class Counting:
        def user(self, _scope):
            return User("ann")

        def decide(self, _user, about):
            asked.append(about.version)
            return Decision(allowed=True)

        at_once = property(lambda self: self)

    async def answering(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    versions = ",".join(f"v{each}" for each in range(1, number + 1))
    path = f"{BASE}/namespaces/default/members/ada?versions={versions},{versions}"
    answer = asgi.call(Guard(answering, Counting()), "GET", path)
    assert (answer.status, len(asked)) == (status, number if status == 200 else 0)


def test_what_long_requests_do_is_not_remembered():
    """Clients that the server does not know could fill its memory with made-up parameters, up to gigabytes."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(20):
            attributes_of("GET", f"{BASE}/members", b"x%d=" % number + bytes(500_000))
            attributes_of("GET", f"{BASE}/members/{number}{'a' * 500_000}")
        assert tracemalloc.get_traced_memory()[0] - before < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("method", "type_", "verbs", "said"),
    [
        ("PATCH", "application/apply-patch+yaml", "[patch]", 'User "ben" cannot create'),
        ("PATCH", "Application/Apply-Patch+YAML; charset=utf-8", "[patch]", "cannot create"),
        ("PATCH", "application/apply-patch+yaml", "[create, patch]", None),
        ("PATCH", "application/merge-patch+json", "[patch]", None),
        ("PUT", "application/apply-patch+yaml", "[update]", None),
    ],
)
def test_to_apply_what_is_not_there_needs_the_right_to_create(tmp_path, method, type_, verbs, said):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text(RULES.replace("[create, update, patch]", verbs))
    seen = []

    async def answering(scope, receive, send):
        seen.append(scope.get("creation_refusal"))
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(answering, Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml"))
    headers = {"authorization": "Bearer ben-token", "content-type": type_}
    asgi.call(guard, method, f"{BASE}/namespaces/default/members/eve", headers=headers)
    (found,) = seen
    assert found is None if said is None else said in found.status["message"]


def test_a_binding_of_a_namespace_counts_there_only(rules):
    ben = User("ben")
    assert rules.decide(ben, on("create")).allowed
    assert not rules.decide(ben, on("create", namespace="other")).allowed
    assert not rules.decide(ben, on("create", namespace="")).allowed


def test_a_role_that_is_missing_is_the_reason(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\n"
        "roleRef: {kind: ClusterRole, name: gone}\nsubjects: [{kind: User, name: ann}]\n"
    )
    decision = read_rules(path).decide(User("ann"), on("get"))
    assert decision.reason == 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: Role\n", "kind: Roll\n", "did you mean Role?"),
        ("verbs: [get, list, watch]", "verb: [get]", "the key verbs in a rule"),
        ("verbs: [get, list, watch]", "verbs: get", "expected a list of texts as verbs"),
        ("namespace: default}", "}", "the key namespace in metadata"),
        ("rbac.authorization.k8s.io/v1\n", "rbac.authorization.k8s.io/v2\n", "the API version"),
        ('"/logs/*"', '"/*/logs"', "`*` at the end of a path"),
        ("resources: [members], verbs: [create", "verbs: [create", "the key resources in a rule"),
        ("kind: Group, name: writers", "kind: Grup, name: writers", "did you mean Group?"),
        ("kind: Role, name: writer", "kind: Roles, name: writer", "did you mean Role?"),
        ("metadata: {name: acting}", "metadata: {name: reader}", "each role once"),
        ("metadata: {name: staff-acts}", "metadata: {name: writers-read}", "each binding once"),
    ],
)
def test_rules_that_are_wrong_are_said_with_their_line(tmp_path, old, new, said):
    assert old in RULES
    path = tmp_path / "rules.yaml"
    path.write_text(RULES.replace(old, new, 1))
    with pytest.raises(AccessFileError) as caught:
        read_rules(path)
    assert said in str(caught.value)
    assert all(each.place.line for each in caught.value.findings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n", ":1: expected token,user,uid"),
        ("t,ann,u\nt,ben,u\n", ":2: expected each token once"),
        ("t,,u\n", "expected a user, found empty text"),
        (",ann,u\n", "expected a token, found empty text"),
        ('t,ann,u,"x\n', "correct the quotes"),
        (b"\xff,ann,u\n", "expected text in UTF-8"),
    ],
)
def test_tokens_that_are_wrong_are_said_with_their_line(tmp_path, text, said):
    path = tmp_path / "tokens.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(AccessFileError) as caught:
        read_tokens(path)
    assert said in str(caught.value)
    assert "t," not in str(caught.value), "a message shows no token"


def test_a_change_of_files_counts_at_once_and_a_wrong_one_does_not(tmp_path):
    tokens, said = tmp_path / "tokens.csv", []
    tokens.write_text(TOKENS)
    access = Access(tokens, complain=said.append)

    def user(token):
        headers = [(b"authorization", b"Bearer " + token)]
        return access.user({"type": "http", "headers": headers}).name

    assert user(b"ann-token") == "ann"
    tokens.write_text("other,zoe,u9\n")
    assert user(b"other") == "zoe"
    tokens.write_text("other\n")
    assert user(b"other") == "zoe"
    assert user(b"other") == "zoe"
    assert len(said) == 1
    assert "1 columns" in said[0]
    tokens.unlink()
    assert user(b"other") == "zoe"
    tokens.write_text(TOKENS)
    assert user(b"ann-token") == "ann"
