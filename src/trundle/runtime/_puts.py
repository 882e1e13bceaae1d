"""The quick way to write a document over what is stored: what is the same to the byte is not looked into.

Some properties are only copied between an API type and what a store keeps, and nothing else depends on them: they
stand *apart*. They are read as the JSON that they are. Where a writer leaves one as it is shown, it stays in the
store, byte for byte; where it differs, it is read and merged by itself. All others are *tied*; they are converted
and merged as always, if any of them differs. A document about which anything is unusual is left to the careful
way, which comes to the same bytes for every stored document that a scheme has written.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from trundle.runtime._bag import WRITING_OVER, decoder, encode, same, tidy
from trundle.runtime._documents import may_be_kept_apart, wire_name
from trundle.runtime._errors import DocumentError, PlacedError, UnknownVersionError
from trundle.runtime._lookup import Lookup
from trundle.runtime._merge import merge_attribute, merge_objects, without_marks
from trundle.runtime._objects import ABSENT, UNKNOWN, ApiObject, StorageObject
from trundle.runtime._reading import STARTS, Reading, Start, start_of

_FEWEST = 2
"""How many properties have to stand apart for this to be of any use."""


class _Apart(NamedTuple):
    """A property that stands apart.

    Attributes:
        ours: its attribute in the API class.
        theirs: its attribute in the storage class.
        read: reads it for the API class.
        read_stored: reads it for the storage class.
    """

    ours: str
    theirs: str
    read: Callable[[Any], Any]
    read_stored: Callable[[Any], Any]


class _Side(NamedTuple):
    """How one of the two documents is read.

    Attributes:
        decode: reads it; what stands apart stays JSON.
        start: how it starts, and what it then says of itself.
        convert: makes of it an object of the other side.
    """

    decode: Callable[[bytes], Any]
    start: Start
    convert: Callable[[Any], Any]

    def read(self, data: bytes) -> Any:
        """The document; None where a later member says otherwise than its start."""
        value = self.decode(data)
        return value if self.start.told(value) == self.start.names else None


class _Way(NamedTuple):
    """How documents of an API version are written over stored ones.

    Attributes:
        version: the API version.
        document: the writer's side.
        stored: the store's side.
        apart: the properties that stand apart.
        apart_of: gives their values in an API object.
        tied_of: gives those of all others.
        absent: an API object without those that stand apart: its attributes.
    """

    version: str
    document: _Side
    stored: _Side
    apart: tuple[_Apart, ...]
    apart_of: Callable[[Any], tuple[Any, ...]]
    tied_of: Callable[[Any], tuple[Any, ...]]
    absent: Mapping[str, Any]


class Puts:
    """Writes documents of a generated package over stored ones, where no hook is called.

    Args:
        lookup: the package's classes and functions.
        reading: what a document says of itself.
    """

    def __init__(self, lookup: Lookup, reading: Reading) -> None:
        self._lookup = lookup
        self._reading = reading
        self._ways: dict[tuple[bytes, bytes], _Way | None] = {}

    def put(self, data: bytes, base: bytes, version: str | None = None) -> bytes | None:
        """What a store keeps after a document was written over what it kept; None for the careful way.

        Args:
            data: the document, which names its version.
            base: what the store keeps.
            version: the version that the document must be of, where the caller names it.
        """
        key = (start_of(data), start_of(base))
        way = self._ways.get(key, ABSENT)
        if way is ABSENT:
            way = self._made(data, base)
            if len(self._ways) < STARTS:
                self._ways[key] = way
        if not isinstance(way, _Way) or version not in (None, way.version):
            return None
        if may_be_kept_apart(data) or may_be_kept_apart(base):
            return None
        try:
            if not data.isascii():
                data.decode()
            made = self._over(way, data, base)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, PlacedError):
            return None
        return made

    def _over(self, way: _Way, data: bytes, base: bytes) -> bytes | None:
        value, stored = way.document.read(data), way.stored.read(base)
        if (
            value is None
            or stored is None
            or not isinstance(stored.written_with, str)
            or self._reading.spells_otherwise(base)
        ):
            return None
        seen = way.stored.convert(stored)
        merged = _merge_apart(way, stored, way.apart_of(seen), way.apart_of(value))
        ours, theirs = way.tied_of(seen), way.tied_of(value)
        if ours != theirs or not _spelt_alike(ours, theirs):
            merged = _merge_tied(way, merged, seen, value)
        if merged is stored:
            return base
        merged.written_with = way.version
        tidy(merged)
        made = encode(merged)
        return None if may_be_kept_apart(made) else made

    def _made(self, data: bytes, base: bytes) -> _Way | None:
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
        up = self._lookup.conversion(class_, storage)
        down = self._lookup.conversion(storage, class_)
        if start is None or stored_start is None or up is None or down is None:
            return None
        tied = self._lookup.tied(up.function)
        if tied is None or up.wants_base or down.wants_base:
            return None
        if any(wire_name(each, "unknown") != UNKNOWN for each in (class_, storage)):
            return None
        apart = tuple(_apart(class_, storage, tied, found.name_property))
        if len(apart) < _FEWEST:
            return None
        ours, theirs = {each.ours for each in apart}, {each.theirs for each in apart}
        others = [each for each in class_.__struct_fields__ if each not in ours]
        return _Way(
            version,
            _Side(_decode(class_, ApiObject, ours), start, self._lookup.bound(up)),
            _Side(_decode(storage, StorageObject, theirs), stored_start, self._lookup.bound(down)),
            apart,
            operator.attrgetter(*(each.ours for each in apart)),
            operator.attrgetter(*others),
            dict.fromkeys(ours, ABSENT),
        )


def _spelt_alike(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """Whether equal values are written alike; 1 and 1.0 are not."""
    one, other = ([each for each in values if each is not ABSENT] for values in (ours, theirs))
    return encode(one) == encode(other)


def _merge_apart(way: _Way, stored: Any, seen: tuple[Any, ...], written: tuple[Any, ...]) -> Any:
    """The stored object with what differs of the properties that stand apart; itself where nothing does."""
    if seen == written:
        return stored
    merged = stored
    for each, before, after in zip(way.apart, seen, written, strict=True):
        if before is after or before == after:
            continue
        ours = each.read(before) if isinstance(before, msgspec.Raw) else before
        theirs = each.read(after) if isinstance(after, msgspec.Raw) else after
        if same(ours, theirs):
            continue
        if merged is stored:
            merged = replace(stored)
        kept = getattr(merged, each.theirs)
        if isinstance(kept, msgspec.Raw):
            setattr(merged, each.theirs, each.read_stored(kept))
        merge_attribute(merged, each.theirs, ours, theirs)
    return merged


def _merge_tied(way: _Way, merged: Any, seen: Any, value: Any) -> Any:
    """Merges all that does not stand apart."""
    unsaid: list[Any] = []
    told = WRITING_OVER.set(unsaid)
    try:
        before, after = (
            way.document.convert(replace(each, **way.absent)) for each in (seen, value)
        )
    finally:
        WRITING_OVER.reset(told)
    result = merge_objects(merged, before, after)
    return without_marks(result) if unsaid else result


def _apart(
    class_: type[Any], storage: type[Any], tied: Mapping[str, str], name_property: str
) -> Iterator[_Apart]:
    """The properties of two classes that stand apart."""
    types = {each.name: each.type for each in msgspec.structs.fields(storage)}
    naming = {"unknown", "api_version", name_property}
    for field in msgspec.structs.fields(class_):
        other = tied.get(field.name, field.name)
        if field.name not in naming and other in types:
            yield _Apart(
                field.name, other, decoder(field.type).decode, decoder(types[other]).decode
            )


def _decode(class_: type[Any], base: type[Any], apart: set[str]) -> Callable[[bytes], Any]:
    """Reads objects of a class, some of whose attributes stay JSON."""
    fields = []
    for field in msgspec.structs.fields(class_):
        if field.name == "unknown":
            continue
        type_ = field.type
        if field.name in apart:
            type_ = msgspec.Raw if field.required else msgspec.Raw | msgspec.UnsetType
        default = msgspec.NODEFAULT if field.required else field.default
        fields.append((field.name, type_, msgspec.field(default=default, name=field.encode_name)))
    config = class_.__struct_config__
    made = msgspec.defstruct(
        class_.__name__,
        fields,
        bases=(base,),
        module=__name__,
        namespace={"__list_keys__": class_.__list_keys__},
        kw_only=True,
        tag=config.tag,
        tag_field=config.tag_field,
        gc=False,
    )
    return msgspec.json.Decoder(made).decode
