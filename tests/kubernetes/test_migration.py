"""What a migration does where a cluster is busy, or changes meanwhile; tests/cluster has a real one, which does so rarely."""

import dataclasses
import json

import apis
import httpx2
import lightkube
import pytest
from apis import GROUP, NEW, OLD
from lightkube.config.kubeconfig import KubeConfig

from trundle.api import converted_kinds, served_kinds
from trundle.kubernetes import AdmissionBy, Placement, WebhookAddress, manifests
from trundle.kubernetes.migration import Cluster, ClusterError, Migration, RequestError, connect

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
CRD = f"{CRDS}members.{GROUP}"


def status(code, reason=""):
    found = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    return httpx2.Response(code, json={**found, "message": f"{reason} {code}"})


class Server:
    """Answers as an API server with some members, a page at a time; `failing` comes before that."""

    def __init__(self, *names):
        self.objects = {
            name: {
                "apiVersion": f"{GROUP}/{NEW}",
                "kind": "Member",
                "metadata": {"name": name, "namespace": "default", "resourceVersion": "1"},
            }
            for name in names
        }
        versions = [{"name": each, "served": each != "storage", "storage": each == "storage"} for each in (NEW, OLD, "storage")]  # fmt: skip
        self.crd = {
            "metadata": {"name": f"members.{GROUP}", "resourceVersion": "5", "annotations": {}},
            "spec": {"versions": versions},
            "status": {"storedVersions": [OLD, "storage"]},
        }
        self.failing = []
        self.lagging = 0
        self.patched = []
        self.paths = []
        self.notes = []
        self.replacing = []
        self.put = []

    def __call__(self, request):
        for at, (method, part, answer) in enumerate(self.failing):
            if request.method == method and part in str(request.url):
                del self.failing[at]
                return answer(self) if callable(answer) else answer
        path = request.url.path
        if path.startswith(CRDS):
            return self.definition(request)
        if path == f"/apis/{GROUP}/{NEW}":
            return self.discovered()
        if request.method == "PATCH":
            name = path.rpartition("/")[2]
            self.paths.append(path)
            self.patched.append((path.split("/")[3], name, json.loads(request.content)))
            if name not in self.objects:
                return status(404)
            return httpx2.Response(200, json=self.objects[name])
        if request.method == "PUT":
            self.put.append(json.loads(request.content)["metadata"]["annotations"])
            if self.replacing and (answer := self.replacing.pop(0)) is not None:
                return answer
        if path.endswith(("/members", "/clubs")):
            return self.listed(request)
        return httpx2.Response(200, json=self.objects[path.rpartition("/")[2]])

    def definition(self, request):
        if request.method == "PATCH":
            patch = json.loads(request.content)
            self.crd["status"] |= patch.get("status", {})
            for key, value in patch["metadata"].get("annotations", {}).items():
                self.notes.append(value)
                self.crd["metadata"]["annotations"][key] = value
        return httpx2.Response(200, json=self.crd)

    def discovered(self):
        """Discovery, which has a hash of the version that is stored as long as that is served."""
        self.lagging -= 1
        resources = [{"name": "members/status"}, {"name": "members"}, {"name": "clubs"}]
        if self.lagging >= 0:
            resources[1]["storageVersionHash"] = "abc"
        return httpx2.Response(200, json={"kind": "APIResourceList", "resources": resources})

    def listed(self, request):
        size, begin = int(request.url.params["limit"]), int(request.url.params.get("continue", 0))
        names = sorted(self.objects)
        metadata = {"resourceVersion": "9"}
        if begin + size < len(names):
            metadata["continue"] = str(begin + size)
        items = [self.objects[each] for each in names[begin : begin + size]]
        return httpx2.Response(200, json={"metadata": metadata, "items": items})


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    with apis.clubs(tmp_path_factory.mktemp("migration")) as installed:
        (served,) = served_kinds([installed.project], installed.scheme)
        (known,) = converted_kinds([installed.project], installed.scheme)
        yield served, known


@pytest.fixture
def server():
    return Server("a", "b", "c", "d", "e")


@pytest.fixture
def waited():
    return []


def kubeconfig(user):
    context = {"cluster": "test", **({"user": user} if user else {})}
    return {
        "clusters": [{"name": "test", "cluster": {"server": "https://cluster.test"}}],
        "contexts": [{"name": "test", "context": context}],
        "users": [{"name": "me", "user": {"token": "t"}}],
        "current-context": "test",
    }


@pytest.fixture
def simulated(server, waited):
    config = KubeConfig.from_dict(kubeconfig("me")).get()
    transport = httpx2.MockTransport(server)
    with lightkube.Client(config, transport=transport) as client:
        yield Cluster(client, waited.append)


@pytest.fixture
def migrate(simulated, kinds):
    def migrated(release="r", **more):
        migration = Migration(simulated, release, page=2, sleep=lambda _: None, **more)
        return migration.migrated(migration.examined(*kinds), None)

    return migrated


def test_all_are_written_as_they_are_and_then_versions_go(server, migrate):
    found = migrate()
    assert (found.objects, found.findings, found.stored) == (5, (), ("storage",))
    assert server.patched == [(NEW, name, {}) for name in "abcde"]
    assert server.crd["status"]["storedVersions"] == ["storage"]
    assert [each and json.loads(each)["after"] for each in server.notes] == [
        "",
        "default/b",
        "default/d",
        None,
    ]


def test_a_list_that_expires_goes_on_after_the_last_object(server, migrate):
    server.failing = [("GET", "continue=2", status(410)) for _ in range(3)]
    assert migrate().objects == 5
    server.failing = [("GET", f"{NEW}/members?limit=2&continue=4", status(410))]
    server.patched.clear()
    migrate()
    assert [name for _, name, _ in server.patched] == list("abcde")


@pytest.mark.parametrize("code", [429, 503, 504, 409])
def test_a_busy_cluster_is_asked_again_after_a_while(server, migrate, waited, code):
    server.failing = [("PATCH", "/members/c", status(code))] * 3
    assert migrate().findings == ()
    assert waited == [0.1, 0.2, 0.4]
    assert [name for _, name, _ in server.patched] == list("abcde")


def test_an_object_that_is_deleted_meanwhile_is_no_failure(server, migrate):
    server.failing = [("PATCH", "/members/c", status(404))]
    assert migrate().findings == ()
    assert server.crd["status"]["storedVersions"] == ["storage"]


def test_an_object_that_one_version_cannot_write_is_written_at_another(server, migrate):
    server.failing = [("PATCH", f"/{NEW}/namespaces/default/members/c", status(500, "no room"))]
    assert migrate().findings == ()
    assert (OLD, "c", {}) in server.patched


def test_an_object_that_no_version_can_write_keeps_the_versions(server, migrate):
    server.failing = [("PATCH", "/members/c", status(422, "bad"))] * 2
    (finding,) = migrate().findings
    assert "Member default/c" in str(finding)
    assert "422: bad 422" in str(finding)
    assert [name for _, name, _ in server.patched] == list("abde")
    assert server.crd["status"]["storedVersions"] == [OLD, "storage"]
    # It is not noted as done, so that it is tried again.
    assert server.crd["metadata"]["annotations"] == {f"{GROUP}/migration": None}


def remembered(server, name, labels):
    """Has lists at some versions show an object as one that cannot be read."""
    note = {f"{GROUP}/not-shown": "it was broken"}

    def listed(request):
        answer = Server.listed(server, request)
        if request.url.path.split("/")[3] not in labels:
            return answer
        items = answer.json()["items"]
        for each in items:
            if each["metadata"]["name"] == name:
                each["metadata"] = {**each["metadata"], "annotations": note}
        return httpx2.Response(200, json={**answer.json(), "items": items})

    server.listed = listed


@pytest.mark.parametrize(
    ("labels", "at"), [({NEW}, OLD), ({OLD}, NEW), ({NEW, OLD}, OLD)], ids=["new", "old", "both"]
)
def test_an_object_that_only_lists_cannot_show_is_touched_where_it_is_shown(
    server, migrate, labels, at
):
    remembered(server, "c", labels)
    assert migrate().findings == ()
    touched = [
        (label, patch["metadata"]["annotations"])
        for label, name, patch in server.patched
        if patch and name == "c"
    ]
    assert touched == [(at, {f"{GROUP}/migration": each}) for each in ("r", None)]
    assert server.crd["status"]["storedVersions"] == ["storage"]


def replaced(server, *answers):
    """Has each version take the object `c` as a whole alone; what is put is answered so, and taken where that is None."""
    remembered(server, "c", {NEW, OLD})
    server.failing = [("PATCH", "/members/c", status(422, "bad"))] * 2
    server.replacing = list(answers)


def test_the_role_for_migrations_permits_all_that_they_ask(server, migrate, kinds):
    replaced(server)
    assert migrate().findings == ()
    assert server.put == [{f"{GROUP}/migration": "r"}, {}]
    placement = Placement("it", WebhookAddress(url="https://hook.test/convert"))
    roles = manifests([kinds[0]], placement, AdmissionBy.NONE, lambda _: None)["roles.yaml"]
    (role,) = [each for each in roles if each["metadata"]["name"] == "it-migrate"]
    (rule,) = [each for each in role["rules"] if each["apiGroups"] == [GROUP]]
    assert {"get", "list", "patch", "update"} <= {*rule["verbs"]}


@pytest.mark.parametrize("answers", [(409,), (None, 409), (404,), (None, 404)])
def test_an_object_that_another_client_writes_meanwhile_needs_no_more(server, migrate, answers):
    """It was a finding, which kept the versions; and the annotation stayed where it came between the two writes."""
    replaced(server, *(each and status(each) for each in answers))
    assert migrate().findings == ()
    patches = [patch for _, name, patch in server.patched if name == "c"]
    assert {"metadata": {"annotations": {f"{GROUP}/migration": None}}} in patches
    assert server.crd["status"]["storedVersions"] == ["storage"]


def test_an_object_that_cannot_be_touched_keeps_the_versions(server, migrate):
    remembered(server, "c", {NEW})
    server.failing = [(each, "/members/c", status(422, "bad")) for each in ("PATCH", "PUT")] * 2
    (finding,) = migrate().findings
    assert "Member default/c" in str(finding)
    assert server.crd["status"]["storedVersions"] == [OLD, "storage"]


def test_a_webhook_that_is_not_reached_is_what_has_to_be_corrected(server, migrate):
    """In the words of Kubernetes 1.36, of a webhook that was killed."""
    gone = 'conversion webhook for clubs.example.com/v1, Kind=Member failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused'
    refused = "conversion webhook for clubs.example.com/v1, Kind=Member failed: it has no team"
    server.failing = [("PATCH", "/members/c", status(500, gone))] * 2
    server.failing += [("PATCH", "/members/d", status(500, refused))] * 2
    first, second = migrate().findings
    assert "start the webhook that the CRD names" in first.advice
    assert second.advice == "correct the object, and migrate again"


def test_it_goes_on_where_it_was_for_the_same_release_only(server, migrate):
    note = {
        f"{GROUP}/migration": json.dumps({"release": "r", "to": "storage", "after": "default/c"})
    }
    server.crd["metadata"]["annotations"] = dict(note)
    migrate()
    assert [name for _, name, _ in server.patched] == ["d", "e"]
    server.crd["metadata"]["annotations"] = dict(note)
    server.patched.clear()
    migrate("another")
    assert [name for _, name, _ in server.patched] == list("abcde")


@pytest.mark.parametrize("said", ["nonsense", "[]", '{"release": "r", "to": "storage"}'])
def test_it_begins_anew_where_what_was_noted_cannot_be_read(server, migrate, said):
    server.crd["metadata"]["annotations"] = {f"{GROUP}/migration": said}
    migrate()
    assert [name for _, name, _ in server.patched] == list("abcde")


class KilledError(Exception):
    """What ends a migration where it is."""


def killed_at(name):
    def step(key, done=0, total=0):
        if key == f"default/{name}":
            raise KilledError

    return step


def test_it_begins_anew_where_another_release_has_begun_meanwhile(server, migrate):
    """The other one is killed before it has written a page."""
    for release, name in (("r", "e"), ("another", "b")):
        with pytest.raises(KilledError):
            migrate(release, step=killed_at(name))
    server.patched.clear()
    migrate()
    assert [name for _, name, _ in server.patched] == list("abcde")


def test_one_that_goes_on_counts_what_was_done_before(server, migrate):
    with pytest.raises(KilledError):
        migrate(step=killed_at("e"))
    steps = []
    migrate(step=lambda key, done=0, total=0: steps.append((key, done, total)))
    assert steps[-1:] == [("default/e", 5, 5)]


def test_what_was_noted_is_forgotten_where_the_cluster_rewrites(server, simulated, kinds, migrate):
    with pytest.raises(KilledError):
        migrate(step=killed_at("e"))
    migration = Migration(simulated, "another", sleep=lambda _: None)
    with pytest.raises(AssertionError, match="remove"):
        migration.migrated(migration.examined(*kinds), Unused())
    server.patched.clear()
    migrate()
    assert [name for _, name, _ in server.patched] == list("abcde")


def test_versions_stay_where_the_crd_changes_meanwhile(server, migrate):
    def moved(server):
        server.crd["spec"]["versions"][2]["storage"] = False
        server.crd["spec"]["versions"][1]["storage"] = True
        return status(409)

    server.failing = [("PATCH", f"{CRD}/status", moved)]
    with pytest.raises(ClusterError, match="stores them elsewhere"):
        migrate()
    assert server.crd["status"]["storedVersions"] == [OLD, "storage"]


def test_nothing_is_written_before_the_api_server_stores_where_the_crd_says(server, migrate):
    server.lagging = 3
    written = []
    found = migrate(step=lambda what, *_: written.append((what, len(server.patched))))
    assert [each for each in written if each[0].endswith("follows the CRD")] == [
        (f"members.{GROUP}: the API server follows the CRD", 0)
    ] * 3
    assert (found.stored, found.former) == (("storage",), (OLD,))
    server.lagging = 1
    again = migrate()  # Objects are stored at one version only, so there is nothing to follow.
    assert (server.lagging, again.former) == (1, ())


def test_an_api_server_that_does_not_follow_the_crd_rewrites_nothing(server, migrate):
    now = iter(range(0, 1000, 10))
    server.lagging = 100
    with pytest.raises(ClusterError, match="one that has not followed the CRD yet; nothing was"):
        migrate(clock=lambda: next(now))
    assert server.patched == []
    assert server.crd["status"]["storedVersions"] == [OLD, "storage"]


def test_versions_stay_where_objects_were_stored_at_another_one_meanwhile(server, migrate):
    server.crd["status"]["storedVersions"] = ["storage"]

    def moved(server):
        server.crd["status"]["storedVersions"] = ["storage", OLD]
        return httpx2.Response(200, json=server.objects["c"])

    server.failing = [("PATCH", "/members/c", moved)]
    with pytest.raises(ClusterError, match=f"one that stored them at {OLD} meanwhile"):
        migrate()
    assert server.crd["status"]["storedVersions"] == ["storage", OLD]


def test_owners_are_renamed_by_what_is_there_at_the_write(server, simulated, kinds):
    """The object changes between the list and the write: the conflict is answered by another look."""
    served, known = kinds
    gone = {"manager": "me", "operation": "Update", "apiVersion": f"{GROUP}/{OLD}"}
    entry = {**gone, "fieldsType": "FieldsV1", "fieldsV1": {"f:team": {}}}
    server.objects["c"]["metadata"]["managedFields"] = [entry]

    def changed(server):
        server.objects["c"]["metadata"] |= {"resourceVersion": "2"}
        server.objects["c"]["metadata"]["managedFields"] = [{**entry, "manager": "you"}]
        return status(409)

    server.failing = [("PATCH", "/members/c", changed)]
    only = {label: each for label, each in served.versions.items() if label == NEW}
    staying = dataclasses.replace(served, versions=only)
    migration = Migration(simulated, "r", sleep=lambda _: None)
    migration.migrated(migration.examined(staying, known), None)
    (patch,) = [patch for _, name, patch in server.patched if name == "c"]
    (owner,) = patch["metadata"]["managedFields"]
    assert (patch["metadata"]["resourceVersion"], owner["manager"]) == ("2", "you")
    assert (owner["apiVersion"], owner["fieldsV1"]) == (f"{GROUP}/{NEW}", {"f:group": {}})


class Unused:
    """Migrations of a cluster that are not to be used."""

    def __getattr__(self, name):
        raise AssertionError(name)


def test_an_object_without_room_for_its_carrier_is_not_left_to_the_cluster(
    server, simulated, kinds
):
    migration = Migration(simulated, "r", sleep=lambda _: None)
    with pytest.raises(AssertionError, match="remove"):
        migration.migrated(migration.examined(*kinds), Unused())
    server.objects["c"]["metadata"]["annotations"] = {f"{GROUP}/carrier": "too-large.9"}
    found = migration.migrated(migration.examined(*kinds), Unused())
    assert (found.findings, found.stored) == ((), ("storage",))
    assert [name for _, name, _ in server.patched] == list("abcde")


class OfCluster:
    """Migrations of a cluster that come to a given end."""

    def __init__(self, state):
        self.state, self.there = state, False

    def begin(self, kind):
        self.there = True

    def condition(self, kind):
        return self.state if self.there else None

    def remove(self, kind):
        self.there = False


@pytest.mark.parametrize(
    ("state", "seconds", "written"),
    [
        (("Succeeded", ""), 0, []),
        (("Failed", "v3 does not support discovery operations"), 0, list("abcde")),
        (("Running", ""), 30, list("abcde")),
        (None, 0, list("abcde")),
    ],
)
def test_what_the_cluster_does_not_rewrite_is_rewritten_page_by_page(server, simulated, kinds, state, seconds, written):  # fmt: skip
    now = [0.0]

    def sleep(waited):
        now[0] += waited

    of_cluster = OfCluster(state)
    migration = Migration(simulated, "r", clock=lambda: now[0], sleep=sleep)
    found = migration.migrated(migration.examined(*kinds), of_cluster)
    assert (found.findings, found.stored, of_cluster.there) == ((), ("storage",), False)
    as_it_is = [name for _, name, patch in server.patched if not patch]
    assert as_it_is == written
    assert seconds <= now[0] < seconds + 2


def test_objects_without_a_namespace(server, simulated, kinds):
    served, known = (
        dataclasses.replace(each, namespaced=False, kind="Club", plural="clubs") for each in kinds
    )
    for each in server.objects.values():
        del each["metadata"]["namespace"]
    migration = Migration(simulated, "r", sleep=lambda _: None)
    subject = migration.migrated(migration.examined(served, known), None)
    assert (subject.objects, subject.findings) == (5, ())
    assert server.paths == [f"/apis/{GROUP}/{NEW}/clubs/{name}" for name in "abcde"]


def test_the_rate_is_held(server, simulated, kinds):
    now, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    def write(server):
        now[0] += 0.1  # What a write takes.
        return httpx2.Response(200, json=server.objects["a"])

    server.failing = [("PATCH", "/members/", write)] * 5
    migration = Migration(simulated, "r", rate=2.0, clock=lambda: now[0], sleep=sleep)
    migration.migrated(migration.examined(*kinds), None)
    assert slept == pytest.approx([0.4] * 5)
    assert now[0] == pytest.approx(2.5)


def test_what_a_user_may_not_do_is_no_fault_of_an_object(simulated, server, kinds):
    migration, role = Migration(simulated, "r"), "ask for a role that permits it"
    server.failing = [("GET", f"{NEW}/members", status(403, "no rights"))]
    [finding] = migration.examined(*kinds).findings
    assert finding.advice.startswith(role)
    server.failing = [("PATCH", "/members/c", status(403, "no rights"))] * 2
    found = migration.migrated(migration.examined(*kinds), None)
    assert [each.advice.startswith(role) for each in found.findings] == [True]


def test_a_cluster_that_is_away_or_unknown(simulated, server, tmp_path):
    server.failing = [("GET", CRD, status(403, "forbidden"))]
    with pytest.raises(RequestError, match="403: forbidden"):
        simulated.definition(f"members.{GROUP}")
    with pytest.raises(ClusterError, match="name one with --kubeconfig"):
        connect(tmp_path / "none")
    for config, context in ((kubeconfig("me"), "other"), (kubeconfig(""), None)):
        (tmp_path / "config").write_text(json.dumps(config))
        with pytest.raises(ClusterError, match="name one with --kubeconfig"):
            connect(tmp_path / "config", context)
    for text in ("{", "[]", "a: b"):
        (tmp_path / "config").write_text(text)
        with pytest.raises(ClusterError, match="name one with --kubeconfig"):
            connect(tmp_path / "config")
