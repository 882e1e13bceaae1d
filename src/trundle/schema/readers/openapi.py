"""OpenAPI 2 (`definitions`), 3.0 and 3.1 (`components.schemas`).

Resources are the definitions that the source lists; else those with `x-kubernetes-group-version-kind`,
which states their API version too, but for kinds that no path is about where paths say which they are
about; else the objects that the paths take as request bodies or give as successful responses. A definition's
name is what follows the last dot of its key.
"""

import re
from collections.abc import Iterator
from typing import Any

from trundle.schema._model import SchemaError
from trundle.schema.readers._discriminators import Discriminators
from trundle.schema.readers._facets import Dialect, describe
from trundle.schema.readers._library import Document, Node
from trundle.schema.readers._names import escape, unescape, version_in, version_of_path
from trundle.schema.readers._roots import Found, Request, Root
from trundle.version import ApiVersion, VersionError

_GVK = "x-kubernetes-group-version-kind"
_METHODS = frozenset({"delete", "get", "head", "options", "patch", "post", "put", "trace"})
_HINT = (
    "no definition is a resource: no path takes or gives an object, and none has "
    f"{_GVK}; list the source's resources"
)

_DOCUMENTS = re.compile(r"\d+\.\d+\.\d")


def matches(value: Any) -> bool:
    """Whether a document is in this format."""
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def find(document: Document, request: Request) -> Found:
    """The resources of a document.

    Raises:
        SchemaError: the definitions are malformed, or no API version can be determined.
    """
    base = _container(document)
    names = {
        str(key): Node(document, f"{base.pointer}/{escape(str(key))}", value)
        for key, value in base.value.items()
    }
    dialect = Discriminators(names).dialect()
    if request.resources is not None:
        roots = [
            root
            for name in request.resources
            if name in names
            for root in _named_roots(document, names[name], name, dialect, request)
        ]
        return Found(tuple(roots), names)
    roots = [root for node in names.values() for root in _kubernetes_roots(node, dialect, request)]
    if about := _about(document, request):
        roots = [root for root in roots if (*root.identity, root.version.text) in about]
    if not roots:
        used = _used_in_paths(document, names)
        roots = [_root(document, names[name], name, dialect, request) for name in used]
    return Found(tuple(roots), names, None if roots else _HINT)


def _container(document: Document) -> Node:
    node = Node(document, "", document.value)
    for key in ("definitions",) if "swagger" in document.value else ("components", "schemas"):
        value = node.value.get(key, {})
        if not isinstance(value, dict):
            raise node.unexpected(f"an object as {key}", describe(value))
        node = Node(document, f"{node.pointer}/{key}", value)
    return node


def _named_roots(
    document: Document, node: Node, name: str, dialect: Dialect, request: Request
) -> list[Root]:
    found = _kubernetes_roots(node, dialect, request)
    return found or [_root(document, node, name, dialect, request)]


def _root(document: Document, node: Node, name: str, dialect: Dialect, request: Request) -> Root:
    short = name.rpartition(".")[2] or name
    return Root(
        version=request.version or _version(document, request),
        node=node,
        dialect=dialect,
        resource=short,
        definition=short,
        group=request.group,
        file=document.file,
    )


def _kubernetes_roots(node: Node, dialect: Dialect, request: Request) -> list[Root]:
    """One resource for each group, version and kind that a definition names."""
    stated = node.value.get(_GVK) if isinstance(node.value, dict) else None
    found = []
    for each in stated if isinstance(stated, list) else [stated] if stated else []:
        if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
            raise node.unexpected(f"group, version and kind in {_GVK}", describe(each))
        try:
            version = ApiVersion.parse(str(each.get("version")))
        except VersionError as error:
            raise node.error(str(error)) from None
        if request.version in (None, version):
            found.append(
                Root(
                    version=version,
                    node=node,
                    dialect=dialect,
                    resource=each["kind"],
                    definition=each["kind"],
                    group=str(each.get("group") or request.group),
                    file=node.document.file,
                )
            )
    return found


def _about(document: Document, request: Request) -> set[tuple[str, str, str]]:
    """The group, kind and version of what the paths of a Kubernetes API server read and write; none where paths do not say.

    Its documents also have lists, `Status`, `DeleteOptions` and `WatchEvent`, the same in the document of each version, and what
    subresources such as `scale` take.
    """
    paths = document.value.get("paths")
    found = set()
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for operation in item.values() if isinstance(item, dict) and "/{name}/" not in path else ():
            stated = operation.get(_GVK) if isinstance(operation, dict) else None
            if isinstance(stated, dict):
                group = str(stated.get("group") or request.group)
                found.add(
                    (group.lower(), str(stated.get("kind")).lower(), str(stated.get("version")))
                )
    return found


def _version(document: Document, request: Request) -> ApiVersion:
    info = document.value.get("info")
    stated = info.get("version") if isinstance(info, dict) else None
    # A version such as 1.0.0 is that of the document, as OpenAPI has it, and names no API version.
    found = None
    if isinstance(stated, str) and not _DOCUMENTS.match(stated):
        found = version_in(stated)
    found = found or version_of_path(request.path)
    if found is None:
        raise SchemaError(
            document.file,
            "#/info/version",
            describe(stated),
            expected="an API version such as 2016-03-01 or v1beta1",
            advice="name the file or its folder after the version, or give the source a version",
        )
    return found


def _used_in_paths(document: Document, names: dict[str, Node]) -> list[str]:
    """The object definitions that paths take or give, in alphabetical order."""
    by_pointer = {node.pointer: name for name, node in names.items()}
    found = set()
    paths = document.value.get("paths")
    for item in paths.values() if isinstance(paths, dict) else ():
        for method, operation in item.items() if isinstance(item, dict) else ():
            if method in _METHODS and isinstance(operation, dict):
                for schema in _schemas(document, operation):
                    reference = schema.get("$ref") if isinstance(schema, dict) else None
                    name = by_pointer.get(reference[1:]) if isinstance(reference, str) else None
                    if name is not None and _is_object(names[name].value):
                        found.add(name)
    return sorted(found)


def _schemas(document: Document, operation: dict[str, Any]) -> Iterator[Any]:
    bodies = [operation.get("requestBody")]
    parameters = operation.get("parameters")
    if isinstance(parameters, list):
        bodies.extend(parameters)
    responses = operation.get("responses")
    if isinstance(responses, dict):
        bodies.extend(each for code, each in responses.items() if str(code).startswith("2"))
    for body in bodies:
        resolved = _follow(document, body)
        if resolved.get("in", "body") == "body" and "schema" in resolved:
            yield resolved["schema"]
        content = resolved.get("content")
        for media in content.values() if isinstance(content, dict) else ():
            if isinstance(media, dict):
                yield media.get("schema")


def _follow(document: Document, value: Any) -> dict[str, Any]:
    """The request body or response, be it here or among the document's components."""
    reference = value.get("$ref") if isinstance(value, dict) else None
    if isinstance(reference, str) and reference.startswith("#/"):
        value = document.value
        for segment in reference[2:].split("/"):
            value = value.get(unescape(segment)) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _is_object(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return value.get("type") == "object" or not {"properties", "allOf", "oneOf"}.isdisjoint(value)
