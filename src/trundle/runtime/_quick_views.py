"""The quick way to show an object at another version, where that version shows all of it.

A version hides something of an object where the object, written as it is shown, would not be stored the same. What shows objects to clients that
write them back without the stored one, as a conversion webhook does, has to know that. Here it is found out on the objects, without any JSON in
between, which takes two things. Both versions pass their values on as they are, as the table `TIED` beside a conversion to storage says. And the
document has nothing that is written otherwise once it was read: no map in another order, no number of another spelling. About all else
a view gives None, for the careful way.
"""

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle.runtime._class_fields import fields_of
from trundle.runtime._documents import may_be_kept_apart, wire_name
from trundle.runtime._hidden_content import shown
from trundle.runtime._json import new_decoder
from trundle.runtime._lookup import Lookup
from trundle.runtime._object_conversion import ObjectConversion
from trundle.runtime._objects import ABSENT, BAG, UNKNOWN, WRITTEN_WITH, FreeForm, GeneratedObject
from trundle.runtime._property_merge import Way, Ways, values_getter
from trundle.runtime._resource_types import ResourceType

_Check: TypeAlias = Callable[[Any], bool]
"""Whether a value is written otherwise than it was read."""

_BAG = f'"{BAG}"'.encode()
_MARK, _BACKSLASH = b"$\\"
"""As numbers: whether one is in a bytes object is found much sooner than whether a text of one byte is."""


class _UnknownTypeError(Exception):
    """A type of which is not known how its values are written."""


class QuickView(NamedTuple):
    """How documents of one version become documents of another.

    Attributes:
        decode: reads one.
        names: the attributes that name its version and its resource type, and what they are once it is read.
        is_odd: whether what was read is written otherwise than it was read; None where nothing is.
        convert: gives the document at the other version, with what it says of its version and resource type; None where that does not show all of it.
        is_stored: whether it converts what a store keeps.
    """

    decode: Callable[[bytes], Any]
    names: tuple[tuple[str, str], tuple[str, str]]
    is_odd: _Check | None
    convert: Callable[[Any, tuple[str, str]], bytes | None]
    is_stored: bool

    def read(self, data: bytes, said: tuple[str, str] | None = None) -> Any:
        """A document as an object; None where it is of another version, or anything about it is unusual.

        Args:
            data: JSON.
            said: its version and resource type as it says them, where that is not as the package spells them.
        """
        if (_MARK in data or _BACKSLASH in data) and (may_be_kept_apart(data) or _BAG in data):
            return None
        try:
            value = self.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        (version, own), (name, called) = self.names
        if (getattr(value, version), getattr(value, name)) != (said or (own, called)):
            return None
        if self.is_stored and not isinstance(value.written_with, str):
            return None
        if self.is_odd is not None and self.is_odd(value):
            return None
        setattr(value, version, own)
        setattr(value, name, called)
        return value


class QuickViews:
    """Finds the views of a generated package.

    Args:
        lookup: the package's classes and functions.
        conversion: how its objects are stored.
        encode: writes an object.
    """

    def __init__(
        self, lookup: Lookup, conversion: ObjectConversion, encode: Callable[[Any], bytes]
    ) -> None:
        self._lookup = lookup
        self._conversion = conversion
        self._encode = encode
        self._ways = Ways(lookup)

    def between(
        self,
        found: ResourceType,
        source: str | None,
        target: str | None,
        keeps_spelling: Callable[[bytes], bool],
    ) -> QuickView | None:
        """The view of documents of a version, or of what a store keeps, at another one.

        Args:
            found: the resource type.
            source: the version; None for what a store keeps.
            target: the other one; None for what a store keeps.
            keeps_spelling: whether free-form data is written as it was read. All of it is asked about, as none of it was looked at for its UTF-8.

        Returns:
            The view; None where the careful way has to be taken.
        """
        if found.name_property != "kind" or self._conversion.stored_as.get(found.name):
            return None
        hub = self._lookup.hub_class(found)
        class_ = hub if source is None else self._lookup.api_class(found, source)
        if any(wire_name(each, "unknown") != UNKNOWN for each in (class_, hub)):
            return None
        defaults = {each.name: each.default for each in fields_of(class_)}
        names = tuple((each, defaults.get(each)) for each in ("api_version", "kind"))
        if wire_name(hub, "written_with") != WRITTEN_WITH or not all(
            isinstance(own, str) for _, own in names
        ):
            return None
        try:
            check = _check_of(class_, _Oddities(keeps_spelling, spelling=source is None))
        except _UnknownTypeError:
            return None
        convert = self._keeping if target is None else self._showing(found, source, target, hub)
        if convert is None:
            return None
        return QuickView(
            new_decoder(class_).decode,
            typing.cast("tuple[tuple[str, str], tuple[str, str]]", names),
            check,
            convert,
            source is None,
        )

    def _keeping(self, value: Any, said: tuple[str, str]) -> bytes:
        """What a store keeps of a document, without metadata, and as if the stored version had written it."""
        del said  # What is stored is spelt as the package spells it.
        made = self._conversion.convert(value, None, None)
        made.metadata = ABSENT
        made.written_with = made.api_version.rpartition("/")[2]
        return self._encode(made)

    def _showing(
        self, found: ResourceType, source: str | None, target: str, hub: type[Any]
    ) -> Callable[[Any, tuple[str, str]], bytes | None] | None:
        """Shows a document at a version, where that shows all of it; None where that is not known of any."""
        versions = [each for each in (source, target) if each is not None]
        between = [self._ways.between(self._lookup.api_class(found, x), hub) for x in versions]
        ways = [each for each in between if each is not None and _is_plain(each)]
        if len(ways) < len(versions):
            return None
        one = None if source is None else ways[0]
        make = _copying(one, ways[-1], self._lookup) or _converting(one, ways[-1])

        def show(value: Any, said: tuple[str, str]) -> bytes | None:
            seen = make(value)
            if seen is None:
                return None
            seen.api_version, seen.kind = said
            return self._encode(seen)

        return show


def _converting(one: Way | None, other: Way) -> Callable[[Any], Any]:
    """Converts an object to the store's shape and on, and back once more, which shows whether all of it is seen.

    Args:
        one: the way that its version takes to the store; None for what is stored.
        other: the way that the other version takes.
    """

    def convert(value: Any) -> Any:
        stored = value if one is None else one.up(value)
        if stored.property_bag is not ABSENT:
            return None
        seen = shown(other.down(stored))
        again = other.up(seen)
        again.written_with = stored.written_with
        return seen if again == stored else None

    return convert


def _by_store(one: Way | None, other: Way) -> Callable[[Any], Any]:
    """Converts an object by way of the store's shape."""
    assert one is not None  # From what is stored, there is a conversion to each version.
    up, down = one.up, other.down
    return lambda value: down(up(value))


def _copying(one: Way | None, other: Way, lookup: Lookup) -> Callable[[Any], Any] | None:
    """Converts an object whose properties are only copied: what it has shows whether all of it is seen, without a way back.

    All is seen where the other version has whatever the object has, and the object has whatever the other version would fill in.

    Returns:
        The function; None where objects within are converted as well, or where never all is seen.
    """
    if any(each.part is not None for way in (one, other) if way for each in way.properties):
        return None
    class_ = other.storage if one is None else one.class_
    ours = {each: each for each in class_.__struct_fields__} if one is None else one.copied
    required = {x: {y.name for y in fields_of(x) if y.required} for x in (class_, other.class_)}
    filled = [name for name, theirs in other.copied.items() if theirs in required[other.class_]]
    if not ours.keys() >= {*filled}:
        return None
    hides = values_getter(
        [each for name, each in ours.items() if name not in (*other.copied, "written_with")]
    )
    fills = values_getter([ours[name] for name in filled if ours[name] not in required[class_]])
    straight = lookup.known_function(class_, other.class_)
    convert = straight[0] if straight else _by_store(one, other)

    def copy(value: Any) -> Any:
        if ABSENT in fills(value) or any(each is not ABSENT for each in hides(value)):
            return None
        return shown(convert(value))

    return copy


def _is_plain(way: Way) -> bool:
    """Whether all values of objects are passed on as they are, to the store and back."""
    classes = way.class_, way.storage
    ours, theirs = ({each.name: each.type for each in fields_of(x)} for x in classes)
    if any("additional_properties" in each for each in (ours, theirs)):
        return False
    for each in way.properties:
        if not each.target:
            return False
        if each.part is not None:
            if not _is_plain(each.part.way):
                return False
        elif _bare(ours[each.name]) != _bare(theirs[each.target]):
            return False
    return True


def _bare(type_: Any) -> frozenset[Any]:
    """The types of an attribute, but for that it may be absent."""
    return frozenset(_alternatives(type_)) - {msgspec.UnsetType}


def _alternatives(type_: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(type_) in (types.UnionType, typing.Union)
    return typing.get_args(type_) if is_union else (type_,)


class _Oddities(NamedTuple):
    """What is looked for.

    Attributes:
        keeps_spelling: whether free-form data is written as it was read.
        spelling: whether maps in another order and numbers of another spelling are.
    """

    keeps_spelling: Callable[[bytes], bool]
    spelling: bool


def _checks_of(
    type_: Any, oddities: _Oddities, around: tuple[Any, ...] = ()
) -> Mapping[type[Any], _Check]:
    """The checks of values that may be written otherwise than they were read, by their types.

    Raises:
        _UnknownTypeError: that is not known, or objects may be within others of their class, and so nested as deeply as one likes.
    """
    checks: dict[type[Any], _Check] = {}
    for each in _alternatives(type_):
        origin, arguments = typing.get_origin(each), typing.get_args(each)
        if each in around:
            raise _UnknownTypeError
        if origin in (list, dict):
            items = _check_of(arguments[-1], oddities, around)
            if origin is dict and oddities.spelling:
                checks[dict] = _of_map(items)
            elif items is not None:
                checks[origin] = _of_items(items) if origin is list else _of_values(items)
        elif isinstance(each, type) and issubclass(each, GeneratedObject):
            members = [*_members(each, oddities, (*around, each))]
            if members:
                checks[each] = _of_members(members)
        elif each is FreeForm:
            checks[each] = lambda value: not oddities.keeps_spelling(bytes(value))
        elif each is float:
            if oddities.spelling:
                checks[each] = float.is_integer
        elif each not in _SIMPLE:
            raise _UnknownTypeError
    return checks


_SIMPLE = frozenset({str, int, bool, type(None), msgspec.UnsetType})
_APART = frozenset({"metadata", "property_bag", "unknown", "written_with"})


def _check_of(type_: Any, oddities: _Oddities, around: tuple[Any, ...] = ()) -> _Check | None:
    """The check of values of a type; None where all are written as they were read."""
    checks = _checks_of(type_, oddities, around)
    if not checks:
        return None
    if len(_alternatives(type_)) == 1:
        return next(iter(checks.values()))

    def check(value: Any) -> bool:
        found = checks.get(type(value))
        return found is not None and found(value)

    return check


def _members(
    class_: type[Any], oddities: _Oddities, around: tuple[Any, ...]
) -> Iterator[tuple[str, type[Any], _Check]]:
    """The attributes of a class, with the types of values in them that may be written otherwise, and their checks."""
    for each in fields_of(class_):
        if each.name not in _APART:
            for kind, check in _checks_of(each.type, oddities, around).items():
                yield each.name, kind, check


def _of_members(members: list[tuple[str, type[Any], _Check]]) -> _Check:
    def check(value: Any) -> bool:
        for name, kind, each in members:
            member = getattr(value, name)
            if type(member) is kind and each(member):
                return True
        return False

    return check


def _of_items(check: _Check) -> _Check:
    return lambda value: any(map(check, value))


def _of_values(check: _Check) -> _Check:
    return lambda value: any(map(check, value.values()))


def _of_map(check: _Check | None) -> _Check:
    def checked(value: dict[str, Any]) -> bool:
        return [*value] != sorted(value) or (check is not None and any(map(check, value.values())))

    return checked
