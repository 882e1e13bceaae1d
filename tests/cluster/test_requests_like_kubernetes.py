"""The same requests, which no story of kubectl sends, to Kubernetes' API server and to `trundle serve`: both answer alike."""

import copy
import gzip
import itertools
import json
import re
import urllib.parse

import pytest
import yaml
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
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
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
                "net": {"type": "string", "format": "cidr"},
                "card": {"type": "string", "format": "mac"},
                "id": {"type": "string", "format": "uuid"},
                "label": {"type": "string", "format": "k8s-short-name"},
                "above": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                "letters": {"type": "string", "pattern": "^[[:alpha:]_]+$"},
                "spaceless": {"type": "string", "pattern": "^[^[:space:]]+$"},
                "quoted": {"type": "string", "pattern": r"^\Qa.b[\E$"},
                "mood": {"type": "string", "nullable": True, "enum": ["a"]},
                "moods": {"type": "string", "nullable": True, "enum": ["a", None]},
                "single": {"type": "number", "format": "float"},
                "braces": {"type": "string", "pattern": "^a{,3}$"},
                "brackets": {"type": "string", "pattern": "^[][]+$"},
                "free": FREE,
                "frees": {"type": "array", "items": FREE},
                "freely": {"type": "object", "additionalProperties": FREE},
                "anything": ANYTHING,
                "things": {"type": "object", "additionalProperties": ANYTHING},
                "any": {"type": "object", "additionalProperties": True},
                "pair": {
                    "type": "array",
                    "items": {"type": "integer"},
                    "enum": [[1, 2], [], [3]],
                },
                "shape": {**FREE, "enum": [{}, {"a": {"b": [1]}}, {"a": 1, "b": "x"}]},
                "point": {
                    "type": "object",
                    "nullable": True,
                    "properties": {"x": {"type": "integer"}},
                    "enum": [{"x": 1}, {"x": 2}],
                },
                "pairs": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "string"}, "enum": [["a"], []]},
                },
                "either": {**ANYTHING, "enum": [1, "a", [1], {"a": None}]},
                "some": {"type": "array", "items": ANYTHING},
                "open": {**FREE, "properties": {"y": ANYTHING}},
                "boxes": {
                    "type": "object",
                    "properties": {
                        "full": {
                            "type": "object",
                            "default": {"a": "b", "b": "c"},
                            "required": ["b"],
                            "properties": {
                                "a": {"type": "string"},
                                "b": {"type": "string", "default": "c"},
                            },
                        },
                        "may": {
                            "type": "object",
                            "nullable": True,
                            "properties": {
                                "a": {"type": "string"},
                                "b": {"type": "array", "items": {"type": "string"}},
                            },
                        },
                    },
                },
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
        '{"after": "2 days"}',
        '{"after": "1w"}',
        '{"after": "1 month"}',
        '{"net": "10.0.0.1/8"}',
        '{"net": "10.0.0.1"}',
        '{"card": "00-11-22-33-44-55"}',
        '{"card": "00:11"}',
        '{"id": "A8098C1AF86E11DABD1A00112444BE1E"}',
        '{"id": "x"}',
        '{"label": "a-b"}',
        '{"label": "a.b"}',
        '{"above": 0}',
        '{"above": 0.5}',
        '{"data": "aGVsbG8="}',
        '{"data": "!"}',
        '{"day": "2020-02-30"}',
        '{"free": {"a": 1}, "frees": [{}, {"b": [null]}], "freely": {"x": {"a": null}}}',
        '{"free": 1}',
        '{"letters": "a_B"}',
        '{"mood": null}',
        '{"mood": "b"}',
        '{"moods": "a"}',
        '{"single": 1e39}',
        '{"single": -1e39}',
        '{"single": 3.4e38}',
        '{"single": 1e-46}',
        '{"ratios": [1.0, 1.0]}',
        '{"ratios": [1, 1]}',
        '{"letters": ":"}',
        '{"spaceless": "a:b"}',
        '{"spaceless": "a b"}',
        '{"quoted": "a.b["}',
        '{"quoted": "axb["}',
        '{"braces": "a{,3}"}',
        '{"braces": "aa"}',
        '{"brackets": "[]"}',
        '{"brackets": "a"}',
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


def test_an_object_is_not_exported(servers, place):
    require_alike(servers, "POST", place, tool("a"))
    for value in ("1", "true", "false", "0", ""):
        require_alike(servers, "GET", f"{place}/a", export=value)
    require_alike(servers, "GET", place, export="true")


def test_paths_of_what_is_served(servers):
    theirs, ours = ({*each.ask("GET", "/").ok()["paths"]} for each in servers)
    beside = {each for each in ours if each.startswith(("/convert", "/ui", "/v1/", "/v2/"))}
    assert ours - beside <= theirs
    served = {each for each in theirs if GROUP in each and not each.startswith("/openapi/")}
    assert {*served, "/api", "/api/v1", "/apis", "/livez", "/openapi/v3", "/version"} <= ours


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
        for each in (path, NAMESPACES):
            require_alike(servers, "GET", each, fieldSelector="metadata.namespace=default")
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


@pytest.fixture
def labelled(servers, place):
    """Objects with labels."""
    for name, labels in (
        ("a", {"x": "1", "rank": "5"}),
        ("b", {"x": "2", "rank": "10"}),
        ("c", {"y": "", "rank": "low"}),
        ("d", {"rank": "007"}),
        ("e", {}),
    ):
        require_alike(servers, "POST", place, tool(name, {"size": 1}, labels=labels))
    return place


@pytest.mark.parametrize(
    "selector",
    [
        "rank>5", "rank < 10", "rank>4,rank<8", "rank>05", "rank>0", "rank>low", "rank>", "rank>-1", "rank>5.5", "rank>1>2",
        "rank>99999999999999999999", "rank gt 5", "x in (1,2)", "x  in  ( 1 , 2 )", "x in ()", "x notin ()", "x in (,1)", "x in (1",
        "x in 1", "!x", "! x", "!!x", "x=", "x!=", "x===1", "x=1,", ",x=1", ",", " ", "in in (in)", "x=1 y=2", "a/b=c", "a/b/c=d",
        "/b", "a/", "Ex.com/b=c", f"x={'a' * 63}", f"x={'a' * 64}", f"{'x' * 64}=a", f"{'a' * 254}/x", "x=a b", "x=-a", "x=ü",
        "x in (-a)", "x=(1)", "x~1", "x=1;y=2", 'x="1"', "!x=1", "x,!x", "x=1\t,y",
    ],
)  # fmt: skip
def test_label_selectors(servers, labelled, selector):
    require_alike(servers, "GET", labelled, labelSelector=selector)


@pytest.mark.parametrize(
    "selector",
    [
        "metadata.name=a", "metadata.name==a", "metadata.name!=a", "metadata.name=", "metadata.name", "=a", "metadata.name=a,,", ",",
        " ", "metadata.name=a\\,b", "metadata.name!=a\\,b", "metadata.name=a\\=b", "metadata.name=a\\b", "metadata.name=a\\",
        "metadata.name=a=b", "metadata.name in (a)", "metadata.name>a", "spec.size=1", "metadata.uid=x", "kind=Tool",
        " metadata.name=a", "metadata.name =a", "metadata.name= a", "!metadata.name", "metadata.name=a;metadata.name=b",
        "metadata.name=a,metadata.name!=a", "metadata.namespace=other", "metadata.namespace!=other", "metadata.labels.x=1",
    ],
)  # fmt: skip
def test_field_selectors(servers, labelled, selector):
    require_alike(servers, "GET", labelled, fieldSelector=selector)


@pytest.mark.parametrize("selector", ["metadata.name!=a", "metadata.name!=b,metadata.name!=c"])
def test_pages_are_full_whatever_fields_choose(servers, labelled, selector):
    query = {"fieldSelector": selector, "limit": "2"}
    theirs, ours = (_named_pages(each, labelled, query) for each in servers)
    assert ours == theirs


def _named_pages(server, path, query):
    """The names on each page of a list."""
    pages, query = [], dict(query)
    while not pages or query["continue"]:
        found = server.ask("GET", path, **query).ok()
        pages.append([each["metadata"]["name"] for each in found["items"]])
        query["continue"] = found["metadata"].get("continue", "")
    return pages


@pytest.mark.parametrize(
    "query",
    [
        "limit=-1", "limit=x", "limit=1.5", "timeoutSeconds=x", "timeoutSeconds=-1", "continue=x", "resourceVersionMatch=Exact",
        "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=Never", "resourceVersion=1&resourceVersionMatch=Never",
        "resourceVersion=0&resourceVersionMatch=Exact", "resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=Exact&continue=x", "sendInitialEvents=true", "sendInitialEvents=false", "unknown=1", "pretty=true",
    ],
)  # fmt: skip
def test_options_of_lists(servers, labelled, query):
    require_alike(servers, "GET", labelled, **dict(urllib.parse.parse_qsl(query)))


@pytest.mark.parametrize(
    "query",
    [
        "", "resourceVersion=0", "limit=1", "allowWatchBookmarks=true", "allowWatchBookmarks=true&resourceVersion=0",
        "resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "sendInitialEvents=true", "sendInitialEvents=false",
        "sendInitialEvents=true&resourceVersionMatch=Exact", "sendInitialEvents=true&resourceVersionMatch=Never",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&allowWatchBookmarks=true", "continue=x",
        "labelSelector=rank>5", "fieldSelector=metadata.name=b", "labelSelector=x in (",
        "continue=x&resourceVersion=0", "continue=x&sendInitialEvents=true",
        "continue=x&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
    ],
)  # fmt: skip
def test_options_of_watches(servers, labelled, query):
    given = {"watch": "1", "timeoutSeconds": "1", **dict(urllib.parse.parse_qsl(query))}
    theirs, ours = (_changes(each, labelled, given) for each in servers)
    assert ours == theirs


def _text(server, path, query, accept="application/json"):
    """The status and the text of an answer, which may be a stream."""
    connection = server.connect()
    called = f"{path}?{urllib.parse.urlencode(query)}"
    connection.request("GET", called, headers={"accept": accept})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def _changes(server, path, query):
    """What a watch gives, or why it gives nothing."""
    status, text = _text(server, path, query)
    if status >= 400:
        details = json.loads(text).get("details") or {} if text.startswith("{") else {}
        return status, sorted(each["field"] for each in details.get("causes", ()))
    events = map(json.loads, text.splitlines())
    return [
        (each["type"], metadata.get("name"), metadata.get("annotations"))
        for each in events
        if (metadata := each["object"]["metadata"]) is not None
    ]


def test_paths_of_changes_that_old_clients_ask_for(servers, labelled):
    base, namespace = f"/apis/{GROUP}/v2/watch", labelled.split("/")[5]
    for path in (
        f"{base}/namespaces/{namespace}/tools",
        f"{base}/namespaces/{namespace}/tools/b",
        f"{base}/namespaces/{namespace}/tools/none",
        f"{base}/namespaces/{namespace}/tools/b/status",
        f"{base}/namespaces/{namespace}/others",
        f"{base}/{GLOBES}",
        f"/api/v1/watch/namespaces/{namespace}",
    ):
        query = {"timeoutSeconds": "1", "watch": "false"}
        theirs, ours = (_changes(each, path, query) for each in servers)
        assert ours == theirs, path


OPTIONS = [
    {"dryRun": ""},
    {"dryRun": "all"},
    {"fieldValidation": "strict"},
    {"fieldValidation": ""},
    {"fieldManager": "a" * 128},
    {"fieldManager": "a" * 129},
    {"fieldManager": "ü" * 65},
    {"fieldManager": "a\nb"},
    {"fieldManager": "a\u200bb", "dryRun": "x", "fieldValidation": "x"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=ascii)
def test_options_of_writes(servers, place, options):
    require_alike(servers, "POST", place, tool("a"))
    require_alike(servers, "POST", place, tool("b"), **options)
    require_alike(servers, "PUT", f"{place}/none", tool("none"), **options)
    patch = {"spec": {"size": 2}}
    require_alike(servers, "PATCH", f"{place}/a", patch, media_type=MERGE, **options)
    require_alike(servers, "PATCH", f"{place}/c", tool("c"), media_type=APPLY, **options)
    require_alike(servers, "GET", place)


@pytest.mark.parametrize("force", ["true", "false"])
def test_force_is_for_configurations(servers, place, force):
    require_alike(servers, "POST", place, tool("a"))
    for media_type, patch in ((MERGE, {"spec": {}}), (JSON, []), (APPLY, tool("a"))):
        given = {"media_type": media_type, "fieldManager": "you", "force": force}
        require_alike(servers, "PATCH", f"{place}/a", patch, **given)


@pytest.mark.parametrize(
    "query",
    [
        "propagationPolicy=", "propagationPolicy=foreground", "orphanDependents=true&propagationPolicy=Orphan", "gracePeriodSeconds=-1",
        "gracePeriodSeconds=x", "gracePeriodSeconds=", "gracePeriodSeconds=30", "dryRun=", "dryRun=x&propagationPolicy=y", "dryRun=All",
        "uid=x", "resourceVersion=1", "resourceVersion=0", "orphanDependents=false", "uid=", "resourceVersion=",
    ],
)  # fmt: skip
def test_a_query_says_what_may_be_deleted(servers, place, query):
    require_alike(servers, "POST", place, tool("a"))
    options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    require_alike(servers, "DELETE", f"{place}/a", **options)
    theirs, ours = (each.ask("GET", f"{place}/a").status for each in servers)
    assert ours == theirs


@pytest.mark.parametrize(
    "options",
    [
        {"propagationPolicy": ""},
        {"propagationPolicy": "x", "dryRun": ["y"]},
        {"dryRun": []},
        {"dryRun": ["All", "All"]},
        {"preconditions": {"uid": ""}},
        {"preconditions": {"uid": "x"}},
        {"preconditions": {"resourceVersion": "1"}},
        {"preconditions": {}},
        {"gracePeriodSeconds": -1},
    ],
    ids=json.dumps,
)
def test_options_of_deletions(servers, place, options):
    require_alike(servers, "POST", place, tool("a"))
    body = {"kind": "DeleteOptions", "apiVersion": "v1", **options}
    require_alike(servers, "DELETE", f"{place}/a", body)
    theirs, ours = (each.ask("GET", f"{place}/a").status for each in servers)
    assert ours == theirs


def test_what_selectors_choose_is_deleted(servers, labelled):
    for query in (
        {"labelSelector": "rank>6"},
        {"fieldSelector": "metadata.name=a", "dryRun": "All"},
        {"fieldSelector": "metadata.name=a"},
        {"labelSelector": "x in ("},
        {"fieldSelector": "spec.size=1"},
    ):
        for each in servers:
            each.ask("DELETE", labelled, **query)
        require_alike(servers, "GET", labelled)


@pytest.mark.parametrize(
    "accept",
    [
        "", "*/*", "application/*", "application/yaml", "application/json;q=0.5, application/yaml;q=0.9",
        "application/yaml;q=0.5,application/json", "application/xml,*/*;q=0.1", "application/json;q=0", "application/json;charset=utf-8",
        "text/html", "text/*", "application/xml", "application/cbor", "garbage",
        "application/json;as=Other;v=v1;g=meta.k8s.io", "application/json;as=Other;v=v1;g=meta.k8s.io,application/json",
        "application/json;as=Table;v=v9;g=meta.k8s.io", "application/json;as=Table;v=v1;g=other.io", "application/json;as=Table",
        "application/yaml;as=Table;v=v1;g=meta.k8s.io", TABLE,
        "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.1,application/json;q=0.9", "*", "application/json;g=meta.k8s.io;v=v1",
        "application/json;stream=other", "application/json;stream=watch", "application/json ; as = Table ; v = v1 ; g = meta.k8s.io",
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io", METADATA.replace("v1", "v1beta1"),
    ],
)  # fmt: skip
def test_what_clients_accept(servers, place, accept):
    require_alike(servers, "POST", place, tool("a", {"note": "on"}, labels={"x": "no"}))
    headers = {"accept": accept}
    for method, path, body in (
        ("GET", place, None),
        ("GET", f"{place}/a", None),
        ("GET", f"{place}/none", None),
        ("PATCH", f"{place}/a", {"spec": {"size": 3}}),
    ):
        given = {"headers": headers} | ({"media_type": MERGE} if body else {})
        theirs, ours = (_read_answer(each.ask(method, path, body, **given)) for each in servers)
        assert ours == theirs, (method, path)
    require_alike(servers, "GET", f"{place}/a")


def _read_answer(answer):
    """The status and the type of an answer, and what is in it, but for the age of objects."""
    kind = answer.headers["content-type"]
    body = yaml.safe_load(answer.body) if kind.endswith("yaml") else answer.body
    if answer.status >= 300:
        return answer.status, kind, body["reason"]
    for each in body.get("rows") or ():
        each["cells"][1:] = []
    return answer.status, kind, plain(answer._replace(body=body))[1]


@pytest.mark.parametrize("accept", ["application/yaml", "text/html", "application/*"])
def test_changes_are_json_alone(servers, place, accept):
    headers, query = {"accept": accept}, {"watch": "1", "timeoutSeconds": "1"}
    theirs, ours = (each.ask("GET", place, headers=headers, **query) for each in servers)
    assert ours.status == theirs.status


@pytest.mark.parametrize("include", ["None", "Metadata", "Object", "", "none"])
@pytest.mark.parametrize("watch", [{}, {"watch": "1", "timeoutSeconds": "1"}], ids=str)
def test_tables_have_what_clients_ask_for(servers, labelled, include, watch):
    query = {"includeObject": include, "labelSelector": "rank>5", **watch}
    theirs, ours = (_tables(*_text(each, labelled, query, TABLE)) for each in servers)
    assert ours == theirs


def _tables(status, text):
    """Tables without ages and owners, each in its line; a failure without its message."""
    found = (
        [json.loads(each) for each in text.splitlines()] if status == 200 else [json.loads(text)]
    )
    tables = [each.get("object", each) for each in found]
    for row in (row for each in tables for row in each.get("rows", ())):
        row["cells"][1:] = []
        if row["object"]:
            row["object"]["metadata"].pop("managedFields")
    text = json.dumps([{**each, "message": ""} for each in tables], sort_keys=True)
    for pattern, replaced in PLAIN:
        text = re.sub(pattern, replaced, text)
    return status, text


def test_lists_of_metadata(servers, labelled):
    form = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    for query in ({}, {"limit": "2"}, {"labelSelector": "rank>5"}):
        theirs, ours = (
            each.ask("GET", labelled, headers={"accept": form}, **query) for each in servers
        )
        assert plain(ours) == plain(theirs)


@pytest.mark.parametrize(
    "spec",
    [
        None, {"free": None}, {"counts": None}, {"ratios": None}, {"template": None}, {"note": None}, {"sizes": None},
        {"port": None, "day": "soon"}, {"free": {"k": None}}, {"counts": {"a": None}}, {"anything": None}, {"things": {"x": None}},
        {"anything": None, "note": None},
    ],
    ids=json.dumps,
)  # fmt: skip
@pytest.mark.parametrize("force", ["true", "false"])
def test_nulls_that_are_applied(servers, place, spec, force):
    """Over an object or a list that is merged they say nothing; others are conflicts before they are wrong."""
    there = {"free": {"k": 1}, "counts": {"a": 1}, "ratios": [1.5], "note": "n", "port": 1}
    there |= {"anything": 1, "things": {"x": 1}}
    require_alike(servers, "POST", place, tool("a", there))
    for name in ("a", "new"):
        made = {**tool(name), "spec": spec}
        options = {"fieldManager": "you", "force": force, "media_type": APPLY}
        require_alike(servers, "PATCH", f"{place}/{name}", made, **options)


def test_what_is_said_first(servers, place):
    nowhere = place.replace("/asked-", "/none-")
    wrong = tool("A_", {"size": "x"})
    nameless = {**wrong, "metadata": {}}
    stated = {"media_type": APPLY, "fieldManager": "me"}
    for path in (place, nowhere):
        require_alike(servers, "POST", path, wrong)
        require_alike(servers, "POST", path, nameless)
        require_alike(servers, "POST", path, tool("a", {"day": "x"}, resourceVersion="5"))
        require_alike(servers, "PATCH", f"{path}/a", tool("a", {"day": "x"}), **stated)
    for query in ({"timeout": "x"}, {"timeout": "1"}, {"timeout": "1m"}, {"limit": "x"}):
        require_alike(servers, "GET", place, resourceVersion="0", **query)
        require_alike(servers, "DELETE", place, **query)


WRONG_OPTIONS = [
    ("limit", "x"), ("resourceVersion", "x"), ("continue", "x"), ("labelSelector", "a in ("), ("fieldSelector", "spec.none=1"),
    ("fieldSelector", "nonsense"), ("timeoutSeconds", "x"), ("timeout", "x"), ("resourceVersionMatch", "Odd"), ("sendInitialEvents", "true"),
]  # fmt: skip


@pytest.mark.parametrize("one", WRONG_OPTIONS, ids="=".join)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_of_several_options_that_are_wrong_the_same_is_named_first(servers, place, method, one):
    """Where bodies name none, both messages have to be about the same option."""
    for other in WRONG_OPTIONS:
        query = dict([one, other])
        theirs, ours = (each.ask(method, place, **query) for each in servers)
        assert plain(ours) == plain(theirs), query
        alone = [plain(servers[1].ask(method, place, **{key: x})) for key, x in query.items()]
        if len({str(each[:3]) for each in alone}) < len(alone):
            assert _named_option(ours, query) == _named_option(theirs, query), query


def _named_option(answer, query):
    """Which of some options a message is about, where it says so."""
    said = answer.body["message"]
    signs = {
        "labelSelector": "requirement", "timeout": "timeout specified", "fieldSelector": "selector|field label",
        "resourceVersionMatch": "Match", "sendInitialEvents": "sendInitialEvents",
    }  # fmt: skip
    return [key for key in query if key in signs and re.search(signs[key], said)]


UNKNOWN = {"size": "x", "zzz": 1, "free": {"yyy": 1}}


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
def test_fields_that_are_not_known_in_documents_that_are_wrong(servers, place, validation):
    """They are refused before anything else, or are warned about beside it."""
    options = {"fieldValidation": validation, "dryRun": "All"}
    for made in (tool("a", UNKNOWN), tool("A_", UNKNOWN, zzz=1), {**tool("a", UNKNOWN), "zzz": 1}):
        require_alike(servers, "POST", place, made, **options)
    require_alike(servers, "POST", place, tool("a"))
    require_alike(servers, "POST", place, tool("a", {"zzz": 1}), **options)
    for name in ("a", "b"):
        require_alike(servers, "PUT", f"{place}/a", tool(name, UNKNOWN, zzz=1), **options)
    patch = {"spec": UNKNOWN, "metadata": {"zzz": 1}}
    require_alike(servers, "PATCH", f"{place}/a", patch, media_type=MERGE, **options)
    for more in ({}, {"zzz": 1}):
        operations = [{"op": "add", "path": "/spec", "value": UNKNOWN, **more}]
        require_alike(servers, "PATCH", f"{place}/a", operations, media_type=JSON, **options)


LEFT_OUT = [
    {"status": {"zzz": 1}},
    {"spec": {"zzz": 1}},
    {"zzz": 1},
    {"status": {"zzz": 1}, "spec": {"yyy": 1}, "Spec": 1},
    {"status": None, "spec": None},
]


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
@pytest.mark.parametrize("part", ["", "/status"])
@pytest.mark.parametrize("said", LEFT_OUT, ids=json.dumps)
def test_fields_that_are_not_known_in_what_is_not_written(servers, place, validation, part, said):
    """A write of the status is no write of what stands beside it, and the other way round; what is misspelt there is said all the same."""
    options = {"fieldValidation": validation, "dryRun": "All"}
    require_alike(servers, "POST", place, {**tool("b"), **said}, **options)
    require_alike(servers, "POST", place, tool("a", {"note": "n"}))
    path = f"{place}/a{part}"
    require_alike(servers, "PATCH", path, said, media_type=MERGE, **options)
    operations = [{"op": "add", "path": f"/{name}", "value": each} for name, each in said.items()]
    require_alike(servers, "PATCH", path, operations, media_type=JSON, **options)
    answers = [
        each.ask("PUT", path, edited(each, f"{place}/a", said), **options) for each in servers
    ]
    assert plain(answers[1]) == plain(answers[0])
    config = {**tool("a"), **said}
    theirs, ours = (
        each.ask("PATCH", path, config, media_type=APPLY, fieldManager="me", **options)
        for each in servers
    )
    # Where a configuration has unknown fields, the real server answers 500.
    assert ours.status == (400 if theirs.status == 500 else theirs.status)


def edited(server, path, said):
    """An object as a client reads it, with what it says instead."""
    return {**server.ask("GET", path).ok(), **said}


@pytest.mark.parametrize(
    "finalizers",
    [
        ["plain"], ["a.test"], ["a.test/x"], ["orphan"], ["kubernetes"], ["b", "a.test", "a"],
    ],
    ids=json.dumps,
)  # fmt: skip
def test_finalizers_without_a_domain_are_warned_of(servers, place, finalizers):
    require_alike(servers, "POST", place, tool("a", finalizers=finalizers), dryRun="All")
    require_alike(servers, "POST", place, tool("a"))
    path, patch = f"{place}/a", {"metadata": {"finalizers": finalizers}}
    config = tool("a", finalizers=finalizers)
    given = {"media_type": APPLY, "fieldManager": "me", "dryRun": "All"}
    require_alike(servers, "PATCH", path, config, **given)
    try:
        require_alike(servers, "PATCH", path, patch, media_type=MERGE)
        # They are there already.
        require_alike(servers, "PATCH", path, {"spec": {"size": 1}}, media_type=MERGE)
        status = {"metadata": {"finalizers": [*finalizers, "more"]}, "status": {"phase": "on"}}
        require_alike(servers, "PATCH", f"{path}/status", status, media_type=MERGE)
    finally:
        for each in servers:
            each.ask("PATCH", path, {"metadata": {"finalizers": None}}, media_type=MERGE)


@pytest.mark.parametrize(
    "spec",
    [
        '{"long": 9223372036854775808}', '{"sizes": [9223372036854775808]}', '{"sizes": [-9223372036854775809]}',
        '{"counts": {"a": 18446744073709551616}}', '{"port": 9223372036854775808}', '{"sizes": [9223372036854775807]}',
        '{"free": {"a": 9223372036854775807}}', '{"sizes": [1e30]}',
    ],
)  # fmt: skip
def test_integers_that_clients_cannot_read(servers, place, spec):
    """Clients in Go read them as numbers with a fraction, and write others back."""
    said = json.dumps(tool("a")).replace('"spec": {}', f'"spec": {spec}').encode()
    theirs, ours = (each.ask("POST", place, said, dryRun="All") for each in servers)
    assert _valued(ours) == _valued(theirs)


def test_lists_of_what_is_not_written_have_each_key_once(servers, place):
    """The real server answers 500."""
    require_alike(servers, "POST", place, tool("a"))
    config = tool("a", {"ratios": [1.5, 1.5]})
    given = {"media_type": APPLY, "fieldManager": "me"}
    theirs, ours = (each.ask("PATCH", f"{place}/a/status", config, **given) for each in servers)
    assert (theirs.status, ours.status) == (500, 422)


YAML = "apiVersion: asked.test/v2\nkind: Tool\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    "more",
    [
        "spec: {note: a, note: b}\n",
        "spec: {free: {a: &x {b: 1}, c: {<<: *x}}}\n",
        "spec: {counts: {1: 1}}\n",
        "---\napiVersion: asked.test/v2\nkind: Tool\nmetadata: {name: b}\n",
    ],
)
def test_yaml_that_says_too_much_is_refused(servers, place, more):
    """Wanted: the real server takes one of two members or documents, and makes texts of keys; kubectl sends JSON."""
    given = {"media_type": "application/yaml", "dryRun": "All"}
    theirs, ours = (each.ask("POST", place, (YAML + more).encode(), **given) for each in servers)
    assert (theirs.status, ours.status) == (201, 400)
    require_alike(servers, "POST", place, YAML.encode(), **given)


@pytest.mark.parametrize("path", ["/healthz", "/openapi/v2", "/openapi/v3", "/metrics"])
def test_other_paths_have_no_slash_at_their_end(servers, path):
    """A redirect named the server as its client had called it."""
    for each in servers:
        assert each.ask("GET", f"{path}/").status == 404


def test_a_deletion_without_a_body_is_of_any_type(servers, place):
    require_alike(servers, "POST", place, tool("a"))
    given = {"media_type": "application/vnd.kubernetes.protobuf"}
    require_alike(servers, "DELETE", f"{place}/a", **given)


@pytest.mark.parametrize("name", ["a%00b", "%00"])
def test_names_that_nothing_has(servers, place, name):
    for method, path, body in (
        ("GET", f"{place}/{name}", None),
        ("DELETE", f"{place}/{name}", None),
        ("PUT", f"{place}/{name}", tool(urllib.parse.unquote(name))),
        ("POST", f"/apis/{GROUP}/v2/namespaces/{name}/tools", tool("a")),
    ):
        require_alike(servers, method, path, body)


@pytest.mark.parametrize("name", ["a.b", "B", "a_b", "-a", "a" * 64, "a." + "b" * 64, ""])
@pytest.mark.parametrize("key", ["name", "generateName"])
def test_names_of_namespaces_are_labels(servers, name, key):
    path = "/api/v1/namespaces"
    answers = [each.ask("POST", path, {"metadata": {key: name}}, dryRun="All") for each in servers]
    theirs, ours = (each.body for each in answers)
    assert [each.status for each in answers] == [422, 422]
    found, wanted = (
        [
            (x["field"], x["message"])
            for x in each["details"]["causes"]
            if x["field"] == f"metadata.{key}"
        ]
        for each in (ours, theirs)
    )
    assert found == wanted


@pytest.mark.parametrize("version", ["", "/", "a/", "/b", "a/b", "a/b/c", "//"])
def test_versions_of_owners(servers, place, version):
    owner = {"apiVersion": version, "kind": "Tool", "name": "b", "uid": "u"}
    answers = [
        each.ask("POST", place, tool("a", ownerReferences=[owner]), dryRun="All")
        for each in servers
    ]
    theirs, ours = (each.body.get("message") for each in answers)
    assert ours == theirs


def test_namespaces_are_replaced_whatever_they_are(servers, place):
    namespace = place.split("/")[5]
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    for more in ({}, {"resourceVersion": "0"}, {"resourceVersion": "1"}, {"uid": "x"}):
        made["metadata"] |= {"labels": {"a": "b"}, **more}
        theirs, ours = (each.ask("PUT", f"{NAMESPACES}/{namespace}", made) for each in servers)
        found = [_namespace(each) if each.status == 200 else plain(each) for each in (ours, theirs)]
        assert found[0] == found[1], more


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "/spec/sizes/-", "value": 9}],
        [{"op": "add", "path": "/spec/sizes/-1", "value": 9}],
        [{"op": "add", "path": "/spec/sizes/-4", "value": 9}],
        [{"op": "add", "path": "/spec/sizes/-5", "value": 9}],
        [{"op": "remove", "path": "/spec/sizes/-1"}],
        [{"op": "remove", "path": "/spec/sizes/-"}],
        [{"op": "replace", "path": "/spec/sizes/-3", "value": 7}],
        [{"op": "test", "path": "/spec/sizes/-1", "value": 3}],
        [{"op": "test", "path": "/spec/sizes/-1", "value": 2}],
        [{"op": "test", "path": "/spec/size", "value": True}],
        [{"op": "copy", "from": "/spec/sizes/-1", "path": "/spec/sizes/0"}],
        [{"op": "move", "from": "/spec/sizes/0", "path": "/spec/sizes/-1"}],
        [{"op": "move", "from": "/spec/sizes/-1", "path": "/spec/sizes/-2"}],
        [{"op": "move", "from": "/spec", "path": "/spec/free"}],
        [{"op": "replace", "path": "/spec/counts/a~1b", "value": 5}],
        [{"op": "remove", "path": "/spec/counts/c~0d"}],
        [{"op": "add", "path": "/spec/counts/x~1y~0z", "value": 8}],
        [{"op": "remove", "path": "/spec/counts/"}],
        [{"op": "remove", "path": "/metadata/resourceVersion"}],
        [{"op": "remove", "path": "/metadata/uid"}],
        [],
    ],
    ids=json.dumps,
)  # fmt: skip
def test_operations_on_lists_and_maps(servers, place, operations):
    spec = {"size": 1, "sizes": [1, 2, 3], "counts": {"a/b": 1, "c~d": 2, "": 3}}
    require_alike(servers, "POST", place, tool("a", spec))
    require_alike(servers, "PATCH", f"{place}/a", operations, media_type=JSON)
    require_alike(servers, "GET", f"{place}/a")


def test_no_more_operations_are_done_than_a_patch_may_have(servers, place):
    require_alike(servers, "POST", place, tool("a"))
    for count in (10_000, 10_001):
        operations = [{"op": "add", "path": "/spec/size", "value": 1}] * count
        require_alike(servers, "PATCH", f"{place}/a", operations, media_type=JSON)


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"frees": [{"a": None, "b": [{"c": None}]}]}},
        {"spec": {"free": {"x": None, "y": {"z": None}}}},
        {"spec": None},
        {"metadata": {"resourceVersion": None}},
        {"metadata": {"resourceVersion": ""}},
        {"metadata": {"labels": None, "uid": None, "generation": 50}},
    ],
    ids=json.dumps,
)
def test_nulls_in_merge_patches(servers, place, patch):
    spec = {"free": {"x": 1}, "frees": [{"a": 1}], "note": "n"}
    require_alike(servers, "POST", place, tool("a", spec, labels={"x": "y"}))
    require_alike(servers, "PATCH", f"{place}/a", patch, media_type=MERGE)
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize(
    "base", ["Gen-", "g_", "a.", "1", " ", "g" * 300], ids=lambda each: each[:5]
)
def test_what_names_are_generated_from(servers, place, base):
    made = {**tool(""), "metadata": {"generateName": base}}
    theirs, ours = (plain(each.ask("POST", place, made, dryRun="All")) for each in servers)
    assert (ours[0], ours[2:] if ours[0] >= 300 else ()) == (
        theirs[0],
        theirs[2:] if theirs[0] >= 300 else (),
    )


@pytest.mark.parametrize(
    "path", ["/api", "/apis", f"/apis/{GROUP}", f"/apis/{GROUP}/v2", "/version"]
)
def test_paths_of_discovery_may_have_a_slash_at_their_end(servers, path):
    for end in ("", "/"):
        theirs, ours = (each.ask("GET", path + end) for each in servers)
        assert (ours.status, ours.headers["cache-control"]) == (
            theirs.status,
            theirs.headers["cache-control"],
        )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("OPTIONS", ""),
        ("POST", "/a/status"),
        ("DELETE", "/a/status"),
        ("OPTIONS", "/version"),
        ("PUT", "/api/v1/namespaces"),
        ("DELETE", "/api/v1/namespaces"),
    ],
)
def test_methods_that_are_not_allowed_name_the_resource(servers, place, method, path):
    path = path if path.startswith(("/api", "/version")) else place + path
    theirs, ours = (each.ask(method, path) for each in servers)
    found, wanted = ({**each.body, "metadata": None} for each in (ours, theirs))
    assert found == wanted


# What of a document is read at all. Bytes are sent as they are; to documents, `ask` adds what they are.


def alike(servers, method, path, body=None, **given):
    """Like `require_alike`, where a place that is wrong has another name: the real server has none for what it cannot decode."""
    theirs, ours = (each.ask(method, path, body, **given) for each in servers)
    found, wanted = (
        (each.status, each.body.get("reason")) if each.status >= 300 else plain(each)
        for each in (ours, theirs)
    )
    assert found == wanted, (method, path, body, given)


@pytest.mark.parametrize(
    "head",
    [
        {},
        {"kind": "Tool"},
        {"apiVersion": f"{GROUP}/v2"},
        {"kind": None, "apiVersion": f"{GROUP}/v2"},
        {"kind": "Tool", "apiVersion": None},
        {"kind": "Other", "apiVersion": f"{GROUP}/v2"},
        {"kind": "Tool", "apiVersion": f"{GROUP}/v1"},
        {"kind": "Tool", "apiVersion": "a/b/c"},
        {"kind": 1, "apiVersion": f"{GROUP}/v2"},
        {"kind": "Tool", "apiVersion": ["x"]},
    ],
    ids=json.dumps,
)
def test_documents_say_what_they_are(servers, place, head):
    require_alike(servers, "POST", place, tool("a"))
    said = json.dumps({**head, "metadata": {"name": "b"}}).encode()
    require_alike(servers, "POST", place, said)
    said = json.dumps({**head, "metadata": {"name": "none", "resourceVersion": "1"}}).encode()
    require_alike(servers, "PUT", f"{place}/none", said)
    for each in ("a", "c"):
        said = json.dumps({**head, "metadata": {"name": each}}).encode()
        given = {"media_type": APPLY, "fieldManager": "you", "dryRun": "All"}
        require_alike(servers, "PATCH", f"{place}/{each}", said, **given)
    if head.get("apiVersion", "") is not None:  # For this one the real server answers 500.
        alike(servers, "PATCH", f"{place}/a", head, media_type=MERGE)
    space = json.dumps({**head, "metadata": {"name": "x-y"}}).encode()
    alike(servers, "POST", NAMESPACES, space, dryRun="All") if head.get("kind") else None


ENTRY = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": f"{GROUP}/v2",
    "time": "2020-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {}},
}
OWNER = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"}


@pytest.mark.parametrize(
    "metadata",
    [
        *({"creationTimestamp": each} for each in (1, "x", "", "2020-01-01", "2020-01-01T00:00:00.5+02:00", None, [])),
        *({"deletionTimestamp": each} for each in (1, "x", "2020-01-01T00:00:00Z", None)),
        *({"generation": each} for each in (5, -1, "5", 1.5, 2**64, None)),
        *({"deletionGracePeriodSeconds": each} for each in (5, "5", None)),
        *({"uid": each} for each in (1, "", "x")),
        *({"selfLink": each} for each in (1, "x")),
        *({"resourceVersion": each} for each in ("0", "", 1)),
        {"name": 1}, {"namespace": []}, {"generateName": 1}, {"generateName": "X_"},
        *({"labels": each} for each in ([], "x", {"a": 1}, {"a": None})),
        {"annotations": {"a": 1}}, {"annotations": {"a": "x" * (256 * 1024)}},
        *({"finalizers": each} for each in ({}, "x", [1], [None], ["orphan"], ["orphan", "foregroundDeletion"])),
        *(
            {"ownerReferences": each}
            for each in (
                {}, [1], [{}], [None], [OWNER], [OWNER, OWNER], [{**OWNER, "uid": 1}], [{**OWNER, "apiVersion": 1}],
                [{**OWNER, "apiVersion": "a/b/c"}], [{**OWNER, "kind": "Event"}], [{**OWNER, "controller": "x"}],
                [{**OWNER, "blockOwnerDeletion": 1}], [{**OWNER, "more": 1}],
            )
        ),
        *(
            {"managedFields": each}
            for each in (
                {}, [1], [None], [{}], [ENTRY], [{**ENTRY, "time": "x"}], [{**ENTRY, "time": 1}], [{**ENTRY, "manager": "m" * 129}],
                [{**ENTRY, "manager": "m\nn"}], [{**ENTRY, "subresource": "s" * 257}], [{**ENTRY, "operation": "X"}],
                [{**ENTRY, "fieldsV1": 1}], [ENTRY, {}],
            )
        ),
        {"unknown": 1},
    ],
    ids=lambda each: json.dumps(each)[:80],
)  # fmt: skip
def test_metadata_is_of_its_types(servers, place, metadata):
    made = {**tool("a"), "metadata": {"name": "a", **metadata}}
    alike(servers, "POST", place, made)
    names = [
        each.ask("POST", place, tool("b")).ok()["metadata"]["resourceVersion"] for each in servers
    ]
    patch = {"metadata": metadata}
    if "resourceVersion" not in metadata:
        theirs, ours = (
            each.ask(
                "PUT",
                f"{place}/b",
                {**tool("b"), "metadata": {"name": "b", "resourceVersion": known, **metadata}},
            )
            for each, known in zip(servers, names, strict=True)
        )
        assert ours.status == theirs.status, ours.body
    alike(servers, "PATCH", f"{place}/b", patch, media_type=MERGE)


@pytest.mark.parametrize(
    "metadata",
    [
        {"resourceVersion": ""},
        {"resourceVersion": "0"},
        {"managedFields": []},
        {"managedFields": [{}]},
        {"name": ""},
        {"deletionTimestamp": "2020-01-01T00:00:00Z"},
        {"finalizers": ["orphan", "foregroundDeletion"]},
        {"ownerReferences": [{**OWNER, "kind": "Event"}]},
    ],
    ids=json.dumps,
)
def test_metadata_that_cannot_be_applied(servers, place, metadata):
    require_alike(servers, "POST", place, tool("a"))
    config = {**tool("a"), "metadata": {"name": "a", **metadata}}
    alike(servers, "PATCH", f"{place}/a", config, media_type=APPLY, fieldManager="you")


@pytest.mark.parametrize("spec", ["1", "[]", '{"sizes": {}}', '{"free": 1}', '{"note": []}'])
def test_configurations_of_a_wrong_shape_are_refused(servers, place, spec):
    """The real server answers 500."""
    require_alike(servers, "POST", place, tool("a", {"size": 1}))
    config = json.dumps(tool("a")).replace('"spec": {}', f'"spec": {spec}').encode()
    theirs, ours = (
        each.ask("PATCH", f"{place}/a", config, media_type=APPLY, fieldManager="x")
        for each in servers
    )
    assert (theirs.status, ours.status) == (500, 422)
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize(
    "spec",
    [
        '{"free": null}', '{"freely": {"x": null}}', '{"frees": null}', '{"free": {"x": null}}', '{"free": {"x": [null]}}', '{"note": null}',
        '{"size": null}', '{"counts": {"a": null}}', '{"sizes": [null]}', '{"anything": [null]}', '{"anything": {"a": null}}', '{"template": null}',
        '{"anything": null}', '{"anything": null, "size": 1}', '{"things": {"x": null}}', '{"any": {"x": null}}', '{"some": [null]}',
        '{"open": {"x": null}}', '{"boxes": {"full": {"a": null}}}', '{"boxes": {"full": null, "may": null}}', '{"boxes": {"may": {"a": null}}}',
        '{"boxes": {"full": {"a": "x", "b": null}}}', '{"boxes": {"may": {"b": [null]}}}',
    ],
)  # fmt: skip
def test_what_becomes_of_nulls(servers, place, spec):
    """Where null may not be, it counts as absent for those who write, and is refused in configurations."""
    said = json.dumps(tool("a")).replace('"spec": {}', f'"spec": {spec}').encode()
    require_alike(servers, "POST", place, said)
    require_alike(servers, "POST", place, tool("b"))
    operations = f'[{{"op": "replace", "path": "/spec", "value": {spec}}}]'.encode()
    require_alike(servers, "PATCH", f"{place}/b", operations, media_type=JSON)
    require_alike(servers, "POST", place, tool("d", {"anything": 1, "things": {"x": 1, "y": 2}}))
    require_alike(servers, "PATCH", f"{place}/d", operations, media_type=JSON)
    config = said.replace(b'"name": "a"', b'"name": "c"')
    require_alike(servers, "PATCH", f"{place}/c", config, media_type=APPLY, fieldManager="you")


@pytest.mark.parametrize(
    "spec",
    [
        '{"pair": [1, 2]}', '{"pair": [2, 1]}', '{"pair": []}', '{"pair": [3, 3]}',
        '{"shape": {}}', '{"shape": {"a": {"b": [1]}}}', '{"shape": {"a": {"b": [2]}}}', '{"shape": {"b": "x", "a": 1}}', '{"shape": {"a": 1}}',
        '{"point": {"x": 1}}', '{"point": {"x": 3}}', '{"point": {}}',
        '{"point": null}', '{"pairs": [["a"], []]}', '{"pairs": [["a"], ["b"]]}', '{"pairs": []}',
        '{"either": 1}', '{"either": [1]}', '{"either": {"a": null}}', '{"either": "b"}', '{"either": [2]}',
        '{"either": {}}',
    ],
)  # fmt: skip
def test_values_that_are_lists_and_objects_may_be_listed(servers, place, spec):
    said = json.dumps(tool("a")).replace('"spec": {}', f'"spec": {spec}').encode()
    require_alike(servers, "POST", place, said)
    require_alike(servers, "POST", place, tool("b"))
    operations = f'[{{"op": "replace", "path": "/spec", "value": {spec}}}]'.encode()
    require_alike(servers, "PATCH", f"{place}/b", operations, media_type=JSON)
    config = said.replace(b'"name": "a"', b'"name": "c"')
    require_alike(servers, "PATCH", f"{place}/c", config, media_type=APPLY, fieldManager="you")


# Patches

PATCH_VALUES = [
    ("/spec/size", "1"), ("/spec/size", "1.0"), ("/spec/size", '"1"'), ("/spec/size", "true"), ("/spec/ratio", "1.50"), ("/spec/ratio", "1.5"),
    ("/spec/sizes", "[1,2]"), ("/spec/sizes", "[1.0,2]"), ("/spec/counts", '{"a":1}'), ("/spec/counts", '{"a":1.0}'), ("/spec", "{}"),
    ("/spec/free", '{"y":[1],"x":1}'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value"), PATCH_VALUES)
def test_values_are_tested_as_they_are_spelt(servers, place, path, value):
    spec = {
        "size": 1,
        "sizes": [1, 2],
        "ratio": 1.5,
        "counts": {"a": 1},
        "free": {"x": 1, "y": [1]},
    }
    require_alike(servers, "POST", place, tool("a", spec))
    patch = f'[{{"op": "test", "path": "{path}", "value": {value}}}]'.encode()
    require_alike(servers, "PATCH", f"{place}/a", patch, media_type=JSON)


@pytest.mark.parametrize(
    "patch",
    [
        "{}", "null", "1", '"x"', "[", "[1]", "[null]", "[[]]", "[{}]", '[{"op":"x","path":"/spec/note"}]', '[{"op":"add"}]',
        '[{"op":"add","path":"/spec/note"}]', '[{"op":"replace","path":"/spec/note"}]', '[{"op":"remove"}]', '[{"path":"/spec/note","value":"x"}]',
        '[{"op":1,"path":"/spec/note","value":"x"}]', '[{"op":"add","path":1,"value":"x"}]', '[{"op":"add","path":null,"value":"x"}]',
        '[{"op":"add","path":"","value":{}}]', '[{"op":"replace","path":"","value":{}}]', '[{"op":"remove","path":""}]',
        '[{"op":"add","path":"/spec/sizes/x","value":1}]',
        '[{"op":"add","path":"/spec/sizes/5","value":1}]', '[{"op":"add","path":"/spec/sizes/01","value":7}]', '[{"op":"test","path":"/spec/nope"}]',
        '[{"op":"test","path":"/spec/note"}]', '[{"op":"move","path":"/spec/note"}]', '[{"op":"move","from":"/spec/nope","path":"/spec/note"}]',
        '[{"op":"copy","from":1,"path":"/spec/note"}]', '[{"op":"copy","from":"","path":"/spec/free/c"}]',
        '[{"op":"move","from":"/spec/free","path":"/spec/free/c"}]', '[{"op":"add","path":"/spec/note/deeper","value":1}]',
        '[{"Op":"add","path":"/spec/note","value":"x"}]', '[{"op":"ADD","path":"/spec/note","value":"x"}]', '[{"op":"add","path":"/spec","value":1}]',
        '[{"op":"add","path":"/metadata","value":1}]', '[{"op":"add","path":"/metadata/name","value":1}]', '[{"op":"remove","path":"/kind"}]',
        '[{"op":"remove","path":"/spec/sizes/5"}]', '[{"op":"copy","from":"/spec/size","path":"/spec/ratio"}]', "[] x",
    ],
)  # fmt: skip
def test_json_patches_of_any_form(servers, place, patch):
    require_alike(servers, "POST", place, tool("a", {"size": 1, "sizes": [1, 2], "note": "n"}))
    alike(servers, "PATCH", f"{place}/a", patch.encode(), media_type=JSON)
    require_alike(servers, "GET", f"{place}/a")
    alike(servers, "PATCH", f"{place}/none", patch.encode(), media_type=JSON)


def test_a_path_that_is_no_pointer_is_refused(servers, place):
    """Wanted: the real server passes over what stands before the first slash, and changes another place."""
    require_alike(servers, "POST", place, tool("a"))
    patch = [{"op": "add", "path": "spec/note", "value": "x"}]
    theirs, ours = (each.ask("PATCH", f"{place}/a", patch, media_type=JSON) for each in servers)
    assert (theirs.status, ours.status) == (200, 422)


@pytest.mark.parametrize(
    "patch",
    [
        "[]", "null", "1", "{", "{} x", '{"spec":1}', '{"metadata":null}', '{"metadata":1}', '{"metadata":[]}', '{"metadata":{"name":null}}',
        '{"metadata":{"name":"b"}}', '{"metadata":{"namespace":null}}', '{"metadata":{"namespace":"other"}}', '{"kind":"Other"}', '{"kind":1}',
        '{"metadata":{"uid":"x"}}', '{"metadata":{"resourceVersion":"1"}}', '{"metadata":{"resourceVersion":1}}',
        '{"metadata":{"resourceVersion":"0"}}', '{"spec":{"note":"a","note":"b"}}',
    ],
)  # fmt: skip
def test_merge_patches_of_any_form(servers, place, patch):
    require_alike(servers, "POST", place, tool("a", {"size": 1}))
    alike(servers, "PATCH", f"{place}/a", patch.encode(), media_type=MERGE)
    require_alike(servers, "GET", f"{place}/a")


def test_text_that_is_no_unicode_is_refused(servers, place):
    """Wanted: the real server stores another text."""
    require_alike(servers, "POST", place, tool("a"))
    for patch, form in (
        (b'{"spec":{"note":"\xff"}}', MERGE),
        (b'[{"op":"add","path":"/spec/note","value":"\xff"}]', JSON),
    ):
        theirs, ours = (each.ask("PATCH", f"{place}/a", patch, media_type=form) for each in servers)
        assert (theirs.status, ours.status) == (200, 400)


# Lists, watches and single objects


@pytest.mark.parametrize("said", ["x", "", "0", "false", "FALSE", "true", "1", "no"])
def test_what_is_not_false_is_true(servers, labelled, said):
    given = {"timeoutSeconds": "1", "resourceVersion": "0", "watch": said}
    theirs, ours = (_text(each, labelled, given)[1][:6] == '{"type' for each in servers)
    assert ours == theirs
    given = {"media_type": APPLY, "fieldManager": "you", "force": said}
    require_alike(servers, "PATCH", f"{labelled}/a", tool("a"), **given)
    require_alike(servers, "DELETE", f"{labelled}/none", orphanDependents=said)


def _pages(answer):
    if answer.status >= 300:
        return answer.status, answer.body["reason"]
    metadata = answer.body["metadata"]
    names = [each["metadata"]["name"] for each in answer.body["items"]]
    return names, bool(metadata.get("continue")), metadata.get("remainingItemCount")


@pytest.mark.parametrize("match", ["", "Exact", "NotOlderThan"])
@pytest.mark.parametrize("version", ["", "0", "now"])
@pytest.mark.parametrize("limit", ["", "0", "2"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_pages_of_any_version(servers, labelled, match, version, limit, goes_on):
    found = []
    for each in servers:
        first = each.ask("GET", labelled, limit="2").body["metadata"]
        query = {
            "resourceVersionMatch": match,
            "resourceVersion": first["resourceVersion"] if version == "now" else version,
            "limit": limit,
            "continue": first["continue"] if goes_on else "",
        }
        given = {key: text for key, text in query.items() if text}
        found.append(_pages(each.ask("GET", labelled, **given)))
    assert found[1] == found[0]


@pytest.mark.parametrize(
    "token", ["x", "!!", "aGVsbG8", "e30", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ"]
)
def test_tokens_that_are_none(servers, labelled, token):
    require_alike(servers, "GET", labelled, limit="2", **{"continue": token})


def test_tokens_of_another_server(servers, labelled):
    tokens = [each.ask("GET", labelled, limit="2").body["metadata"]["continue"] for each in servers]
    for each, token in zip(servers, reversed(tokens), strict=True):
        assert each.ask("GET", labelled, limit="2", **{"continue": token}).status == 400


@pytest.mark.parametrize("version", ["", "0", "1", FUTURE["resourceVersion"]])
def test_objects_are_not_older_than_a_client_wants(servers, labelled, version):
    require_alike(servers, "GET", f"{labelled}/a", resourceVersion=version)


def test_a_watch_from_the_future_ends_at_once(servers, labelled):
    """Wanted: a version that the database has not reached is of another one, and clients list again when they hear so; the real server says nothing."""
    given = {"watch": "1", "timeoutSeconds": "1", **FUTURE}
    theirs, ours = (_text(each, labelled, given)[1] for each in servers)
    assert theirs == ""
    assert json.loads(ours)["object"]["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_events_stand_in_tables_as_people_read_them(servers, place):
    namespace = place.split("/")[5]
    path = f"{NAMESPACES}/{namespace}/events"
    about = {"kind": "Tool", "name": "a", "namespace": namespace}
    said = {
        "involvedObject": about,
        "reason": "Seen",
        "message": " it was\nseen ",
        "type": "Normal",
    }
    old, newer = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
    for number, more in enumerate(
        (
            {},
            {"count": 3, "firstTimestamp": old, "lastTimestamp": newer},
            {"source": {"component": "c", "host": "h"}},
            {"source": {"component": "c"}},
            {
                "eventTime": old.replace("Z", ".000000Z"),
                "reportingComponent": "c",
                "reportingInstance": "i",
                "action": "x",
            },
            {"series": {"count": 5, "lastObservedTime": newer.replace("Z", ".000000Z")}},
            {"involvedObject": {**about, "name": "", "fieldPath": "spec.x"}},
            {"involvedObject": {"namespace": namespace}},
        )
    ):
        event = {"apiVersion": "v1", "kind": "Event", **said, **more}
        for each in servers:
            each.ask("POST", path, {**event, "metadata": {"name": f"e{number}"}}).ok()
    theirs, ours = (each.ask("GET", path, headers={"accept": TABLE}).ok() for each in servers)
    assert ours["columnDefinitions"] == theirs["columnDefinitions"]
    assert [each["cells"] for each in ours["rows"]] == [each["cells"] for each in theirs["rows"]]


@pytest.mark.parametrize("accepted", ["gzip", "deflate, gzip", "gzip;q=0.5", "*", "GZIP", ""])
def test_long_answers_are_packed(servers, place, accepted):
    require_alike(servers, "POST", place, tool("long", {"note": "x" * 200_000}))
    require_alike(servers, "POST", place, tool("short"))
    for path in (f"{place}/long", f"{place}/short", place):
        theirs, ours = (_packed(each, path, accepted) for each in servers)
        assert ours == theirs


def _packed(server, path, accepted):
    """How an answer is packed, and how many objects it has."""
    connection = server.connect()
    connection.request("GET", path, headers={"accept-encoding": accepted})
    answer = connection.getresponse()
    text, packing = answer.read(), answer.headers["content-encoding"]
    connection.close()
    found = json.loads(gzip.decompress(text) if packing == "gzip" else text)
    return packing, (answer.headers["vary"] or "").lower(), len(found.get("items", ()))


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate", "gzip, gzip", "x", ""])
def test_what_a_client_says_of_how_a_body_is_packed_counts_for_nothing(servers, place, encoding):
    """Neither server unpacks a body: one that is not packed is read, and one that is packed is not."""
    headers = {"content-encoding": encoding}
    require_alike(servers, "POST", place, tool("a"), headers=headers)
    ways = [
        ("POST", place, tool("b"), "application/json"),
        ("POST", place, tool("c"), "application/yaml"),
        ("PATCH", f"{place}/a", {"spec": {"size": 2}}, MERGE),
        ("PATCH", f"{place}/a", [{"op": "add", "path": "/spec/size", "value": 3}], JSON),
        ("PATCH", f"{place}/a", tool("a", {"size": 4}), APPLY),
        ("DELETE", f"{place}/a", {"gracePeriodSeconds": 0}, "application/json"),
    ]
    for method, path, body, form in ways:
        given = {"media_type": form, "fieldManager": "me", "force": "true"}
        if form != APPLY:
            del given["force"]
        packed = gzip.compress(json.dumps(body).encode())
        refused = [each.ask(method, path, packed, headers=headers, **given) for each in servers]
        assert [each.status for each in refused] == [400, 400], (method, form)
        assert [each.body["reason"] for each in refused] == ["BadRequest", "BadRequest"]
        taken = require_alike(servers, method, path, body, headers=headers, **given)
        assert taken.status < 300


# Deletions, and objects that are being deleted


def test_what_a_deletion_takes_an_object_for_is_named(servers, place):
    require_alike(servers, "POST", place, tool("a"))
    for said in ({"uid": "x"}, {"resourceVersion": "1"}, {"resourceVersion": "x"}):
        answers = [each.ask("DELETE", f"{place}/a", {"preconditions": said}) for each in servers]
        theirs, ours = (each.body for each in answers)
        assert ours["details"] == theirs["details"]
        found, wanted = (re.sub("record [(].*?[)]", "record", x["message"]) for x in (ours, theirs))
        assert found == wanted


@pytest.mark.parametrize("version", ["", "x", "0", "1"])
def test_deletions_of_a_state_that_is_not(servers, place, version):
    require_alike(servers, "POST", place, tool("a"))
    body = {"preconditions": {"resourceVersion": version}}
    require_alike(servers, "DELETE", f"{place}/a", body)
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize("body", ["{}", "null", "[]", '{"propagationPolicy": null}'])
@pytest.mark.parametrize("media_type", ["application/json", "application/yaml", "text/plain"])
def test_bodies_of_deletions(servers, place, body, media_type):
    require_alike(servers, "POST", place, tool("a"))
    require_alike(servers, "DELETE", f"{place}/a", body.encode(), media_type=media_type)
    require_alike(servers, "GET", f"{place}/a")


@pytest.mark.parametrize(
    "query",
    [
        {"resourceVersionMatch": "x"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"sendInitialEvents": "true"},
        {"limit": "x"},
        {"continue": "x"},
    ],
    ids=str,
)
def test_lists_that_make_no_sense_delete_nothing(servers, labelled, query):
    require_alike(servers, "DELETE", labelled, **query)
    require_alike(servers, "GET", labelled)


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"finalizers": ["a.test/x"]}},
        {"metadata": {"finalizers": ["a.test/z"]}},
        {"metadata": {"finalizers": []}},
        {"metadata": {"deletionTimestamp": None}},
        {"metadata": {"deletionGracePeriodSeconds": 5}},
        {"metadata": {"labels": {"a": "b"}}},
        {"spec": {"size": 9}},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("part", ["", "/status"])
def test_objects_that_are_being_deleted(servers, place, patch, part):
    require_alike(servers, "POST", place, tool("a", finalizers=["a.test/x", "a.test/y"]))
    for each in servers:
        each.ask("DELETE", f"{place}/a").ok()
    try:
        require_alike(servers, "PATCH", f"{place}/a{part}", patch, media_type=MERGE)
        require_alike(servers, "GET", f"{place}/a")
    finally:
        for each in servers:
            each.ask("PATCH", f"{place}/a", {"metadata": {"finalizers": None}}, media_type=MERGE)


@pytest.mark.parametrize(
    "metadata",
    [
        {"uid": "x"},
        {"uid": "x", "resourceVersion": "1"},
        {"uid": "x", "resourceVersion": "1", "finalizers": ["a.test/z"]},
        {"uid": "x", "resourceVersion": None},
        {"resourceVersion": "1", "finalizers": ["a.test/z"]},
        {"resourceVersion": None, "finalizers": ["a.test/z"]},
        {"resourceVersion": "1", "deletionGracePeriodSeconds": 5},
        {"finalizers": ["a.test/z"]},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("is_deleted", [True, False])
def test_what_is_named_first_of_another_object_or_state(servers, place, metadata, is_deleted):
    require_alike(servers, "POST", place, tool("a", finalizers=["a.test/x"]))
    try:
        answers = []
        for each in servers:
            if is_deleted:
                each.ask("DELETE", f"{place}/a").ok()
            there = each.ask("GET", f"{place}/a").ok()
            said = {**there["metadata"], **metadata}
            there["metadata"] = {key: x for key, x in said.items() if x is not None}
            uid = each.ask("GET", f"{place}/a").ok()["metadata"]["uid"]
            found = []
            for method, body, given in (
                ("PUT", there, {}),
                ("PATCH", {"metadata": metadata}, {"media_type": MERGE}),
            ):
                answer = each.ask(method, f"{place}/a", body, dryRun="All", **given)
                said = answer.body.get("message", "").replace(uid, "UID")
                # Ours has no etcd, whose key stands there.
                said = re.sub("StorageError: .*, AdditionalErrorMsg: ", "", said)
                found.append((answer.status, said))
            answers.append(found)
        assert answers[1] == answers[0]
    finally:
        for each in servers:
            each.ask("PATCH", f"{place}/a", {"metadata": {"finalizers": None}}, media_type=MERGE)


def test_watchers_see_the_last_finalizers_of_what_goes(servers, place):
    patch = {"metadata": {"finalizers": None, "labels": {"a": "b"}}}
    found = []
    for each in servers:
        each.ask("POST", place, tool("a", finalizers=["a.test/x"])).ok()
        marked = each.ask("DELETE", f"{place}/a").ok()["metadata"]
        gone = each.ask("PATCH", f"{place}/a", patch, media_type=MERGE).ok()["metadata"]
        query = {"watch": "true", "resourceVersion": marked["resourceVersion"]}
        lines = each.ask("GET", place, timeoutSeconds="1", **query).body.splitlines()
        events = [(x["type"], x["object"]["metadata"]) for x in map(json.loads, lines)]
        shown = [(type_, x.get("finalizers"), x.get("labels")) for type_, x in events]
        found.append((shown, gone.get("finalizers"), gone.get("labels")))
    assert found[1] == found[0]
    assert found[0] == ([("DELETED", ["a.test/x"], None)], None, {"a": "b"})


def test_a_patch_of_the_status_says_nothing_of_the_metadata(servers, place):
    require_alike(servers, "POST", place, tool("a"))
    for metadata in ({"uid": "x"}, {"labels": {"-": "-"}}, {"generation": 9}):
        patch = {"metadata": metadata, "status": {"phase": "on"}}
        require_alike(servers, "PATCH", f"{place}/a/status", patch, media_type=MERGE)
    for path, config in (
        ("a", {"status": None}),
        ("b", {"status": None}),
        ("b/status", {"spec": {}}),
    ):
        given = {"media_type": APPLY, "fieldManager": "you"}
        require_alike(servers, "PATCH", f"{place}/{path}", {**tool(path[0]), **config}, **given)
    require_alike(servers, "PATCH", f"{place}/none/status", {**tool("none"), "spec": 1}, **given)


def test_what_is_not_there_is_copied_as_null(servers, place):
    require_alike(servers, "POST", place, tool("a", {"note": "n"}))
    operations = [{"op": "copy", "from": "/spec/size", "path": "/spec/note"}]
    require_alike(servers, "PATCH", f"{place}/a", operations, media_type=JSON)
    require_alike(
        servers, "PATCH", f"{place}/a", [{**operations[0], "op": "move"}], media_type=JSON
    )


def test_what_a_client_accepts_is_looked_at_first(servers, place):
    given = {"headers": {"accept": "text/html"}, "dryRun": "x"}
    require_alike(servers, "POST", place, tool("a"), **given)
    require_alike(servers, "DELETE", place, **given)


@pytest.mark.parametrize("name", ["a%25b", "%2e", "%2e%2e", "A", "a" * 300, "a%20b"])
def test_names_in_paths(servers, place, name):
    for method, body, given in (
        ("GET", None, {}),
        ("DELETE", None, {}),
        ("PATCH", {"spec": {}}, {"media_type": MERGE}),
    ):
        require_alike(servers, method, f"{place}/{name}", body, **given)
