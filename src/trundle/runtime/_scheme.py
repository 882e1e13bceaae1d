"""The scheme of a generated package: finds classes and conversions, and keeps the laws of writing."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import msgspec

from trundle.errors import expectation
from trundle.runtime._bases import PackageScheme, StorageObject
from trundle.runtime._copies import own
from trundle.runtime._errors import (
    TOO_DEEP,
    ConversionError,
    DocumentError,
    UnknownVersionError,
    finding,
)
from trundle.runtime._groups import GroupVersion
from trundle.runtime._heads import BYTES, Head, json_bytes
from trundle.runtime._lenience import STRICT, Lenience
from trundle.runtime._lists import DocumentList
from trundle.runtime._lookup import Conversion, Lookup
from trundle.runtime._many import ManyDocuments
from trundle.runtime._methods import LookedUpMethods
from trundle.runtime._object_conversion import ObjectConversion
from trundle.runtime._objects import WRITTEN_WITH, FreeForm, GeneratedObject
from trundle.runtime._outcomes import Lost, Outcome, lost_between, outcome_of
from trundle.runtime._plain import to_plain
from trundle.runtime._puts import Puts
from trundle.runtime._quick_views import QuickView, QuickViews
from trundle.runtime._reading import Reading
from trundle.runtime._reading_over import ReadingOver
from trundle.runtime._required_values import lacking, nothing_filled_in
from trundle.runtime._resource_types import ResourceType, chosen_storage
from trundle.runtime._routes import Routes
from trundle.runtime._spelling import spelt
from trundle.runtime._writing import finite, not_finite, written


class Scheme(ManyDocuments, PackageScheme):
    """Converts documents and objects of a generated package between all its versions.

    A document names its version by `apiVersion`, or the caller does. It is JSON as bytes, or a dictionary.
    A stored document is one that has `$writtenWith`.

    Args:
        package: the package's dotted name, under which it was imported.
        resources: its resource types.
        served: the API versions that clients are meant to use.
        unknown: what happens to properties that a version does not know when a client writes them:
            `error`, or `keep`.
        hooked: whether hand-written hooks may be called; without any, what was read stays finite.
    """

    def __init__(
        self,
        package: str,
        resources: tuple[ResourceType, ...],
        *,
        served: tuple[str, ...],
        unknown: str = "error",
        hooked: bool = True,
    ) -> None:
        super().__init__(served, unknown)
        self.package = package
        self.hooked = hooked
        self._lookup = Lookup(package, resources)
        self.objects = LookedUpMethods(self._lookup)
        self._reading = Reading(self._lookup)
        self._conversion = ObjectConversion(self._lookup, {})
        self._over = ReadingOver(self._lookup, self._reading, self._conversion)
        # What was read has no infinite numbers, and only hooks could make any.
        self._puts = Puts(self._lookup, self._reading)
        checked = self.encode if hooked else None
        self._routes = Routes(self._lookup, self._reading, self._conversion, checked)

    @property
    def resources(self) -> Mapping[str, ResourceType]:
        """The resource types, by name."""
        return self._lookup.resources

    def storing(self, storage: Mapping[str, str]) -> Self:
        """This scheme with other storage versions: whatever it stores has their shape.

        See `AnyScheme.storing`.
        """
        chosen = [
            self._lookup.storage_class(name, version)
            for name, version in chosen_storage(storage).items()
        ]
        stored_as = {resource.name: class_ for resource, class_ in chosen}
        conversion = ObjectConversion(self._lookup, stored_as)
        found = copy.copy(self)
        found._conversion = conversion  # noqa: SLF001 - it is of this class
        found._over = ReadingOver(self._lookup, self._reading, conversion)  # noqa: SLF001
        return found

    def convert(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Converts a document or an object to another version, or to what a store keeps.

        A dictionary gives a dictionary, an object an object. See `AnyScheme.convert`.
        """
        if isinstance(value, GeneratedObject):
            self._check_version(value, version)
            return own(self._conversion.convert(value, to, self._stored(base)))
        if (listed := self._list_in(value)) is not None:
            made = self._convert_list(listed, to, base, lenience or self._lenience)
            return json.loads(made)
        stored = self._stored(base)
        read = self._over.read(value, stored, version, resource, lenience or self._lenience)
        converted = self._conversion.convert(read, to, stored)
        try:
            return to_plain(converted, self.encode, hooked=self.hooked)
        except RecursionError:
            raise DocumentError(self._lookup.subject(converted), [TOO_DEEP]) from None

    def convert_json(
        self,
        data: bytes,
        to: str | None = None,
        base: bytes | None = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        strict: bool = False,
        lenience: Lenience | None = None,
    ) -> bytes:
        """Like `convert`, from JSON to JSON; numbers in free-form data keep their spelling.

        Only what a conversion touches is validated unless it is `strict`. See `AnyScheme.convert_json`.
        """
        # What the package was generated with neither fills in anything nor makes all of a document be looked at.
        whole = strict or (lenience is not None and lenience.looks_at_all)
        routes = base is None and (lenience is None or not lenience.defaults)
        if to is not None and routes and version is None:
            routed = self._routes.known(bytes(data), to, resource, strict=whole)
            if routed is not None:
                return routed
        lenience = lenience or self._lenience
        careful = self.hooked or self._conversion.stored_as
        if base is not None and to is None and not careful:
            made = self._puts.put(bytes(data), bytes(base), version, resource, lenience)
            if made is not None:
                return made
        if (listed := self._list_in(data)) is not None:
            return self._convert_list(listed, to, base, lenience, strict=strict)
        if to is not None and routes:
            routed = self._routes.convert(bytes(data), to, version, resource, strict=whole)
            if routed is not None:
                return routed
        stored = self._stored(base)
        value = self._over.read(data, stored, version, resource, lenience)
        converted = self._conversion.convert(value, to, stored)
        return self.encode(converted) if self.hooked else written(converted)

    def convert_quickly(
        self,
        data: bytes,
        to: str,
        has_repeated: Callable[[bytes], bool],
        *,
        resource: str | None = None,
    ) -> bytes | None:
        """Converts a document like one that was converted before; None for any other.

        See `AnyScheme.convert_quickly`.
        """
        return self._routes.known(data, to, resource, strict=True, has_repeated=has_repeated)

    def read(self, version: str, stored: Any) -> Any:
        """What a store keeps, as it is seen at a version, in the form in which it is kept.

        See `AnyScheme.read`.
        """
        if isinstance(stored, BYTES):
            known = self._reading.stored_at_once(stored)
            if known is not None:
                converted = self._conversion.convert(known, version, None)
                return self.encode(converted) if self.hooked else written(converted)
        if not isinstance(stored, GeneratedObject):
            if not self._reading.names(stored, None, None)[2]:
                raise self._not_stored("a document")
        elif not isinstance(stored, StorageObject):
            raise self._not_stored("an object")
        return self._in_form(stored, version, None, None, None, self._lenience)

    def read_quickly(
        self, version: str, stored: bytes, described: Callable[[FreeForm], bytes]
    ) -> bytes | None:
        """The quick way of `read`, with other metadata. See `AnyScheme.read_quickly`."""
        known = self._reading.stored_at_once(stored)
        if type(getattr(known, "metadata", None)) is not FreeForm:
            return None
        shown = self._conversion.convert(known, version, None)
        metadata = getattr(shown, "metadata", None)
        if type(metadata) is not FreeForm:
            return None
        shown.metadata = FreeForm(described(metadata))
        return self.encode(shown) if self.hooked else written(shown)

    def lacking(self, version: str, stored: Any) -> tuple[str, ...]:
        """What a version requires, and what is stored has nothing for. See `AnyScheme.lacking`."""
        with nothing_filled_in():
            return lacking(self._conversion.convert(self._stored(stored), version, None))

    def quick_view(
        self,
        resource: str,
        source: str | None,
        target: str | None,
        keeps_spelling: Callable[[bytes], bool],
    ) -> QuickView | None:
        """The quick way to show documents at a version where that shows all of them. See `AnyScheme.quick_view`."""
        encode = self.encode if self.hooked else written
        views = QuickViews(self._lookup, self._conversion, encode)
        return views.between(self._lookup.resources[resource], source, target, keeps_spelling)

    def put(
        self,
        version: str | None,
        document: Any,
        stored: Any = None,
        *,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Writes a document of a version over what a store keeps; gives what it keeps from now on.

        See `AnyScheme.put`.
        """
        return self._in_form(document, None, stored, version, resource, lenience or self._lenience)

    def attempt(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
        losses: bool = False,
    ) -> Outcome:
        """Converts a document, and gives its result or its error, what was lost and what was tolerated.

        See `AnyScheme.attempt`.
        """
        lenience = lenience or self._lenience

        def convert(noting: Lenience) -> Any:
            return self._in_form(value, to, base, version, resource, noting)

        def lost(result: Any) -> Iterator[Lost]:
            if losses and to is not None and base is None and self._list_in(value) is None:
                silent = msgspec.structs.replace(lenience, report=None)
                yield from self._lost(value, result, version, resource, silent)

        return outcome_of(convert, lost, lenience)

    def to_storage(
        self,
        value: Any,
        base: Any = None,
        *,
        version: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """An API object or document as the storage object that a store keeps.

        With a `base`, this is the law-keeping write: reading it back gives the value, writing what one
        read gives an object that equals the base, and what the value's version cannot see stays as it was.
        The result shares nothing that can be changed with the value or the base. See `AnyScheme.to_storage`.
        """
        stored = self._stored(base)
        if isinstance(value, GeneratedObject):
            self._check_version(value, version)
            return own(self._conversion.convert(value, None, stored))
        read = self._over.read(value, stored, version, None, lenience or self._lenience)
        found = self._conversion.convert(read, None, stored)
        return own(found) if isinstance(base, GeneratedObject) else found

    def from_storage(self, stored: Any, to: str) -> Any:
        """A stored object or document as an API object of some version, which shares nothing with it."""
        found = self._conversion.convert(self._stored(stored), to, None)
        return own(found) if isinstance(stored, GeneratedObject) else found

    def decode(
        self,
        data: bytes,
        *,
        version: str | None = None,
        resource: str | None = None,
        lenience: Lenience | None = None,
    ) -> Any:
        """Reads a document as an object of its version, or of its storage version.

        See `AnyScheme.decode`.
        """
        return self._reading.read(data, version, resource, lenience or self._lenience)

    def encode(self, value: GeneratedObject) -> bytes:
        """The compact JSON of an object.

        Raises:
            DocumentError: a number in it is infinite or no number, or a text has a lone surrogate.
        """
        try:
            data = written(value)
        except UnicodeEncodeError as error:
            found = finding("$", "text that UTF-8 can hold", f"an error: {error.reason}")
            raise DocumentError(self._lookup.subject(value), [found]) from None
        if b"null" in data and not finite(value):
            findings = tuple(not_finite(value))
            if findings:
                raise DocumentError(self._lookup.subject(value), findings)
        return data

    def _in_form(
        self,
        value: Any,
        to: str | None,
        base: Any,
        version: str | None,
        resource: str | None,
        lenience: Lenience,
    ) -> Any:
        """Converts a document whole: JSON to JSON, a dictionary to a dictionary, an object to an object."""
        if not isinstance(value, BYTES):
            return self.convert(
                value, to, base, version=version, resource=resource, lenience=lenience
            )
        return self.convert_json(
            json_bytes(value),
            to,
            None if base is None else self._base_bytes(base),
            version=version,
            resource=resource,
            strict=True,
            lenience=lenience,
        )

    def _named(self, head: Head, name: str) -> ResourceType | None:
        del head
        return self._lookup.by_name.get(name.casefold())

    def _called(self, head: Head, name: str) -> str:
        del head
        return name

    def _listed(self, listed: DocumentList) -> ResourceType | None:
        return self._named(listed.head, listed.resource)

    def _lost(
        self,
        value: Any,
        result: Any,
        version: str | None,
        resource: str | None,
        lenience: Lenience,
    ) -> Iterator[Lost]:
        """What of a document cannot be read back from its result."""
        source, there = value, result
        if not isinstance(value, GeneratedObject):
            source = self._reading.read(value, version, resource, lenience)
            there = self._reading.read(result, None, resource, STRICT.of_stored())
        to = None if isinstance(source, StorageObject) else self._lookup.origin(type(source))[1]
        yield from lost_between(source, self._conversion.convert(there, to, None))

    def function(self, source: type[Any], target: type[Any]) -> tuple[Callable[..., Any], bool]:
        """The generated function that converts objects of one class to another.

        What it makes may share parts with what it is given.

        Returns:
            The function, and whether it takes the stored object as a second argument.

        Raises:
            ConversionError: there is none.
        """
        return self._lookup.function(source, target)

    def conversions(self, source: type[Any]) -> tuple[Conversion, ...]:
        """All conversions that lead from a class of the package and are kept with it."""
        return self._lookup.conversions(source)

    def _stored(self, base: Any) -> Any:
        if base is None or isinstance(base, StorageObject):
            return base
        found = self._reading.read(base, None, None, self._lenience)
        if not isinstance(found, StorageObject):
            raise ConversionError(
                expectation(
                    "a stored document",
                    f"one of version {self._lookup.origin(type(found))[1]}",
                    f"a stored document has {WRITTEN_WITH!r}",
                )
            )
        return found

    def _not_stored(self, what: str) -> ConversionError:
        return ConversionError(
            expectation(
                "a stored document", f"{what} without {WRITTEN_WITH!r}", "read what a store keeps"
            )
        )

    def _check_version(self, value: GeneratedObject, version: str | None) -> None:
        if version is None:
            return
        found, own_version = self._lookup.origin(type(value))
        if spelt(own_version, (GroupVersion.parse(version).within(found),)) is None:
            raise UnknownVersionError(
                f"the object is of version {own_version!r}, but {version!r} was asked for; leave one out"
            )

    def _base_bytes(self, base: Any) -> bytes:
        return self.encode(base) if isinstance(base, GeneratedObject) else json_bytes(base)
