"""What Kubernetes has against the metadata of an object: labels, annotations, owners and finalizers; in its words."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trundle.api._metadata_types import wrong_types
from trundle.api._requirements import SUBDOMAIN, subdomain_text
from trundle.api._status import Cause

_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_NAME})?"
_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_OF_NAME = f"{_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
_OF_VALUE = (
    f"a valid label must be an empty string or {_CHARACTERS} (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '{_VALUE}')"
)
_LONGEST = 63
_LONGEST_PREFIX = 253
_LONGEST_MANAGER = 128
_LONGEST_SUBRESOURCE = 256
_MOST_ANNOTATED = 256 * 1024


def metadata_causes(document: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata of a document."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return
    yield from wrong_types(metadata)
    for key, value in _texts(metadata.get("labels")).items():
        yield from (_cause("labels", key, each) for each in _qualified(key))
        if len(value) > _LONGEST:
            yield _cause("labels", value, f"must be no more than {_LONGEST} bytes")
        elif not re.fullmatch(_VALUE, value):
            yield _cause("labels", value, _OF_VALUE)
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
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                text = "version must not be empty" if key == "apiVersion" else "must not be empty"
                yield _cause(f"ownerReferences.{key}", "", text)
        version = str(owner.get("apiVersion", ""))
        if version.count("/") > 1:
            text = f"unexpected GroupVersion string: {version}"
            yield _cause("ownerReferences.apiVersion", version, text)
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
def _qualified(text: str) -> tuple[str, ...]:
    """What is wrong with a name that may have a domain before it."""
    return tuple(_wrong_with(text))


def _wrong_with(text: str) -> Iterator[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        yield f"a qualified name must {_OF_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif len(prefix) > _LONGEST_PREFIX:
        yield f"prefix part must be no more than {_LONGEST_PREFIX} bytes"
    elif prefix and not re.fullmatch(SUBDOMAIN, prefix):
        yield f"prefix part {subdomain_text()}"
    if not name:
        yield "name part must be non-empty"
    elif len(name) > _LONGEST:
        yield f"name part must be no more than {_LONGEST} bytes"
    if not re.fullmatch(_NAME, name):
        yield f"name part must {_OF_NAME}"


def _cause(place: str, found: Any, text: str) -> Cause:
    said = msgspec.json.encode(found).decode()
    return Cause("FieldValueInvalid", f"metadata.{place}", f"Invalid value: {said}: {text}")


def _texts(found: Any) -> dict[str, str]:
    return {key: each for key, each in _members(found) if isinstance(each, str)}


def _items(found: Any, type_: type) -> list[Any]:
    return [each for each in found if isinstance(each, type_)] if isinstance(found, list) else []
