"""The head of a document: the names by which it says what it is, before it is read."""

import json
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from trundle.errors import Finding
from trundle.runtime._errors import (
    TOO_DEEP,
    DocumentError,
    UnknownVersionError,
    finding,
    malformed,
)
from trundle.runtime._objects import WRITTEN_WITH
from trundle.runtime._writing import named_by_text, no_json


class Head(msgspec.Struct):
    """The names by which a document says what it is."""

    api_version: Any = msgspec.field(default=None, name="apiVersion")
    kind: Any = None
    type: Any = None
    written_with: Any = msgspec.field(default=None, name=WRITTEN_WITH)


BYTES = (bytes, bytearray, memoryview)
"""The types of JSON."""
_HEAD = msgspec.json.Decoder(Head)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_N = TypeVar("_N", bound=_Named)


def read_head(data: bytes) -> Head:
    """The names of a document.

    Raises:
        DocumentError: it is no JSON object.
    """
    try:
        return _HEAD.decode(data)
    except msgspec.ValidationError:
        found = finding("$", "a JSON object that names its apiVersion", "another value")
        raise DocumentError("document", [found]) from None
    except msgspec.DecodeError as error:
        raise DocumentError("document", [malformed(error)]) from None
    except RecursionError:
        raise DocumentError("document", [TOO_DEEP]) from None


def head_of(document: Any) -> Head:
    """The names of a document, JSON or a dictionary.

    Raises:
        DocumentError: it is no JSON object.
    """
    if type(document) is dict:
        names = [document.get(name) for name in Head.__struct_encode_fields__]
        if all(each is None or isinstance(each, str) for each in names):
            return Head(*names)
    return read_head(json_bytes(document))


def named_resource(head: Head, resource: str | None, find: Callable[[str], _N | None]) -> _N | None:
    """The resource type that a document or its caller names; None where neither names a known one.

    Args:
        head: the document's names.
        resource: what the caller says.
        find: finds a resource type by its name in small letters.

    Raises:
        UnknownVersionError: the two name different ones.
    """
    own = _named_itself(head, find)
    named = own if resource is None else find(resource.casefold())
    if own is not None and named is not None and own is not named:
        raise UnknownVersionError(
            f"the document is of the resource type {own.name!r}, but {resource!r} was asked for; "
            "leave one out"
        )
    return named


def _named_itself(head: Head, find: Callable[[str], _N | None]) -> _N | None:
    """The resource type that a document names, by the member that names it before any other.

    The `kind` of an Azure resource is a property like others, and may have any text.
    """
    by_kind, by_type = find(str(head.kind).casefold()), find(str(head.type).casefold())
    if by_type is not None and getattr(by_type, "name_property", "") == "type":
        return by_type
    return by_kind or by_type


def said_resource(head: Head, resource: str | None) -> str:
    """What a document or its caller says about its resource type, for messages."""
    wanted = resource or head.kind or head.type
    if wanted:
        group = head.api_version.rpartition("/")[0] if isinstance(head.api_version, str) else ""
        within = f" of the API group {group!r}" if group and resource is None else ""
        return f"the document is of the resource type {wanted!r}{within}"
    return "the document does not name its resource type by `kind` or `type`"


def _why_no_json(value: Any, error: Exception) -> list[Finding]:
    """What is wrong with a value that cannot be written as JSON; with one that contains itself, all of it."""
    try:
        findings = [*no_json(value)]
    except RecursionError:
        findings = []
    return findings or [finding("$", "plain JSON", f"an error: {error}")]


def json_bytes(value: Any) -> bytes:
    """A document as JSON, given as that or as plain Python values.

    Raises:
        DocumentError: it has what JSON has not.
    """
    if isinstance(value, BYTES):
        return bytes(value)
    try:
        data = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise DocumentError("document", _why_no_json(value, error)) from None
    except RecursionError:
        raise DocumentError("document", [TOO_DEEP]) from None
    if not named_by_text(value):
        raise DocumentError("document", [*no_json(value)])
    return data
