"""Schemas of a person, in as few words as a test can be read with."""

from collections.abc import Mapping
from typing import Any

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ADDRESS = {"$ref": "#/$defs/Address"}


def person(*definitions: Mapping[str, Any], **properties: Any) -> dict[str, Any]:
    """A version of the resource type Person, which has a name and some more properties."""
    found = {"title": "Person", "type": "object", "properties": {"name": TEXT, **properties}}
    return {**found, "$defs": {name: each for one in definitions for name, each in one.items()}}


def texts(name: str, *properties: str) -> dict[str, Any]:
    """The definition of an object with some texts."""
    return {name: {"type": "object", "properties": dict.fromkeys(properties, TEXT)}}


def address(*properties: str) -> dict[str, Any]:
    """The definition of an address with some texts."""
    return texts("Address", *properties)


def known(version: str, **properties: Any) -> dict[str, Any]:
    """A document of a person called Mickey."""
    return {"apiVersion": version, "kind": "Person", "name": "Mickey", **properties}


def stored(hub: str, writer: str, bag: Mapping[str, Any] | None = None, **properties: Any) -> Any:
    """What a store keeps of Mickey.

    Args:
        hub: the version whose storage type keeps it.
        writer: the version it was written with.
        bag: by property: the version whose shape the entry has, and its value.
        properties: what the storage type has properties for.
    """
    found = {**known(hub, **properties), "$writtenWith": writer}
    if bag:
        found["$propertyBag"] = {
            name: {version: {"value": value} for version, value in entries.items()}
            for name, entries in bag.items()
        }
    return found
