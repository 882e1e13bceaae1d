"""Stored documents are shown with other metadata quickly; unusual ones are left to the careful way."""

import json

import msgspec
import pytest
from evolving import evolve, rules

THING, BARE, OTHER = {"metadata": "any", "in": "In"}, {"in": "In"}, {"Metadata": "any", "in": "In"}
HEAD = {"apiVersion": "v2", "kind": "Thing"}
METADATA = {"name": "a", "annotations": {"b": "$5, ä"}}


def made(thing):
    """The scheme of two versions of a thing, which has read one."""
    versions = {
        version: {"Thing": {**thing, name: "string"}, "In": {"metadata": "any", "free": "any"}}
        for version, name in (("v1", "old"), ("v2", "new"))
    }
    found = evolve(versions, rules("v1", rename={"old": "new"}))
    found.read("v1", found.put(None, msgspec.json.encode(HEAD)))
    return found


@pytest.fixture(scope="module")
def scheme():
    return made(THING)


def more(metadata):
    """Metadata with a member more."""
    return msgspec.json.encode({**msgspec.json.decode(metadata), "uid": "1"})


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize(
    "document",
    [
        {"metadata": METADATA, "new": "ä"},
        {"metadata": {}, "in": {"metadata": {"name": "b"}, "free": {"metadata": 1}}},
        {"new": "x", "metadata": METADATA, "in": {"free": {"$c": {"uid": 1}}}},
    ],
)
def test_only_the_metadata_is_another_one(scheme, version, document):
    stored = scheme.put(None, msgspec.json.encode({**HEAD, **document}))
    shown = json.loads(scheme.read(version, stored))
    metadata = {**shown["metadata"], "uid": "1"}
    found = scheme.read_quickly(version, stored, more)
    assert json.loads(found) == {**shown, "metadata": metadata}
    assert [*json.loads(found)] == [*shown]


@pytest.mark.parametrize("thing", [THING, BARE, OTHER])
def test_what_has_no_metadata_is_left_to_the_careful_way(thing):
    scheme = made(thing)
    other = {"Metadata": {"name": "b"}} if thing is OTHER else {}
    stored = scheme.put(None, msgspec.json.encode({**HEAD, **other, "new": "a"}))
    assert scheme.read_quickly("v1", stored, more) is None
    assert json.loads(scheme.read("v1", stored))["old"] == "a"


def test_what_no_store_keeps_is_left_to_the_careful_way(scheme):
    assert (
        scheme.read_quickly("v1", msgspec.json.encode({**HEAD, "metadata": METADATA}), more) is None
    )
