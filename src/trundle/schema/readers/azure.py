"""Azure deployment schemas: `schemas/<version>/<provider>.json`.

A resource is in `resourceDefinitions` or in the like section of another scope. Its name is the
constant of its `type` property, its API version that of `apiVersion`, because that is what documents
say. If files in several folders declare a resource in one version, the file in the folder of that version
counts; the others are misplaced copies.

A type that several sections declare, or one section in several letter cases, is one resource with several
scopes. Where its shapes differ, it admits what any of them admits, so that no document is refused.

Every value may be a template expression instead; that alternative is left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trundle.schema.readers._azure_common import COMMON
from trundle.schema.readers._facets import Dialect, describe
from trundle.schema.readers._library import Document, Node
from trundle.schema.readers._names import pascal, version_in, version_of_path
from trundle.schema.readers._roots import Found, Request, Root
from trundle.version import ApiVersion

SCOPES = {
    "resourceDefinitions": "resourceGroup",
    "subscription_resourceDefinitions": "subscription",
    "managementGroup_resourceDefinitions": "managementGroup",
    "tenant_resourceDefinitions": "tenant",
    "extension_resourceDefinitions": "extension",
    "unknown_resourceDefinitions": "unknown",
}
HOST = "schema.management.azure.com"
_KNOWN = frozenset({"$id", "$schema", "definitions", "description", "id", "title", "type", *SCOPES})
_TAIL = re.compile(r"https?://schema\.management\.azure\.com/schemas/([^#]+\.json)", re.IGNORECASE)
_COMMON_FILE = "common/definitions.json"
_EXPRESSION = "#/definitions/expression"


def matches(value: Any) -> bool:
    """Whether a document is in this format."""
    if not isinstance(value, dict):
        return False
    url = value.get("$id", value.get("id"))
    return not SCOPES.keys().isdisjoint(value) or (isinstance(url, str) and HOST in url)


def find(document: Document, request: Request) -> Found:
    """The resources of a document.

    Raises:
        SchemaError: an unknown section, or a resource that does not say its type or version.
    """
    top = Node(document, "", document.value)
    for key in document.value:
        if key not in _KNOWN:
            expected = f"one of {', '.join(sorted(_KNOWN))} at the top"
            raise top.unexpected(expected, f"the key {key!r}")
    names: dict[str, Node] = {}
    roots = []
    for rank, (section, scope) in enumerate(SCOPES.items()):
        members = document.value.get(section, {})
        if not isinstance(members, dict):
            raise top.child(section).unexpected(
                "an object with resource definitions", describe(members)
            )
        for name in members:
            node = top.child(section, name)
            names[name] = node
            root = _root(node, scope, rank, request)
            asked = [
                x for x in request.resources or () if x == name or x.lower() == root.identity[1]
            ]
            names.update(dict.fromkeys((root.resource, *asked), node))
            if asked or request.resources is None:
                roots.append(root)
    return Found(tuple(roots), names)


def redirect(document: Document, url: str) -> Path | Document | None:
    """Where the file of a schema URL lies: beside the version folders, or built in if it is common."""
    match = _TAIL.match(url)
    if match is None:
        return None
    tail = match.group(1)
    if tail.startswith("/") or ".." in tail.split("/"):
        return None
    if document.path is not None:
        path = document.path.parent.parent / tail
        if path.is_file() or tail != _COMMON_FILE:
            return path
    return COMMON if tail == _COMMON_FILE else None


def _is_expression(node: Node) -> bool:
    reference = node.value.get("$ref") if isinstance(node.value, dict) else None
    if not isinstance(reference, str) or not reference.endswith(_EXPRESSION):
        return False
    file = reference.removesuffix(_EXPRESSION) or node.document.file.replace("\\", "/")
    return file.endswith(_COMMON_FILE)


def _is_child(properties: Mapping[str, Sequence[Node]]) -> bool:
    """Whether these are the properties of a resource: its type and version are constants."""
    return all(
        _constant(properties[name][0]) is not None if name in properties else False
        for name in ("type", "apiVersion")
    )


DIALECT = Dialect(dropped=_is_expression, embedded=_is_child)


def _root(node: Node, scope: str, rank: int, request: Request) -> Root:
    name = _stated(node, "type")
    version = request.version or _version(node, request.path)
    folder = version_of_path(request.path)
    return Root(
        version=version,
        node=node,
        dialect=DIALECT,
        resource=name,
        definition="".join(map(pascal, name.split("/")[1:])) or pascal(name),
        scope=scope,
        group=request.group,
        name_property="type",
        file=node.document.file,
        rank=rank,
        exact=folder in (None, version),
        joins=True,
    )


def _version(node: Node, path: Path) -> ApiVersion:
    properties = node.value.get("properties", {})
    stated = _constant(Node(*node.place, properties.get("apiVersion")))
    found = version_in(stated) if stated is not None else version_of_path(path)
    if found is None:
        given = "the constant of apiVersion" if stated is None else f"{stated!r}"
        raise node.unexpected(
            "an API version such as 2016-03-01 as the constant of apiVersion",
            given,
            "correct it, or give the source a version",
        )
    return found


def _stated(node: Node, name: str) -> str:
    properties = node.value.get("properties") if isinstance(node.value, dict) else None
    member = properties.get(name) if isinstance(properties, dict) else None
    found = _constant(Node(*node.place, member))
    if found is None:
        expected = f"a resource whose property {name!r} is a constant text"
        raise node.unexpected(expected, "none")
    return found


def _constant(node: Node) -> str | None:
    value = node.value
    if not isinstance(value, dict):
        return None
    listed: Iterable[Any] = value.get("enum", [value["const"]] if "const" in value else [])
    match listed:
        case [str(only)]:
            return only
        case _:
            return None
