"""What Kubernetes has against the metadata of an object: labels, annotations, owners and finalizers; in its words."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trundle.api._requirements import SUBDOMAIN, subdomain_text
from trundle.api._status import Cause, type_name

_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_NAME})?"
_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_OF_NAME = f"{_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
_OF_VALUE = (
    f"a valid label must be an empty string or {_CHARACTERS} (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '{_VALUE}')"
)
_TYPES = (
    ("labels", dict, "object"),
    ("annotations", dict, "object"),
    ("ownerReferences", list, "array"),
    ("finalizers", list, "array"),
    ("managedFields", list, "array"),
)
_ELEMENTS = (
    ("ownerReferences", dict, "object"),
    ("finalizers", str, "string"),
    ("managedFields", dict, "object"),
)
_OF_ENTRIES = {
    **dict.fromkeys(("manager", "operation", "apiVersion", "time", "fieldsType"), (str, "string")),
    "fieldsV1": (dict, "object"),
    "subresource": (str, "string"),
}
"""What the members of an entry of `managedFields` are."""
_LONGEST = 63
_LONGEST_PREFIX = 253
_MOST_ANNOTATED = 256 * 1024


def metadata_causes(document: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with the metadata of a document; types are the schema's affair."""
    metadata = document.get("metadata")
    if not isinstance(metadata, Mapping):
        return
    yield from _types(metadata)
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
    for each in _items(metadata.get("finalizers"), str):
        yield from (_cause("finalizers", each, text) for text in _qualified(each))


def _owners(owners: Sequence[Mapping[str, Any]]) -> Iterator[Cause]:
    for owner in owners:
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                text = "version must not be empty" if key == "apiVersion" else "must not be empty"
                yield _cause(f"ownerReferences.{key}", "", text)
    controllers = [each for each in owners if each.get("controller") is True]
    if len(controllers) > 1:
        first, second = (f"{each.get('kind')}/{each.get('name')}" for each in controllers[:2])
        text = (
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {first} and {second}'
        )
        yield _cause("ownerReferences", owners, text)


def _types(metadata: Mapping[str, Any]) -> Iterator[Cause]:
    """What is not of the type that it has to be; what is null counts as absent."""
    for name, type_, called in _TYPES:
        found = metadata.get(name)
        if found is not None and not isinstance(found, type_):
            yield _of_type(name, found, called)
    for name in ("labels", "annotations"):
        for key, value in _members(metadata.get(name)):
            if not isinstance(value, str):
                yield _of_type(f"{name}.{key}", value, "string")
    for name, inner, called in _ELEMENTS:
        listed = metadata.get(name)
        for index, each in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(each, inner):
                yield _of_type(f"{name}[{index}]", each, called)
            elif isinstance(each, dict) and name == "managedFields":
                yield from _of_entry(f"{name}[{index}]", each)


def _of_entry(place: str, entry: Mapping[str, Any]) -> Iterator[Cause]:
    for name, (type_, called) in _OF_ENTRIES.items():
        found = entry.get(name)
        if found is not None and not isinstance(found, type_):
            yield _of_type(f"{place}.{name}", found, called)


def _of_type(place: str, found: Any, expected: str) -> Cause:
    said = type_name(found)
    text = f'Invalid value: "{said}": metadata.{place} in body must be of type {expected}: "{said}"'
    return Cause("FieldValueTypeInvalid", f"metadata.{place}", text)


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
