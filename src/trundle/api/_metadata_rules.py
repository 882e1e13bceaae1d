"""What Kubernetes has against the metadata of an object: labels, annotations, owners and finalizers; in its words."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trundle.api._causes import invalid_value
from trundle.api._requests import Target
from trundle.api._status import Cause
from trundle.api.apply import STATUS
from trundle.cel import format_errors

_OWN_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_LONGEST_MANAGER = 128
_LONGEST_SUBRESOURCE = 256
_MOST_ANNOTATED = 256 * 1024


def metadata_causes(document: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata of a document, whose types are looked at when it is read."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return
    for key, value in _texts(metadata.get("labels")).items():
        yield from (_cause("labels", key, each) for each in _qualified(key))
        yield from (_cause("labels", value, each) for each in format_errors("labelValue", value))
    annotations = _texts(metadata.get("annotations"))
    for key in annotations:
        yield from (_cause("annotations", key, each) for each in _qualified(key.lower()))
    if sum(len(key.encode()) + len(x.encode()) for key, x in annotations.items()) > _MOST_ANNOTATED:
        text = f"Too long: may not be more than {_MOST_ANNOTATED} bytes"
        yield Cause("FieldValueTooLong", "metadata.annotations", text)
    yield from _owners(_items(metadata.get("ownerReferences"), dict))
    finalizers = _items(metadata.get("finalizers"), str)
    for each in finalizers:
        yield from (_cause("finalizers", each, text) for text in _qualified(each))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        yield _cause("finalizers", finalizers, text)


def _owners(owners: Sequence[Mapping[str, Any]]) -> Iterator[Cause]:
    for owner in owners:
        version = str(owner.get("apiVersion") or "")
        if version.count("/") > 1 or not version.rpartition("/")[2]:
            yield _cause("ownerReferences.apiVersion", version, "version must not be empty")
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                yield _cause(f"ownerReferences.{key}", "", "must not be empty")
        if (version, owner.get("kind")) == ("v1", "Event"):
            yield _cause(
                "ownerReferences", owner, "/v1, Kind=Event is disallowed from being an owner"
            )
    controllers = [each for each in owners if each.get("controller") is True]
    if len(controllers) > 1:
        first, second = (f"{each.get('kind')}/{each.get('name')}" for each in controllers[:2])
        text = (
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {first} and {second}'
        )
        yield _cause("ownerReferences", owners, text)


def finalizer_warnings(
    target: Target, before: Iterable[str], after: Iterable[str]
) -> Iterator[str]:
    """What clients of custom resources are warned of: finalizers that another controller may have, too.

    Args:
        target: what is written; its status has none.
        before: the finalizers before the write.
        after: the finalizers after it.
    """
    if target.kind.is_core or target.subresource == STATUS:
        return
    for each in sorted({*after} - {*before}):
        if "/" not in each and each not in _OWN_FINALIZERS:
            path = " including a path (/)" if "." in each else ""
            yield (
                f"metadata.finalizers: {msgspec.json.encode(each).decode()}: prefer a domain-qualified finalizer name{path} "
                "to avoid accidental conflicts with other finalizer writers"
            )


def kept_owner_causes(metadata: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the owners of fields that a client writes over those of an object."""
    for index, entry in enumerate(_items(metadata.get("managedFields"), dict)):
        place = f"metadata.managedFields[{index}]"
        for each in manager_causes(entry.get("manager") or ""):
            yield each._replace(field=f"{place}.manager")
        if len((entry.get("subresource") or "").encode()) > _LONGEST_SUBRESOURCE:
            text = f"Too long: may not be more than {_LONGEST_SUBRESOURCE} bytes"
            yield Cause("FieldValueTooLong", f"{place}.subresource", text)


def manager_causes(manager: str) -> Iterator[Cause]:
    """What is wrong with the name of a field manager."""
    if len(manager.encode()) > _LONGEST_MANAGER:
        text = f"Too long: may not be more than {_LONGEST_MANAGER} bytes"
        yield Cause("FieldValueTooLong", "fieldManager", text)
    for place, each in enumerate(manager):
        if not each.isprintable():
            text = (
                f"invalid character U+{ord(each):04X} (at position {len(manager[:place].encode())})"
            )
            said = msgspec.json.encode(manager).decode()
            yield Cause("FieldValueInvalid", "fieldManager", f"Invalid value: {said}: {text}")


def _members(found: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(found, Mapping):
        yield from found.items()


@functools.lru_cache(1024)  # Most objects have the same few.
def _qualified(text: str) -> Sequence[str]:
    """What is wrong with a name that may have a domain before it."""
    return format_errors("qualifiedName", text)


def _cause(place: str, found: Any, text: str) -> Cause:
    return invalid_value(f"metadata.{place}", found, text)


def _texts(found: Any) -> dict[str, str]:
    return {key: each for key, each in _members(found) if isinstance(each, str)}


def _items(found: Any, type_: type) -> list[Any]:
    return [each for each in found if isinstance(each, type_)] if isinstance(found, list) else []
