"""Reviews of users, tokens and access: Kubernetes' API server and ours take the same questions, and answer alike."""

import contextlib
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from access import RULES, written
from apis import CONFIG, GROUP, SCHEMAS
from authorities import Authority
from clusters import until
from kubernetes import client
from projects import Installer
from served import Served
from test_access_like_kubernetes import CRD, WITHOUT_PAGE, Pair

pytestmark = pytest.mark.cluster

AUTHORIZATION, AUTHENTICATION = "/apis/authorization.k8s.io/v1", "/apis/authentication.k8s.io/v1"
OWN = f"{AUTHORIZATION}/selfsubjectaccessreviews"
OF_USERS = f"{AUTHORIZATION}/subjectaccessreviews"
LOCAL = f"{AUTHORIZATION}/namespaces/default/localsubjectaccessreviews"
OF_RULES = f"{AUTHORIZATION}/selfsubjectrulesreviews"
ONESELF = f"{AUTHENTICATION}/selfsubjectreviews"
TOKENS = f"{AUTHENTICATION}/tokenreviews"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
ASKING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ben-asks}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects:
- {kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: asking, namespace: default}
rules:
- {apiGroups: [authorization.k8s.io], resources: [localsubjectaccessreviews], verbs: [create]}
- {apiGroups: ["", events.k8s.io], resources: [events], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ben-asks, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: asking}
subjects:
- {kind: User, name: ben, apiGroup: rbac.authorization.k8s.io}
---
"""
GET = {"verb": "get", "group": GROUP, "resource": "members", "namespace": "default"}
ABOUT = {"resourceAttributes": GET}
PATH = {"nonResourceAttributes": {"path": "/logs/a", "verb": "get"}}
ANN = {**ABOUT, "user": "ann"}


@pytest.fixture(scope="module")
def pair(cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    project = Installer(folder)(SCHEMAS, config=CONFIG).project.folder
    tokens = "".join(f"{token},{user},{user}\n" for user, token in cluster.tokens.items())
    rules = ASKING + RULES
    cluster.define(CRD)
    cluster.kubectl("apply", "-f", "-", text=rules)
    authority = Authority(folder)
    server = authority.server("server")
    options = *written(folder, tokens, rules + WITHOUT_PAGE), "--tls", f"{server},{server}"
    ours = Served(shutil.copytree(project, folder / "copy"), *options)
    ours.authority = authority.certificate
    found = Pair(cluster, ours)
    until(lambda: found("ben", "POST", OF_USERS, {"spec": ANN})[0].status == 201)
    until(lambda: found("ben", "POST", LOCAL, {"spec": ANN})[0].status == 201)
    yield found
    ours.kill()
    for each in yaml.safe_load_all(rules):
        where = each["metadata"].get("namespace", "default")
        cluster.kubectl("delete", each["kind"], each["metadata"]["name"], "-n", where)
    cluster.undefine(f"members.{GROUP}")


def warnings(answer):
    """The warnings of an answer, in one order."""
    return sorted(answer.headers.get_all("warning") or ())


def shown(answer):
    """All that an answer says, but for times and the manager, which is the client's name."""
    if answer.status >= 300:
        body = answer.body if isinstance(answer.body, dict) else {}
        causes = (body.get("details") or {}).get("causes", [])
        found = [(each["reason"], each["field"], each["message"]) for each in causes]
        # A cluster names the owners of fields where it refuses metadata, too.
        found = [(a, b, "" if b == "metadata" else c) for a, b, c in found]
        return answer.status, body["reason"], found, warnings(answer)
    text = json.dumps(answer.body, sort_keys=True)
    text = re.sub(r'"(time|creationTimestamp)": "[^"]+"', r'"\1": "OWN"', text)
    return answer.status, json.loads(text), warnings(answer)


def require_alike(pair, path, body, user="ben", method="POST", headers=None):
    theirs, ours = pair(user, method, path, body, headers)
    assert shown(ours) == shown(theirs), (user, path, body)
    return ours


def selected(**selectors):
    return {"resourceAttributes": {**GET, **selectors}}


IN = {"key": "a", "operator": "In", "values": ["b"]}
ASKED = [
    {"spec": ABOUT},
    {"spec": PATH},
    {"spec": {"resourceAttributes": {}}},
    {"spec": {"nonResourceAttributes": {}}},
    {"spec": {}},
    {},
    {"spec": {**ABOUT, **PATH}},
    {"spec": ABOUT, "metadata": {}},
    {"spec": ABOUT, "metadata": {"name": "x"}},
    {"spec": ABOUT, "metadata": {"labels": {"a": "b"}}},
    {"spec": ABOUT, "status": {"allowed": True, "reason": "x"}},
    {"spec": {**ABOUT, "unknown": 1}, "more": 2},
    {"spec": selected(fieldSelector={"requirements": [IN]})},
    {"spec": selected(labelSelector={"requirements": [IN], "rawSelector": "a=b"})},
    {"spec": selected(labelSelector={"rawSelector": "a=b"}, fieldSelector={})},
    {"spec": selected(labelSelector={"requirements": [{"key": "", "operator": "In"}]})},
    {"spec": selected(labelSelector={"requirements": [{**IN, "values": ["a b"]}]})},
    {"spec": selected(fieldSelector={"requirements": [{"key": "", "operator": "Exists", "values": ["b"]}]})},
    {"spec": selected(fieldSelector={"requirements": [{"key": "x", "operator": "Sees"}]})},
]  # fmt: skip
SUBJECTS = [
    {},
    {"user": "ann"},
    {"user": "ben"},
    {"user": "nobody", "groups": ["system:masters"], "uid": "u", "extra": {"A": ["b"]}},
    {"groups": ["writers"]},
    {"groups": []},
    {"user": "system:serviceaccount:default:sam"},
]


@pytest.mark.parametrize("body", ASKED, ids=json.dumps)
def test_what_oneself_may_do(pair, body):
    for user in ("ann", "ben"):
        require_alike(pair, OWN, body, user)


@pytest.mark.parametrize("subject", SUBJECTS, ids=json.dumps)
def test_what_others_may_do(pair, subject):
    for body in ASKED:
        asked = {**body, "spec": {**body.get("spec", {}), **subject}}
        for path in (OF_USERS, LOCAL):
            require_alike(pair, path, asked)


@pytest.mark.parametrize(
    "metadata", [{"namespace": "default"}, {"namespace": "other"}, {"name": "x"}], ids=json.dumps
)
@pytest.mark.parametrize("namespace", ["", "default", "other"])
def test_what_others_may_do_in_a_namespace(pair, metadata, namespace):
    about = {"resourceAttributes": {**GET, "namespace": namespace or None}, "user": "ann"}
    require_alike(pair, LOCAL, {"metadata": metadata, "spec": about})


@pytest.mark.parametrize("path", [OWN, OF_USERS, LOCAL, OF_RULES, ONESELF, TOKENS])
def test_who_may_ask(pair, path):
    for user in ("ann", "ben", "nobody", "unknown"):
        body = {"spec": {**ANN, "namespace": "default", "token": "x"}}
        theirs, ours = pair(user, "POST", path, body)
        assert ours.status == theirs.status, user
        if ours.status in {401, 403}:
            assert ours.body == theirs.body


@pytest.mark.parametrize(
    "query",
    ["dryRun=All", "dryRun=x", "fieldManager=me", "fieldValidation=Strict", "fieldValidation=Ignore",
     "fieldValidation=x", "pretty=true"],
)  # fmt: skip
@pytest.mark.parametrize("path", [OWN, TOKENS, ONESELF])
def test_parameters(pair, path, query):
    require_alike(pair, f"{path}?{query}", {"spec": {**ABOUT, "token": "x", "unknown": 1}})


@pytest.mark.parametrize(
    "accept",
    [
        TABLE,
        f"{TABLE},application/json",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
        "application/yaml",
        "text/html",
        "text/html,*/*",
    ],
)
def test_forms_of_answers(pair, accept):
    for path, spec in (
        (OWN, ABOUT),
        (TOKENS, {"token": "x"}),
        (OF_RULES, {"namespace": "default"}),
    ):
        theirs, ours = pair("ben", "POST", path, {"spec": spec}, {"accept": accept})
        assert ours.status == theirs.status
        if theirs.status < 300 and isinstance(theirs.body, dict):
            assert ours.body["kind"] == theirs.body["kind"]


@pytest.mark.parametrize("path", [OWN, OF_USERS, LOCAL, TOKENS])
def test_paths_and_methods(pair, path):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        require_alike(pair, path, None, method=method)
    for other in (
        f"{path}/x",
        path.replace("namespaces/default/", ""),
        path.replace("/v1/", "/v1/namespaces/other/"),
    ):
        if other != path:
            theirs, ours = pair("ben", "POST", other, {"spec": ANN})
            assert ours.status == theirs.status


@pytest.mark.parametrize(
    "text",
    [
        b'{"spec": {"resourceAttributes": {"verb": "get", "verb": "list"}}}',
        b'{"spec":',
        b"[]",
        b"5",
        b"",
        b'{"kind": "Other", "spec": {}}',
        b'{"kind": "SelfSubjectAccessReview", "apiVersion": "v1", "spec": {}}',
    ],
)
def test_bodies(pair, text):
    theirs, ours = pair("ben", "POST", OWN, text)
    assert (ours.status, ours.body.get("reason")) == (theirs.status, theirs.body.get("reason"))
    assert ours.headers.get_all("warning") == theirs.headers.get_all("warning")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"k8s",
        b"k8s\x00",
        b"k8s\x00\x0a\xff",
        b"k8s\x00" + b"\xff" * 20,
        b"k8s\x00\x12\x7f",
        b"k8s\x00\x0a\x09\x0a\x02v1\x12\x03Abc",
        b"{}",
    ],
)
def test_bodies_in_protobuf(pair, body):
    for path in (OWN, f"{'/api/v1/namespaces'}"):
        user = "ben"
        theirs, ours = pair(user, "POST", path, body, {"content-type": PROTOBUF})
        assert (ours.status, ours.body["reason"]) == (theirs.status, theirs.body["reason"])


def test_fields_that_are_not_known_in_protobuf(pair):
    """Those of later clients: an API server passes over them."""

    def field(number, content):
        return bytes([number << 3 | 2, len(content)]) + content

    head = field(1, field(1, b"authorization.k8s.io/v1") + field(2, b"SelfSubjectAccessReview"))
    spec = field(1, field(2, b"get") + field(5, b"pods") + field(15, b"new") + b"\x60\x01")
    body = b"k8s\0" + head + field(2, field(2, spec + field(9, b"new")) + field(7, b"new"))
    theirs, ours = pair("ben", "POST", OWN, body, {"content-type": PROTOBUF})
    assert (theirs.status, ours.status) == (201, 201)


@pytest.mark.parametrize(
    "spec", [1, [], {"resourceAttributes": []}, {"resourceAttributes": {"verb": 1}}]
)
def test_values_of_other_types_are_refused(pair, spec):
    """What Go cannot read is a bad request in a cluster; here it is invalid, with the field."""
    theirs, ours = pair("ben", "POST", OWN, {"spec": spec})
    assert (theirs.status, ours.status) == (400, 422)


def test_tokens(pair):
    for spec in (
        {"token": pair.cluster.tokens["ann"]},
        {"token": "wrong"},
        {"token": "a b"},
        {"token": ""},
        {},
        {"token": pair.cluster.tokens["ann"], "audiences": ["other"]},
        {"token": "wrong", "audiences": ["other"]},
    ):
        for more in (
            {},
            {"metadata": {"name": "x", "labels": {"a": "b"}}},
            {"status": {"authenticated": True}},
        ):
            theirs, ours = pair("ben", "POST", TOKENS, {"spec": spec, **more})
            if theirs.status == 201:  # Ours has no name for those whom its tokens are meant for.
                theirs.body["status"].pop("audiences", None)
            assert shown(ours) == shown(theirs), spec


def test_rules_and_oneself(pair):
    for body in (
        {},
        {"metadata": {"name": "x"}},
        {"status": {"userInfo": {"username": "x"}}},
        {"spec": {}},
    ):
        require_alike(pair, ONESELF, body)
    for spec in ({}, {"namespace": ""}):
        require_alike(pair, OF_RULES, {"spec": spec, "metadata": {"name": "x"}})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (OWN, {"spec": {"resourceAttributes": {**GET, "version": "v2", "subresource": "status", "name": "a"}}}),
        (OWN, {"spec": selected(fieldSelector={"requirements": [IN]}, labelSelector={"rawSelector": "a"})}),
        (OWN, {"spec": PATH}),
        (OF_USERS, {"spec": {**ANN, "groups": ["a", "b"], "uid": "u", "extra": {"k": ["a", "b"], "l": []}}}),
        (LOCAL, {"spec": ANN}),
        (TOKENS, {"spec": {"token": "x", "audiences": ["a", "b"]}}),
        (TOKENS, {"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"token": "x"}}),
    ],
)  # fmt: skip
def test_documents_in_protobuf(pair, path, body):
    """What a cluster answers as protobuf, as which clients in Go send it: the answer of before is in it, too."""
    theirs = pair.theirs()
    token = {
        "authorization": f"Bearer {pair.cluster.tokens['ben']}",
        "content-type": "application/json",
    }
    with contextlib.closing(theirs.connect()) as connection:
        connection.request("POST", path, json.dumps(body), {**token, "accept": PROTOBUF})
        written = connection.getresponse().read()
    assert written.startswith(b"k8s\0")
    token["content-type"] = PROTOBUF
    answers = []
    for server in (theirs, pair.ours):
        with contextlib.closing(server.connect()) as connection:
            connection.request("POST", path, written, token)
            answer = connection.getresponse()
            answers.append((answer.status, json.loads(answer.read())))
    (code, first), (status, second) = answers
    assert status == code
    if code == 201:
        assert second["spec"] == first["spec"]
        assert second["status"] == first["status"]
    else:
        assert second["reason"] == first["reason"]


def config_of(folder, server, token):
    """Where clients find a server, as the user of a token."""
    cluster = {"server": server.url, "certificate-authority": str(server.authority)}
    folder.joinpath("config").write_text(
        json.dumps({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        })
    )  # fmt: skip
    return folder / "config"


def test_typed_clients_in_go(pair, tmp_path):
    """They record an event with `events.k8s.io`, as controllers do, and ask reviews."""
    answers = []
    for server in (pair.theirs(), pair.ours):
        config = config_of(tmp_path, server, pair.cluster.tokens["ben"])
        command = [pair.cluster.programs / "typed", config, "default", pair.cluster.tokens["ann"]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    theirs, ours = answers
    for each in answers:
        assert each["events"].pop("count") >= 2
    assert ours == theirs
    assert ours["events"]["same"]
    assert ours["known"]["user"]["username"] == "ann"


@pytest.mark.parametrize("user", ["ann", "ben"])
@pytest.mark.parametrize("options", ["", "--validate=false", "--validate=warn"])
def test_kubectl_asks(pair, tmp_path, user, options):
    head = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
    (tmp_path / "review.json").write_text(json.dumps({**head, "spec": {**ANN, "groups": ["a"]}}))
    shown = []
    for server in (pair.theirs(), pair.ours):
        config = config_of(tmp_path, server, pair.cluster.tokens[user])
        command = ["create", "-f", "review.json", "-o", "yaml", *options.split()]
        done = subprocess.run(
            [pair.cluster.programs / "kubectl", f"--kubeconfig={config}", *command],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "HOME": str(tmp_path)},
        )  # fmt: skip
        shown.append(f"{done.returncode}\n{done.stdout}{done.stderr}")
    assert shown[1] == shown[0]


def test_clients_in_python(pair):
    answers = []
    for server in (pair.theirs(), pair.ours):
        settings = client.Configuration(host=server.url)
        settings.ssl_ca_cert = str(server.authority)
        settings.api_key["authorization"] = f"Bearer {pair.cluster.tokens['ben']}"
        with client.ApiClient(settings) as api:
            answers.append(
                [each.to_dict() for each in asked_in_python(api, pair.cluster.tokens["ann"])]
            )
    theirs, ours = answers
    for one, other in zip(theirs, ours, strict=True):
        for name in ("audiences", "metadata"):
            one.pop(name, None)
            other.pop(name, None)
        assert other == one


def asked_in_python(api, token):
    """What reviews answer to Python's client, and an event of one group as it reads it in the other."""
    may, who = client.AuthorizationV1Api(api), client.AuthenticationV1Api(api)
    about = client.V1ResourceAttributes(**GET)
    spec = client.V1SubjectAccessReviewSpec(
        resource_attributes=about, user="ann", groups=["a"], uid="u", extra={"k": ["v"]}
    )
    review = client.V1SubjectAccessReview(spec=spec)
    found = may.create_subject_access_review(review)
    yield found.spec
    yield found.status
    own = client.V1SelfSubjectAccessReviewSpec(resource_attributes=about)
    yield may.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=own)).status
    local = client.V1LocalSubjectAccessReview(spec=spec)
    yield may.create_namespaced_local_subject_access_review("default", local).status
    for each in (token, "x"):
        asked = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=each))
        yield who.create_token_review(asked).status
    event = client.EventsV1Event(
        metadata=client.V1ObjectMeta(name="python"),
        event_time="2026-01-02T03:04:05.000006Z",
        reporting_controller="example.com/tests",
        reporting_instance="i",
        action="Seeing",
        reason="Seen",
        type="Normal",
        note="it was seen",
        regarding=client.V1ObjectReference(kind="Namespace", name="default", namespace="default"),
    )
    client.EventsV1Api(api).create_namespaced_event("default", event)
    yield client.CoreV1Api(api).read_namespaced_event("python", "default")
    client.CoreV1Api(api).delete_namespaced_event("python", "default")


def test_what_discovery_says(pair):
    for path in (AUTHORIZATION, AUTHENTICATION):
        for each in (path, path.removesuffix("/v1")):
            require_alike(pair, each, None, method="GET")
    form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    theirs, ours = pair("ben", "GET", "/apis", None, {"accept": form})
    for name in ("authorization.k8s.io", "authentication.k8s.io"):
        first, second = (
            next(x for x in each.ok()["items"] if x["metadata"]["name"] == name)
            for each in (theirs, ours)
        )
        for each in first["versions"][0]["resources"]:  # A cluster leaves this to the group.
            each["responseKind"] |= {"group": name, "version": "v1"}
        assert second["versions"] == first["versions"]


def fields(schemas, schema):
    """The properties of a schema, with their types; what it says of itself is left out."""
    while "allOf" in schema or "$ref" in schema:
        reference = schema.get("$ref") or schema["allOf"][0]["$ref"]
        schema = schemas[reference.rpartition("/")[2]]
    if "properties" in schema:
        hidden = {"apiVersion", "kind", "metadata"}
        return {
            name: fields(schemas, x)
            for name, x in schema["properties"].items()
            if name not in hidden
        }
    if "items" in schema:
        return [fields(schemas, schema["items"])]
    if "additionalProperties" in schema:
        return {"*": fields(schemas, schema["additionalProperties"])}
    return schema["type"]


@pytest.mark.parametrize(
    ("group", "kinds"),
    [
        ("authorization", ["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"]),
        ("authentication", ["SelfSubjectReview", "TokenReview"]),
    ],
)  # fmt: skip
def test_openapi_has_the_same_fields(pair, group, kinds):
    for path, inside in (
        (f"/openapi/v3/apis/{group}.k8s.io/v1", "components"),
        ("/openapi/v2", ""),
    ):
        documents = [each.ok() for each in pair("ben", "GET", path)]
        theirs, ours = (
            each[inside]["schemas"] if inside else each["definitions"] for each in documents
        )
        for kind in kinds:
            name = f"io.k8s.api.{group}.v1.{kind}"
            assert fields(ours, ours[name]) == fields(theirs, theirs[name])
            assert not {each for each in ours if each.endswith("ReviewList")}
        first, second = (
            {
                x: [*each["paths"][x].keys() - {"parameters"}]
                for x in each["paths"]
                if x.startswith(f"/apis/{group}.k8s.io/v1/") and not x.endswith("/v1/")
            }
            for each in documents
        )
        assert second == first
