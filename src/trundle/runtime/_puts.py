"""The quick way to write a document over what is stored: what differs is looked for first, and only that is converted.

A document about which anything is unusual is left to the careful way.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from trundle.runtime._bag import tidy
from trundle.runtime._defaults import fill_in
from trundle.runtime._documents import (
    has_additional,
    may_be_kept_apart,
    may_hold_unknown,
    wire_name,
)
from trundle.runtime._errors import DocumentError, PlacedError, UnknownVersionError
from trundle.runtime._json import encode, new_decoder
from trundle.runtime._lenience import STRICT, Lenience
from trundle.runtime._lookup import Lookup
from trundle.runtime._objects import ABSENT, UNKNOWN
from trundle.runtime._placed import PLACING
from trundle.runtime._property_merge import Way, Ways
from trundle.runtime._reading import STARTS, Reading, Start, start_of
from trundle.runtime._required_alone import without_filled
from trundle.runtime._required_values import with_required
from trundle.runtime._spelt_as_shown import spelt_as_shown


class _Side(NamedTuple):
    """How one of the two documents is read.

    Attributes:
        decode: reads it.
        start: how it starts, and what it then says of itself.
    """

    decode: Callable[[bytes], Any]
    start: Start

    def read(self, data: bytes) -> Any:
        """The document; None where a later member says otherwise than its start."""
        value = self.decode(data)
        return value if self.start.read_names(value) == self.start.names else None


class _Put(NamedTuple):
    """How documents that start like one are written over stored ones that start like another.

    Attributes:
        resource: the documents' resource type.
        version: the documents' version.
        document: the writer's side.
        stored: the store's side.
        way: how objects are written over stored ones.
        has_apart: whether a document has what objects keep apart.
    """

    resource: str
    version: str
    document: _Side
    stored: _Side
    way: Way
    has_apart: Callable[[bytes], bool]


class Puts:
    """Writes documents of a generated package over stored ones, where no hook is called.

    Args:
        lookup: the package's classes and functions.
        reading: what a document says of itself.
    """

    def __init__(self, lookup: Lookup, reading: Reading) -> None:
        self._lookup = lookup
        self._reading = reading
        self._ways = Ways(lookup)
        self._known: dict[tuple[bytes, bytes], _Put | None] = {}

    def put(
        self,
        data: bytes,
        base: bytes,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience = STRICT,
    ) -> bytes | None:
        """What a store keeps after a document was written over what it kept; None for the careful way.

        Args:
            data: the document, which names its version.
            base: what the store keeps.
            version: the version that the document must be of, where the caller names it.
            resource: the resource type that it must be of, where the caller names it.
            lenience: whether defaults are filled in. Where anything else would have to be tolerated, the careful way is for it.
        """
        key = (start_of(data), start_of(base))
        put = self._known.get(key, ABSENT)
        if put is ABSENT:
            put = self._made(data, base)
            if len(self._known) < STARTS:
                self._known[key] = put
        if not isinstance(put, _Put) or version not in (None, put.version):
            return None
        if resource not in (None, put.resource):
            return None
        if put.has_apart(data) or put.has_apart(base):
            return None
        try:
            if not data.isascii():
                data.decode()
            made = self._over(put, data, base, lenience)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, PlacedError):
            return None
        return made

    def _over(self, put: _Put, data: bytes, base: bytes, lenience: Lenience) -> bytes | None:
        value, stored = put.document.read(data), put.stored.read(base)
        if (
            value is None
            or stored is None
            or not isinstance(stored.written_with, str)
            or self._reading.spells_otherwise(base)
        ):
            return None
        token = PLACING.set(True)
        try:
            seen = with_required(put.way.down(stored))
        finally:
            PLACING.reset(token)
        value = spelt_as_shown(value, seen)
        filled = [*fill_in(value, seen)] if lenience.defaults else []
        had = without_filled(seen, value, lambda: put.way.down(stored))
        merged = put.way.over(stored, had, value)
        made = base
        if merged is not stored:
            merged.written_with = put.version
            tidy(merged)
            made = encode(merged)
            if put.has_apart is may_be_kept_apart and may_be_kept_apart(made):
                return None
        if lenience.report is not None:
            for each in filled:
                lenience.report(each)
        return made

    def _made(self, data: bytes, base: bytes) -> _Put | None:
        """The way for documents and stored objects that start like these; None for the careful way."""
        try:
            found, version, stored = self._reading.names(data, None, None)
            other, shape, kept = self._reading.names(base, None, None)
        except (DocumentError, UnknownVersionError):
            return None  # the careful way says what is wrong, or takes a list apart
        if stored or not kept or other is not found or shape != found.hub:
            return None
        class_, storage = self._lookup.api_class(found, version), self._lookup.hub_class(found)
        start = self._reading.start(data, class_, found.name_property)
        stored_start = self._reading.start(base, storage, found.name_property)
        way = self._ways.between(class_, storage)
        if start is None or stored_start is None or way is None:
            return None
        if any(wire_name(each, "unknown") != UNKNOWN for each in (class_, storage)):
            return None
        return _Put(
            found.name,
            version,
            _Side(new_decoder(class_).decode, start),
            _Side(new_decoder(storage).decode, stored_start),
            way,
            may_be_kept_apart
            if has_additional(class_) or has_additional(storage)
            else may_hold_unknown,
        )
