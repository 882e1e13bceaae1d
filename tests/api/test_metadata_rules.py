"""What is refused about metadata; the real API server says the same in tests/cluster."""

import pytest

from trundle.api._metadata_rules import metadata_causes
from trundle.api._metadata_types import wrong_types


def causes(**metadata):
    found = (*wrong_types(metadata), *metadata_causes({"metadata": metadata}))
    return [(each.field, each.message) for each in found]


def owner(name, **more):
    return {"apiVersion": "v1", "kind": "K", "name": name, "uid": f"of-{name}", **more}


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"labels": None, "annotations": None, "finalizers": None, "ownerReferences": None},
        {"labels": {"a": "", "example.com/b_c.d": "E-f"}},
        {"annotations": {"Example.com/A": "anything at all"}},
        {"finalizers": ["a", "example.com/b"]},
        {"ownerReferences": [owner("a"), owner("b", controller=True)]},
        {"managedFields": [{"manager": "a", "operation": "Update", "fieldsV1": {}}]},
    ],
)
def test_good_metadata(metadata):
    assert causes(**metadata) == []


@pytest.mark.parametrize(
    ("metadata", "field", "words"),
    [
        ({"labels": {"a b": "c"}}, "metadata.labels", '"a b": name part must consist'),
        ({"labels": {"a": "b c"}}, "metadata.labels", '"b c": a valid label must be'),
        ({"labels": {"a": "b" * 64}}, "metadata.labels", "must be no more than 63 bytes"),
        ({"labels": {"a" * 64: "b"}}, "metadata.labels", "name part must be no more than 63"),
        ({"labels": {"/a": "b"}}, "metadata.labels", "prefix part must be non-empty"),
        ({"labels": {"A/a": "b"}}, "metadata.labels", "prefix part a lowercase RFC 1123"),
        ({"labels": {"a/b/c": "d"}}, "metadata.labels", "a valid label key must consist"),
        ({"labels": {"a": 1}}, "metadata.labels.a", 'must be of type string: "integer"'),
        ({"labels": []}, "metadata.labels", 'must be of type object: "array"'),
        ({"annotations": {"a b": "c"}}, "metadata.annotations", "name part must consist"),
        ({"annotations": {"a": "b" * 300_000}}, "metadata.annotations", "Too long"),
        ({"finalizers": ["a b"]}, "metadata.finalizers", "name part must consist"),
        ({"finalizers": "a"}, "metadata.finalizers", 'must be of type array: "string"'),
        ({"finalizers": [{}]}, "metadata.finalizers[0]", 'must be of type string: "object"'),
        ({"ownerReferences": [7]}, "metadata.ownerReferences[0]", "must be of type object"),
        ({"managedFields": "a"}, "metadata.managedFields", 'must be of type array: "string"'),
        ({"managedFields": [7]}, "metadata.managedFields[0]", "must be of type object"),
        (
            {"managedFields": [{"manager": ["a"]}]},
            "metadata.managedFields[0].manager",
            "must be of type string",
        ),
        (
            {"managedFields": [{"time": []}]},
            "metadata.managedFields[0].time",
            "must be of type date-time",
        ),
        (
            {"ownerReferences": [{**owner("a"), "apiVersion": "a/b/c"}]},
            "metadata.ownerReferences.apiVersion",
            'Invalid value: "a/b/c": version must not be empty',
        ),
        (
            {"ownerReferences": [{**owner("a"), "apiVersion": "v1", "kind": "Event"}]},
            "metadata.ownerReferences",
            "is disallowed from being an owner",
        ),
        (
            {"finalizers": ["orphan", "foregroundDeletion"]},
            "metadata.finalizers",
            "cannot be both set",
        ),
        ({"generation": 1.5}, "metadata.generation", 'must be of type integer: "number"'),
        ({"generation": 2**63}, "metadata.generation", "must be of type integer"),
        (
            {"creationTimestamp": "2020-01-01"},
            "metadata.creationTimestamp",
            'must be of type date-time: "string"',
        ),
        (
            {"deletionTimestamp": "2020-02-30T00:00:00Z"},
            "metadata.deletionTimestamp",
            "must be of type date-time",
        ),
        (
            {"ownerReferences": [owner("a", controller=True), owner("b", controller=True)]},
            "metadata.ownerReferences",
            'Found "true" in references for K/a and K/b',
        ),
    ],
)
def test_bad_metadata(metadata, field, words):
    [(place, message)] = causes(**metadata)
    assert place == field
    assert words in message


def test_what_owners_need():
    found = dict(causes(ownerReferences=[{"kind": ""}]))
    assert set(found) == {
        f"metadata.ownerReferences.{each}" for each in ("apiVersion", "kind", "name", "uid")
    }
