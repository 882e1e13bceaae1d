"""JSON Schema, draft 4 to 2020-12.

The root is a resource if it is an object with properties, under its `title` or else its file's name.
Definitions marked `x-resource: true` are resources too, unless the source lists the resources itself.
"""

from typing import Any

from trundle.errors import expectation
from trundle.schema._model import SchemaError
from trundle.schema.readers._facets import Dialect, describe
from trundle.schema.readers._library import Document, Node
from trundle.schema.readers._names import pascal, version_in, version_of_path
from trundle.schema.readers._roots import Found, Request, Root
from trundle.version import ApiVersion

DIALECT = Dialect()
_ROOT_SHAPE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "properties"})
_SHAPE = _ROOT_SHAPE | {"$defs", "$schema", "definitions", "x-resource"}
_HINT = (
    "nothing here is a resource: give the root properties and a title, mark definitions with "
    "x-resource: true, or list the source's resources"
)

_OTHER = "name the file with the CRDs"


def find(document: Document, request: Request) -> Found:
    """The resources of a document.

    Raises:
        SchemaError: the document is no object, or no API version can be determined.
    """
    top = Node(document, "", document.value)
    if not isinstance(document.value, dict):
        raise top.unexpected("a schema (an object)", type(document.value).__name__)
    if _is_manifest(document.value):
        said = f"{document.value['kind']} of {document.value['apiVersion']}"
        return Found((), {}, expectation("a schema or a CRD", said, _OTHER), is_manifest=True)
    names = _definitions(top)
    roots: list[tuple[str, Node]] = []
    title = _title(document, request)
    if title is not None:
        names.setdefault(title, top)
        if document.value.get("x-resource", not _ROOT_SHAPE.isdisjoint(document.value)):
            roots.append((title, top))
    marked = [
        (name, node)
        for name, node in names.items()
        if node is not top and isinstance(node.value, dict) and node.value.get("x-resource") is True
    ]
    chosen = [*roots, *marked]
    if request.resources is not None:
        chosen = [(name, names[name]) for name in request.resources if name in names]
    found = tuple(
        Root(
            version=_version(document, request),
            node=node,
            dialect=DIALECT,
            resource=name,
            definition=name if node is not top else pascal(name),
            group=request.group,
            file=document.file,
        )
        for name, node in chosen
    )
    return Found(found, names, None if found or request.resources else _HINT)


def _is_manifest(value: dict[str, Any]) -> bool:
    """Whether a document is an object of Kubernetes, as stands beside CRDs in what installs an operator."""
    says = all(isinstance(value.get(each), str) for each in ("apiVersion", "kind"))
    return says and _SHAPE.isdisjoint(value)


def _definitions(top: Node) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for section in ("$defs", "definitions"):
        members = top.value.get(section, {})
        if not isinstance(members, dict):
            raise top.child(section).unexpected("an object with definitions", describe(members))
        found.update((name, top.child(section, name)) for name in members if isinstance(name, str))
    return found


def _title(document: Document, request: Request) -> str | None:
    """The name of the root: its title, else its file's name if that is no version."""
    title = document.value.get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    stem = request.path.name.partition(".")[0]
    return pascal(stem) if version_in(stem) is None else None


def _version(document: Document, request: Request) -> ApiVersion:
    found = request.version or version_of_path(request.path)
    if found is None:
        for part in reversed(document.url.split("/")):
            found = found or version_in(part.removesuffix(".json"))
    if found is None:
        raise SchemaError(
            document.file,
            "#",
            "no API version: name the file or its folder after it, as in 2016-03-01.yaml or "
            "v1beta1.yaml, or give the source a version",
        )
    return found
