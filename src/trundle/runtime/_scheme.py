"""The scheme of a generated package: finds classes and conversions, and keeps the laws of writing."""

import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from trundle.runtime._bag import WRITING_OVER, encode, tidy
from trundle.runtime._documents import find_path, read_value, write_value
from trundle.runtime._errors import (
    ConversionError,
    DocumentError,
    Finding,
    PlacedError,
    UnknownVersionError,
)
from trundle.runtime._merge import merge, without_marks
from trundle.runtime._objects import (
    ADDITIONAL,
    UNKNOWN,
    WRITTEN_WITH,
    ApiObject,
    GeneratedObject,
    StorageObject,
)

_SCHEMES: dict[str, "Scheme"] = {}
_TOO_DEEP = Finding("$", "Expected fewer levels of nesting than Python's recursion limit allows")


_SIMPLE = frozenset({str, int, bool, type(None), msgspec.UnsetType, msgspec.Raw})


class ResourceType(NamedTuple):
    """A resource type as a generated package knows it.

    Attributes:
        name: as its newest version writes it.
        hub: the version whose storage type keeps it.
        name_property: the property of a document that names the resource type.
        versions: class path by API version, relative to the package.
        storage: class path by storage version, relative to the package.
    """

    name: str
    hub: str
    name_property: str
    versions: Mapping[str, str]
    storage: Mapping[str, str]


class Conversion(NamedTuple):
    """A generated conversion: the class it leads to, its function, and whether that wants a base."""

    target: str
    function: str
    wants_base: bool


class _Reader(NamedTuple):
    """How documents of a class are read, once one was; and how they name their class."""

    decode: Callable[[bytes], Any]
    api_version: str
    name_property: str
    name: str


class _Head(msgspec.Struct):
    api_version: Any = msgspec.field(default=None, name="apiVersion")
    kind: Any = None
    type: Any = None
    written_with: Any = msgspec.field(default=None, name=WRITTEN_WITH)


class Scheme:
    """Converts documents and objects of a generated package between all its versions.

    A document names its version by `apiVersion`, or the caller does. It is JSON as bytes, or a dictionary.
    A stored document is one that has `$writtenWith`.

    Args:
        package: the package's dotted name.
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
        self.resources = {each.name: each for each in resources}
        self.served = served
        self.unknown = unknown
        self.hooked = hooked
        self._by_name = {each.name.casefold(): each for each in resources}
        self._functions: dict[tuple[type[Any], type[Any]], tuple[Callable[..., Any], bool]] = {}
        self._origin: dict[type[Any], tuple[ResourceType, str]] = {}
        self._decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}
        self._loaded: dict[str, Any] = {}
        self._readers: dict[tuple[bytes, bool], _Reader] = {}
        self._names: dict[type[Any], tuple[tuple[str, str], ...]] = {}
        _SCHEMES[package] = self

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
            A dictionary for a dictionary, an object for an object.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
            ConversionError: an entry of the bag cannot be read, or a hook failed.
        """
        if isinstance(value, GeneratedObject):
            return self._convert_object(value, to, self._stored(base))
        data = self._bytes(value)
        return json.loads(
            self.convert_json(
                data,
                to,
                None if base is None else self._base_bytes(base),
                version=version,
                resource=resource,
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
    ) -> bytes:
        """Like `convert`, from JSON to JSON; numbers in free-form data keep their spelling."""
        stored = self._stored(base)
        value = self._decoded_over(data, stored, version, resource)
        converted = self._convert_object(value, to, stored)
        # What was read has no infinite numbers, and only hooks could make any.
        return self.encode(converted) if self.hooked else _written(converted)

    def to_storage(self, value: Any, base: Any = None, *, version: str | None = None) -> Any:
        """An API object or document as the storage object that a store keeps.

        With a `base`, this is the law-keeping write: reading it back gives the value, writing what one
        read gives the base itself, and what the value's version cannot see stays as it was.
        """
        stored = self._stored(base)
        if not isinstance(value, GeneratedObject):
            value = self._decoded_over(self._bytes(value), stored, version, None)
        return self._convert_object(value, None, stored)

    def from_storage(self, stored: Any, to: str) -> Any:
        """A stored object or document as an API object of some version."""
        return self._convert_object(self._stored(stored), to, None)

    def decode(
        self, data: bytes, *, version: str | None = None, resource: str | None = None
    ) -> Any:
        """Reads a document as an object of its version, or of its storage version.

        Raises:
            DocumentError: the document is not what its version says; all findings are named.
            UnknownVersionError: there is no such version or resource type.
        """
        return self._read(data, version, resource, strict=self.unknown == "error")

    def _read(self, data: bytes, version: str | None, resource: str | None, *, strict: bool) -> Any:
        data = bytes(data)
        if not data.isascii():
            _check_text(data)
        if version is None and resource is None:
            value = self._read_quickly(data)
            if value is not None:
                return value
        head = self._head(data)
        found = self._resource(head, resource)
        stored = head.written_with is not None
        named = self._version(head, found, version, stored=stored)
        paths = found.storage if stored else found.versions
        class_ = self._load(paths[named])
        value = self._decode(data, class_, f"{found.name} {named}", strict=strict and not stored)
        self._name(value, class_, found.name_property)
        self._learn(data, value, found.name_property)
        return value

    def _read_quickly(self, data: bytes) -> Any:
        """Reads a document that starts with the names of a class that was read before.

        None where it does not, or where anything about it is unusual.
        """
        place = data.find(b"$")
        stored = place >= 0 and data.find(_WRITTEN_WITH, place) >= 0
        reader = self._readers.get((_start(data), stored))
        if reader is None or (place >= 0 and _kept_apart(data, place)):
            return None
        try:
            value = reader.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if stored and not isinstance(value.written_with, str):
            return None
        if value.api_version != reader.api_version:
            return None  # a later member says otherwise
        return value if getattr(value, reader.name_property) == reader.name else None

    def _learn(self, data: bytes, value: Any, name_property: str) -> None:
        """Lets documents that start like this one be read quickly."""
        class_ = type(value)
        start = _start(data)
        found = _NAMES.fullmatch(start)
        names = dict(self._names[class_])
        telling = name_property == "kind" or "kind" not in class_.__struct_encode_fields__
        if found is None or not telling or len(self._readers) == _READERS:
            return
        version, property_, name = (part.decode() for part in found.groups())
        if {"api_version": version, name_property: name} == names and property_ == name_property:
            reader = _Reader(self._decoders[class_].decode, version, name_property, name)
            self._readers[start, isinstance(value, StorageObject)] = reader

    def encode(self, value: GeneratedObject) -> bytes:
        """The compact JSON of an object.

        Raises:
            DocumentError: a number in it is infinite or no number, or a text has a lone surrogate.
        """
        try:
            data = _written(value)
        except UnicodeEncodeError as error:
            found = Finding("$", f"Expected text that UTF-8 can hold: {error.reason}")
            raise DocumentError(self._subject(value), [found]) from None
        if b"null" in data and not _finite(value):
            findings = tuple(_not_finite(value))
            if findings:
                raise DocumentError(self._subject(value), findings)
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
                value = self._read(data, version, resource, strict=False)
            except DocumentError:
                raise error from None
            if isinstance(value, StorageObject):
                raise
            shown = self._convert_object(stored, self._found(type(value))[1], None)
            _, known = read_value(write_value(shown), type(value), strict=True)
            findings = [each for each in error.findings if each not in known]
            if findings:
                raise DocumentError(error.subject, findings) from None
            return value

    def _convert_object(self, value: Any, to: str | None, base: Any) -> Any:
        if isinstance(value, StorageObject):
            if to is None:
                return self._rolled(value)
            return self._call(self._rolled(value), self._api_class(value, to))
        if to is not None and base is None:
            found, version = self._found(type(value))
            if to == version:
                return value
            stored = self._call(value, self._load(found.storage[found.hub]))
            return self._call(stored, self._api_class(stored, to))
        stored = self._put(value, base)
        return stored if to is None else self._convert_object(stored, to, None)

    def _put(self, value: Any, base: Any) -> Any:
        """Writes an API object over what is stored, so that the laws of conversion hold."""
        found, version = self._found(type(value))
        storage = self._load(found.storage[found.hub])
        if base is None:
            stored = self._call(value, storage)
        else:
            current = self._rolled(base)
            seen = self._call(current, type(value))
            if encode(seen) == encode(value):
                return base
            unsaid: list[Any] = []
            told = WRITING_OVER.set(unsaid)
            try:
                before = self._call(seen, storage, current)
                after = self._call(value, storage, current)
            finally:
                WRITING_OVER.reset(told)
            stored = merge(current, before, after)
            if stored is current:
                return base
            if unsaid:
                without_marks(stored)
        stored.written_with = version
        tidy(stored)
        return stored

    def _rolled(self, stored: Any) -> Any:
        """A stored object in the newest storage shape."""
        found, version = self._found(type(stored))
        if version == found.hub:
            return stored
        rolled = self._call(stored, self._load(found.storage[found.hub]))
        rolled.written_with = stored.written_with
        return rolled

    def _call(self, value: Any, target: type[Any], base: Any = None) -> Any:
        function, wants_base = self.function(type(value), target)
        try:
            return function(value, base) if wants_base else function(value)
        except PlacedError as error:
            for root in (value, base):
                error.path = error.path or find_path(root, error.holder)
            error.subject = self._subject(value)
            raise
        except RecursionError:
            raise DocumentError(self._subject(value), [_TOO_DEEP]) from None

    def function(self, source: type[Any], target: type[Any]) -> tuple[Callable[..., Any], bool]:
        """The generated function that converts objects of one class to another.

        Returns:
            The function, and whether it takes the stored object as a second argument.

        Raises:
            ConversionError: there is none.
        """
        found = self._functions.get((source, target))
        if found is None:
            kept_with = source if issubclass(source, ApiObject) else target
            kept_with = source if issubclass(target, StorageObject) else kept_with
            for each in self._listed(kept_with.__module__, source):
                if each.target == self._path(target):
                    found = (self._load(each.function), each.wants_base)
                    break
            else:
                raise ConversionError(
                    f"nothing converts {_spoken(source)} to {_spoken(target)}; "
                    f"{_spoken(source)} becomes "
                    + (", ".join(each.target for each in self.conversions(source)) or "nothing")
                )
            self._functions[source, target] = found
        return found

    def conversions(self, source: type[Any]) -> tuple[Conversion, ...]:
        """All conversions that lead from a class of the package and are kept with it."""
        return self._listed(source.__module__, source)

    def _listed(self, module: str, source: type[Any]) -> tuple[Conversion, ...]:
        relative = conversion_module(module.removeprefix(f"{self.package}."))
        name = f"{self.package}.{relative}"
        try:
            listed = importlib.import_module(name).CONVERSIONS
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            return ()  # no class of the module is converted on its own
        return tuple(Conversion(*each) for each in listed.get(self._path(source), ()))

    def _path(self, class_: type[Any]) -> str:
        return f"{class_.__module__.removeprefix(self.package + '.')}:{class_.__qualname__}"

    def _load(self, path: str) -> Any:
        found = self._loaded.get(path)
        if found is None:
            module, _, name = path.partition(":")
            found = getattr(importlib.import_module(f"{self.package}.{module}"), name)
            self._loaded[path] = found
        return found

    def _found(self, class_: type[Any]) -> tuple[ResourceType, str]:
        """The resource type and version of a root class."""
        if class_ not in self._origin:
            path = self._path(class_)
            for each in self.resources.values():
                paths = each.storage if issubclass(class_, StorageObject) else each.versions
                for version, other in paths.items():
                    if other == path:
                        self._origin[class_] = (each, version)
            if class_ not in self._origin:
                raise ConversionError(
                    f"{_spoken(class_)} is not a resource type of {self.package}; "
                    "convert nested objects with their own methods"
                )
        return self._origin[class_]

    def _api_class(self, stored: Any, to: str) -> type[Any]:
        found, _ = self._found(type(stored))
        if to not in found.versions:
            raise UnknownVersionError(
                f"{found.name} has no version {to!r}; it has {', '.join(found.versions)}"
            )
        class_: type[Any] = self._load(found.versions[to])
        return class_

    def _object(self, value: Any, version: str | None) -> Any:
        if isinstance(value, GeneratedObject):
            return value
        return self.decode(self._bytes(value), version=version)

    def _stored(self, base: Any) -> Any:
        if base is None or isinstance(base, StorageObject):
            return base
        found = self._object(base, None)
        if not isinstance(found, StorageObject):
            raise ConversionError(
                f"expected a stored document, found one of version {self._found(type(found))[1]}; "
                f"a stored document has {WRITTEN_WITH!r}"
            )
        return found

    def _base_bytes(self, base: Any) -> bytes:
        return self.encode(base) if isinstance(base, GeneratedObject) else self._bytes(base)

    @staticmethod
    def _bytes(value: Any) -> bytes:
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value)
        try:
            return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise DocumentError(
                "document", [Finding("$", f"Expected plain JSON: {error}")]
            ) from None
        except RecursionError:
            raise DocumentError("document", [_TOO_DEEP]) from None

    def _head(self, data: bytes) -> _Head:
        try:
            return _HEAD.decode(data)
        except msgspec.ValidationError:
            reason = "Expected a JSON object that names its apiVersion"
            raise DocumentError("document", [Finding("$", reason)]) from None
        except msgspec.DecodeError as error:
            raise DocumentError("document", [Finding("$", str(error))]) from None
        except RecursionError:
            raise DocumentError("document", [_TOO_DEEP]) from None

    def _resource(self, head: _Head, resource: str | None) -> ResourceType:
        own = self._by_name.get(str(head.kind).casefold()) or self._by_name.get(
            str(head.type).casefold()
        )
        named = own if resource is None else self._by_name.get(resource.casefold())
        if own is not None and named is not None and own is not named:
            raise UnknownVersionError(
                f"the document is of the resource type {own.name!r}, but {resource!r} was asked for; "
                "leave one out"
            )
        if named is not None:
            return named
        if resource is None and len(self._by_name) == 1 and head.kind is None and head.type is None:
            return next(iter(self._by_name.values()))
        wanted = resource or head.kind or head.type
        said = (
            f"the document is of the resource type {wanted!r}"
            if wanted
            else "the document does not name its resource type by `kind` or `type`"
        )
        raise UnknownVersionError(f"{said}; {self.package} has {', '.join(self.resources)}")

    def _version(
        self, head: _Head, found: ResourceType, version: str | None, *, stored: bool
    ) -> str:
        own = head.api_version.rpartition("/")[2] if isinstance(head.api_version, str) else None
        if own is not None and version is not None and own != version:
            raise UnknownVersionError(
                f"the document is of version {own!r}, but {version!r} was asked for; leave one out"
            )
        named = own or version
        known = found.storage if stored else found.versions
        if named is None:
            raise UnknownVersionError(
                "the document does not name its version by `apiVersion`, and none was given; "
                f"{found.name} has {', '.join(known)}"
            )
        if named not in known:
            raise UnknownVersionError(
                f"{found.name} has no {'storage ' if stored else ''}version {named!r}; "
                f"it has {', '.join(known)}"
            )
        return named

    def _decode(self, data: bytes, class_: type[Any], subject: str, *, strict: bool) -> Any:
        decoder = self._decoders.get(class_)
        if decoder is None:
            decoder = self._decoders[class_] = msgspec.json.Decoder(class_)
        try:
            if not _kept_apart(data, data.find(b"$")):
                return decoder.decode(data)
        except msgspec.ValidationError:
            pass  # the careful way finds everything that is wrong, or keeps what is unknown
        except RecursionError:
            raise DocumentError(subject, [_TOO_DEEP]) from None
        try:
            value, findings = read_value(data, class_, strict=strict)
        except RecursionError:
            raise DocumentError(subject, [_TOO_DEEP]) from None
        except msgspec.DecodeError as error:
            raise DocumentError(subject, [Finding("$", str(error))]) from None
        if findings:
            raise DocumentError(subject, findings)
        return value

    def _name(self, value: Any, class_: type[Any], name_property: str) -> None:
        """Spells a document's version and resource type as its class does."""
        names = self._names.get(class_)
        if names is None:
            defaults = dict(zip(class_.__struct_fields__, _defaults(class_), strict=True))
            names = self._names[class_] = tuple(
                (name, defaults[name])
                for name in ("api_version", name_property)
                if isinstance(defaults.get(name), str)
            )
        for name, own in names:
            setattr(value, name, own)

    def _subject(self, value: Any) -> str:
        found, version = self._found(type(value))
        kind = "stored " if isinstance(value, StorageObject) else ""
        return f"{kind}{found.name} {version}"


_HEAD = msgspec.json.Decoder(_Head)
_UNKNOWN = UNKNOWN.encode()
_ADDITIONAL = ADDITIONAL.encode()
_WRITTEN_WITH = f'"{WRITTEN_WITH}"'.encode()
_NAMES = re.compile(
    rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]+)"\s*,\s*"(kind|type)"\s*:\s*"([^"\\]+)"\s*'
)
"""How documents start that name their class first."""

_READERS = 1000
"""How many starts are remembered: each may be spelt with spaces."""


def _check_text(data: bytes) -> None:
    """Refuses what is no UTF-8, even in what is carried without being looked at."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("document", [Finding("$", f"Expected UTF-8: {error}")]) from None


def conversion_module(module: str) -> str:
    """The module that keeps the conversions of a module's classes, both relative to the package."""
    return f"conversions.{module.removesuffix('.types').replace('.', '_')}"


def _defaults(class_: type[Any]) -> tuple[Any, ...]:
    return tuple(field.default for field in msgspec.structs.fields(class_))


def _spoken(class_: type[Any]) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _written(value: Any) -> bytes:
    """The compact JSON of an object."""
    data = encode(value)
    return write_value(value) if _kept_apart(data, data.find(b"$")) else data


def _start(data: bytes) -> bytes:
    """A document up to its second comma: where its class is named first, both names."""
    return data[: data.find(b",", data.find(b",") + 1)]


def _kept_apart(data: bytes, place: int) -> bool:
    """Whether a document has what objects keep apart, at its first `$` or after; that is found at once."""
    return place >= 0 and (data.find(_UNKNOWN, place) >= 0 or data.find(_ADDITIONAL, place) >= 0)


def _finite(value: Any) -> bool:
    """Whether all numbers are finite: the fast way to know that there is nothing to find."""
    waiting = [value]
    for each in waiting:
        if isinstance(each, GeneratedObject):
            members: Any = msgspec.structs.astuple(each)
        elif isinstance(each, dict):
            members = each.values()
        elif isinstance(each, list):
            members = each
        else:
            members = (each,) if isinstance(each, float) else ()
        for member in members:
            kind = type(member)
            if kind in _SIMPLE:
                continue
            if not isinstance(member, float):
                waiting.append(member)
            elif member - member != 0:
                return False
    return True


def _not_finite(value: Any, path: str = "$") -> Any:
    if isinstance(value, float):
        if value - value != 0:
            yield Finding(path, f"Expected a finite number, got `{value}`")
    elif isinstance(value, GeneratedObject):
        for name, encoded in zip(
            value.__struct_fields__, value.__struct_encode_fields__, strict=True
        ):
            yield from _not_finite(getattr(value, name), f"{path}.{encoded}")
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _not_finite(member, f"{path}.{name}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _not_finite(item, f"{path}[{place}]")


def conversion_of(source: type[Any], target: type[Any] | None, *, up: bool) -> Callable[[Any], Any]:
    """The conversion between a class and the storage classes that keep it.

    Args:
        source: a generated class.
        target: a storage class; None where there is just one.
        up: whether the way leads to storage.

    Raises:
        ConversionError: there is none, or there are several to choose from.
    """
    scheme = _scheme_of(source)
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
                f"{_spoken(source)} is kept as "
                + (f"several storage classes: {choices}; name one" if found else "no storage class")
            )
        function, wants_base = scheme.function(source, scheme._load(found[0].target))  # noqa: SLF001
    return (lambda value: function(value, None)) if wants_base else function


def _scheme_of(class_: type[Any]) -> Scheme:
    package = class_.__module__
    while package:
        if package in _SCHEMES:
            return _SCHEMES[package]
        package = package.rpartition(".")[0]
    raise ConversionError(f"{_spoken(class_)} does not belong to a generated package")
