"""Versions of resource types as OpenAPI, for `kubectl explain`, validation by clients, and code generators."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from trundle.api import _openapi_protobuf as protobuf
from trundle.api._kept_answers import digest_of
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Type,
    Union,
)

_GVK = "x-kubernetes-group-version-kind"
_SELECTABLE = "x-kubernetes-selectable-fields"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
_SCHEMAS = frozenset({"items", "additionalProperties", "allOf", "not"})
"""What a schema has schemas under, beside `properties`."""
_OF_V3 = frozenset({"oneOf", "anyOf"})
"""What OpenAPI 2.0 does not know."""
_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_COMMON = {
    "apiVersion": {
        "type": "string",
        "description": "The API group and the version that this representation of the object has.",
    },
    "kind": {"type": "string", "description": "The name of the resource type."},
}
_TEXT = {"type": "string"}
_TIME = {"type": "string", "format": "date-time"}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_METADATA = {
    "type": "object",
    "description": "What all objects have: name, labels, annotations, and what the server says about them.",
    "properties": {
        "name": {**_TEXT, "description": "The name, unique within the namespace."},
        "generateName": {**_TEXT, "description": "The beginning of a name that the server makes."},
        "namespace": {**_TEXT, "description": "The namespace."},
        "labels": {**_TEXTS, "description": "What objects are selected by."},
        "annotations": {**_TEXTS, "description": "What tools keep about the object."},
        "uid": {
            **_TEXT,
            "description": "What distinguishes the object from all others; read-only.",
        },
        "resourceVersion": {**_TEXT, "description": "Grows with each write; opaque to clients."},
        "generation": {
            "type": "integer",
            "format": "int64",
            "description": "How often it changed.",
        },
        "creationTimestamp": {**_TIME, "description": "When it was created; read-only."},
        "deletionTimestamp": {**_TIME, "description": "When it was marked as deleted; read-only."},
        "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
        "finalizers": {
            "type": "array",
            "items": _TEXT,
            "x-kubernetes-list-type": "set",
            "description": "Who has to do something before the object is gone.",
        },
        "ownerReferences": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["apiVersion", "kind", "name", "uid"],
                "properties": {
                    "apiVersion": _TEXT,
                    "kind": _TEXT,
                    "name": _TEXT,
                    "uid": _TEXT,
                    "controller": {"type": "boolean"},
                    "blockOwnerDeletion": {"type": "boolean"},
                },
            },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "description": "The objects that this one depends on.",
        },
        "managedFields": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "manager": {**_TEXT, "description": "Who owns the fields."},
                    "operation": {
                        **_TEXT,
                        "description": "How they were written: Apply or Update.",
                    },
                    "apiVersion": {**_TEXT, "description": "The version that has them."},
                    "time": {**_TIME, "description": "When the manager last changed something."},
                    "fieldsType": {**_TEXT, "description": "How the fields are written: FieldsV1."},
                    "fieldsV1": {"type": "object", "description": "The fields.", PRESERVE: True},
                    "subresource": {**_TEXT, "description": "The subresource that was written."},
                },
            },
            "description": "Which manager owns which fields.",
        },
        "selfLink": _TEXT,
    },
}

_SCALARS: Mapping[str, str] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "string": "string",
}


def definition(name: str, served: ServedVersion, reference: Callable[[str], str]) -> dict[str, Any]:
    """A definition of a version as an OpenAPI schema.

    Args:
        name: the key of the definition.
        served: the version.
        reference: gives the `$ref` to another definition of the version.
    """
    found = served.schema.definitions[name]
    exemplified = {} if found.example is ABSENT else {"example": found.example}
    if isinstance(found, EnumType):
        listed = {"type": _SCALARS[found.kind], "enum": list(found.values)}
        return _described(found.doc, listed | exemplified)

    def refer(key: str) -> dict[str, Any]:
        """A reference; enums without a name stand in place, so that clients show their values."""
        inner = served.schema.definitions[key]
        if isinstance(inner, EnumType) and not inner.named:
            return definition(key, served, reference)
        return {"$ref": reference(key)}

    properties = {each.name: _property(each, refer) for each in found.properties}
    required = [each.name for each in found.properties if each.required]
    schema: dict[str, Any] = {"type": "object", **dict(found.constraints), **exemplified}
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = required
    if found.additional is not None:
        schema["additionalProperties"] = _type(found.additional, refer)
    return _described(found.doc, schema)


def _property(of: Property, refer: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    schema = _type(of.type, refer)
    extra: dict[str, Any] = dict(of.constraints)
    if of.default is not ABSENT:
        extra["default"] = of.default
    if "$ref" in schema and of.doc:
        schema = {"allOf": [schema]}
    said = _constrained(_constrained(schema, extra), dict(of.about))
    return _described(of.doc, said)


def _constrained(schema: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with constraints, those of what it holds at their places."""
    if not extra:
        return schema
    found: dict[str, Any] = {"allOf": [schema]} if "$ref" in schema else dict(schema)
    for key, value in extra.items():
        own = found.get(key)
        if isinstance(own, dict) and isinstance(value, dict):
            found[key] = _constrained(own, value)
        elif key == "allOf" and isinstance(own, list):
            found[key] = [*own, *value]
        elif key == "oneOf" and isinstance(own, list) and len(own) == len(value):
            found[key] = [_constrained(*each) for each in zip(own, value, strict=True)]
        else:
            found[key] = value
    return found


def _described(doc: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": doc, **schema} if doc else schema


def _type(of: Type, refer: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    match of:
        case Scalar():
            kind = _SCALARS[of.kind]
            return {"type": kind, "format": of.format} if of.format else {"type": kind}
        case FreeForm():
            return {PRESERVE: True}
        case Ref():
            return refer(of.key)
        case ListOf():
            keyed = (
                {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(of.keys)}
                if of.keys
                else {}
            )
            return {"type": "array", "items": _type(of.items, refer), **keyed}
        case MapOf():
            return {"type": "object", "additionalProperties": _type(of.values, refer)}
        case Nullable():
            inner = _type(of.inner, refer)
            return (
                {"allOf": [inner], "nullable": True}
                if "$ref" in inner
                else {**inner, "nullable": True}
            )
        case Union():
            return {"oneOf": [_type(each, refer) for each in of.variants]}


class OpenApi:
    """The OpenAPI documents of the resource types that are served.

    Args:
        kinds: the resource types.
        version: the version of the server.
    """

    def __init__(self, kinds: Iterable[ServedKind], version: str) -> None:
        self._version = version
        self._groups: dict[tuple[str, str], list[tuple[ServedKind, ServedVersion]]] = {}
        for kind in kinds:
            for served in kind.versions.values():
                self._groups.setdefault((kind.group, served.label), []).append((kind, served))
        self._documents: dict[tuple[str, str], bytes] = {}

    def paths(self) -> dict[str, Any]:
        """Where the documents of all versions are: `/openapi/v3`."""
        found = {}
        for group, label in self._groups:
            path = f"apis/{group}/{label}" if group else f"api/{label}"
            digest = digest_of(self.v3(group, label) or b"")
            found[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
        return {"paths": found}

    def v3(self, group: str, label: str) -> bytes | None:
        """The OpenAPI 3.0 document of a version as JSON; None where there is no such version."""
        members = self._groups.get((group, label))
        if members is None:
            return None
        if (group, label) not in self._documents:
            schemas = {
                name: schema
                for kind, served in members
                for name, schema in _schemas(kind, served, "#/components/schemas/").items()
            }
            paths = {
                path: item for each in members for path, item in _paths(*each, v3=True).items()
            }
            document = {
                "openapi": "3.0.0",
                "info": {"title": "Trundle", "version": self._version},
                "paths": paths,
                "components": {"schemas": schemas},
            }
            self._documents[group, label] = msgspec.json.encode(document)
        return self._documents[group, label]

    def v2(self, accept: str) -> tuple[bytes, str]:
        """The OpenAPI 2.0 document of all versions, and its media type.

        Args:
            accept: what the client accepts; protobuf where that names it, else JSON.
        """
        members = [each for some in self._groups.values() for each in some]
        document = {
            "swagger": "2.0",
            "info": {"title": "Trundle", "version": self._version},
            "paths": {
                path: item for each in members for path, item in _paths(*each, v3=False).items()
            },
            "definitions": {
                name: _for_v2(schema)
                for kind, served in members
                for name, schema in _schemas(kind, served, "#/definitions/").items()
            },
        }
        if protobuf.ACCEPTED in accept:
            return protobuf.of_document(document), protobuf.MEDIA_TYPE
        return msgspec.json.encode(document), "application/json"


def name_of(kind: ServedKind, served: ServedVersion, key: str = "") -> str:
    """The name of a definition among those of all groups: `com.example.crm.v20190909.Person`."""
    if kind.is_core:
        group = f"io.k8s.api.{kind.group.partition('.')[0] or 'core'}"
    else:
        group = ".".join(reversed(kind.group.split(".")))
    plain = key.replace("/", ".") if key and key != served.root else kind.kind
    return f"{group}.{served.label}.{plain}"


def _list_name(kind: ServedKind, served: ServedVersion) -> str:
    return name_of(kind, served).removesuffix(kind.kind) + kind.list_kind


def _schemas(kind: ServedKind, served: ServedVersion, prefix: str) -> dict[str, Any]:
    """All definitions that a resource type needs at a version, those of its list and metadata too."""

    def reference(key: str) -> str:
        return prefix + name_of(kind, served, key)

    found = {
        name_of(kind, served, key): definition(key, served, reference)
        for key in reachable(served, served.root)
    }
    _describe_once(found, prefix, name_of(kind, served))
    gvk = [{"group": kind.group, "version": served.label, "kind": kind.kind}]
    own = found[name_of(kind, served)]
    metadata = {"allOf": [{"$ref": prefix + _META}], "description": "Name, labels and the like."}
    own["properties"] = {**own.get("properties", {}), **_COMMON, "metadata": metadata}
    own[_GVK] = gvk
    selectable = (
        {_SELECTABLE: [{"fieldPath": x} for x in served.selectable]} if served.selectable else {}
    )
    own |= selectable
    listed = {"type": "array", "items": {"$ref": reference(served.root)}}
    if not kind.is_review:
        found[_list_name(kind, served)] = {
            "type": "object",
            "description": f"A list of {kind.plural}.",
            "required": ["items"],
            "properties": {
                **_COMMON,
                "items": listed,
                "metadata": {"type": "object", PRESERVE: True},
            },
            _GVK: [{**gvk[0], "kind": kind.list_kind}],
            **selectable,
        }
    found[_META] = _METADATA
    return found


def _describe_once(schemas: dict[str, Any], prefix: str, root: str) -> None:
    """Takes the description from each definition but the root that all properties which refer to it have: `kubectl explain` would show both."""
    descriptions: dict[str, set[str]] = {}
    for reference, description in _referring(schemas.values()):
        descriptions.setdefault(reference.removeprefix(prefix), set()).add(description)
    for name, found in descriptions.items():
        if name != root and found == {schemas[name].get("description", "")}:
            schemas[name].pop("description", None)


def _referring(schemas: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Each reference in some schemas with what is said beside it."""
    for schema in schemas:
        match schema:
            case {"$ref": str() as found}:
                yield found, ""
            case {"allOf": [{"$ref": str() as found}]}:
                yield found, schema.get("description", "")
            case dict():
                yield from _referring(_inside(schema))


def _inside(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that a schema has; what stands in values, such as examples, is none."""
    yield from schema.get("properties", {}).values()
    for key in _SCHEMAS | _OF_V3:
        found = schema.get(key)
        yield from found if isinstance(found, list) else [found]


def _for_v2(schema: Any) -> Any:
    """A schema, or some, as Kubernetes' own OpenAPI 2.0 documents have it.

    What is said of a reference stands beside it, as `kubectl explain` follows no `allOf`. A value that may be of several types, or null, is any: that version has
    no words for it.
    """
    if isinstance(schema, list):
        return [_for_v2(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    match schema.get("allOf"):
        case [{"$ref": str() as found, **others}] if not others:
            schema = {"$ref": found, **{key: x for key, x in schema.items() if key != "allOf"}}
    if schema.get("nullable") is True:
        schema = {key: x for key, x in schema.items() if key == "description" or key[:2] == "x-"}
    return {key: _member_for_v2(key, x) for key, x in schema.items() if key not in _OF_V3}


def _member_for_v2(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _for_v2(each) for name, each in value.items()}
    return _for_v2(value) if key in _SCHEMAS else value


def reachable(served: ServedVersion, root: str) -> list[str]:
    """The definitions that one leads to, itself first."""
    found = [root]
    for key in found:
        for each in _references(served.schema.definitions[key]):
            if each not in found:
                found.append(each)
    return found


def _references(of: ObjectType | EnumType | Type) -> Iterable[str]:
    match of:
        case ObjectType():
            for each in of.properties:
                yield from _references(each.type)
            if of.additional is not None:
                yield from _references(of.additional)
        case Ref():
            yield of.key
        case ListOf():
            yield from _references(of.items)
        case MapOf():
            yield from _references(of.values)
        case Nullable():
            yield from _references(of.inner)
        case Union():
            for variant in of.variants:
                yield from _references(variant)


def _paths(kind: ServedKind, served: ServedVersion, *, v3: bool) -> dict[str, Any]:
    """The paths of a resource type at a version."""
    base = f"/apis/{kind.group}/{served.label}" if kind.group else f"/api/{served.label}"
    within = f"{base}/namespaces/{{namespace}}" if kind.namespaced else base
    operations = _Operations(kind, served, v3=v3)
    some = {
        "get": operations.make(
            "list", ["limit", "continue", "labelSelector", "fieldSelector", "watch"]
        ),
        "post": operations.make("post", ["dryRun", "fieldManager", "fieldValidation"]),
    }
    one = {
        "get": operations.make("get", []),
        "put": operations.make("put", ["dryRun", "fieldManager", "fieldValidation"]),
        "patch": operations.make("patch", ["dryRun", "fieldManager", "fieldValidation", "force"]),
        "delete": operations.make("delete", ["dryRun", "propagationPolicy"]),
    }
    names = ["namespace"] if kind.namespaced else []
    if kind.is_review:
        asked = {"post": some["post"], "parameters": operations.in_path(names)}
        return {f"{within}/{kind.plural}": asked}
    found = {
        f"{within}/{kind.plural}": {**some, "parameters": operations.in_path(names)},
        f"{within}/{kind.plural}/{{name}}": {
            **one,
            "parameters": operations.in_path([*names, "name"]),
        },
    }
    if kind.namespaced:
        found[f"{base}/{kind.plural}"] = {"get": some["get"]}
    return found


class _Operations:
    """The operations of a resource type at a version."""

    def __init__(self, kind: ServedKind, served: ServedVersion, *, v3: bool) -> None:
        self._v3 = v3
        self._gvk = {"group": kind.group, "version": served.label, "kind": kind.kind}
        prefix = "#/components/schemas/" if v3 else "#/definitions/"
        self._one = {"$ref": prefix + name_of(kind, served)}
        self._list = {"$ref": prefix + _list_name(kind, served)}

    def make(self, action: str, parameters: list[str]) -> dict[str, Any]:
        """An operation."""
        schema = self._list if action == "list" else self._one
        found: dict[str, Any] = {
            "x-kubernetes-action": action,
            _GVK: self._gvk,
            "parameters": [self._parameter(each, "query") for each in parameters],
            "responses": {"200": self._content(schema, {"description": "OK"})},
        }
        if action in {"post", "put", "patch"}:
            body = self._one if action != "patch" else {"type": "object"}
            if self._v3:
                found["requestBody"] = self._content(body, {"required": True})
            else:
                whole = {"name": "body", "in": "body", "required": True, "schema": body}
                found["parameters"].append(whole)
        return found

    def in_path(self, names: list[str]) -> list[dict[str, Any]]:
        """The parameters of a path."""
        return [{**self._parameter(each, "path"), "required": True} for each in names]

    def _parameter(self, name: str, place: str) -> dict[str, Any]:
        kind = {"limit": "integer", "watch": "boolean", "force": "boolean"}.get(name, "string")
        type_ = {"schema": {"type": kind}} if self._v3 else {"type": kind}
        return {"name": name, "in": place, **type_}

    def _content(self, schema: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
        if self._v3:
            return {**rest, "content": {"application/json": {"schema": schema}}}
        return {**rest, "schema": schema}
