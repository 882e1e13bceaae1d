"""Whatever a client sends, it gets an answer that is no failure of the server, and what is stored stays readable."""

import json

import pytest
from amounts import amount, some_of
from apis import GROUP, Client, clubs, member, serving_clubs
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.store import check

MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
ODD = st.sampled_from([
    None, True, 0, -1, 1.5, 10**30, "", "x", "\x00", "\ud83d\ude00", "x" * 300, [], [None], ["x"], [[]],
    {}, {"x": None}, {"": {}}, "2020-02-30T25:61:61Z", "None", "metadata",
])  # fmt: skip
DOCUMENT = {
    "apiVersion": f"{GROUP}/v2",
    "kind": "Member",
    "metadata": {
        "name": "ada",
        "generateName": "a-",
        "namespace": "default",
        "uid": "u",
        "resourceVersion": "2",
        "generation": 1,
        "creationTimestamp": "2020-01-01T00:00:00Z",
        "deletionTimestamp": None,
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "finalizers": ["a.b/c"],
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": "u"}
        ],
        "managedFields": [
            {
                "manager": "m",
                "operation": "Update",
                "apiVersion": f"{GROUP}/v2",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:group": {}},
                "time": "2020-01-01T00:00:00Z",
            }
        ],
    },
    "group": "red",
    "level": "low",
    "labels": {"a": "b"},
    "free": {"x": [1]},
    "status": {"phase": "new"},
}
OPERATIONS = [
    {"op": "replace", "path": "/group", "value": "blue"},
    {"op": "move", "from": "/level", "path": "/note"},
    {"op": "test", "path": "/metadata/name", "value": "ada"},
]
OPTIONS = {
    "kind": "DeleteOptions",
    "preconditions": {"uid": "u", "resourceVersion": "2"},
    "propagationPolicy": "Background",
    "orphanDependents": None,
    "dryRun": ["All"],
    "gracePeriodSeconds": 0,
}
REVIEW = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "ConversionReview",
    "request": {"uid": "u", "desiredAPIVersion": f"{GROUP}/v1", "objects": [DOCUMENT]},
}
QUERY = st.dictionaries(
    st.sampled_from([
        "limit", "continue", "labelSelector", "fieldSelector", "resourceVersion", "resourceVersionMatch", "dryRun",
        "fieldManager", "fieldValidation", "force", "propagationPolicy", "orphanDependents", "gracePeriodSeconds",
    ]),
    st.sampled_from(["", "0", "1", "-1", "9" * 30, "All", "true", "x", "a=b", "a in (b)", "a in (", "!a", "metadata.name=ada", "Strict"]),
    max_size=3,
)  # fmt: skip


def places(value, at=()):
    """The paths of all values within a value."""
    yield at
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in members:
        yield from places(each, (*at, key))


def replaced(value, at, other):
    """A value with another value at a path."""
    if not at:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = replaced(value[at[0]], at[1:], other)
    return copy


@st.composite
def odd(draw, document):
    """A document with a few values that stand for anything."""
    for _ in range(draw(st.integers(1, 3))):
        document = replaced(document, draw(st.sampled_from([*places(document)])), draw(ODD))
    return document


ONE, ALL = "/namespaces/default/members/ada", "/namespaces/default/members"
BASE = f"/apis/{GROUP}"
REQUESTS = [
    ("POST", ALL, "application/json", DOCUMENT),
    ("PUT", ONE, "application/json", DOCUMENT),
    ("PUT", f"{ONE}/status", "application/json", DOCUMENT),
    ("PATCH", ONE, MERGE, DOCUMENT),
    ("PATCH", f"{ONE}/status", MERGE, DOCUMENT),
    ("PATCH", ONE, PATCH, OPERATIONS),
    ("PATCH", ONE, APPLY, DOCUMENT),
    ("PATCH", f"{ALL}/new", APPLY, DOCUMENT),
    ("DELETE", ONE, "application/json", OPTIONS),
    ("GET", ALL, "", None),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with (
        clubs(tmp_path_factory.mktemp("clubs")) as installed,
        serving_clubs(installed, tmp_path_factory.mktemp("store") / "s.db") as (api, store),
    ):
        yield Client(api), store


@pytest.mark.full
@pytest.mark.parametrize(
    "request_", REQUESTS, ids=[f"{each[0]} {each[1]} {each[2]}" for each in REQUESTS]
)
def test_every_request_is_answered_and_leaves_what_is_stored_readable(served, request_):
    client, store = served
    method, path, media_type, body = request_

    @settings(max_examples=amount(150))
    @given(st.data())
    def answers(data):
        client.call("POST", f"{BASE}/v2{ALL}", member("ada", group="red"))
        version = data.draw(st.sampled_from(["v1", "v2"]))
        query = data.draw(QUERY)
        content = None if body is None else json.dumps(data.draw(odd(body))).encode()
        code, found = client.call(
            method, f"{BASE}/{version}{path}", content, media_type=media_type, **query
        )
        assert code < 500 or found["reason"] == "Timeout", found
        assert found.get("code", code) == code
        for shown in ("v1", "v2"):
            code, listed = client.call("GET", f"{BASE}/{shown}{ALL}")
            assert code == 200, listed
            for each in listed["items"]:
                name = each["metadata"]["name"]
                if each["metadata"].get("finalizers"):
                    patch = {"metadata": {"finalizers": None}}
                    assert client.patch(shown, name, patch)[0] == 200
                client.call("DELETE", f"{BASE}/{shown}{ALL}/{name}")

    answers()
    assert check(store) == ()


@settings(max_examples=amount(150))
@given(odd(REVIEW))
def test_every_conversion_review_is_answered(served, review):
    client, _ = served
    code, found = client.call("POST", "/convert", json.dumps(review).encode())
    assert code < 500, found


@pytest.mark.parametrize("deep", some_of([190, 250, 450, 700, 950, 5000], 5))
@pytest.mark.parametrize(
    "request_", REQUESTS[:-1], ids=[f"{each[0]} {each[1]} {each[2]}" for each in REQUESTS[:-1]]
)
def test_bodies_are_answered_however_deep_they_are(served, request_, deep):
    client, _ = served
    method, path, media_type, body = request_
    client.call("POST", f"{BASE}/v2{ALL}", member("ada", group="red"))
    nested = '{"a":' * deep + "1" + "}" * deep
    if isinstance(body, list):
        text = f'[{{"op": "add", "path": "/free", "value": {nested}}}]'
    else:
        text = json.dumps({**body, "free": "here"}).replace('"here"', nested)
    for asked in ({"fieldManager": "me"}, {"fieldManager": "me", "fieldValidation": "Warn"}):
        code, found = client.call(
            method, f"{BASE}/v2{path}", text.encode(), media_type=media_type, **asked
        )
        assert code < 500, found
        if deep > 200:
            assert (code, "nest" in found["message"]) == (400, True), found
    client.call("DELETE", f"{BASE}/v2{ONE}")


@pytest.mark.parametrize("deep", [190, 250, 700, 950, 5000])
def test_conversion_reviews_are_answered_however_deep_they_are(served, deep):
    client, _ = served
    nested = '{"a":' * deep + "1" + "}" * deep
    text = json.dumps(REVIEW).replace('{"x": [1]}', nested)
    assert client.call("POST", "/convert", text.encode())[0] == (200 if deep < 200 else 400)
