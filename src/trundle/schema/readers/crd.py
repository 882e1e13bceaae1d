"""Kubernetes custom resource definitions, `apiextensions.k8s.io/v1` and `v1beta1`.

One file may hold several, each with several versions. Every version counts, served or not: objects may
still be stored in it. The version with `storage: true` is the hub. In these schemas `allOf`, `anyOf`, `oneOf` and `not` only constrain.
"""

from collections.abc import Iterator
from typing import Any

from trundle.schema._model import Scaling
from trundle.schema.readers._crd_names import names_of
from trundle.schema.readers._facets import Dialect, describe
from trundle.schema.readers._library import Document, Node
from trundle.schema.readers._roots import Found, Request, Root
from trundle.version import ApiVersion, VersionError

DIALECT = Dialect(structural=True)
_EXPECTED: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
_SCALING = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
_KIND = "CustomResourceDefinition"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


def matches(value: Any) -> bool:
    """Whether a document is in this format."""
    if not isinstance(value, dict):
        return False
    return value.get("kind") == _KIND or any(_is_crd(x) for x in _items(value))


def find(document: Document, request: Request) -> Found:
    """The resources of a document: one for each version of each definition.

    Raises:
        SchemaError: a part of the definition is missing, or a version has no schema.
    """
    top = Node(document, "", document.value)
    definitions = [top]
    if document.value.get("kind") != _KIND:
        definitions = [
            top.child("items", str(i)) for i, x in enumerate(_items(document.value)) if _is_crd(x)
        ]
    names: dict[str, Node] = {}
    roots = []
    for node in definitions:
        spec = _part(node, "spec", dict)
        kind = _part(_part(spec, "names", dict), "kind", str).value
        names[kind] = node
        if request.resources is None or kind in request.resources:
            roots.extend(_roots(spec, kind, request))
    return Found(tuple(roots), names)


def _roots(spec: Node, kind: str, request: Request) -> list[Root]:
    group = _part(spec, "group", str).value
    scope = spec.value.get("scope", "Namespaced")
    found = [
        Root(
            version=_version(node),
            node=_schema(spec, node, kind),
            dialect=DIALECT,
            resource=kind,
            definition=kind,
            scope=str(scope),
            group=group or request.group,
            file=node.document.file,
            served=node.value.get("served") is not False,
            deprecated=_warning(node, group or request.group, kind),
            hub=node.value.get("storage") is True,
            status_apart=_has_status(spec, node),
            scaling=_scaling(spec, node),
            selectable=tuple(_selectable(spec, node)),
            names=names_of(spec, node),
        )
        for node in _versions(spec)
    ]
    if request.version is None:
        return found
    return [root for root in found if root.version == request.version]


def _versions(spec: Node) -> list[Node]:
    if "versions" not in spec.value and isinstance(spec.value.get("version"), str):
        return [Node(*spec.place, {"name": spec.value["version"]})]
    versions = _part(spec, "versions", list)
    return [versions.child(str(i)) for i in range(len(versions.value))]


def _version(node: Node) -> ApiVersion:
    name = _part(node, "name", str)
    try:
        return ApiVersion.parse(name.value)
    except VersionError as error:
        raise name.error(str(error)) from None


def _warning(node: Node, group: str, kind: str) -> str:
    """What Kubernetes warns clients of a deprecated version with; empty for any other version."""
    if node.value.get("deprecated") is not True:
        return ""
    given = node.value.get("deprecationWarning")
    version = node.value.get("name")
    return given if isinstance(given, str) and given else f"{group}/{version} {kind} is deprecated"


def _has_status(spec: Node, version: Node) -> bool:
    """Whether a version has the subresource `status`; `v1beta1` may say it of all versions at once."""
    for node in (version, spec):
        said = node.value.get("subresources")
        if isinstance(said, dict) and isinstance(said.get("status"), dict):
            return True
    return False


def _scaling(spec: Node, version: Node) -> Scaling | None:
    """What the subresource `scale` of a version reads and writes; `v1beta1` may say it of all versions at once."""
    for node in (version, spec):
        said = node.value.get("subresources")
        scale = said.get("scale") if isinstance(said, dict) else None
        if isinstance(scale, dict):
            said = (scale.get(name) for name in _SCALING)
            return Scaling(*(each if isinstance(each, str) else "" for each in said))
    return None


def _selectable(spec: Node, version: Node) -> Iterator[str]:
    """The paths of `selectableFields` of a version; `v1beta1` may say it of all versions at once."""
    for node in (version, spec):
        said = node.value.get("selectableFields")
        if isinstance(said, list):
            paths = (each.get("jsonPath") for each in said if isinstance(each, dict))
            yield from (each for each in paths if isinstance(each, str))
            return


def _schema(spec: Node, version: Node, kind: str) -> Node:
    """The schema of a version, completed by what every resource has."""
    for owner, path in (
        (version, ("schema", "openAPIV3Schema")),
        (version, ("validation", "openAPIV3Schema")),
        (spec, ("validation", "openAPIV3Schema")),
    ):
        node: Node | None = owner
        for step in path:
            value = node.value.get(step) if node and isinstance(node.value, dict) else None
            node = node.child(step) if node and value is not None else None
        if node is not None:
            return _complete(node)
    if spec.value.get("preserveUnknownFields") is True:
        return _complete(Node(*version.place, {"type": "object", _PRESERVE: True}))
    raise version.unexpected(
        f"schema.openAPIV3Schema for this version of {kind}",
        "none",
        f"to admit anything, give it a schema with {_PRESERVE}: true",
    )


def _complete(node: Node) -> Node:
    if not isinstance(node.value, dict):
        raise node.unexpected("a schema (an object)", describe(node.value))
    properties = node.value.get("properties") or {}
    if not isinstance(properties, dict):
        raise node.unexpected("an object as properties", describe(properties))
    text = {"type": "string"}
    common = {"apiVersion": text, "kind": text, "metadata": {"type": "object"}}
    return Node(*node.place, {**node.value, "properties": {**common, **properties}})


def _part(node: Node, key: str, expected: type) -> Node:
    """What is under a key, if it is of the expected kind."""
    value = node.value.get(key) if isinstance(node.value, dict) else None
    if not isinstance(value, expected) or not value:
        what = _EXPECTED[expected]
        raise node.unexpected(f"{what} as {key}", describe(value))
    return node.child(key)


def _items(value: Any) -> list[Any]:
    items = value.get("items") if value.get("kind") in ("List", f"{_KIND}List") else None
    return items if isinstance(items, list) else []


def _is_crd(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == _KIND
