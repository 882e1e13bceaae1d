"""Kubernetes' own resource types that `trundle serve` has beside those of a project: its API server and ours answer alike about them."""

import contextlib
import json
import threading

import pytest
import test_requests_like_kubernetes as requests
from kubernetes import client
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from projects import Installer
from served import both_serving
from test_requests_like_kubernetes import APPLY, JSON, MERGE, STRATEGIC, plain, require_alike

pytestmark = pytest.mark.cluster

SPACE = "own-types"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{SPACE}/leases"
EVENTS = f"/api/v1/namespaces/{SPACE}/events"
PROTOBUF = "application/vnd.kubernetes.protobuf"
SPEC = {
    "holderIdentity": "a",
    "leaseDurationSeconds": 15,
    "acquireTime": "2026-01-02T03:04:05.000006Z",
    "renewTime": "2026-01-02T03:04:06.700000Z",
    "leaseTransitions": 0,
}
AT = "2026-01-02T03:04:05.000006Z"
WHO = {"action": "See", "reportingInstance": "i", "reportingComponent": "c"}
EVENT = {
    "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": "x", "namespace": SPACE},
    "reason": "Seen",
    "message": "it was seen",
    "type": "Normal",
    "count": 2,
    "firstTimestamp": "2026-01-02T03:04:05Z",
    "lastTimestamp": "2026-01-02T03:04:06Z",
    "source": {"component": "tests", "host": "here"},
}


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    crd = requests.crd("spanners", "Spanner", "Namespaced")
    project = Installer(tmp_path_factory.mktemp("own"))(
        {"crd.json": crd}, config={"kubernetes": {"group": requests.GROUP}}
    ).project.folder
    with both_serving(cluster, [crd], project) as servers:
        for each in servers:
            each.ask("POST", requests.NAMESPACES, {"metadata": {"name": SPACE}}).ok()
        yield servers
        for each in servers:
            each.ask("DELETE", f"{requests.NAMESPACES}/{SPACE}").ok()


@pytest.fixture(autouse=True)
def _emptied(servers):
    yield
    for each in servers:
        for path in (LEASES, EVENTS):
            each.ask("DELETE", path).ok()


def lease(name="a", **spec):
    head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    return {**head, "metadata": {"name": name}, "spec": {**SPEC, **spec}}


def event(name="a", **said):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, **EVENT, **said}


def without(body, *names):
    return {name: each for name, each in body.items() if name not in names}


def test_leases_are_written(servers):
    require_alike(servers, "POST", LEASES, lease())
    require_alike(servers, "POST", LEASES, lease())
    require_alike(servers, "POST", LEASES, without(lease("b"), "apiVersion", "kind"))
    require_alike(servers, "POST", LEASES, without(lease("c"), "spec"))
    require_alike(servers, "PUT", f"{LEASES}/a", lease(holderIdentity="b"))
    require_alike(servers, "GET", f"{LEASES}/a")
    for change in ({"holderIdentity": ""}, {"holderIdentity": None}, {"leaseDurationSeconds": 1}):
        for kind in (MERGE, STRATEGIC):
            require_alike(servers, "PATCH", f"{LEASES}/a", {"spec": change}, media_type=kind)
    replaced = [{"op": "replace", "path": "/spec/leaseTransitions", "value": 7}]
    require_alike(servers, "PATCH", f"{LEASES}/a", replaced, media_type=JSON)
    options = {"media_type": APPLY, "fieldManager": "me"}
    require_alike(servers, "PATCH", f"{LEASES}/d", lease("d"), **options)
    require_alike(servers, "PATCH", f"{LEASES}/a", lease(), **options)
    require_alike(servers, "PATCH", f"{LEASES}/a", lease(), force="true", **options)
    require_alike(servers, "GET", f"{LEASES}/a/status")
    require_alike(servers, "DELETE", f"{LEASES}/d")


@pytest.mark.parametrize(
    "change",
    [
        {"leaseDurationSeconds": 0},
        {"leaseDurationSeconds": -1, "leaseTransitions": -1},
        {"leaseTransitions": 2**31},
        {"holderIdentity": 1},
        {"renewTime": "soon"},
        {"renewTime": "2026-01-02T03:04:05Z"},
        {"acquireTime": "2026-01-02T03:04:05.0000069Z"},
        {"acquireTime": "2026-01-02T03:04:05.000006+01:00"},
    ],
)
def test_leases_of_wrong_values(servers, change):
    theirs, ours = (each.ask("POST", LEASES, lease(**change)) for each in servers)
    # What Go cannot read is a bad request in a cluster; here it is invalid, with the field.
    assert (ours.status < 300) == (theirs.status < 300)
    if theirs.status in {201, 422} and "+" not in change.get(
        "acquireTime", ""
    ):  # Ours shows it as it is written.
        assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"involvedObject": {}},
        {"involvedObject": {"namespace": "other"}},
        {"source": {}, "firstTimestamp": None},
        {"eventTime": AT},
        {"eventTime": AT, "action": "See", "reportingInstance": "i", "reportingComponent": "a b"},
        {"eventTime": AT, "action": "See" * 50, "reportingInstance": "i", "message": "m" * 1025},
        {"eventTime": AT, "involvedObject": {}},
        {"eventTime": AT, "involvedObject": {"namespace": "other"}, **WHO},
        {"eventTime": AT, "series": {"count": 2, "lastObservedTime": AT}, **WHO},
    ],
)
def test_events_are_in_the_namespace_of_their_object(servers, change):
    require_alike(servers, "POST", EVENTS, event(**change))
    require_alike(servers, "PATCH", f"{EVENTS}/a", {"count": 3}, media_type=STRATEGIC)


def test_owners_of_a_namespace(servers):
    path = f"{requests.NAMESPACES}/owned"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "owned"}}
    options = {"media_type": APPLY, "fieldManager": "me"}
    try:
        require_alike(servers, "POST", requests.NAMESPACES, made)
        labels = {"metadata": {"labels": {"a": "b"}}}
        require_alike(servers, "PATCH", path, labels, media_type=STRATEGIC)
        config = {**made, "spec": {"finalizers": ["kubernetes"]}}
        require_alike(servers, "PATCH", path, config, **options)
    finally:
        for each in servers:
            each.ask("DELETE", path)


def test_a_lease_is_renewed_over_what_was_read_alone(servers):
    for each in servers:
        made = each.ask("POST", LEASES, lease()).ok()
        each.ask("PUT", f"{LEASES}/a", {**made, "spec": {**SPEC, "leaseTransitions": 1}}).ok()
        late = each.ask("PUT", f"{LEASES}/a", made)
        assert (late.status, late.body["reason"]) == (409, "Conflict")


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (LEASES, lease()),
        (LEASES, lease(holderIdentity="", acquireTime=None, leaseTransitions=2**31 - 1)),
        (EVENTS, event()),
        (EVENTS, event(related=EVENT["involvedObject"], action="See", reportingInstance="i")),
        (
            EVENTS,
            event(
                action="See",
                eventTime="2026-01-02T03:04:05.000006Z",
                reportingComponent="tests",
                reportingInstance="i",
                series={"count": 3, "lastObservedTime": "2026-01-02T03:05:00.000000Z"},
            ),
        ),
    ],
)
def test_documents_in_protobuf(servers, path, document):
    """What Kubernetes' API server writes as protobuf is what controllers send."""
    document["metadata"] |= {
        "labels": {"a": "b"},
        "annotations": {"c": "d"},
        "finalizers": [],
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": False}
        ],
    }
    with contextlib.closing(servers[0].connect()) as connection:
        connection.request(
            "POST", f"{path}?dryRun=All", json.dumps(document),
            {"content-type": "application/json", "accept": PROTOBUF},
        )  # fmt: skip
        body = connection.getresponse().read()
    assert body.startswith(b"k8s\0")
    made = require_alike(servers, "POST", path, body, media_type=PROTOBUF)
    for name, value in document.get("spec", {}).items():
        assert made.body["spec"].get(name) == value


def field(number, content):
    """A field of a protobuf message."""
    return bytes([number << 3 | 2, len(content)]) + content


@pytest.mark.parametrize("said", [b"v1", b"coordination.k8s.io/v1"])
def test_options_of_deletions_in_protobuf(servers, said):
    head = b"k8s\0" + field(1, field(1, said) + field(2, b"DeleteOptions"))
    preconditions = field(2, field(1, b"other"))
    require_alike(servers, "POST", LEASES, lease())
    for options in (preconditions, field(4, b"Nothing"), field(5, b"All"), b"\x08\x00", b""):
        body = head + field(2, options)
        asked = (each.ask("DELETE", f"{LEASES}/a", body, media_type=PROTOBUF) for each in servers)
        theirs, ours = (without(each.body, "metadata", "spec", "details") for each in asked)
        assert without(ours, "message") == without(theirs, "message")


class Lock(LeaseLock):
    """A lease as Python's client takes it, which may be given up."""

    def __init__(self, api, name):
        super().__init__("elected", SPACE, name)
        self.api_instance, self.given_up = client.CoordinationV1Api(api), threading.Event()

    def update(self, name, namespace, updated_record):
        return not self.given_up.is_set() and super().update(name, namespace, updated_record)


class Candidate:
    """A client that wants to be the leader, and is it until it gives up."""

    def __init__(self, api, name):
        self.leads, self.lock = threading.Event(), Lock(api, name)
        settings = electionconfig.Config(
            self.lock, 4, 3, 1, onstarted_leading=self.leads.set, onstopped_leading=None
        )
        self.thread = threading.Thread(
            target=leaderelection.LeaderElection(settings).run, daemon=True
        )
        self.thread.start()

    def give_up(self):
        self.lock.given_up.set()
        self.thread.join(60)
        assert not self.thread.is_alive()


def api_of(server):
    """Python's client of a server."""
    settings = client.Configuration(host=server.url)
    if server.authority is not None:
        settings.ssl_ca_cert = str(server.authority)
        settings.cert_file = settings.key_file = str(server.client)
    return client.ApiClient(settings)


@pytest.mark.parametrize("number", [0, 1], ids=["real", "trundle"])
def test_one_of_two_clients_leads_at_a_time(servers, number):
    with api_of(servers[number]) as api:
        first = Candidate(api, "first")
        assert first.leads.wait(30)
        second = Candidate(api, "second")
        assert not second.leads.wait(6)
        first.give_up()
        assert second.leads.wait(30)
        found = client.CoordinationV1Api(api).read_namespaced_lease("elected", SPACE)
        assert found.spec.holder_identity == "second"
        second.give_up()


def test_verbs_of_discovery(servers):
    for path, plural in (
        ("/api/v1", "namespaces"),
        ("/api/v1", "events"),
        ("/apis/coordination.k8s.io/v1", "leases"),
    ):
        theirs, ours = (
            next(x for x in each.ask("GET", path).ok()["resources"] if x["name"] == plural)
            for each in servers
        )
        assert ours == without(theirs, "storageVersionHash")
    require_alike(servers, "GET", "/apis/coordination.k8s.io")
    require_alike(servers, "DELETE", requests.NAMESPACES)


def test_writes_of_them_are_not_counted(servers):
    for path in (f"{requests.NAMESPACES}/{SPACE}", f"{LEASES}/a", f"{EVENTS}/a"):
        for each in servers:
            each.ask("POST", LEASES, lease())
            each.ask("POST", EVENTS, event())
            assert "generation" not in each.ask("GET", path).ok()["metadata"]
