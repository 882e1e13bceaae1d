"""Requests about objects whose CRD has the subresource `status` at some versions alone: Kubernetes' API server and `trundle serve` answer alike."""

import copy
import itertools
import json
import re

import pytest
from clusters import until
from projects import Installer
from served import both_serving
from statuses import CONFIG, CRDS, FILES, GROUP, PLURALS, VERSIONS, document

pytestmark = pytest.mark.cluster

MERGE, JSON, APPLY = (
    f"application/{each}" for each in ("merge-patch+json", "json-patch+json", "apply-patch+yaml")
)
NUMBERS = itertools.count()
PLAIN = (
    (r'"(uid|resourceVersion|\w+Timestamp|time)": "[^"]+"', r'"\1": "OWN"'),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
)


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    project = Installer(tmp_path_factory.mktemp("stated"))(FILES, config=CONFIG).project.folder
    with both_serving(cluster, CRDS, project) as servers:
        yield servers


@pytest.fixture
def at(servers):
    """Where objects of a kind are at a version, in a namespace of the test's own on both servers."""
    name = f"stated-{next(NUMBERS)}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    for each in servers:
        each.ask("POST", "/api/v1/namespaces", made).ok()

    def found(kind, version, rest=""):
        return f"/apis/{GROUP}/{version}/namespaces/{name}/{PLURALS[kind]}{rest}"

    return found


def plain(answer, *, owned=True):
    """The status, and the object or what is wrong."""
    body = answer.body
    if answer.status >= 300:
        causes = (body.get("details") or {}).get("causes", [])
        found = sorted({(each.get("reason", ""), each.get("field", "")) for each in causes})
        return answer.status, body.get("reason"), found
    body = copy.deepcopy(body)
    owners = body["metadata"].pop("managedFields")
    if owned:
        owners.sort(key=lambda owner: json.dumps({**owner, "time": ""}, sort_keys=True))
        body["owners"] = owners
    text = json.dumps(body, sort_keys=True)
    for pattern, replaced in PLAIN:
        text = re.sub(pattern, replaced, text)
    return answer.status, text


def require_alike(servers, method, path, body=None, *, owned=True, **given):
    theirs, ours = (each.ask(method, path, body, **given) for each in servers)
    assert plain(ours, owned=owned) == plain(theirs, owned=owned), (method, path, body, given)
    return ours


def require_alike_at_all_versions(servers, at, kind, *, owned=True):
    for known, version in VERSIONS:
        if known == kind:
            require_alike(servers, "GET", at(kind, version, "/a"), owned=owned)


def edited(server, path, change):
    """An object as a client reads it, with a change of its own."""
    found = server.ask("GET", path).ok()
    change(found)
    return found


each_version = pytest.mark.parametrize(("kind", "version"), VERSIONS)
PHASE = {"phase": "Up", "count": 1, "conditions": [{"type": "Ready", "reason": "seen"}]}


@each_version
def test_objects_are_created_with_a_status(servers, at, kind, version):
    for part in ("", "/status"):
        body = document(kind, version, status=PHASE)
        require_alike(servers, "POST", at(kind, version, f"/a{part}" if part else ""), body)
    require_alike_at_all_versions(servers, at, kind)


@each_version
@pytest.mark.parametrize("part", ["", "/status"])
def test_objects_are_put(servers, at, kind, version, part):
    require_alike(servers, "POST", at(kind, version), document(kind, version, status=PHASE))
    path = at(kind, version, "/a")

    def other(found):
        found["spec"] = {"size": 2}
        found["status"] = {"phase": "Down", "conditions": []}

    def without(found):
        found.pop("status", None)
        found["spec"]["note"] = "x"

    for change in (other, other, without):
        answers = [
            each.ask("PUT", path + part, edited(each, path, change), fieldManager="me")
            for each in servers
        ]
        assert plain(answers[1]) == plain(answers[0])
        require_alike_at_all_versions(servers, at, kind)


@each_version
@pytest.mark.parametrize("part", ["", "/status"])
def test_objects_are_patched(servers, at, kind, version, part):
    require_alike(servers, "POST", at(kind, version), document(kind, version, status=PHASE))
    path = at(kind, version, "/a") + part
    for patch in (
        {"status": {"phase": "Down"}, "spec": {"size": 3}},
        {"status": {"count": -1}},
        {"status": {"phase": None}, "metadata": {"labels": {"a": "b"}}},
        {"status": None},
    ):
        require_alike(servers, "PATCH", path, patch, media_type=MERGE, fieldManager="me")
        require_alike_at_all_versions(servers, at, kind)
    operations = [{"op": "add", "path": "/status", "value": {"phase": "Lost"}}]
    require_alike(servers, "PATCH", path, operations, media_type=JSON, fieldManager="me")
    require_alike_at_all_versions(servers, at, kind)


@each_version
@pytest.mark.parametrize("part", ["", "/status"])
def test_configurations_are_applied(servers, at, kind, version, part):
    path = at(kind, version, "/a")
    for manager, said, options in (
        ("ann", {"status": PHASE}, {}),
        ("ben", {"status": {"phase": "Down"}}, {}),
        ("ben", {"status": {"phase": "Down"}}, {"force": "true"}),
        ("ann", {}, {}),
        ("ben", {"status": {"count": 7}, "spec": {"size": 1}}, {}),
    ):
        config = document(kind, version, **said)
        # Through the subresource, only what is there is written.
        called = path + (part if manager == "ben" else "")
        given = {"media_type": APPLY, "fieldManager": manager, **options}
        require_alike(servers, "PATCH", called, config, **given)
        require_alike_at_all_versions(servers, at, kind)


@pytest.mark.parametrize(
    ("kind", "writes", "then"),
    [("Mixed", "v1", "v2"), ("Mixed", "v2", "v1"), ("Turned", "v2", "v1"), ("Turned", "v1", "v2")],
)
def test_clients_of_two_versions(servers, at, kind, writes, then):
    """What the one wrote of the status is left alone by the other where that has the subresource, and only there.

    Of owners at another version, the real server forgets those of a status that a client sends in vain; here they stay.
    """
    require_alike(servers, "POST", at(kind, writes), document(kind, writes, status=PHASE))
    one, other = at(kind, writes, "/a"), at(kind, then, "/a")

    def change(found):
        found["spec"]["size"] = 5
        found["status"] = {"phase": "Other"}

    def removal(found):
        found.pop("status", None)

    for path, done in ((other, change), (one, change), (other, removal), (one, removal)):
        for part in ("", "/status"):
            answers = [
                each.ask("PUT", path + part, edited(each, path, done), fieldManager="me")
                for each in servers
            ]
            theirs, ours = (plain(each, owned=False) for each in answers)
            assert ours == theirs, path + part
            require_alike_at_all_versions(servers, at, kind, owned=False)


@each_version
def test_the_subresource_is_discovered_where_it_is(servers, at, kind, version):
    require_alike(servers, "POST", at(kind, version), document(kind, version))
    for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
        given = {"media_type": MERGE} if method == "PATCH" else {}
        theirs, ours = (
            each.ask(method, at(kind, version, "/a/status"), body, **given) for each in servers
        )
        assert ours.status == theirs.status
    theirs, ours = (each.ask("GET", f"/apis/{GROUP}/{version}").ok() for each in servers)
    assert _subresources(ours) == _subresources(theirs)


@each_version
def test_no_other_subresource_is_there(servers, at, kind, version):
    require_alike(servers, "POST", at(kind, version), document(kind, version))
    for part in ("/a/scale", "/a/other"):
        theirs, ours = (each.ask("GET", at(kind, version, part)) for each in servers)
        assert _refusal(ours) == _refusal(theirs)


def _subresources(listed):
    return {
        each["name"]: (sorted(each["verbs"]), each["singularName"])
        for each in listed["resources"]
        if "/" in each["name"]
    }


def _fields(explained):
    """The fields in what kubectl explains, which calls types by names of their own."""
    return re.findall(r"^  (\w+)\t", explained, re.MULTILINE)


def _refusal(answer):
    return answer.status, answer.body["message"], answer.body["reason"], answer.body["details"]


@pytest.mark.parametrize("kind", ["Plain", "Mixed"])
def test_kubectl_reads_and_patches_it(servers, at, kind, cluster, tmp_path):
    """kubectl says the same of both, where the version has no such subresource."""
    require_alike(servers, "POST", at(kind, "v1"), document(kind, "v1", status=PHASE))
    namespace, plural = at(kind, "v1").split("/")[5], f"{PLURALS[kind]}.v1.{GROUP}"
    ours = ["--server", servers[1].url, "--cache-dir", tmp_path]

    def said(*arguments, options=()):
        done = cluster.kubectl(*options, *arguments, check=False)
        return done.returncode, done.stdout, done.stderr

    patch = ["patch", plural, "a", "-n", namespace, "--type=merge"]
    for arguments in (
        [*patch, "--subresource=status", '--patch={"status":{"phase":"Down"}}'],
        [*patch, '--patch={"status":{"phase":"Lost"}}'],
        ["get", plural, "a", "-n", namespace, "-o", "jsonpath={.status}"],
        ["get", plural, "a", "-n", namespace, "--subresource=status"],
    ):
        assert said(*arguments, options=ours) == said(*arguments), arguments
    explain = ["explain", f"{PLURALS[kind]}.status", f"--api-version={GROUP}/v1"]
    for each in (ours, ()):  # An API server publishes what it explains some time later.
        until(lambda each=each: said(*explain, options=each)[0] == 0)
    found, wanted = (said(*explain, options=each)[1] for each in (ours, ()))
    assert _fields(found) == _fields(wanted) != []
