"""The scheme of a generated package: finds classes and conversions, and keeps the laws of writing."""

import json
import sys
from collections.abc import Callable
from typing import Any

from trundle.runtime._bag import WRITING_OVER, encode, tidy
from trundle.runtime._documents import find_path, read_value, write_value
from trundle.runtime._errors import (
    TOO_DEEP,
    ConversionError,
    DocumentError,
    Finding,
    PlacedError,
)
from trundle.runtime._lookup import Conversion, Lookup, ResourceType, spoken
from trundle.runtime._merge import merge_objects, without_marks
from trundle.runtime._objects import WRITTEN_WITH, GeneratedObject, StorageObject
from trundle.runtime._owning import own
from trundle.runtime._reading import Reading, json_bytes
from trundle.runtime._routes import Routes
from trundle.runtime._writing import finite, not_finite, written


class Scheme:
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
        self.package = package
        self.served = served
        self.unknown = unknown
        self.hooked = hooked
        self._lookup = Lookup(package, resources)
        self.resources = self._lookup.resources
        self._reading = Reading(self._lookup)
        # What was read has no infinite numbers, and only hooks could make any.
        self._routes = Routes(self._lookup, self._reading, self.encode if hooked else None)

    def convert(
        self,
        value: Any,
        to: str | None = None,
        base: Any = None,
        *,
        version: str | None = None,
        resource: str | None = None,
    ) -> Any:
        """Converts a document or an object to another version, or to what a store keeps.

        Args:
            value: a dictionary or an object of any version, or what a store keeps.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now; the value is then written over it, so that whatever its
                version cannot see stays.
            version: the value's version, where a document does not say.
            resource: the value's resource type, where a document does not say.

        Returns:
            A dictionary for a dictionary, an object for an object. It shares nothing that can be changed
            with the value or the base.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
            ConversionError: an entry of the bag cannot be read, or a hook failed.
        """
        if isinstance(value, GeneratedObject):
            return own(self._convert_object(value, to, self._stored(base)))
        data = json_bytes(value)
        return json.loads(
            self.convert_json(
                data,
                to,
                None if base is None else self._base_bytes(base),
                version=version,
                resource=resource,
                strict=True,
            )
        )

    def convert_json(
        self,
        data: bytes,
        to: str | None = None,
        base: bytes | None = None,
        *,
        version: str | None = None,
        resource: str | None = None,
        strict: bool = False,
    ) -> bytes:
        """Like `convert`, from JSON to JSON; numbers in free-form data keep their spelling.

        Between API versions that convert straight to each other, only what the conversion touches is decoded,
        and only that is validated: it has its type, and an object that is touched has no unknown and lacks no
        required property. All else has to be well-formed JSON, and is passed on as it is written, white
        space included. Every other document, and one about which anything is unusual, is validated whole.

        Args:
            data: a document.
            to: the API version that is wanted; None for what a store keeps.
            base: what the store keeps now.
            version: the document's version, where it does not say.
            resource: the document's resource type, where it does not say.
            strict: whether all of the document is validated.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
            ConversionError: an entry of the bag cannot be read, or a hook failed.
        """
        if base is None and to is not None:
            routed = self._routes.convert(bytes(data), to, version, resource, strict=strict)
            if routed is not None:
                return routed
        stored = self._stored(base)
        value = self._decoded_over(data, stored, version, resource)
        converted = self._convert_object(value, to, stored)
        return self.encode(converted) if self.hooked else written(converted)

    def to_storage(self, value: Any, base: Any = None, *, version: str | None = None) -> Any:
        """An API object or document as the storage object that a store keeps.

        With a `base`, this is the law-keeping write: reading it back gives the value, writing what one
        read gives an object that equals the base, and what the value's version cannot see stays as it was.
        The result shares nothing that can be changed with the value or the base.
        """
        stored = self._stored(base)
        if isinstance(value, GeneratedObject):
            return own(self._convert_object(value, None, stored))
        read = self._decoded_over(json_bytes(value), stored, version, None)
        found = self._convert_object(read, None, stored)
        return own(found) if isinstance(base, GeneratedObject) else found

    def from_storage(self, stored: Any, to: str) -> Any:
        """A stored object or document as an API object of some version, which shares nothing with it."""
        found = self._convert_object(self._stored(stored), to, None)
        return own(found) if isinstance(stored, GeneratedObject) else found

    def decode(
        self, data: bytes, *, version: str | None = None, resource: str | None = None
    ) -> Any:
        """Reads a document as an object of its version, or of its storage version.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
        """
        return self._reading.read(data, version, resource, strict=self.unknown == "error")

    def encode(self, value: GeneratedObject) -> bytes:
        """The compact JSON of an object.

        Raises:
            DocumentError: a number in it is infinite or no number, or a text has a lone surrogate.
        """
        try:
            data = written(value)
        except UnicodeEncodeError as error:
            found = Finding("$", f"Expected text that UTF-8 can hold: {error.reason}")
            raise DocumentError(self._lookup.subject(value), [found]) from None
        if b"null" in data and not finite(value):
            findings = tuple(not_finite(value))
            if findings:
                raise DocumentError(self._lookup.subject(value), findings)
        return data

    def _decoded_over(
        self, data: bytes, stored: Any, version: str | None, resource: str | None
    ) -> Any:
        """Reads a document that is written over a stored one.

        What a reader of the stored object is shown may be written back, even what its version does not
        know or requires in vain; anything more of the kind is an error.
        """
        try:
            return self.decode(data, version=version, resource=resource)
        except DocumentError as error:
            if stored is None:
                raise
            try:
                value = self._reading.read(data, version, resource, strict=False)
            except DocumentError:
                raise error from None
            if isinstance(value, StorageObject):
                raise
            shown = self._convert_object(stored, self._lookup.origin(type(value))[1], None)
            _, known = read_value(write_value(shown), type(value), strict=True)
            findings = [each for each in error.findings if each not in known]
            if findings:
                raise DocumentError(error.subject, findings) from None
            return value

    def _convert_object(self, value: Any, to: str | None, base: Any) -> Any:
        if isinstance(value, StorageObject):
            if to is None:
                return self._rolled(value)
            found, _ = self._lookup.origin(type(value))
            return self._call(self._rolled(value), self._lookup.api_class(found, to))
        if to is not None and base is None:
            found, _ = self._lookup.origin(type(value))
            target = self._lookup.api_class(found, to)
            if target is type(value):
                return value
            if self._lookup.known_function(type(value), target) is not None:
                return self._call(value, target)
            return self._call(self._call(value, self._lookup.hub_class(found)), target)
        stored = self._put(value, base)
        return stored if to is None else self._convert_object(stored, to, None)

    def _put(self, value: Any, base: Any) -> Any:
        """Writes an API object over what is stored, so that the laws of conversion hold."""
        found, version = self._lookup.origin(type(value))
        storage = self._lookup.hub_class(found)
        if base is None:
            stored = self._call(value, storage)
        else:
            current = self._rolled(base)
            seen = self._call(current, type(value))
            if seen == value and encode(seen) == encode(value):  # 1 and 1.0 are equal, too
                return base
            unsaid: list[Any] = []
            told = WRITING_OVER.set(unsaid)
            try:
                before = self._call(seen, storage, current)
                after = self._call(value, storage, current)
            finally:
                WRITING_OVER.reset(told)
            stored = merge_objects(current, before, after)
            if stored is current:
                return base
            if unsaid:
                without_marks(stored)
        stored.written_with = version
        tidy(stored)
        return stored

    def _rolled(self, stored: Any) -> Any:
        """A stored object in the newest storage shape."""
        found, version = self._lookup.origin(type(stored))
        if version == found.hub:
            return stored
        rolled = self._call(stored, self._lookup.hub_class(found))
        rolled.written_with = stored.written_with
        return rolled

    def _call(self, value: Any, target: type[Any], base: Any = None) -> Any:
        function, wants_base = self._lookup.function(type(value), target)
        try:
            return function(value, base) if wants_base else function(value)
        except PlacedError as error:
            for root in (value, base):
                error.path = error.path or find_path(root, error.holder)
            error.subject = self._lookup.subject(value)
            raise
        except RecursionError:
            raise DocumentError(self._lookup.subject(value), [TOO_DEEP]) from None

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

    def _object(self, value: Any, version: str | None) -> Any:
        if isinstance(value, GeneratedObject):
            return value
        return self.decode(json_bytes(value), version=version)

    def _stored(self, base: Any) -> Any:
        if base is None or isinstance(base, StorageObject):
            return base
        found = self._object(base, None)
        if not isinstance(found, StorageObject):
            raise ConversionError(
                f"expected a stored document, found one of version {self._lookup.origin(type(found))[1]}; "
                f"a stored document has {WRITTEN_WITH!r}"
            )
        return found

    def _base_bytes(self, base: Any) -> bytes:
        return self.encode(base) if isinstance(base, GeneratedObject) else json_bytes(base)


def conversion_of(source: type[Any], target: type[Any] | None, *, up: bool) -> Callable[[Any], Any]:
    """The conversion between a class and the storage classes that keep it.

    Args:
        source: a generated class.
        target: a storage class; None where there is just one.
        up: whether the way leads to storage.

    Raises:
        ConversionError: there is none, or there are several to choose from.
    """
    scheme = scheme_of(source)
    if not up:
        assert target is not None
        function, wants_base = scheme.function(target, source)
    elif target is not None:
        function, wants_base = scheme.function(source, target)
    else:
        found = [each for each in scheme.conversions(source) if each.target.startswith("storage")]
        if len(found) != 1:
            choices = ", ".join(each.target for each in found)
            raise ConversionError(
                f"{spoken(source)} is kept as "
                + (f"several storage classes: {choices}; name one" if found else "no storage class")
            )
        function, wants_base = scheme.function(source, scheme._lookup.load(found[0].target))  # noqa: SLF001
    if wants_base:
        return lambda value: own(function(value, None))
    return lambda value: own(function(value))


def scheme_of(class_: type[Any]) -> Scheme:
    """The scheme of the generated package that a class belongs to: the nearest one around its module.

    Raises:
        ConversionError: it belongs to none.
    """
    package = class_.__module__
    while package:
        scheme = getattr(sys.modules.get(package), "scheme", None)
        if isinstance(scheme, Scheme) and scheme.package == package:
            return scheme
        package = package.rpartition(".")[0]
    raise ConversionError(f"{spoken(class_)} does not belong to a generated package")
