"""The common definitions that Azure deployment schemas refer to, for when their file is not at hand."""

from typing import Any

from trundle.schema.readers._library import Document


def _text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def _local(name: str) -> dict[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


def _or_expression(kind: str) -> dict[str, Any]:
    return {"oneOf": [{"type": kind}, _local("expression")]}


_BASE = _object(
    "name",
    "type",
    name=_text(),
    type=_text(),
    condition=_or_expression("boolean"),
    apiVersion=_text(),
    dependsOn={"type": "array", "items": _text()},
)

COMMON = Document(
    "common/definitions.json",
    None,
    {
        "definitions": {
            "ARMResourceBase": _BASE,
            "Iso8601Duration": _text(format="duration"),
            "UTC": _text(format="date-time"),
            "apiVersion": _text(),
            "expression": _text(pattern=r"^\[([^\[].*)?\]$"),
            "numberOrExpression": _or_expression("number"),
            "proxyResourceBase": {
                "allOf": [_local("ARMResourceBase"), _object(location=_local("resourceLocations"))]
            },
            "resourceBase": {
                "allOf": [
                    _local("ARMResourceBase"),
                    _object(
                        location=_local("resourceLocations"),
                        tags={"type": "object"},
                        copy=_local("resourceCopy"),
                        comments=_text(),
                    ),
                ]
            },
            "resourceBaseExternal": {"allOf": [_local("resourceBase"), {"required": ["plan"]}]},
            "resourceCopy": _object(
                name=_text(),
                count=_or_expression("integer"),
                mode=_text(enum=["Parallel", "Serial"]),
                batchSize=_or_expression("integer"),
            ),
            "resourceKind": _text(maxLength=64, pattern=r"^[a-zA-Z0-9_.()-]+$"),
            "resourceLocations": _text(),
            "resourcePlan": _object(
                "name",
                name=_text(),
                promotionCode=_text(),
                publisher=_text(),
                product=_text(),
                version=_text(),
            ),
            "resourceSku": _object(
                "name",
                name=_text(),
                tier=_text(),
                size=_text(),
                family=_text(),
                capacity={"type": "integer"},
            ),
        }
    },
)
