"""The published JSON Schema of `trundle.yaml`, for editors and other tools.

The schema says all that JSON Schema can say. `load_config` also checks what it cannot: that versions
exist in the calendar, that rules do not contradict each other, that names are free.
"""

from typing import Any, get_args

from trundle.codegen import STRAIGHT
from trundle.evolution import KEYED_CONVERSIONS, SCALAR_CONVERSIONS, VERSIONED
from trundle.project._config_admission import admission_schema
from trundle.project._config_kubernetes import kubernetes_schema
from trundle.project._config_words import (
    CLASS_REFERENCE,
    IDENTIFIER,
    PACKAGE_NAME,
    PACKAGED_CLASS,
    VERSION,
)
from trundle.schema.readers import Format

_Json = dict[str, Any]


def config_schema() -> _Json:
    """The JSON Schema (draft 2020-12) of `trundle.yaml`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "trundle.yaml",
        "description": "A Trundle project: its schemas, and the changes that they cannot express.",
        **_object(
            {
                **_package_keys(),
                **_source_keys(),
                **_version_keys(),
                **_conversion_keys(),
                "kubernetes": kubernetes_schema(),
                "admission": admission_schema(),
            },
            required=("package", "sources"),
        ),
        "$defs": {"rules": _rules()},
    }


def _package_keys() -> _Json:
    """The keys that say what is written, and where."""
    return {
        "package": {
            "type": "string",
            "pattern": f"^({PACKAGE_NAME})$",
            "description": "Dotted name of the Python package to write.",
        },
        "output": {
            **_text("Folder that the package is written into, relative to this file."),
            "default": ".",
        },
        "title": _text("What the project is called for people."),
        "groups": {
            **_map(
                {
                    "type": "string",
                    "description": "A namespace as `Microsoft.Batch`, or an API group as `example.com`; empty for resources without one.",
                },
                "A package of its own for each group of resources; one for all where absent.",
                key={"pattern": f"^({IDENTIFIER})$"},
            ),
            "minProperties": 1,
        },
    }


def _source_keys() -> _Json:
    """The keys that say what is read."""
    return {
        "sources": _sources(),
        "exclude": _names(
            "Files that the sources leave out, as patterns of .gitignore relative to this file."
        ),
    }


def _version_keys() -> _Json:
    """The keys that say which versions are served, and which are stored."""
    return {
        "horizon": _horizon(),
        "hub": _map(
            _version(),
            "The version in whose shape objects are stored, by resource type; where absent what a CRD "
            "says by `storage`, else the newest GA version.",
        ),
        "straight": _straight(),
    }


def _conversion_keys() -> _Json:
    """The keys that say how documents are read and converted."""
    return {
        "unknown": {
            "enum": ["error", "keep"],
            "default": "error",
            "description": "What becomes of unknown properties that a person or client writes.",
        },
        "changes": _map(
            _map(
                {"$ref": "#/$defs/rules"},
                "Rules by type, as the older side names it; `*` stands for any part of a name.",
            ),
            "Changes by API version, always the older of two neighbours.",
            key=_version(),
        ),
        "hooks": {
            "type": "array",
            "items": _hook(),
            "description": "Hand-written code that conversions call.",
        },
    }


def _sources() -> _Json:
    return {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [_text("A schema file or folder."), _source()]},
        "description": "Where the schemas of the API versions are.",
    }


def _source() -> _Json:
    return _object(
        {
            "path": _text("A schema file or folder, relative to this file."),
            "format": {
                "enum": list(get_args(Format)),
                "default": "auto",
                "description": "The input format; `auto` detects it from the content.",
            },
            "version": {**_version(), "description": "The API version, where files do not say it."},
            "resources": {**_names("The resources to take; all where absent."), "minItems": 1},
            "group": _text("The API group, where files do not say it."),
        },
        required=("path",),
    )


def _horizon() -> _Json:
    newest = {
        "type": "integer",
        "minimum": 1,
        "maximum": 999_999_999,
        "description": "How many of the newest GA versions are served.",
    }
    return {
        **_object({"ga": newest}, required=("ga",)),
        "description": "Which versions are served; all where absent.",
    }


def _straight() -> _Json:
    return {
        "type": "integer",
        "minimum": 0,
        "maximum": 999_999_999,
        "default": STRAIGHT,
        "description": "How many of the newest served versions of a resource type convert "
        "straight to each other; all others convert by way of the hub.",
    }


def _hook() -> _Json:
    return _object(
        {
            "type": _text("The type, as the older side names it."),
            "between": {
                "type": "array",
                "items": _version(),
                "minItems": 2,
                "maxItems": 2,
                "description": "The older and the newer neighbour.",
            },
            "use": {
                "type": "string",
                "pattern": f"^({CLASS_REFERENCE}|{PACKAGED_CLASS})$",
                "description": "The class that holds the hooks: a Python class as package.module:Class, with two or more "
                "dots before it where it is imported relatively to the generated package; or the full name of a class of "
                "the package, whose static methods are the hooks.",
            },
            "writes": {
                "type": "object",
                "properties": {
                    name: {"type": "array", "items": {"type": "string"}, "minItems": 1}
                    for name in ("assign_to", "assign_from")
                },
                "additionalProperties": False,
                "description": "The properties that static methods write; Python methods declare that themselves.",
            },
        },
        required=("type", "between", "use"),
    )


def _rules() -> _Json:
    newer = _text("The newer name.")
    list_or_map = "a list where both sides share the name, else newer by older property name."
    path = {
        "type": "string",
        "pattern": r"^[^.]+(\.[^.]+)*$",
        "description": "The newer dotted path.",
    }
    conversion = {
        "description": "A named conversion.",
        "anyOf": [
            {"enum": sorted(SCALAR_CONVERSIONS)},
            *(
                _object({name: _text("The version that a group gets.")}, (name,))
                for name in VERSIONED
            ),
            *(_object({name: _keyed()}, (name,)) for name in sorted(KEYED_CONVERSIONS)),
        ],
    }
    return _object(
        {
            "rename": _map(newer, "Newer by older property name."),
            "renameType": _text("The newer name of the type."),
            "values": _map(
                _map(
                    {"type": "string", "description": "The newer value."},
                    "Newer by older value.",
                    key={},
                ),
                "Renamed values of enums and text, by property.",
            ),
            "wrap": _either_names_or_map(f"A single value becomes a list of one: {list_or_map}"),
            "unwrap": _either_names_or_map(f"A list becomes a single value: {list_or_map}"),
            "move": _map(path, "Newer by older dotted path, both seen from this type."),
            "convert": _map(conversion, "How the value of a property converts."),
            "variant": _map(_text("A variant."), "Variant of a union that an object becomes."),
            "default": _map(
                {"description": "Any value."},
                "What an API object shows where a required property is absent.",
            ),
            "keep": _names("Properties whose two sides stay apart although they share a name."),
        }
    )


def _keyed() -> _Json:
    return _object(
        {
            "key": _text("The property of an element that has the map's key."),
            "value": _text("The one that has the value; the element itself where absent."),
        },
        required=("key",),
    )


def _text(description: str) -> _Json:
    return {"type": "string", "minLength": 1, "description": description}


def _version() -> _Json:
    return {"type": "string", "pattern": f"^({VERSION})$"}


def _names(description: str) -> _Json:
    return {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "uniqueItems": True,
        "description": description,
    }


def _map(values: _Json, description: str, key: _Json | None = None) -> _Json:
    return {
        "type": "object",
        "propertyNames": {"minLength": 1} if key is None else key,
        "additionalProperties": values,
        "description": description,
    }


def _either_names_or_map(description: str) -> _Json:
    names = _names("Properties that share the name on both sides.")
    return {
        "description": description,
        "anyOf": [names, _map(_text("The newer name."), "Newer by older property name.")],
    }


def _object(properties: _Json, required: tuple[str, ...] = ()) -> _Json:
    schema: _Json = {"type": "object", "additionalProperties": False, "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema
