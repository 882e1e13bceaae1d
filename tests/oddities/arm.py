"""Small deployment schemas, written as a large cloud publishes its own."""

from collections.abc import Mapping
from typing import Any

HOST = "https://schema.management.azure.com/schemas"
EXPRESSION = {"$ref": f"{HOST}/common/definitions.json#/definitions/expression"}
TEXT = {"type": "string"}


def or_expression(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A value, or a template expression in its place."""
    return {"oneOf": [schema, EXPRESSION]}


def resource(kind: str, version: str, **properties: Any) -> dict[str, Any]:
    """A resource with a name and a nested object of properties."""
    return {
        "type": "object",
        "description": kind,
        "properties": {
            "type": {"type": "string", "enum": [kind]},
            "apiVersion": {"type": "string", "enum": [version]},
            "name": TEXT,
            "properties": or_expression({"type": "object", "properties": properties}),
        },
        "required": ["type", "apiVersion", "name"],
    }


def provider(
    version: str,
    *resources: Mapping[str, Any],
    definitions: Mapping[str, Any] | None = None,
    **sections: Mapping[str, Any],
) -> tuple[str, dict[str, Any]]:
    """The file of a provider in a version.

    Args:
        version: the version.
        resources: resources that stand in a resource group.
        definitions: what they refer to.
        sections: resources by name, in the sections of other scopes.
    """
    named = {
        each["properties"]["type"]["enum"][0].partition("/")[2].replace("/", "_"): each
        for each in resources
    }
    return f"{version}/Contoso.Shop.json", {
        "id": f"{HOST}/{version}/Contoso.Shop.json#",
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": "Contoso.Shop",
        **({"resourceDefinitions": named} if named else {}),
        **sections,
        "definitions": dict(definitions or {}),
    }


def deployed(kind: str, version: str, **properties: Any) -> dict[str, Any]:
    """A document of a resource called `one`."""
    return {"type": kind, "apiVersion": version, "name": "one", "properties": properties}
