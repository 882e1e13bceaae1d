"""Reads `kubernetes`: what clients of Kubernetes' conventions call the resource types."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.documents import Fields, Node, ScalarNode, Walker, describe
from trundle.schema import COLUMN_TYPES, NAME_PATTERN, KindNames, PrinterColumn, Scaling

_KEYS = ("group", "types")
_TYPE_KEYS = ("kind", "plural", "singular", "shortNames", "categories", "scope", "columns", "scale")
_COLUMN_KEYS = ("name", "path", "type", "description", "priority")
_SCALE_KEYS = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
_STEPS = r"(\.[A-Za-z_][A-Za-z0-9_-]*)+"
_SCALE_PATHS = (rf"\.spec{_STEPS}", rf"\.status{_STEPS}", rf"\.(spec|status){_STEPS}")
"""What a cluster takes as paths of the subresource `scale`."""

_SCOPES = ("Namespaced", "Cluster")
SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+"
"""An API group: a DNS subdomain of at least two labels, as Kubernetes wants it."""

KIND = r"[A-Z][A-Za-z0-9]{0,62}"


class HeldScaling(msgspec.Struct, frozen=True):
    """What a project says of the subresource `scale` of a resource type.

    Attributes:
        scaling: what it reads and writes.
        where: file and line that say so.
    """

    scaling: Scaling
    where: str


class Kubernetes(msgspec.Struct, frozen=True):
    """What a project says for clients of Kubernetes' conventions.

    Attributes:
        group: the API group of resource types that have none; may be empty.
        types: the names of resource types, by their own name without regard to letter case.
        named: each resource type that has names, as the file writes it, with file and line.
        scales: what their subresource `scale` reads and writes, likewise: a version has the first of which it has the properties.
    """

    group: str = ""
    types: Mapping[str, KindNames] = msgspec.field(default_factory=dict)
    named: tuple[tuple[str, str], ...] = ()
    scales: Mapping[str, tuple[HeldScaling, ...]] = msgspec.field(default_factory=dict)

    def group_for(self, package: str) -> str:
        """The API group of resource types that have none; after the package where none is given."""
        if self.group:
            return self.group
        plain = package.rpartition(".")[2].lower().replace("_", "-").strip("-")
        return f"{plain or 'trundle'}.local"


def read_kubernetes(walker: Walker, fields: Fields) -> Kubernetes:
    """What a project file says under `kubernetes`."""
    if "kubernetes" not in fields:
        return Kubernetes()
    inner = walker.fields(fields["kubernetes"][1], "what `kubernetes` has", _KEYS)
    group = _matching(walker, inner, "group", SUBDOMAIN, "an API group such as crm.example.com")
    types: dict[str, KindNames] = {}
    named: list[tuple[str, str]] = []
    scales: dict[str, tuple[HeldScaling, ...]] = {}
    if "types" in inner:
        for key, node in walker.entries(inner["types"][1], "names by resource type"):
            said = walker.fields(node, "the names of a resource type", _TYPE_KEYS)
            named.append((key.text, walker.place(key)))
            types[key.text.casefold()] = _type(walker, said)
            scales[key.text.casefold()] = tuple(_scales(walker, said))
    return Kubernetes(group, types, tuple(named), scales)


def _scales(walker: Walker, fields: Fields) -> Iterator[HeldScaling]:
    if "scale" not in fields:
        return
    for each in walker.items(fields["scale"][1], "paths of replicas"):
        inner = walker.fields(each, "paths of replicas", _SCALE_KEYS, _SCALE_KEYS[:2])
        wanted, there, selector = (
            _matching(walker, inner, name, pattern, f"a path such as {example}")
            for name, pattern, example in zip(
                _SCALE_KEYS,
                _SCALE_PATHS,
                (".spec.replicas", ".status.replicas", ".status.selector"),
                strict=True,
            )
        )
        yield HeldScaling(Scaling(wanted, there, selector), walker.place(each))


def _type(walker: Walker, fields: Fields) -> KindNames:
    scope = walker.choice(fields["scope"][1], "a scope", _SCOPES) if "scope" in fields else ""
    return KindNames(
        kind=_matching(walker, fields, "kind", KIND, "a kind such as Person"),
        plural=_matching(
            walker, fields, "plural", NAME_PATTERN, "lower-case letters such as people"
        ),
        singular=_matching(
            walker, fields, "singular", NAME_PATTERN, "lower-case letters such as person"
        ),
        short_names=_texts(walker, fields, "shortNames"),
        categories=_texts(walker, fields, "categories"),
        scope="Cluster" if scope == "Cluster" else "Namespaced" if scope else "",
        columns=_columns(walker, fields),
    )


def _columns(walker: Walker, fields: Fields) -> tuple[PrinterColumn, ...]:
    if "columns" not in fields:
        return ()
    found = []
    for each in walker.items(fields["columns"][1], "columns"):
        inner = walker.fields(each, "a column", _COLUMN_KEYS, ("name", "path"))
        if "name" not in inner or "path" not in inner:
            continue
        found.append(
            PrinterColumn(
                walker.text(inner["name"][1], "a heading") or "",
                _matching(walker, inner, "path", r"\..+", "a JSON path such as .status.phase"),
                (walker.choice(inner["type"][1], "a type", COLUMN_TYPES) or "string")
                if "type" in inner
                else "string",
                (walker.text(inner["description"][1], "text") or "")
                if "description" in inner
                else "",
                _priority(walker, inner),
            )
        )
    return tuple(found)


def _priority(walker: Walker, fields: Fields) -> int:
    if "priority" not in fields:
        return 0
    node = fields["priority"][1]
    if isinstance(node, ScalarNode) and re.fullmatch("[0-9]{1,4}", node.json):
        return int(node.json)
    walker.note(node.line, "a whole number", describe(node), "write 0, or more for `-o wide` only")
    return 0


def _texts(walker: Walker, fields: Fields, name: str) -> tuple[str, ...]:
    if name not in fields:
        return ()
    nodes = walker.texts(fields[name][1], "name")
    fitting = (
        _fitting(walker, each, NAME_PATTERN, "a name in lower-case letters") for each in nodes
    )
    return tuple(each for each in fitting if each is not None)


def _matching(walker: Walker, fields: Fields, name: str, pattern: str, expected: str) -> str:
    if name not in fields:
        return ""
    return _fitting(walker, fields[name][1], pattern, expected) or ""


def _fitting(walker: Walker, node: Node, pattern: str, expected: str) -> str | None:
    text = walker.text(node, expected)
    if text is None or re.fullmatch(pattern, text):
        return text
    walker.note(node.line, expected, repr(text), "correct it, or remove the key")
    return None


def kubernetes_schema() -> dict[str, Any]:
    """The JSON Schema of what a project file says under `kubernetes`."""
    label = {"type": "string", "pattern": f"^({NAME_PATTERN})$"}
    names = {"type": "array", "items": label, "uniqueItems": True}
    text = {"type": "string", "minLength": 1}
    column = _closed(
        {
            "name": {**text, "description": "The heading."},
            "path": {"type": "string", "pattern": r"^\.", "description": "The value in an object."},
            "type": {"enum": list(COLUMN_TYPES), "default": "string"},
            "description": {**text, "description": "What the value is."},
            "priority": {"type": "integer", "minimum": 0, "maximum": 9999, "default": 0},
        }
    )
    type_ = _closed(
        {
            "kind": {
                "type": "string",
                "pattern": f"^({KIND})$",
                "description": "Its name in documents.",
            },
            "plural": {**label, "description": "Its name in URLs."},
            "singular": {**label, "description": "Its name for one object."},
            "shortNames": {**names, "description": "Further names for kubectl."},
            "categories": {**names, "description": "The groups it is listed under, as `all`."},
            "scope": {"enum": list(_SCOPES), "default": "Namespaced"},
            "columns": {
                "type": "array",
                "items": {**column, "required": ["name", "path"]},
                "description": "What tables show after the name.",
            },
            "scale": _scale_schema(),
        }
    )
    types = {
        "type": "object",
        "additionalProperties": type_,
        "propertyNames": {"minLength": 1},
        "description": "What clients call each resource type.",
    }
    group = {
        "type": "string",
        "pattern": f"^({SUBDOMAIN})$",
        "description": "The API group of resource types that have none.",
    }
    return {
        **_closed({"group": group, "types": types}),
        "description": "What clients of Kubernetes' conventions call the resource types.",
    }


def _scale_schema() -> dict[str, Any]:
    said = (
        "How many replicas there are to be.",
        "How many there are.",
        "The label selector of what is counted, as a text.",
    )
    scale = _closed(
        {
            name: {"type": "string", "pattern": f"^({pattern})$", "description": text}
            for name, pattern, text in zip(_SCALE_KEYS, _SCALE_PATHS, said, strict=True)
        }
    )
    return {
        "type": "array",
        "items": {**scale, "required": list(_SCALE_KEYS[:2])},
        "description": "What its subresource scale reads and writes; a version has the first of which it has the properties.",
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}
