"""Resource types whose CRDs say of some versions that `status` is a subresource, and of others that it is not."""

from collections.abc import Mapping
from typing import Any

GROUP = "stated.test"
CONDITIONS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string"}, "reason": {"type": "string"}},
    },
}
STATUS = {
    "type": "object",
    "description": "What was seen of it.",
    "properties": {
        "phase": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "level": {"type": "string", "default": "low"},
        "conditions": CONDITIONS,
    },
}
SPEC = {"type": "object", "properties": {"size": {"type": "integer"}, "note": {"type": "string"}}}
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
APART = {"subresources": {"status": {}}}


def crd(plural: str, kind: str, schema: Mapping[str, Any], **apart: bool) -> dict[str, Any]:
    """A CRD; of each version it is said whether its status is a subresource, and the first is stored."""
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == next(iter(apart)),
            "schema": {"openAPIV3Schema": schema},
            **(APART if is_apart else {}),
        }
        for name, is_apart in apart.items()
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": versions,
        },
    }


CRDS = [
    crd("plains", "Plain", SCHEMA, v1=False),
    crd("mixeds", "Mixed", SCHEMA, v2=True, v1=False),
    crd("turneds", "Turned", SCHEMA, v2=False, v1=True),
    crd("opens", "Open", OPEN, v2=True, v1=False),
]
FILES = {f"{each['metadata']['name']}.json": each for each in CRDS}
CONFIG = {"kubernetes": {"group": GROUP}}
PLURALS = {each["spec"]["names"]["kind"]: each["spec"]["names"]["plural"] for each in CRDS}
VERSIONS = [
    (each["spec"]["names"]["kind"], version["name"])
    for each in CRDS
    for version in each["spec"]["versions"]
]
"""Each kind with each of its versions."""


def document(kind: str, version: str, name: str = "a", **members: Any) -> dict[str, Any]:
    """An object."""
    head = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}}
    return {**head, "spec": {"size": 1}, **members}
