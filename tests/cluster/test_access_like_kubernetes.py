"""The same users and rules given to Kubernetes' API server and to `trundle serve`: both answer alike."""

import json
import os
import shlex
import shutil
import subprocess

import judging
import pytest
import yaml
from access import RULES, written
from apis import CONFIG, GROUP, SCHEMAS
from authorities import Authority
from clusters import until
from projects import Installer
from served import Served

pytestmark = pytest.mark.cluster

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"members.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "members", "singular": "member", "kind": "Member"},
        "versions": [
            {
                "name": "v2",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
WITHOUT_PAGE = "".join(
    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"
    f"metadata: {{name: '{each}'}}\nsubjects: []\n"
    f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: '{each}'}}\n"
    for each in ("trundle:page", "trundle:sign-in")
)
"""Bindings in place of those that let users see the page, which Kubernetes does not have."""
ONE_ONLY = f"""\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: one-only, namespace: default}}
rules:
- {{apiGroups: [{GROUP}], resources: [members], verbs: [list], resourceNames: [ada]}}
- {{apiGroups: [{GROUP}], resources: [members], verbs: [patch, update]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: ann-lists-one, namespace: default}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: one-only}}
subjects:
- {{kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}}
"""
"""Ann may list one object, which a request names by its parameters, and change all of them, but create none."""
REVIEW = {"name": "SelfSubjectAccessReview", "plural": "selfsubjectaccessreviews"}
ALL = f"/apis/{GROUP}/v2/members"
SOME = f"/apis/{GROUP}/v2/namespaces/default/members"
OTHER = f"/apis/{GROUP}/v2/namespaces/other/members"
USERS = ("ann", "ben", "nobody", "unknown")
"""`nobody` brings no token, `unknown` a wrong one."""

REQUESTS = [
    ("GET", ALL),
    ("GET", SOME),
    ("GET", f"{SOME}?watch=true&timeoutSeconds=1"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dbob"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3D%3Dada,metadata.namespace!%3Dx"),
    ("GET", f"{SOME}?watch=true&fieldSelector=metadata.name%3Dada&timeoutSeconds=1"),
    # Of a parameter that is given again, one counts; and it has to be the same one for the rules and for the answer.
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dbob&fieldSelector=metadata.name%3Dada"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada&fieldSelector=metadata.name%3Dbob"),
    ("GET", f"{SOME}?watch=false&watch=true&fieldSelector=metadata.name%3Dada"),
    ("GET", f"{SOME}?watch=true&watch=false&fieldSelector=metadata.name%3Dada&timeoutSeconds=1"),
    # So does what a comma parts, and one behind a backslash does not.
    (
        "GET",
        f"{SOME}?fieldSelector=metadata.namespace!%3Dx%5C,metadata.name%3Dada,metadata.name%3Dbob",
    ),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada,metadata.name%3Dbob"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dad%5Ca"),
    ("GET", f"{SOME}?fieldSelector=%20metadata.name%3Dada"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada%20"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada,,"),
    ("GET", f"{SOME}?fieldSelector=metadata.name"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada&watch=maybe&timeoutSeconds=1"),
    ("GET", f"{SOME}?fieldSelector=metadata.name%3Dada;watch=true"),
    ("GET", f"{SOME}?FieldSelector=metadata.name%3Dada"),
    ("DELETE", f"{SOME}?fieldSelector=metadata.name%3Dada"),
    ("GET", f"{SOME}/missing"),
    ("GET", f"{SOME}/missing/status"),
    ("PUT", f"{SOME}/missing/status"),
    ("GET", f"{OTHER}/missing"),
    ("POST", OTHER),
    ("PATCH", f"{OTHER}/a"),
    ("DELETE", f"{SOME}/ada"),
    ("DELETE", f"{SOME}/bob"),
    ("DELETE", SOME),
    ("DELETE", f"{SOME}/%3Ca%26b%3E"),
    ("GET", "/"),
    ("GET", "/logs/a"),
    ("POST", "/nothing"),
    ("GET", "/version"),
    ("GET", f"/apis/{GROUP}"),
    ("GET", f"/apis/{GROUP}/v2"),
    ("GET", "/apis/nothing.example.com/v1/things"),
    ("GET", "/livez"),
]
ASKED = [
    {"verb": "get", "group": GROUP, "resource": "members", "namespace": "default"},
    {"verb": "get", "group": GROUP, "resource": "members"},
    {"verb": "delete", "group": GROUP, "resource": "members", "namespace": "default"},
    {
        "verb": "delete",
        "group": GROUP,
        "resource": "members",
        "namespace": "default",
        "name": "ada",
    },
    {
        "verb": "get",
        "group": GROUP,
        "resource": "members",
        "subresource": "status",
        "namespace": "default",
    },
    {
        "verb": "update",
        "group": GROUP,
        "resource": "members",
        "subresource": "status",
        "namespace": "default",
    },
    {"verb": "impersonate", "resource": "users", "name": "zoe"},
    {"verb": "impersonate", "resource": "users", "name": "kim"},
    {"verb": "*", "group": "*", "resource": "*"},
]


class Pair:
    """Sends a request to both servers."""

    def __init__(self, cluster, ours):
        self.cluster, self.ours = cluster, ours

    def theirs(self):
        """A client of Kubernetes' server."""
        return Served.elsewhere(self.cluster.url, self.cluster.authority, None)

    def __call__(self, user, method, path, body=None, headers=None):
        given = {**(headers or {})}
        if user == "unknown":
            given["authorization"] = "Bearer wrong"
        elif user != "nobody":
            given["authorization"] = f"Bearer {self.cluster.tokens[user]}"
        return self.theirs().ask(method, path, body, headers=given), self.ours.ask(
            method, path, body, headers=given
        )


@pytest.fixture(scope="module")
def pair(cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    project = Installer(folder)(SCHEMAS, config=CONFIG).project.folder
    groups = "writers,staff"
    tokens = "".join(
        f"{token},{user},{user}{f',{chr(34)}{groups}{chr(34)}' if user == 'ben' else ''}\n"
        for user, token in cluster.tokens.items()
    )
    # The tokens of the cluster have no groups: its rules name the user where Trundle's name the group.
    rules = RULES.replace("kind: Group, name: writers", "kind: User, name: ben")
    rules = rules.replace("kind: Group, name: staff", "kind: User, name: ben")
    tokens = tokens.replace(f',"{groups}"', "")
    rules += ONE_ONLY
    cluster.define(CRD)
    cluster.kubectl("apply", "-f", "-", text=rules)
    # kubectl sends no token without TLS.
    authority = Authority(folder)
    pair = authority.server("server")
    options = *written(folder, tokens, rules + WITHOUT_PAGE), "--tls", f"{pair},{pair}"
    ours = Served(shutil.copytree(project, folder / "copy"), *options)
    ours.authority = authority.certificate
    found = Pair(cluster, ours)
    until(lambda: found("ben", "GET", SOME)[0].status == 200)
    until(lambda: found("ben", "POST", SOME, {})[0].status != 403)
    yield found
    ours.kill()
    for each in yaml.safe_load_all(rules):
        where = each["metadata"].get("namespace", "default")
        cluster.kubectl("delete", each["kind"], each["metadata"]["name"], "-n", where)
    cluster.undefine(f"members.{GROUP}")


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_who_may_not_is_answered_word_for_word(pair, method, path):
    for user in USERS:
        theirs, ours = pair(user, method, path)
        refused = {401, 403}
        assert (theirs.status in refused) is (ours.status in refused), (user, theirs, ours)
        if theirs.status in refused:
            assert ours.body == theirs.body, user
            assert ours.status == theirs.status


@pytest.mark.parametrize("asked", ASKED, ids=lambda each: " ".join(each.values()))
def test_reviews_of_access_say_the_same(pair, asked):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    for user in USERS:
        theirs, ours = pair(user, "POST", path, {"spec": {"resourceAttributes": asked}})
        assert ours.status == theirs.status, (user, theirs, ours)
        if ours.status < 300:
            assert ours.body["status"] == theirs.body["status"], user
            assert ours.body["spec"] == theirs.body["spec"]
            assert (ours.body["kind"], ours.body["apiVersion"]) == (
                theirs.body["kind"],
                theirs.body["apiVersion"],
            )
        else:
            assert ours.body == theirs.body


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {
            "resourceAttributes": {"verb": "get"},
            "nonResourceAttributes": {"path": "/x", "verb": "get"},
        },
    ],
)
def test_reviews_that_ask_for_nothing_or_two_things_are_refused_alike(pair, spec):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    theirs, ours = pair("ann", "POST", path, {"spec": spec})
    assert (ours.status, ours.body["reason"]) == (theirs.status, theirs.body["reason"])
    assert [x["field"] for x in ours.body["details"]["causes"]] == [
        x["field"] for x in theirs.body["details"]["causes"]
    ]


def test_reviews_of_rules_list_the_same(pair):
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    for user in ("ann", "ben"):
        for namespace in ("default", "other"):
            theirs, ours = pair(user, "POST", path, {"spec": {"namespace": namespace}})
            for kind in ("resourceRules", "nonResourceRules"):
                found = [
                    sorted(map(str, map(_ordered, x.ok()["status"][kind]))) for x in (theirs, ours)
                ]
                assert found[1] == found[0]
            assert ours.body["status"]["incomplete"] == theirs.body["status"]["incomplete"]
    theirs, ours = pair("ann", "POST", path, {"spec": {}})
    assert ours.body == theirs.body


def _ordered(rule):
    """A rule whose texts are in one order: Kubernetes sorts those of its own roles."""
    return sorted((key, sorted(values)) for key, values in rule.items())


def test_reviews_of_oneself_say_the_same(pair):
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for user in USERS:
        theirs, ours = pair(user, "POST", path, {})
        assert ours.status == theirs.status
        if ours.status < 300:
            assert ours.body["status"] == theirs.body["status"]
        else:
            assert ours.body == theirs.body


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"impersonate-user": "zoe"}, 201),
        ({"impersonate-user": "zoe", "impersonate-group": "writers"}, 201),
        ({"impersonate-user": "zoe", "impersonate-group": "system:masters"}, 403),
        ({"impersonate-user": "kim"}, 403),
        ({"impersonate-user": "system:anonymous"}, 403),
        ({"impersonate-user": "system:serviceaccount:default:sam"}, 403),
        ({"impersonate-user": "zoe", "impersonate-uid": "1"}, 403),
        ({"impersonate-user": "zoe", "impersonate-extra-a": "1"}, 403),
        ({"impersonate-group": "writers"}, 400),
    ],
)
def test_users_act_as_others_alike(pair, headers, code):
    # Where it is refused, Kubernetes 1.36 names a verb of its constrained impersonation, which is not here.
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    theirs, ours = pair("ben", "POST", path, {}, headers)
    assert (theirs.status, ours.status) == (code, code)
    if code < 300:
        assert ours.body["status"] == theirs.body["status"]
    else:
        assert ours.body["reason"] == theirs.body["reason"]


KUBECTL = [
    "auth can-i get members",
    "auth can-i list members -A",
    "auth can-i create members",
    "auth can-i create members -n other",
    "auth can-i delete members/ada",
    "auth can-i delete member/bob",
    "auth can-i get members --subresource=status",
    "auth can-i update members --subresource=status",
    f"auth can-i get members.{GROUP}",
    f"auth can-i get members.v2.{GROUP}",
    "auth can-i '*' '*'",
    "auth can-i get /logs/a",
    "auth can-i get /version",
    "auth can-i impersonate users/zoe",
    "auth can-i get nothing",
    "auth can-i delete members -q",
    "auth can-i --list",
    "auth can-i --list -n other",
    "auth can-i --list --no-headers",
    "auth can-i get members --as zoe",
    "auth can-i get members --as zoe --as-group writers",
    "auth can-i --list --as zoe --as-group writers",
    "auth whoami -o json",
    "auth whoami -o json --as zoe --as-group writers",
    "get members",
    "get members -A",
    "get members bob",
    "get members --as zoe",
    "get members --as zoe --as-group writers",
    "create -f bob.yaml",
    "create -f bob.yaml --as zoe",
    "label member bob a=b",
    "delete member bob",
    "delete member bob --as zoe --as-group writers",
    "patch member bob --type merge -p {} --subresource=status",
]
"""Commands that show who may do what, alone and as others; `kubectl` asks in ways of its own."""


@pytest.fixture(scope="module")
def kubectl(pair, cluster, tmp_path_factory):
    """Runs a command of a user on both servers; what each shows."""

    def server(name, client):
        folder = tmp_path_factory.mktemp(name)
        document = {"apiVersion": f"{GROUP}/v2", "kind": "Member", "metadata": {"name": "bob"}}
        (folder / "bob.yaml").write_text(json.dumps({**document, "group": "red"}))
        for user in ("ann", "ben"):
            (folder / user).write_text(json.dumps(config(client, cluster.tokens[user])))
        return folder

    def config(client, token):
        authority = {"certificate-authority": str(client.authority)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": client.url, **authority}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }

    theirs = pair.theirs()
    folders = [server("theirs", theirs), server("ours", pair.ours)]

    def run(user, command):
        found = []
        for folder in folders:
            done = subprocess.run(
                [cluster.programs / "kubectl", f"--kubeconfig={folder / user}", *shlex.split(command)],
                cwd=folder, text=True, capture_output=True, timeout=120, check=False,
                env={**os.environ, "HOME": str(folder)},
            )  # fmt: skip
            found.append(judging.plain(f"{done.returncode}\n{done.stdout}{done.stderr}"))
        return found

    return run


@pytest.mark.parametrize("command", KUBECTL)
@pytest.mark.parametrize("user", ["ann", "ben"])
def test_kubectl_shows_the_same_access(kubectl, user, command):
    theirs, ours = kubectl(user, command)
    if (
        "cannot impersonate-on:" in theirs
    ):  # A verb of constrained impersonation, which is not here.
        theirs = theirs.partition("Forbidden): ")[0]
        ours, _, refused = ours.partition("Forbidden): ")
        assert refused.startswith(f'users "zoe" is forbidden: User "{user}" cannot impersonate')
    assert ours == theirs


@pytest.mark.parametrize("dry", ["", "&dryRun=All"])
def test_who_may_not_create_applies_what_is_there_alone(pair, dry):
    apply = {"content-type": "application/apply-patch+yaml"}
    document = {"apiVersion": f"{GROUP}/v2", "kind": "Member", "metadata": {"name": "ada"}}
    body, path = {**document, "group": "red"}, f"{SOME}/ada?fieldManager=tests{dry}"
    for wrong in (body, {**document, "metadata": {"name": "else"}}, {}):
        theirs, ours = pair("ann", "PATCH", path, wrong, headers=apply)
        assert (ours.status, ours.body["reason"]) == (theirs.status, theirs.body["reason"])
        if theirs.status == 403:
            assert ours.body == theirs.body
    theirs, ours = pair("ann", "PUT", path, {**body, "metadata": {"name": "ada"}})
    assert (ours.status, theirs.status) == (404, 404)
    assert [
        x.status for x in pair("ben", "PATCH", f"{SOME}/ada?fieldManager=ben", body, headers=apply)
    ] == [201, 201]
    assert [x.status for x in pair("ann", "PATCH", path, body, headers=apply)] == [200, 200]
    for each in pair("ben", "DELETE", f"{SOME}/ada"):
        assert each.status == 200
