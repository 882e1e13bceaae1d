"""The quick way from a document of one API version to one of another.

A route reads a document, converts it straight or by way of the hub, and writes it. Documents that start like one that
was converted before take its route at once. A document about which anything is unusual is left to the careful way.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from trundle.runtime._documents import kept_apart, may_be_kept_apart
from trundle.runtime._errors import PlacedError
from trundle.runtime._groups import GroupVersion
from trundle.runtime._json import encode, new_decoder
from trundle.runtime._lookup import Lookup
from trundle.runtime._members import has_members_once
from trundle.runtime._object_conversion import ObjectConversion
from trundle.runtime._partial import partial_class
from trundle.runtime._reading import STARTS, STORED, Reading, Start, check_text
from trundle.runtime._resource_types import ResourceType
from trundle.runtime._spelling import spelt


class Route(NamedTuple):
    """How documents of a class become documents of another.

    Attributes:
        decode: reads one.
        convert: converts what was read.
    """

    decode: Callable[[bytes], Any]
    convert: Callable[[Any], Any]


class Routes:
    """Converts documents of a generated package between its API versions.

    Args:
        lookup: the package's classes and functions.
        reading: what determines a document's class.
        conversion: converts by way of the hub.
        checked: writes an object that may be wrong; None where what was read is right once it is converted.
    """

    def __init__(
        self,
        lookup: Lookup,
        reading: Reading,
        conversion: ObjectConversion,
        checked: Callable[[Any], bytes] | None,
    ) -> None:
        self._lookup = lookup
        self._reading = reading
        self._conversion = conversion
        self._checked = checked
        self._routes: dict[tuple[str, str, str, bool], Route] = {}
        self._starts: dict[
            tuple[bytes, str, str | None, bool], tuple[Route | None, Start | None]
        ] = {}
        """By a document's start, the version that is wanted, its resource, and whether all is read."""

    def known(
        self,
        data: bytes,
        to: str,
        resource: str | None,
        *,
        strict: bool,
        has_repeated: Callable[[bytes], bool] | None = None,
    ) -> bytes | None:
        """Like `convert`, of a document that starts like one that was converted before; None for any other.

        None, too, for one in which `has_repeated` finds members that stand several times.
        """
        place = data.find(b"$")
        if place > 0 and data.find(STORED, place - 1) >= 0:
            return None
        found = self._starts.get(
            (data[: data.find(b",", data.find(b",") + 1)], to, resource, strict)
        )
        if found is None:
            return None
        route, start = found
        return None if route is None else self._through(data, place, route, start, has_repeated)

    @staticmethod
    def _key(
        data: bytes, to: str, resource: str | None, *, strict: bool
    ) -> tuple[bytes, str, str | None, bool] | None:
        """What a route is remembered by; None for what may be a stored document."""
        if b"$" in data and STORED in data:
            return None
        return data[: data.find(b",", data.find(b",") + 1)], to, resource, strict

    def convert(
        self, data: bytes, to: str, version: str | None, resource: str | None, *, strict: bool
    ) -> bytes | None:
        """A document of another API version, which starts like none that was converted before.

        Args:
            data: JSON.
            to: the API version that is wanted.
            version: the document's version, where it does not say.
            resource: the document's resource type, where it does not say.
            strict: whether all of the document is read, and not only what the conversion touches.

        Returns:
            The document; None where the careful way must look at it.

        Raises:
            DocumentError: the document is no JSON.
            UnknownVersionError: there is no such version or resource type.
        """
        key = self._key(data, to, resource, strict=strict)
        if key is None:
            return None
        if version is None and key in self._starts:
            # `known` has tried, or another thread has just been here.
            return self.known(data, to, resource, strict=strict)
        if not data.isascii():
            check_text(data)
        found, source, stored = self._reading.names(data, version, resource)
        target = spelt(GroupVersion.parse(to).within(found), found.versions)
        if stored or target is None:
            return None
        route = None if source == target else self._route(found, source, target, strict=strict)
        converted = None if route is None else self._through(data, data.find(b"$"), route, None)
        if (
            version is None
            and (converted is not None or route is None)
            and len(self._starts) < STARTS
        ):
            class_ = self._lookup.api_class(found, source)
            start = self._reading.start(data, class_, found.name_property)
            if start is not None:
                self._starts[key] = (route, start)
        return converted

    def _through(
        self,
        data: bytes,
        place: int,
        route: Route,
        start: Start | None,
        has_repeated: Callable[[bytes], bool] | None = None,
    ) -> bytes | None:
        """A document by its route; `place` is that of its first `$`."""
        if kept_apart(data, place) or (b"\\" in data and may_be_kept_apart(data)):
            return None
        decode, convert = route
        try:
            if has_repeated is None and not data.isascii():
                data.decode()
            value = decode(data)
            if start is not None and start.read_names(value) != start.names:
                return None  # a later member says otherwise
            if has_repeated is not None and not has_members_once(value, data, has_repeated):
                return None
            converted = convert(value)
            made = encode(converted) if self._checked is None else self._checked(converted)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, PlacedError):
            return None
        return None if kept_apart(made, made.find(b"$")) else made

    def _route(self, found: ResourceType, source: str, target: str, *, strict: bool) -> Route:
        key = (found.name, source, target, strict)
        if key not in self._routes:
            self._routes[key] = self._made(found, source, target, strict=strict)
        return self._routes[key]

    def _made(self, found: ResourceType, source: str, target: str, *, strict: bool) -> Route:
        class_ = self._lookup.api_class(found, source)
        wanted = self._lookup.api_class(found, target)
        straight = self._lookup.conversion(class_, wanted)
        if straight is None:
            by_hub = partial(self._conversion.convert, to=target, base=None)
            return Route(new_decoder(class_).decode, by_hub)
        part = None if strict else partial_class(self._lookup, class_, straight.function)
        function = self._lookup.bound(straight)
        return Route(new_decoder(part or class_).decode, function)
