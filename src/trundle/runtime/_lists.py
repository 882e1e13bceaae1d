"""Lists of documents, as Kubernetes writes them: `kind: PersonList`, or `kind: List` with items of any kind.

A list is converted item by item. The `apiVersion` of a `PersonList` is that of its items, that of a `List` is its own;
all else, `metadata` too, stays as it is written.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import msgspec

from trundle.errors import Finding, Place, expectation, shown
from trundle.runtime._errors import (
    ConversionError,
    DocumentError,
    UnknownVersionError,
    finding,
)
from trundle.runtime._groups import GroupVersion
from trundle.runtime._heads import BYTES, Head, json_bytes, read_head
from trundle.runtime._resource_types import ResourceType
from trundle.runtime._spelling import spelt

_MARK = b'List"'
_PLAIN = "List"
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class ConvertItem(Protocol):
    """Converts one item, given as JSON, whose version and resource type are those of the list where it says none."""

    def __call__(self, data: bytes, *, version: str | None, resource: str | None) -> bytes: ...


class DocumentList(NamedTuple):
    """A list of documents.

    Attributes:
        head: its names.
        members: its members, as they are written.
        items: its items, as they are written; none where it has null for them, and None where it has anything else.
        resource: the resource type of its items; empty for a list of any kind.
    """

    head: Head
    members: Mapping[str, msgspec.Raw]
    items: list[msgspec.Raw] | None
    resource: str

    def convert(
        self, convert_item: ConvertItem, found: ResourceType | None, to: str | None, base: Any
    ) -> bytes:
        """The list with every item converted.

        Args:
            convert_item: converts one.
            found: the resource type of its items; None for a list of any kind.
            to: the API version that is wanted; None for what a store keeps.
            base: what the items are to be written over, which no list can be.

        Raises:
            DocumentError: it has no list of items, or some cannot be converted; all findings are named.
            UnknownVersionError: the list is of another API group than its items, or there is no such version.
            ConversionError: there is a base.
        """
        if base is not None:
            raise ConversionError(
                expectation(
                    "one object to write over what is stored",
                    f"a {self.head.kind}",
                    "write each item over its own",
                )
            )
        api_version = None if found is None else _api_version(self.head, found, to)
        if self.items is None:
            other = shown(json.loads(bytes(self.members["items"])))
            wrong = finding("$.items", "a list of documents, or null", other)
            raise DocumentError(f"{self.head.kind}", [wrong])
        made, findings = [], []
        for number, item in enumerate(self.items):
            try:
                made.append(self._item(bytes(item), convert_item, found))
            except ConversionError as error:
                findings += _within(f"$.items[{number}]", error)
        if findings:
            raise DocumentError(f"{self.head.kind}", findings)
        if made and self.resource:
            api_version = read_head(made[0]).api_version
        changed: dict[str, Any] = {}
        if self.items:
            changed["items"] = [msgspec.Raw(each) for each in made]
        if self.resource and api_version is not None:
            changed["apiVersion"] = api_version
        return msgspec.json.encode({**self.members, **changed})

    def _item(self, data: bytes, convert_item: ConvertItem, found: ResourceType | None) -> bytes:
        own = read_head(data)
        if found is not None:
            self._check_item(own, found)
        version = None
        if self.resource and own.api_version is None and isinstance(self.head.api_version, str):
            version = GroupVersion.parse(self.head.api_version).version
        return convert_item(data, version=version, resource=self.resource or None)

    def _check_item(self, own: Head, found: ResourceType) -> None:
        """Refuses an item of another resource type, or of another API group, than its list is for.

        Raises:
            UnknownVersionError: it is such an item.
        """
        kind = str(own.kind or self.resource)
        if kind.casefold() != self.resource.casefold():
            raise UnknownVersionError(
                expectation(
                    f"an item of {self.resource}",
                    f"one of {kind}",
                    "write `kind: List` for items of several kinds",
                )
            )
        if isinstance(own.api_version, str):
            GroupVersion.parse(own.api_version).within(found)


def _api_version(head: Head, found: ResourceType, to: str | None) -> str | None:
    """The `apiVersion` of a list of a resource type in a version, where it has no items that say it."""
    if isinstance(head.api_version, str):
        GroupVersion.parse(head.api_version).within(found)
    if to is None:
        return None
    own = spelt(GroupVersion.parse(to).within(found), found.versions)
    return f"{found.group}/{own}" if own and found.group else own


def list_in(document: Any, find: Callable[[Head, str], object | None]) -> DocumentList | None:
    """The list that a document is; None where it is none.

    Args:
        document: JSON, or a dictionary.
        find: finds a resource type of a name, for a document with some head; None where there is none.
    """
    if isinstance(document, dict):
        if not str(document.get("kind", "")).endswith(_PLAIN):
            return None
    elif not isinstance(document, BYTES) or _MARK not in bytes(document):
        return None
    data = json_bytes(document)
    head = read_head(data)
    kind = head.kind
    if not isinstance(kind, str) or not kind.endswith(_PLAIN) or find(head, kind) is not None:
        return None
    resource = kind.removesuffix(_PLAIN)
    if resource and find(head, resource) is None:
        return None
    members = _MEMBERS.decode(data)
    if "items" not in members:
        return None
    written = bytes(members["items"]).strip()
    items = (
        _ITEMS.decode(written) if written.startswith(b"[") else [] if written == b"null" else None
    )
    return DocumentList(head, members, items, resource)


def _within(path: str, error: ConversionError) -> list[Finding]:
    """What is wrong with an item, as seen from the list."""
    if isinstance(error, DocumentError):
        return [
            dataclasses.replace(each, place=Place(path=path + each.place.path.removeprefix("$")))
            for each in error.findings
        ]
    return [finding(path, "a document that can be converted", f"an error: {error}")]
