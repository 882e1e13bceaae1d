"""The published JSON Schema of `app.yaml`, for editors and other tools.

The schema says all that JSON Schema can say about the shape; `parse_manifest` also checks versions and ranges to the last
character. A version that YAML takes for a number, such as `1.10`, is fine for Trundle, so ranges may be numbers.
"""

from typing import Any

from trundle.packages._manifest_reader import APP_NAME, CLASSIC_NAME, TYPES

_Json = dict[str, Any]

_NUMBER = "(0|[1-9][0-9]*)"
_RANGE = {
    "type": ["string", "number", "null"],
    "description": "Accepted versions: `1`, `>=1.2,<2,!=1.5`, `*`; nothing stands for all below 1.0.0.",
}


def app_schema() -> _Json:
    """The JSON Schema (draft 2020-12) of `app.yaml`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "app.yaml",
        "description": "A package: its name, its version, and what it needs.",
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "version"],
        "properties": {
            "name": {
                "type": "string",
                "pattern": f"^({APP_NAME})$",
                "maxLength": 255,
                "description": "The name that others require it by.",
            },
            "version": {
                "type": "string",
                "pattern": rf"^{_NUMBER}\.{_NUMBER}\.{_NUMBER}$",
                "description": "Major, minor and patch; publishing adds a suffix.",
            },
            "title": _text("What people call it."),
            "description": _text("What it is for."),
            "changes": _text_or_list("What is new in this version."),
            "critical": {
                "type": "boolean",
                "default": False,
                "description": "Whether this version is an urgent fix.",
            },
            "minUpgradeFrom": {
                "type": ["string", "number"],
                "description": "The lowest version that can be upgraded to this one.",
            },
            "dependsOn": {
                "type": ["object", "null"],
                "propertyNames": {"pattern": f"^({APP_NAME}|{CLASSIC_NAME})$"},
                "additionalProperties": _RANGE,
                "description": "Ranges of versions by the name of a package that this one needs.",
            },
            **_language(),
            "resourceTypes": _text_or_list("The resource types that the package carries."),
            "keywords": _text_or_list("Words to find it by."),
            "maintainers": _maintainers(),
            "license": _text("The licence, as an SPDX expression where possible."),
            "website": _text("Where to read about it."),
            "source": _text("Where its source is kept."),
        },
    }


def _language() -> _Json:
    """The keys of what is written in the package language."""
    return {
        "format": {
            "type": ["string", "number", "null"],
            "description": "[language/]version: the lowest engine version that runs it.",
        },
        "type": {"enum": list(TYPES), "description": "What kind of package it is."},
        "classes": {
            "type": "object",
            "propertyNames": {"pattern": f"^({CLASSIC_NAME})$"},
            "additionalProperties": _text("The file that defines the class."),
            "description": "Files by the full name of the class that they define.",
        },
        "ui": _text_or_list("The files of the UI forms."),
    }


def _maintainers() -> _Json:
    person = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {"name": _text("The name."), "email": _text("The e-mail address.")},
    }
    either = [_text("The name."), person]
    return {
        "anyOf": [*either, {"type": "array", "items": {"anyOf": either}}],
        "description": "Who looks after it.",
    }


def _text(description: str) -> _Json:
    return {"type": "string", "minLength": 1, "description": description}


def _text_or_list(description: str) -> _Json:
    texts = {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}
    return {"anyOf": [_text(description), texts], "description": description}
