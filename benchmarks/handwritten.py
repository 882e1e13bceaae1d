"""What one would write without Trundle: conversions of plain dictionaries, one function a job.

They keep their input as it is, carry absent properties as absent, and keep what a version cannot express in
a bag of their own; they check nothing.
"""

from typing import Any

from documents import FIRST, LAST, SECOND

Document = dict[str, Any]

_SEEN_BY_FIRST = frozenset(
    {
        "containers",
        "displayName",
        "endpoints",
        "id",
        "labels",
        "limits",
        "load",
        "metadata",
        "owner",
    }
    | {"public", "replicas", "schedule", "settings", "tags", "tier"}
)
"""The stored properties that the first version can express."""


def second_of_first(source: Document) -> Document:
    """From the first version to its neighbour: a property of the root is renamed."""
    result = {**source, "apiVersion": SECOND, "displayName": source["title"]}
    del result["title"]
    return result


def neighbour(source: Document) -> Document:
    """From 2023-01-01 to 2024-01-01: containers rename a property and lose one."""
    result = {**source, "apiVersion": "2024-01-01"}
    result["containers"] = [_container(each) for each in source["containers"]]
    return result


def last_of_first(source: Document) -> Document:
    """From the first version to the last, in one go."""
    result = {**source, "apiVersion": LAST, "displayName": source["title"]}
    del result["title"]
    result.pop("costCenter", None)
    result["containers"] = [_container(each) for each in source["containers"]]
    return result


def _container(source: Document) -> Document:
    result = {**source, "imageReference": source["image"]}
    del result["image"]
    result.pop("privileged", None)
    return result


def stored_of_first(source: Document) -> Document:
    """What a store keeps of the first version: the last one's shape, and bags for what that lacks."""
    result = last_of_first(source)
    result["writtenWith"] = FIRST
    if "costCenter" in source:
        result["bag"] = {"costCenter": source["costCenter"]}
    for stored, each in zip(result["containers"], source["containers"], strict=True):
        if "privileged" in each:
            stored["bag"] = {"privileged": each["privileged"]}
    return result


def first_of_stored(stored: Document) -> Document:
    """The first version of what a store keeps."""
    result = {**stored, "apiVersion": FIRST, "title": stored["displayName"]}
    del result["displayName"], result["writtenWith"]
    result.pop("region", None)
    result.update(result.pop("bag", {}))
    result["containers"] = [_first_container(each) for each in stored["containers"]]
    return result


def _first_container(stored: Document) -> Document:
    result = {**stored, "image": stored["imageReference"]}
    del result["imageReference"]
    result.update(result.pop("bag", {}))
    if not isinstance(result.get("cpu"), int):
        result.pop("cpu", None)
    return result


def last_of_stored(stored: Document) -> Document:
    """The last version of what a store keeps."""
    result = {**stored, "apiVersion": LAST}
    del result["writtenWith"]
    result.pop("bag", None)
    result["containers"] = [
        {name: value for name, value in each.items() if name != "bag"}
        for each in stored["containers"]
    ]
    return result


def put_first(source: Document, stored: Document) -> Document:
    """Writes the first version over what a store keeps, so that what it cannot see stays."""
    after = stored_of_first(source)
    kept = {name: value for name, value in stored.items() if name not in _SEEN_BY_FIRST}
    kept.pop("bag", None)
    known = {each["name"]: each for each in stored["containers"]}
    for each in after["containers"]:
        old = known.get(each["name"], {}).get("cpu")
        if "cpu" not in each and old is not None and not isinstance(old, int):
            each["cpu"] = old
    return {**kept, **after}
