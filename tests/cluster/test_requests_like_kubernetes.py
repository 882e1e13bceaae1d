"""The same requests, which no story of kubectl sends, to Kubernetes' API server and to `trundle serve`: both answer alike."""

import copy
import itertools
import json
import re
import urllib.parse

import pytest
from projects import Installer
from served import both_serving

pytestmark = pytest.mark.cluster

GROUP = "asked.test"
MERGE, JSON, APPLY, STRATEGIC = (
    f"application/{each}"
    for each in ("merge-patch+json", "json-patch+json", "apply-patch+yaml", "strategic-merge-patch+json")
)  # fmt: skip
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
GLOBES = "globes"
NUMBERS = itertools.count()

WITHIN = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer", "format": "int32"},
                "long": {"type": "integer", "format": "int64"},
                "ratio": {"type": "number"},
                "port": {"x-kubernetes-int-or-string": True},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "ratios": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "number"},
                },
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "after": {"type": "string", "format": "duration"},
                "data": {"type": "string", "format": "byte"},
                "day": {"type": "string", "format": "date"},
                "note": {"type": "string"},
                "free": FREE,
                "frees": {"type": "array", "items": FREE},
                "freely": {"type": "object", "additionalProperties": FREE},
                "anything": {"x-kubernetes-preserve-unknown-fields": True},
                "template": WITHIN,
                "templates": {"type": "array", "items": WITHIN},
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def crd(plural, kind, scope):
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v2",
            "deprecated": name == "v1",
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {"status": {}},
        }
        for name in ("v2", "v1")
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": versions,
        },
    }


CRDS = [crd("tools", "Tool", "Namespaced"), crd(GLOBES, "Globe", "Cluster")]
CONFIG = {"kubernetes": {"group": GROUP, "types": {"Globe": {"scope": "Cluster"}}}}
ALL, NAMESPACES = f"/apis/{GROUP}/v2/tools", "/api/v1/namespaces"


@pytest.fixture(scope="module")
def servers(cluster, tmp_path_factory):
    """The real server, and Trundle's."""
    files = {f"{each['metadata']['name']}.json": each for each in CRDS}
    project = Installer(tmp_path_factory.mktemp("asked"))(files, config=CONFIG).project.folder
    with both_serving(cluster, CRDS, project) as servers:
        yield servers


@pytest.fixture
def place(servers):
    """A namespace of the test's own, on both servers: the path of what is in it."""
    name = f"asked-{next(NUMBERS)}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    for each in servers:
        each.ask("POST", NAMESPACES, made).ok()
    return f"/apis/{GROUP}/v2/namespaces/{name}/tools"


def tool(name, spec=None, version="v2", **metadata):
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Tool"}
    return {**head, "metadata": {"name": name, **metadata}, "spec": spec or {}}


PLAIN = (
    (r'"(uid|resourceVersion|continue|\w+Timestamp|time)": "[^"]+"', r'"\1": "OWN"'),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
)


def plain(answer):
    """What a client does by an answer: the status, the reason and the places that are wrong, else the object."""
    warnings = answer.headers.get_all("warning")
    if answer.status >= 300:
        body = answer.body if isinstance(answer.body, dict) else {}
        causes = (body.get("details") or {}).get("causes", [])
        found = sorted({(each.get("reason", ""), each.get("field", "")) for each in causes})
        return answer.status, body.get("reason"), found, warnings
    text = json.dumps(_sorted(copy.deepcopy(answer.body)), sort_keys=True)
    for pattern, replaced in PLAIN:
        text = re.sub(pattern, replaced, text)
    return answer.status, text, warnings


def _sorted(body):
    """An object with its owners in one order, which is by times elsewhere."""
    for each in body.get("items", [body]):
        owners = each.get("metadata", {}).get("managedFields")
        if owners is not None:
            owners.sort(key=lambda owner: json.dumps({**owner, "time": ""}, sort_keys=True))
    return body


def require_alike(servers, method, path, body=None, **given):
    theirs, ours = (each.ask(method, path, body, **given) for each in servers)
    assert plain(ours) == plain(theirs), (method, path, body, given)
    return ours


@pytest.mark.parametrize(
    "spec",
    [
        '{"size": 2.0}',
        '{"size": 1e1}',
        '{"size": -0.0}',
        '{"size": 2147483648}',
        '{"long": 9223372036854775807}',
        '{"sizes": [1.0, 2]}',
        '{"counts": {"a": 3.0}}',
        '{"port": 80.0}',
        '{"ratio": 1.5}',
        '{"ratio": 1e400}',
        '{"ratios": [1.5, 2.25]}',
        '{"after": "1h30m"}',
        '{"after": "soon"}',
        '{"data": "aGVsbG8="}',
        '{"data": "!"}',
        '{"day": "2020-02-30"}',
        '{"free": {"a": 1}, "frees": [{}, {"b": [null]}], "freely": {"x": {"a": null}}}',
        '{"free": 1}',
        '{"free": [{}]}',
        '{"frees": [{}, "a"]}',
        '{"frees": [null]}',
        '{"freely": {"x": true}}',
        '{"anything": 1}',
    ],
)
@pytest.mark.parametrize("media_type", ["application/json", MERGE, APPLY])
def test_values(servers, place, spec, media_type):
    """Numbers as clients of many languages write them, and formats."""
    options = {"fieldManager": "me"} if media_type == APPLY else {}
    given = json.dumps(tool("a")).replace('"spec": {}', f'"spec": {spec}').encode()
    if media_type == "application/json":
        method, path = "POST", place
    else:
        require_alike(servers, "POST", place, tool("a"))
        method, path = "PATCH", f"{place}/a"
    theirs, ours = (
        each.ask(method, path, given, media_type=media_type, **options) for each in servers
    )
    # Where a configuration makes no sense, the real server answers 500.
    failed = theirs.status >= 400 and media_type == APPLY
    assert failed == (ours.status >= 400) if failed else _valued(ours) == _valued(theirs)


def _valued(answer):
    if answer.status < 300:
        return answer.body["spec"]
    return answer.status, answer.body["reason"]


def test_owners_of_numbers(servers, place):
    """A server-side apply goes on after one by the client, whose annotation and sets have numbers with fractions."""
    said = tool("a", {"ratio": 2.5, "ratios": [0.5, 1.5], "size": 1})
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(said)}
    made = copy.deepcopy(said)
    made["metadata"]["annotations"] = last
    client = {"fieldManager": "kubectl-client-side-apply"}
    require_alike(servers, "POST", place, made, **client)
    applied = {"media_type": APPLY, "fieldManager": "kubectl"}
    require_alike(servers, "PATCH", f"{place}/a", said, **applied)
    said["spec"] = {"ratio": 3.25, "ratios": [1.5]}
    require_alike(servers, "PATCH", f"{place}/a", said, force="true", **applied)


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"a": None}},
        {"annotations": {"a": None}},
        {"finalizers": ["a.test/x", "a.test/x"]},
        {
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "A", "name": "a", "uid": each, "controller": True}
                for each in ("1", "2")
            ]
        },
    ],
    ids=["a-label", "an-annotation", "finalizers", "controllers"],
)
def test_metadata(servers, place, metadata):
    theirs, ours = (
        each.ask("POST", place, tool("a", **metadata), dryRun="All") for each in servers
    )
    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    "metadata", [{"labels": None}, {"labels": {}}, {"annotations": None}, {"finalizers": None}]
)
def test_nothing_in_the_metadata_is_applied(servers, place, metadata):
    path, you = f"{place}/a", {"media_type": APPLY, "fieldManager": "you"}
    for _ in range(2):
        require_alike(servers, "PATCH", path, tool("a", **metadata), **you)
    other = tool("a", labels={"x": "y"}, annotations={"x": "y"})
    require_alike(servers, "PATCH", path, other, media_type=APPLY, fieldManager="other")


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "replace", "path": "/spec/note", "value": "new"}],
        [{"op": "replace", "path": "/spec/none/deeper", "value": "new"}],
        [{"op": "test", "path": "/spec/note", "value": None}],
        [{"op": "test", "path": "/spec/size", "value": None}],
        [{"op": "test", "path": "/spec/note", "value": "x"}],
        [{"op": "remove", "path": "/metadata"}],
        [{"op": "remove", "path": "/metadata/name"}],
        [{"op": "add", "path": "/spec/size", "value": 3.0}],
    ],
    ids=json.dumps,
)
def test_operations(servers, place, operations):
    require_alike(servers, "POST", place, tool("a", {"size": 1}, labels={"x": "y"}))
    theirs, ours = (
        each.ask("PATCH", f"{place}/a", operations, media_type=JSON) for each in servers
    )
    assert (ours.status, ours.body.get("reason")) == (theirs.status, theirs.body.get("reason"))
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize(
    "given",
    ["x", [1], [{"manager": 1}], [{"manager": ["a"], "operation": "Apply", "apiVersion": "v1"}]],
    ids=json.dumps,
)
def test_owners_that_are_none_are_refused(servers, place, given):
    require_alike(servers, "POST", place, tool("a"))
    for each in servers:
        patch = {"metadata": {"managedFields": given}}
        answer = each.ask("PATCH", f"{place}/a", patch, media_type=MERGE)
        assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize(
    "options",
    [
        {"dryRun": "All"},
        {"dryRun": ["Some"]},
        {"kind": "Tool"},
        {"preconditions": []},
        {"gracePeriodSeconds": "soon"},
        {"orphanDependents": "yes"},
        {"propagationPolicy": 1},
    ],
    ids=json.dumps,
)
def test_options_that_make_no_sense_delete_nothing(servers, place, options):
    for path in (f"{place}/a", place):
        require_alike(servers, "POST", place, tool("a"))
        for each in servers:
            assert each.ask("DELETE", path, options).status in {400, 422}
            assert each.ask("GET", f"{place}/a").status == 200
            each.ask("DELETE", f"{place}/a").ok()


def test_no_more_is_deleted_than_is_asked(servers, place):
    for name in ("a", "b", "c", "d"):
        require_alike(servers, "POST", place, tool(name, labels={"x": name}))
    for query in ({"limit": "1"}, {"limit": "2", "labelSelector": "x in (b, c, d)"}):
        for each in servers:
            each.ask("DELETE", place, **query).ok()
        require_alike(servers, "GET", place)
    for each in servers:
        assert each.ask("DELETE", ALL).status in {404, 405}
    require_alike(servers, "GET", place)


def test_what_is_in_no_namespace_may_name_one(servers):
    path = f"/apis/{GROUP}/v2/{GLOBES}"
    made = {**tool("a", {"size": 2}, namespace="default"), "kind": "Globe"}
    try:
        require_alike(servers, "POST", path, made)
        change = {"metadata": {"namespace": "other"}, "spec": {"size": 1}}
        require_alike(servers, "PATCH", f"{path}/a", change, media_type=MERGE)
        config = {"media_type": APPLY, "fieldManager": "you", "force": "true"}
        require_alike(servers, "PATCH", f"{path}/a", made, **config)
    finally:
        for each in servers:
            each.ask("DELETE", path)


def test_clients_of_deprecated_versions_are_warned_whatever_they_ask(servers, place):
    older = place.replace("/v2/", "/v1/")
    require_alike(servers, "POST", older, tool("a", version="v1"))
    require_alike(servers, "POST", older, tool("a", version="v1"))
    for path in (f"{older}/a", f"{older}/b", older):
        require_alike(servers, "GET", path)
    for each in servers:
        assert each.ask("GET", older, watch="true", timeoutSeconds="1").headers["warning"]


def test_nothing_is_kept_by_caches(servers, place):
    for path in (place, f"{place}/none"):
        theirs, ours = (each.ask("GET", path).headers["cache-control"] for each in servers)
        assert ours == theirs


FUTURE = {"resourceVersion": "999999999999"}


@pytest.mark.parametrize(
    "query",
    [
        FUTURE,
        {**FUTURE, "resourceVersionMatch": "NotOlderThan"},
        {**FUTURE, "resourceVersionMatch": "Exact"},
        {"resourceVersion": "x"},
    ],
    ids=str,
)
def test_lists_are_not_older_than_a_client_wants(servers, place, query):
    require_alike(servers, "GET", place, **query)


@pytest.mark.parametrize("form", ["application/json", METADATA, TABLE])
@pytest.mark.parametrize("said", ["true", "True"])
def test_bookmarks_have_the_form_of_objects(servers, place, form, said):
    """Informers that know metadata alone can read nothing else."""
    require_alike(servers, "POST", place, tool("a"))
    query = {"watch": "true", "timeoutSeconds": "1", "allowWatchBookmarks": "true"}
    query |= {"sendInitialEvents": said, "resourceVersionMatch": "NotOlderThan"}
    theirs, ours = (_events(each, place, form, query) for each in servers)
    assert ours == theirs
    assert [each[0] for each in ours] == ["ADDED", "BOOKMARK"]


@pytest.mark.parametrize(
    "query",
    [{"sendInitialEvents": "false"}, {"sendInitialEvents": "true", **FUTURE}],
    ids=["none", "of-the-future"],
)
def test_watches_begin_where_a_client_wants(servers, place, query):
    require_alike(servers, "POST", place, tool("a"))
    query = {
        "watch": "true",
        "timeoutSeconds": "1",
        "resourceVersionMatch": "NotOlderThan",
        **query,
    }
    theirs, ours = (_events(each, place, "application/json", query) for each in servers)
    assert ours == theirs


def _events(server, path, form, query):
    """The events of a watch: their types, and what their objects are."""
    connection = server.connect()
    called = f"{path}?{urllib.parse.urlencode(query)}"
    connection.request("GET", called, headers={"accept": form})
    events = [json.loads(each) for each in connection.getresponse().read().splitlines()]
    connection.close()
    return [
        (each["type"], found["kind"], found["apiVersion"], found.get("reason"), _shown(found))
        for each in events
        if (found := each["object"])
    ]


def _shown(found):
    causes = (found.get("details") or {}).get("causes", [])
    annotations = found["metadata"].get("annotations")
    return [each["reason"] for each in causes], annotations, len(found.get("rows", ()))


def test_namespaces_are_patched_as_kubectl_does(servers, place):
    """kubectl applies and edits namespaces by strategic merge patches."""
    path = f"{NAMESPACES}/{place.split('/')[5]}"
    for patch in (
        {"metadata": {"labels": {"a": "b", "c": "d"}, "annotations": {"x": "y"}}},
        {"metadata": {"labels": {"a": None}}},
        {"metadata": {"labels": {"$patch": "replace", "e": "f"}}},
        {
            "metadata": {
                "finalizers": ["a.test/x"],
                "$setElementOrder/finalizers": ["a.test/x"],
            }
        },
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.test/x"]}},
        {"spec": {"finalizers": ["a.test/x"]}},
        {"metadata": {"labels": None}},
    ):
        theirs, ours = (each.ask("PATCH", path, patch, media_type=STRATEGIC) for each in servers)
        assert _namespace(ours) == _namespace(theirs), patch
    config = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": path.rsplit("/", maxsplit=1)[-1]},
    }
    for each in servers:
        each.ask("PATCH", path, config, media_type=APPLY, fieldManager="you").ok()
    theirs, ours = (each.ask("GET", path) for each in servers)
    assert _namespace(ours) == _namespace(theirs)
    assert servers[1].ask("PATCH", f"{place}/a", {}, media_type=STRATEGIC).status == 415


def _namespace(answer):
    metadata = answer.ok()["metadata"]
    said = {key: metadata.get(key) for key in ("labels", "annotations", "finalizers")}
    return said, answer.body["spec"], answer.body["status"]


def test_events_are_counted_as_recorders_do(servers, place):
    """client-go's recorders count by strategic merge patches."""
    namespace = place.split("/")[5]
    path = f"{NAMESPACES}/{namespace}/events"
    event = {
        "metadata": {"name": "e", "namespace": namespace},
        "involvedObject": {"kind": "Tool", "name": "a", "namespace": namespace},
        "reason": "Seen",
        "message": "it was seen",
        "type": "Normal",
        "count": 1,
    }
    later = {"count": 2, "lastTimestamp": "2026-01-01T00:00:00Z"}
    for each in servers:
        each.ask("POST", path, {"apiVersion": "v1", "kind": "Event", **event}).ok()
        found = each.ask("PATCH", f"{path}/e", later, media_type=STRATEGIC).ok()
        assert (found["count"], found["message"]) == (2, "it was seen")


WHOLE = {"apiVersion": "v1", "kind": "Pod"}


@pytest.mark.parametrize(
    "template",
    [
        WHOLE,
        {**WHOLE, "apiVersion": "a.test/v1", "metadata": {"name": "A_"}, "spec": {"x": [1]}},
        {},
        {"apiVersion": "v1"},
        {"kind": "Pod"},
        {**WHOLE, "apiVersion": "a/b/c"},
        {**WHOLE, "apiVersion": ""},
        {**WHOLE, "kind": "a b"},
        {**WHOLE, "kind": ""},
        None,
        "x",
    ],
    ids=json.dumps,
)
def test_whole_objects_within_others(servers, place, template):
    require_alike(servers, "POST", place, tool("a", {"template": template}))
    require_alike(servers, "POST", place, tool("b", {"templates": [WHOLE, template]}))


@pytest.mark.parametrize(
    "wrong", [{"apiVersion": 1}, {"kind": ["x"]}, {"metadata": "x"}], ids=json.dumps
)
def test_whole_objects_of_wrong_types_are_refused(servers, place, wrong):
    """The real server says that it cannot read them (400), and not where."""
    for each in servers:
        answer = each.ask("POST", place, tool("a", {"template": {**WHOLE, **wrong}}))
        assert answer.status in {400, 422}
