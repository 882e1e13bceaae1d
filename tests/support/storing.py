"""Stores with a small resource type: a schema that a reader knows by heart, documents, keys."""

import json

from evolving import evolve, rules

from trundle.store import Key

V1, V2 = "2020-01-01", "2022-02-02"
"""`team` of the first is `group` of the second; `age` is in the first only, `note` in the second."""

FIRST = {"Thing": {"team": "string", "age": "integer"}}
SECOND = {"Thing": {"group": "string", "note": "string"}}


def people():
    """The scheme of both versions; the second is the hub, and the first may be stored."""
    return evolve({V1: FIRST, V2: SECOND}, rules(V1, rename={"team": "group"}), kept=(V1,))


def people_before():
    """The scheme of the release that knew the first version only."""
    return evolve({V1: FIRST})


def key(name="ada", namespace="default"):
    """The key of a thing."""
    return Key("Thing", namespace, name)


def document(version=V2, metadata=None, **properties):
    """A document of a thing as JSON."""
    found = {"apiVersion": version, "kind": "Thing", **properties}
    if metadata is not None:
        found["metadata"] = metadata
    return json.dumps(found).encode()


def seen(store, found, version=V2):
    """A stored object as plain values of a version."""
    return json.loads(store.shown(found, version))


def kept(found):
    """What is stored, as plain values."""
    return json.loads(found.data)
