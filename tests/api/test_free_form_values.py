"""Nulls in free-form data, and values that are listed; `tests/cluster/test_requests_like_kubernetes.py` holds those of CRDs to an API server."""

import pytest
from apis import Client, serving_clubs
from projects import installer

GROUP = "nulls.test"
ANYTHING = {"x-kubernetes-preserve-unknown-fields": True}
MAY_BE_NULL = {**ANYTHING, "nullable": True}
PROPERTIES = {
    "any": ANYTHING,
    "map": {"type": "object", "additionalProperties": ANYTHING},
    "may": MAY_BE_NULL,
    "open": {"type": "object", "additionalProperties": True},
    "default": {**ANYTHING, "default": 1},
    "pair": {"type": "array", "items": {"type": "integer"}, "enum": [[1, 2], []]},
    "boxes": {
        "type": "object",
        "properties": {
            "full": {
                "type": "object",
                "default": {"a": "b"},
                "properties": {"a": {"type": "string"}},
            },
            "may": {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}},
        },
    },
    "shape": {"type": "object", "nullable": True, "enum": [{"a": {"b": 1}}]},
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": PROPERTIES}},
                    }
                },
            }
        ],
    },
}
PLAIN = {
    "title": "Thing",
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"any": {}}}},
}


def answered(folder, files, spec):
    """What a client is answered that makes an object."""
    with installer(folder) as install:
        installed = install(files, config={"kubernetes": {"group": GROUP}})
        with serving_clubs(installed, folder / "store.db") as (api, _):
            head = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}}
            path = f"/apis/{GROUP}/v1/namespaces/default/things"
            return Client(api).call("POST", path, {**head, "spec": spec})


def created(folder, files, spec):
    """What the spec of an object is after a client has made it."""
    code, found = answered(folder, files, spec)
    assert code == 201, found
    return found["spec"]


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        ({"any": None}, {}),
        ({"any": {"x": None, "y": [None]}}, {"any": {"x": None, "y": [None]}}),
        ({"map": {"x": None, "y": 1}}, {"map": {"y": 1}}),
        ({"map": {"x": {"y": None}}}, {"map": {"x": {"y": None}}}),
        ({"may": None}, {"may": None}),
        ({"open": {"x": None}}, {"open": {"x": None}}),
        ({"boxes": {"full": {"a": None}}}, {"boxes": {"full": {}}}),
        ({"boxes": {"full": None, "may": None}}, {"boxes": {"full": {"a": "b"}, "may": None}}),
        ({"boxes": {"may": {"a": None}}}, {"boxes": {"full": {"a": "b"}, "may": {}}}),
    ],
)
def test_a_crd_says_where_null_may_be(tmp_path, spec, kept):
    assert created(tmp_path, {"crd.json": CRD}, spec) == {"default": 1, **kept}


def test_elsewhere_null_is_data_like_all_else(tmp_path):
    assert created(tmp_path, {"v1.json": PLAIN}, {"any": None}) == {"any": None}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"pair": [1, 2]}, ""),
        ({"pair": [2, 1]}, "Unsupported value: [2,1]: supported values: "),
        ({"shape": {"a": {"b": 1}}}, ""),
        ({"shape": {"a": {"b": 2}}}, 'Unsupported value: {"a":{"b":2}}: supported values: '),
        ({"shape": {}}, "Unsupported value: {}: supported values: "),
    ],
)
def test_lists_and_objects_may_be_listed(tmp_path, spec, said):
    code, found = answered(tmp_path, {"crd.json": CRD}, spec)
    assert code == (422 if said else 201)
    assert not said or found["details"]["causes"][0]["message"].startswith(said)
