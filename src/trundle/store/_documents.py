"""Documents as the store sees them: their `metadata`, and by which version they are stored.

What the columns of an object have is not in its bytes: it is taken out of documents before a put, and put in where an object is
shown. All else passes as it is written.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle.errors import shown
from trundle.runtime import WRITTEN_WITH, DocumentError
from trundle.store._errors import InvalidMetadataError
from trundle.store._records import Key, StoredObject

IN_COLUMNS = frozenset(
    {
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    }
)
"""The members of `metadata` that are not kept in the bytes."""

_METADATA = "metadata"
_BESIDE = frozenset({_METADATA, WRITTEN_WITH, "apiVersion"})
"""The members of a stored document that are no content of the object."""
_OF_WRITERS = frozenset({WRITTEN_WITH})
"""The members of a stored document that say how it was written, and nothing of the object."""

Members: TypeAlias = dict[str, msgspec.Raw]
"""The members of a document, as they are written."""

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decimals = msgspec.json.Decoder(float_hook=Decimal).decode
_sorted = msgspec.json.Encoder(decimal_format="number", order="sorted").encode


class _Owner(msgspec.Struct):
    uid: str = ""


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None
    finalizers: list[str] | None = None
    owners: list[_Owner] | None = msgspec.field(default=None, name="ownerReferences")


class _Stored(msgspec.Struct):
    version: str = msgspec.field(name="apiVersion")
    written_with: str = msgspec.field(name=WRITTEN_WITH)
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


_stored = msgspec.json.Decoder(_Stored).decode
_metadata = msgspec.json.Decoder(_Metadata | None).decode


class StoredDocument:
    """A document as it is stored, which is taken apart once.

    Args:
        data: the document.
        members: its members, where they are known.
    """

    __slots__ = ("_members", "data")

    def __init__(self, data: bytes, members: Members | None = None) -> None:
        self.data = data
        self._members = members

    @property
    def members(self) -> Members:
        """Its members, as they are written; they are not changed."""
        if self._members is None:
            self._members = members_of(self.data)
        return self._members

    def learn(self, other: "StoredDocument") -> None:
        """Takes over what is known of the same document."""
        self._members = other._members  # noqa: SLF001 - it is of this class


class Columns(NamedTuple):
    """What the columns of an object repeat of its bytes.

    Attributes:
        storage_version: the version whose storage type it has.
        written_with: the API version that it was written with.
        labels: its labels.
        finalizers: its finalizers.
        owners: the uids of its owners.
    """

    storage_version: str
    written_with: str
    labels: dict[str, str]
    finalizers: tuple[str, ...]
    owners: tuple[str, ...]


def columns_of(key: Key, data: bytes) -> Columns:
    """The columns of a stored document.

    Raises:
        InvalidMetadataError: its metadata is not what a store can keep.
    """
    found = _stored(data)
    try:
        metadata = _metadata(found.metadata) or _Metadata()
    except msgspec.ValidationError as error:
        raise _invalid(
            key, "labels, finalizers and owners as Kubernetes has them", str(error)
        ) from None
    labels = metadata.labels or {}
    finalizers = tuple(metadata.finalizers or ())
    owners = tuple(each.uid for each in metadata.owners or () if each.uid)
    if any("\0" in each for each in (*labels, *labels.values(), *finalizers, *owners)):
        raise _invalid(key, "text without the character U+0000", "such a character")
    version = found.version.rpartition("/")[2]
    written_with = found.written_with.rpartition("/")[2]
    return Columns(version, written_with, labels, finalizers, owners)


def version_of(members: Mapping[str, msgspec.Raw]) -> str | None:
    """The `apiVersion` that the members of a document say; None where they say none."""
    said = members.get("apiVersion")
    value = None if said is None else msgspec.json.decode(said)
    return value if isinstance(value, str) else None


def members_of(document: bytes) -> dict[str, msgspec.Raw]:
    """The members of a document, as they are written.

    Raises:
        DocumentError: it is no JSON object.
    """
    try:
        return _members(document)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _refused(document)


def _refused(document: bytes) -> dict[str, msgspec.Raw]:
    """Raises the error of the reader of whole documents; it says more."""
    from trundle.errors import Finding, Place  # noqa: PLC0415 - only for documents that are refused
    from trundle.runtime import ValueCode  # noqa: PLC0415

    try:
        value = msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        found, code = f"an error: {error}", ValueCode.MALFORMED
    else:
        found, code = shown(value), ValueCode.VALUE
    raise DocumentError("document", [Finding(code, Place(path="$"), "a JSON object", found)])


def metadata_of(key: Key, members: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """The members of a document's `metadata`, as they are written.

    Raises:
        InvalidMetadataError: it is no object.
    """
    given = members.get(_METADATA)
    if given is None:
        return {}
    try:
        return _members(given)
    except msgspec.DecodeError:
        found = shown(msgspec.json.decode(given))
        raise _invalid(key, "an object", found) from None


def to_put(key: Key, members: Mapping[str, msgspec.Raw], seen: Iterable[StoredDocument]) -> bytes:
    """A document as it is put over what is stored: its metadata has the key, and nothing that columns have.

    Args:
        key: the object's key.
        members: the members of what a client wrote.
        seen: documents whose spelling of the metadata is taken where it is the same; so what was only written in another
            way changes nothing.

    Raises:
        InvalidMetadataError: the metadata cannot be kept, or names another object.
    """
    metadata = metadata_of(key, members)
    kept = {name: each for name, each in metadata.items() if name not in IN_COLUMNS}
    for name, value in (("name", key.name), ("namespace", key.namespace)):
        said = msgspec.json.decode(kept[name]) if name in kept else None
        if not said and value:
            kept[name] = msgspec.Raw(msgspec.json.encode(value))
        elif said and said != value:
            found = f"{name} {shown(said)}"
            raise _invalid(key, f"{name} {value!r}" if value else f"no {name}", found)
    encoded = msgspec.json.encode(kept)
    return msgspec.json.encode({**members, _METADATA: msgspec.Raw(_spelt(encoded, seen))})


def _spelt(metadata: bytes, seen: Iterable[StoredDocument]) -> bytes:
    """Metadata as one of some documents spells it; as it is where none has the same."""
    value: Any = None
    for each in seen:
        there = each.members.get(_METADATA)
        if there is None:
            continue
        if bytes(there) == metadata:
            return metadata
        value = msgspec.json.decode(metadata) if value is None else value
        if msgspec.json.decode(there) == value:
            return bytes(there)
    return metadata


def with_metadata(data: bytes, metadata: bytes) -> bytes:
    """A document with other metadata."""
    members = members_of(data)
    members[_METADATA] = msgspec.Raw(metadata)
    return msgspec.json.encode(members)


def with_members_of_metadata(
    document: StoredDocument,
    changed: Mapping[str, bytes | None],
    seen: Iterable[StoredDocument],
) -> StoredDocument:
    """A document with other members of its metadata.

    Args:
        document: the document.
        changed: the members, as JSON; None for those that are left out.
        seen: see `to_put`.
    """
    if not changed:
        return document
    members = {**document.members}
    kept = _members(members.get(_METADATA, b"{}"))
    for name, each in changed.items():
        kept.pop(name, None)
        if each is not None:
            kept[name] = msgspec.Raw(each)
    metadata = msgspec.json.encode(kept)
    members[_METADATA] = msgspec.Raw(_spelt(metadata, seen))
    return StoredDocument(msgspec.json.encode(members), members)


def _columns_shown(found: StoredObject) -> dict[str, Any]:
    """The members of `metadata` that columns have, as clients are shown them."""
    shown: dict[str, Any] = {
        "uid": found.uid,
        "resourceVersion": str(found.resource_version),
        "generation": found.generation,
        "creationTimestamp": _in_seconds(found.created),
    }
    if found.deleted is not None:
        shown["deletionTimestamp"] = _in_seconds(found.deleted)
        shown["deletionGracePeriodSeconds"] = 0
    return shown


def with_columns(document: bytes, found: StoredObject) -> bytes:
    """A document with the members of `metadata` that columns have."""
    members = members_of(document)
    whole: dict[str, Any] = {**members, _METADATA: _described(members, found)}
    if _METADATA not in members:  # Where people expect it, behind what says what the document is.
        names: tuple[str, ...] = ("apiVersion", "kind", "type")
        head = {name: whole.pop(name) for name in names if name in whole}
        whole = {**head, _METADATA: whole.pop(_METADATA), **whole}
    return msgspec.json.encode(whole)


def metadata_with_columns(metadata: msgspec.Raw, found: StoredObject) -> bytes:
    """The `metadata` of an object with the members that columns have."""
    return msgspec.json.encode(_described({_METADATA: metadata}, found))


def _described(members: Mapping[str, msgspec.Raw], found: StoredObject) -> dict[str, Any]:
    """The members of an object's `metadata`, with those that columns have."""
    return {**metadata_of(found.key, members), **_columns_shown(found)}


def _in_seconds(time: str) -> str:
    """A time as Kubernetes writes it in metadata."""
    return f"{time[:19]}Z"


def same_content(ours: Members, theirs: Members) -> bool:
    """Whether two stored documents of one storage version differ in nothing but their metadata, and the order of members."""
    return _same_members(ours, theirs, _BESIDE)


def same_document(ours: Members, theirs: Members) -> bool:
    """Whether two stored documents of one length differ in nothing, or in the order of members alone; that is no change to clients."""
    return _same_members(ours, theirs, _OF_WRITERS)


def _same_members(ours: Members, theirs: Members, beside: frozenset[str]) -> bool:
    """Whether members are spelt alike but for the order within their values; those beside may be anything."""
    if ours.keys() - beside != theirs.keys() - beside:
        return False
    other = (name for name, each in ours.items() if each != theirs.get(name))
    return all(_same_value(ours[name], theirs[name]) for name in other if name not in beside)


def _same_value(one: msgspec.Raw, other: msgspec.Raw) -> bool:
    """Whether values that are spelt differently are spelt alike but for the order of members."""
    return len(bytes(one)) == len(bytes(other)) and _in_order(one) == _in_order(other)


def _in_order(value: msgspec.Raw) -> bytes:
    """A value with the members of objects in the order of their names; numbers keep their digits."""
    return _sorted(_decimals(value))


def _invalid(key: Key, expected: str, found: str) -> InvalidMetadataError:
    return InvalidMetadataError(f"{key}: metadata", expected, found, "correct the document")
