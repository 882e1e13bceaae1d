"""Reading documents: which class one is of, and the object it holds.

A document that starts like one that was read before is read at once; any other is looked at twice, first for
its names.
"""

import operator
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import msgspec

from trundle.errors import Finding
from trundle.runtime._bases import ApiObject, StorageObject
from trundle.runtime._class_fields import fields_of
from trundle.runtime._defaults import fill_in
from trundle.runtime._documents import may_be_kept_apart, wire_name
from trundle.runtime._errors import (
    TOO_DEEP,
    DocumentError,
    UnknownVersionError,
    finding,
    malformed,
)
from trundle.runtime._groups import GroupVersion
from trundle.runtime._heads import Head, head_of, json_bytes, named_resource, said_resource
from trundle.runtime._json import encode, new_decoder
from trundle.runtime._lenience import Lenience
from trundle.runtime._lookup import Lookup
from trundle.runtime._objects import WRITTEN_WITH
from trundle.runtime._plain import from_plain
from trundle.runtime._resource_types import ResourceType
from trundle.runtime._spelling import BagSpelling, is_version, spelt
from trundle.runtime._validation import read_leniently


class Start(NamedTuple):
    """How a document starts that names its class first, and what it then says of it.

    Attributes:
        text: the start.
        names: the API version, or the storage version, and the resource type.
        read_names: reads both from the parsed object; a later member may differ.
    """

    text: bytes
    names: tuple[str, str]
    read_names: Callable[[Any], tuple[str, str]]


class Reading:
    """Reads documents of a generated package.

    Args:
        lookup: the package's classes.
    """

    def __init__(self, lookup: Lookup) -> None:
        self.lookup = lookup
        self._decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}
        self._known: dict[tuple[bytes, bool], tuple[Callable[[bytes], Any], Start]] = {}
        self._names: dict[type[Any], tuple[tuple[str, str], ...]] = {}
        self._bags = BagSpelling(
            {version for each in lookup.resources.values() for version in each.versions}
        )

    def read(
        self,
        document: Any,
        version: str | None,
        resource: str | None,
        lenience: Lenience,
        shown: Collection[Finding] = (),
        *,
        fills: bool = True,
    ) -> Any:
        """Reads a document as an object of its version, or of its storage version.

        Args:
            document: JSON, or a dictionary.
            version: its version, where it does not say.
            resource: its resource type, where it does not say.
            lenience: what is tolerated about the document of an API version.
            shown: what is missing or unknown in what its writer was shown, and may be written back like that.
            fills: whether defaults are filled in that the lenience wants; else the caller does it.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
        """
        if type(document) is dict:
            value = self._read_plain(document, version, resource)
            if value is not None:
                return self._filled(value, lenience) if fills else value
        data = self._text(document)
        if version is None and resource is None:
            value = self._read_quickly(data)
            if value is not None:
                return self._filled(value, lenience) if fills else value
        found, named, stored = self.names(data, version, resource)
        paths = found.storage if stored else found.versions
        class_ = self.lookup.load(paths[named])
        subject = f"{found.name} {named}"
        value = self._decode(
            data, class_, subject, lenience.of_stored() if stored else lenience, shown
        )
        for name, own in self._spelt(class_, found.name_property):
            setattr(value, name, own)
        start = self.start(data, class_, found.name_property)
        certain = not stored or "additional_properties" not in class_.__struct_fields__
        if start is not None and certain and len(self._known) < STARTS:
            self._known[start.text, stored] = (self._decoders[class_].decode, start)
        return self._filled(value, lenience) if fills else value

    def stored_at_once(self, document: Any) -> StorageObject | None:
        """Reads JSON that starts like a stored document that was read before; None for any other."""
        value = self._read_quickly(self._text(document))
        return value if isinstance(value, StorageObject) else None

    def _text(self, document: Any) -> bytes:
        """A document as JSON, with the versions in its bags as the package spells them."""
        data = self._bags.respelt(json_bytes(document))
        if not data.isascii():
            check_text(data)
        return data

    def _read_plain(
        self, document: dict[str, Any], version: str | None, resource: str | None
    ) -> Any:
        """Reads a dictionary; None where anything about it is unusual."""
        found, named, stored = self.names(document, version, resource)
        class_ = self.lookup.load((found.storage if stored else found.versions)[named])
        value = from_plain(document, class_)
        if value is not None and stored and self._bags.spells_otherwise(encode(value)):
            return None
        if value is not None:
            for name, own in self._spelt(class_, found.name_property):
                setattr(value, name, own)
        return value

    def _filled(self, value: Any, lenience: Lenience) -> Any:
        """An object that was just read, with the defaults that its version declares where these are wanted."""
        if lenience.defaults and isinstance(value, ApiObject):
            for each in fill_in(value):
                if lenience.report is not None:
                    lenience.report(each)
        return value

    def _read_quickly(self, data: bytes) -> Any:
        """Reads a document that starts with the names of a class that was read before.

        None where it does not, or where anything about it is unusual.
        """
        place = data.find(b"$")
        stored = place > 0 and data.find(STORED, place - 1) >= 0  # It begins before its `$`.
        known = self._known.get((start_of(data), stored))
        if known is None or may_be_kept_apart(data):
            return None
        decode, start = known
        try:
            value = decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if stored and not isinstance(value.written_with, str):
            return None
        return value if start.read_names(value) == start.names else None

    def spells_otherwise(self, data: bytes) -> bool:
        """Whether the bags of a stored document spell versions otherwise than the package."""
        return self._bags.spells_otherwise(data)

    def start(self, data: bytes, class_: type[Any], name_property: str) -> Start | None:
        """How a document of a class starts; None where its names are not the first it says."""
        text = start_of(data)
        found = _NAMES.fullmatch(text)
        identifies = name_property == "kind" or "kind" not in class_.__struct_encode_fields__
        if found is None or not identifies:
            return None
        version, property_, name = (part.decode() for part in found.groups())
        if property_ != name_property or {"api_version": version, name_property: name} != dict(
            self._spelt(class_, name_property)
        ):
            return None
        return Start(text, (version, name), operator.attrgetter("api_version", name_property))

    def names(
        self, document: Any, version: str | None, resource: str | None
    ) -> tuple[ResourceType, str, bool]:
        """A document's resource type and version, and whether it is a stored one.

        Raises:
            DocumentError: the document is no JSON object.
            UnknownVersionError: there is no such version or resource type, or it is of another API group.
        """
        document = document if type(document) is dict else json_bytes(document)
        head = head_of(document)
        found = self._resource(head, resource)
        named = self._named(head, found, version)
        stored = head.written_with is not None or _has_more_marks(document)
        stored = stored and self._stored(document, head.written_with, found, named)
        return found, self._spelt_version(found, named, stored=stored), stored

    def _stored(
        self, document: Any, written_with: Any, found: ResourceType, named: str | None
    ) -> bool:
        """Whether a document that has `$writtenWith`, or more of `$`, is a stored one.

        A store keeps the version that an object was written with under a name that no property of its root
        has. Where a root may have any property, one of that name holds no version, as the store's does.
        """
        storage = None if named is None else spelt(named, found.storage)
        if storage is None:
            return written_with is not None
        class_ = self.lookup.load(found.storage[storage])
        mark = wire_name(class_, "written_with")
        if mark != WRITTEN_WITH:
            return mark in _members(document)
        if "additional_properties" not in class_.__struct_fields__:
            return written_with is not None
        return isinstance(written_with, str) and is_version(written_with)

    def _resource(self, head: Head, resource: str | None) -> ResourceType:
        by_name = self.lookup.by_name
        if resource is None and len(by_name) == 1 and head.kind is None and head.type is None:
            return next(iter(by_name.values()))
        found = named_resource(head, resource, by_name.get)
        if found is None:
            names = ", ".join(self.lookup.resources)
            said = said_resource(head, resource)
            raise UnknownVersionError(f"{said}; {self.lookup.package} has {names}")
        return found

    def _named(self, head: Head, found: ResourceType, version: str | None) -> str | None:
        """The version that a document or its caller names."""
        own = None
        if isinstance(head.api_version, str):
            own = GroupVersion.parse(head.api_version).within(found)
        wanted = None if version is None else GroupVersion.parse(version).within(found)
        if own is not None and wanted is not None and spelt(own, (wanted,)) is None:
            raise UnknownVersionError(
                f"the document is of version {own!r}, but {version!r} was asked for; leave one out"
            )
        return own or wanted

    def _spelt_version(self, found: ResourceType, named: str | None, *, stored: bool) -> str:
        """A version of a resource type as the package spells it."""
        known = found.storage if stored else found.versions
        if named is None:
            raise UnknownVersionError(
                "the document does not name its version by `apiVersion`, and none was given; "
                f"{found.name} has {', '.join(known)}"
            )
        spelling = spelt(named, known)
        if spelling is None:
            raise UnknownVersionError(
                f"{found.name} has no {'storage ' if stored else ''}version {named!r}; "
                f"it has {', '.join(known)}"
            )
        return spelling

    def _decode(
        self,
        data: bytes,
        class_: type[Any],
        subject: str,
        lenience: Lenience,
        shown: Collection[Finding],
    ) -> Any:
        decoder = self._decoders.get(class_)
        if decoder is None:
            decoder = self._decoders[class_] = new_decoder(class_)
        try:
            if not may_be_kept_apart(data):
                return decoder.decode(data)
        except msgspec.ValidationError:
            pass  # the careful way finds everything that is wrong, or keeps what is unknown
        except RecursionError:
            raise DocumentError(subject, [TOO_DEEP]) from None
        try:
            value, findings, tolerated = read_leniently(data, class_, lenience, shown)
        except RecursionError:
            raise DocumentError(subject, [TOO_DEEP]) from None
        except msgspec.DecodeError as error:
            raise DocumentError(subject, [malformed(error)]) from None
        if findings:
            raise DocumentError(subject, findings)
        if lenience.report is not None:
            for each in tolerated:
                lenience.report(each)
        return value

    def _spelt(self, class_: type[Any], name_property: str) -> tuple[tuple[str, str], ...]:
        """A document's version and resource type as its class spells them."""
        names = self._names.get(class_)
        if names is None:
            defaults = dict(zip(class_.__struct_fields__, _defaults(class_), strict=True))
            names = self._names[class_] = tuple(
                (name, defaults[name])
                for name in ("api_version", name_property)
                if isinstance(defaults.get(name), str)
            )
        return names


STORED = f'"{WRITTEN_WITH}"'.encode()
"""What a stored document has somewhere in its text, but where properties of its root have the name."""

_MORE_MARKS = f'$${WRITTEN_WITH.removeprefix("$")}"'.encode()
"""What a stored document has otherwise."""

_NAMES = re.compile(
    rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]+)"\s*,\s*"(kind|type)"\s*:\s*"([^"\\]+)"\s*'
)
"""How documents start that name their class first."""


STARTS = 1000
"""How many starts are remembered: each may be spelt with spaces."""


def _has_more_marks(document: Any) -> bool:
    """Whether a document has a member that is spelt as the store's own, with more of `$` before it."""
    if type(document) is dict:
        return any(isinstance(name, str) and name.startswith("$$") for name in document)
    return _MORE_MARKS in document


def _members(document: Any) -> Any:
    if type(document) is dict:
        return document
    return msgspec.json.decode(document, type=dict[str, msgspec.Raw])


def check_text(data: bytes) -> None:
    """Refuses what is no UTF-8, even in what is carried without being looked at."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("document", [finding("$", "UTF-8", f"an error: {error}")]) from None


def _defaults(class_: type[Any]) -> tuple[Any, ...]:
    return tuple(field.default for field in fields_of(class_))


def start_of(data: bytes) -> bytes:
    """A document up to its second comma: where its class is named first, both names."""
    return data[: data.find(b",", data.find(b",") + 1)]
