"""Events in both of their groups, `v1` and `events.k8s.io/v1`: Kubernetes' API server and ours show the same objects, and refuse the same."""

import contextlib
import copy
import json

import pytest
import test_requests_like_kubernetes as requests
from projects import Installer
from served import both_serving
from test_requests_like_kubernetes import APPLY, JSON, MERGE, PLAIN, STRATEGIC, TABLE, plain

pytestmark = pytest.mark.cluster

SPACE = "two-groups"
WITHIN = f"namespaces/{SPACE}/events"
OLD, NEW = f"/api/v1/{WITHIN}", f"/apis/events.k8s.io/v1/{WITHIN}"
PROTOBUF = "application/vnd.kubernetes.protobuf"
AT, LATER = "2026-01-02T03:04:05.000006Z", "2026-01-02T03:09:00.000000Z"
ABOUT = {"apiVersion": "v1", "kind": "Namespace", "name": SPACE, "namespace": SPACE}
ONCE = {
    "eventTime": AT,
    "reportingController": "example.com/tests",
    "reportingInstance": "tests-1",
    "action": "Seeing",
    "reason": "Seen",
    "regarding": ABOUT,
    "note": "it was seen",
    "type": "Normal",
}
SERIES = {"count": 2, "lastObservedTime": LATER}
COUNTED = {
    "involvedObject": ABOUT,
    "reason": "Seen",
    "message": "it was seen",
    "type": "Warning",
    "count": 2,
    "firstTimestamp": "2026-01-02T03:04:05Z",
    "lastTimestamp": "2026-01-02T03:04:06Z",
    "source": {"component": "tests", "host": "here"},
}


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    crd = requests.crd("hammers", "Hammer", "Namespaced")
    project = Installer(tmp_path_factory.mktemp("events"))(
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
        each.ask("DELETE", OLD).ok()


def new(name="a", **said):
    head = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name}}
    return {key: x for key, x in {**head, **ONCE, **said}.items() if x is not None}


def old(name="a", **said):
    head = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}}
    return {key: x for key, x in {**head, **COUNTED, **said}.items() if x is not None}


def shown(answer):
    """All that an answer says, but for what each server makes itself, and the owners of fields.

    A cluster forgets the owners of one group when the object is written in the other one; ours keeps them.
    """
    if answer.status >= 300:
        body = {key: x for key, x in answer.body.items() if key != "metadata"}
        return answer.status, body, answer.headers.get_all("warning")
    body = copy.deepcopy(answer.body)
    for each in body.get("items", ()):
        for name in ("apiVersion", "kind"):  # The elements of ours say what they are.
            each.pop(name, None)
    if not body.get("metadata", {}).get("continue"):  # Ours say so where a list is whole.
        body.get("metadata", {}).pop("continue", None)
    for each in body.get("items", [body]):
        each.get("metadata", {}).pop("managedFields", None)
    return plain(answer._replace(body=body))


def require_alike(servers, method, path, body=None, **given):
    theirs, ours = (each.ask(method, path, body, **given) for each in servers)
    assert shown(ours) == shown(theirs), (method, path, body, given)
    return ours


def require_same_in_both(servers, name="a"):
    for path in (OLD, NEW):
        require_alike(servers, "GET", f"{path}/{name}")
        require_alike(servers, "GET", path)


def test_what_is_written_in_one_group_is_read_in_the_other(servers):
    require_alike(servers, "POST", NEW, new())
    require_alike(servers, "POST", OLD, old("b"))
    for name in "ab":
        require_same_in_both(servers, name)


@pytest.mark.parametrize(
    "change",
    [
        {"eventTime": None},
        {"eventTime": None, "regarding": {**ABOUT, "namespace": "other"}},
        {"regarding": None},
        {"regarding": {**ABOUT, "namespace": "other"}},
        {"reportingController": None, "reportingInstance": None},
        {"reportingController": "a b"},
        {"reportingInstance": "i" * 129},
        {"action": None},
        {"action": "", "reason": ""},
        {"reason": "r" * 129, "note": "n" * 1025},
        {"type": None},
        {"type": "Bad"},
        {"deprecatedCount": 1},
        {"deprecatedCount": 0},
        {"deprecatedSource": {"component": "x"}},
        {"deprecatedSource": {}},
        {"deprecatedFirstTimestamp": "2026-01-02T03:04:05Z", "deprecatedLastTimestamp": AT},
        {"series": {"count": 1}},
        {"series": {}},
        {"series": SERIES},
        {"related": {"kind": "Pod", "name": "x"}},
        {"message": "no such field"},
    ],
)
def test_new_events(servers, change):
    require_alike(servers, "POST", NEW, new(**change))
    require_alike(servers, "POST", NEW, new(**change), fieldValidation="Strict")
    require_same_in_both(servers)


CHANGES = [
    {"series": SERIES},
    {"series": {"count": 1, "lastObservedTime": LATER}},
    {"series": {"count": 3}},
    {"metadata": {"labels": {"a": "b"}}},
    {"eventTime": LATER},
    {"eventTime": None},
    {"note": "another"},
    {"note": ""},
    {"reason": "R", "action": "A", "type": "Warning"},
    {"type": "Bad"},
    {"regarding": {"name": "y"}},
    {"related": {"name": "y"}},
    {"reportingController": "c", "reportingInstance": "i"},
    {"deprecatedCount": 7},
    {"deprecatedSource": {"component": "y"}},
    {"deprecatedLastTimestamp": "2026-01-02T03:04:05Z"},
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("body", [new(), new(series=SERIES), old()], ids=["new", "series", "old"])
def test_changes_in_the_new_group(servers, body, change):
    path = NEW if "note" in body else OLD
    require_alike(servers, "POST", path, body)
    for kind in (MERGE, STRATEGIC):
        require_alike(servers, "PATCH", f"{NEW}/a", change, media_type=kind)
    require_same_in_both(servers)


@pytest.mark.parametrize(
    "change",
    [
        {"count": 3, "lastTimestamp": "2026-01-02T04:00:00Z"},
        {"message": "another", "source": None},
        {"involvedObject": {"namespace": "other"}},
        {"series": {"count": 1}},
        {"eventTime": AT},
        {"type": "Bad"},
        {"reportingComponent": "c d"},
        {"reason": ""},
    ],
)
@pytest.mark.parametrize("body", [new(), old()], ids=["new", "old"])
def test_changes_in_the_old_group(servers, body, change):
    path = NEW if "note" in body else OLD
    require_alike(servers, "POST", path, body)
    for kind in (MERGE, STRATEGIC):
        require_alike(servers, "PATCH", f"{OLD}/a", change, media_type=kind)
    require_same_in_both(servers)


def test_events_are_replaced_and_patched_by_json(servers):
    require_alike(servers, "POST", NEW, new())
    require_alike(servers, "PUT", f"{NEW}/a", new(series=SERIES))
    require_alike(servers, "PUT", f"{NEW}/a", new(note="another"))
    require_alike(servers, "PUT", f"{NEW}/a", old())
    require_alike(servers, "PUT", f"{OLD}/a", old(eventTime=AT))
    require_alike(servers, "PUT", f"{OLD}/a", old())
    replaced = [{"op": "replace", "path": "/deprecatedCount", "value": 7}]
    require_alike(servers, "PATCH", f"{NEW}/a", replaced, media_type=JSON)
    replaced = [{"op": "test", "path": "/deprecatedCount", "value": 2}]
    require_alike(servers, "PATCH", f"{NEW}/a", replaced, media_type=JSON)
    require_same_in_both(servers)


def test_configurations_are_applied(servers):
    options = {"media_type": APPLY, "fieldManager": "me"}
    require_alike(servers, "PATCH", f"{NEW}/a", new(), **options)
    require_alike(servers, "PATCH", f"{NEW}/a", new(), **options)
    require_alike(servers, "PATCH", f"{NEW}/a", new(series=SERIES), **options)
    require_alike(servers, "PATCH", f"{NEW}/a", new(note="another"), **options)
    require_same_in_both(servers)
    require_alike(servers, "PATCH", f"{NEW}/b", new("b", eventTime=None), **options)
    require_alike(servers, "PATCH", f"{NEW}/b", old("b"), **options)


@pytest.mark.parametrize("path", [OLD, NEW])
def test_owners_within_a_group(servers, path):
    body = {OLD: old(), NEW: new()}[path]
    change = {OLD: {"count": 3}, NEW: {"series": SERIES}}[path]
    for method, where, sent, given in (
        ("POST", path, body, {"fieldManager": "me"}),
        ("PATCH", f"{path}/a", change, {"media_type": MERGE, "fieldManager": "other"}),
        ("PATCH", f"{path}/a", body, {"media_type": APPLY, "fieldManager": "third"}),
        (
            "PATCH",
            f"{path}/a",
            body,
            {"media_type": APPLY, "fieldManager": "third", "force": "true"},
        ),
        ("GET", f"{path}/a", None, {}),
    ):
        theirs, ours = (each.ask(method, where, sent, **given) for each in servers)
        assert plain(ours) == plain(theirs)


def test_selectors(servers):
    require_alike(servers, "POST", NEW, new())
    require_alike(servers, "POST", OLD, old("b", reportingComponent="c"))
    for path, about, who in (
        (OLD, "involvedObject", "reportingComponent"),
        (NEW, "regarding", "reportingController"),
    ):
        for field, value in (
            *((f"{about}.{name}", value) for name, value in ABOUT.items()),
            *((f"{about}.{name}", "") for name in ("uid", "fieldPath", "resourceVersion")),
            ("reason", "Seen"), ("type", "Warning"), (who, "c"), ("metadata.name", "b"),
            ("source", "tests"), ("source", "example.com/tests"), ("action", "Seeing"), ("note", "x"),
        ):  # fmt: skip
            for sign in ("=", "!="):
                require_alike(servers, "GET", path, fieldSelector=f"{field}{sign}{value}")


def test_tables(servers):
    require_alike(servers, "POST", NEW, new())
    require_alike(servers, "POST", NEW, new("b", series=SERIES))
    require_alike(servers, "POST", OLD, old("c"))
    for path in (OLD, NEW):
        for name in ("", "/a", "/b", "/c"):
            require_alike(
                servers, "GET", f"{path}{name}", headers={"accept": TABLE}, includeObject="None"
            )


@pytest.mark.parametrize("path", [OLD, NEW])
def test_both_groups_are_watched(servers, path):
    def seen(server):
        since = server.ask("GET", path).ok()["metadata"]["resourceVersion"]
        server.ask("POST", NEW, new()).ok()
        server.ask("POST", OLD, old("b")).ok()
        server.ask("PATCH", f"{NEW}/a", {"series": SERIES}, media_type=MERGE).ok()
        server.ask("DELETE", f"{NEW}/b").ok()
        server.ask("DELETE", f"{OLD}/a").ok()
        query = f"watch=true&timeoutSeconds=2&resourceVersion={since}"
        with contextlib.closing(server.connect()) as connection:
            connection.request("GET", f"{path}?{query}")
            lines = connection.getresponse().read().splitlines()
        found = [json.loads(each) for each in lines]
        for each in found:
            each["object"]["metadata"] = each["object"]["metadata"]["name"]
        return found

    theirs, ours = map(seen, servers)
    assert ours == theirs


@pytest.mark.parametrize(
    "document",
    [
        new(),
        new(series=SERIES, related=ABOUT),
        new(eventTime=None, deprecatedCount=2, deprecatedSource={"component": "c", "host": "h"}),
    ],
)
def test_documents_in_protobuf(servers, document):
    """What Kubernetes' API server writes as protobuf is what controllers send."""
    document["metadata"] |= {"labels": {"a": "b"}}
    stored = OLD if "deprecatedCount" in document else NEW
    body = document if stored is NEW else old()
    with contextlib.closing(servers[0].connect()) as connection:
        connection.request(
            "POST", f"{stored}?dryRun=All", json.dumps(body),
            {"content-type": "application/json", "accept": PROTOBUF},
        )  # fmt: skip
        written = connection.getresponse().read()
    assert written.startswith(b"k8s\0")
    require_alike(servers, "POST", stored, written, media_type=PROTOBUF)
    require_same_in_both(servers)


def test_what_discovery_says(servers):
    require_alike(servers, "GET", "/apis/events.k8s.io")
    theirs, ours = (each.ask("GET", "/apis/events.k8s.io/v1").ok() for each in servers)
    for each in theirs["resources"]:
        del each["storageVersionHash"]
    assert ours == theirs
    form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    theirs, ours = (
        next(
            x for x in each.ask("GET", "/apis", headers={"accept": form}).ok()["items"]
            if x["metadata"]["name"] == "events.k8s.io"
        )
        for each in servers
    )  # fmt: skip
    theirs["versions"][0]["resources"][0]["responseKind"] |= {
        "group": "events.k8s.io",
        "version": "v1",
    }
    assert {**ours, "metadata": ""} == {**theirs, "metadata": ""}


def test_what_openapi_names(servers):
    """The schemas have the same properties of the same types, by the same names."""
    names = ("io.k8s.api.events.v1.Event", "io.k8s.api.events.v1.EventList")
    theirs, ours = (
        each.ask("GET", "/openapi/v3/apis/events.k8s.io/v1").ok()["components"]["schemas"]
        for each in servers
    )
    for name in names:
        assert set(ours[name]["properties"]) == set(theirs[name]["properties"])
        key = "x-kubernetes-group-version-kind"
        assert ours[name][key] == theirs[name][key]


def test_they_go_with_their_namespace(servers):
    """An object in two groups is deleted once."""
    for each in servers:
        path = f"{requests.NAMESPACES}/{SPACE}-2"
        each.ask("POST", requests.NAMESPACES, {"metadata": {"name": f"{SPACE}-2"}}).ok()
        about = {**ABOUT, "namespace": f"{SPACE}-2"}
        each.ask("POST", NEW.replace(SPACE, f"{SPACE}-2"), new(regarding=about)).ok()
        each.ask("DELETE", path).ok()
    assert PLAIN
