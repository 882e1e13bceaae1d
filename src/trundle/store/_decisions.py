"""What becomes of an object when a client writes: pure functions of what is stored.

A decision is made within the transaction, over what is stored at that moment. It gives the object from now on, or raises why the
write is refused.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from trundle.errors import shown
from trundle.runtime import AnyScheme, Lenience
from trundle.store._documents import (
    IN_COLUMNS,
    StoredDocument,
    columns_of,
    members_of,
    metadata_of,
    same_content,
    same_document,
    to_put,
    version_of,
    with_members_of_metadata,
    with_metadata,
)
from trundle.store._errors import (
    ConflictError,
    InvalidMetadataError,
    NoSuchObjectError,
    ObjectExistsError,
)
from trundle.store._records import ChangeKind, Key, StoredObject


@dataclass(frozen=True, slots=True)
class Moment:
    """When and how a write is stored.

    Attributes:
        time: the time.
        written: the time of the write, which does not go back with the clock.
        scheme: stores objects in the shape that is agreed on.
    """

    time: str
    written: str
    scheme: AnyScheme


@dataclass(frozen=True, slots=True)
class WriteDecision:
    """What becomes of an object.

    Attributes:
        kind: what happens to it; None where nothing does.
        object: the object from now on, whose resource version is that of before.
        last: what watchers are shown of an object that is gone, where that is another state than its writer is.
    """

    kind: ChangeKind | None
    object: StoredObject
    last: StoredObject | None = None


Decide: TypeAlias = Callable[[StoredObject | None, Moment], WriteDecision]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a writer takes the object for.

    Attributes:
        resource_version: its resource version; None for any.
        uid: its uid; None for any.
    """

    resource_version: int | None = None
    uid: str | None = None

    def found(self, key: Key, current: StoredObject | None) -> StoredObject:
        """The object, if it is the one that is expected.

        Raises:
            NoSuchObjectError: there is none.
            ConflictError: it is another one, or was written since.
        """
        if current is None:
            raise missing(key)
        read, advice = "read it again, and write over that", "the object was made anew; read it"
        if self.uid not in {None, current.uid}:
            raise ConflictError(str(key), f"the uid {self.uid}", current.uid, advice)
        if self.resource_version not in {None, current.resource_version}:
            expected, found = (
                f"resource version {each}"
                for each in (self.resource_version, current.resource_version)
            )
            raise ConflictError(str(key), expected, found, read)
        return current


def missing(key: Key) -> NoSuchObjectError:
    """The error for a key without an object."""
    return NoSuchObjectError(str(key), "an object", "none", "create it, or correct the name")


Put: TypeAlias = Callable[[StoredDocument | None, AnyScheme], StoredDocument]
"""Gives what is stored from now on, over what is stored; None where nothing is."""


def putting(
    key: Key, document: bytes, version: str | None = None, lenience: Lenience | None = None
) -> Put:
    """Puts a document.

    Args:
        key: the object's key.
        document: the document.
        version: its API version; None where it says that.
        lenience: what is tolerated about it.
    """

    def put(base: StoredDocument | None, scheme: AnyScheme) -> StoredDocument:
        members = members_of(document)
        seen = () if base is None else _seen(base, version or version_of(members), scheme)
        given = to_put(key, members, seen)
        resource = resource_beside(key, members, scheme)
        stored = None if base is None else base.data
        data: bytes = scheme.put(version, given, stored, resource=resource, lenience=lenience)
        return StoredDocument(data)

    return put


class PreparedWrite(msgspec.Struct, frozen=True):
    """What a document makes of an object, put before it is stored.

    Attributes:
        key: the object's key.
        put: puts the document.
        scheme: the scheme that put it.
        base: what it was put over; None for a new object.
        made: what that gave.
        metadata: members of the metadata that are other ones than in the document, as JSON; None for those that are left out.
    """

    key: Key
    put: Put
    scheme: AnyScheme
    base: StoredDocument | None
    made: StoredDocument
    metadata: Mapping[str, bytes | None] = msgspec.field(default_factory=dict)

    @property
    def data(self) -> bytes:
        """What the document makes of the object, with the metadata that it has itself."""
        return self.made.data

    def over(self, base: StoredDocument | None, scheme: AnyScheme) -> StoredDocument:
        """What is stored from now on: a `Put`. It puts the document again only where what is stored was rewritten meanwhile, in another shape or for one."""
        made = self.made if self._is_over(base, scheme) else self.put(base, scheme)
        return with_members_of_metadata(made, self.metadata, () if base is None else (base,))

    def _is_over(self, base: StoredDocument | None, scheme: AnyScheme) -> bool:
        """Whether it was put over what is stored."""
        if base is None or self.base is None:
            return base is self.base and scheme is self.scheme
        is_same = base.data == self.base.data
        if is_same:
            base.learn(self.base)
        return is_same and scheme is self.scheme


def creating(key: Key, put: Put, further: Sequence[bytes] = ()) -> Decide:
    """Stores a new object."""

    def decide(current: StoredObject | None, moment: Moment) -> WriteDecision:
        if current is not None:
            advice = "replace it, or choose another name"
            found = f"one with resource version {current.resource_version}"
            raise ObjectExistsError(str(key), "no such object", found, advice)
        data = _put_over(key, put(None, moment.scheme), further, moment.scheme).data
        columns = columns_of(key, data)
        made = StoredObject(
            key=key,
            uid=str(uuid.uuid4()),
            resource_version=0,
            generation=1,
            created=moment.time,
            deleted=None,
            written=moment.written,
            data=data,
            **columns._asdict(),
        )
        return WriteDecision("added", made)

    return decide


def replacing(
    key: Key, put: Put, expected: Expected, *, counts: bool, further: Sequence[bytes] = ()
) -> Decide:
    """Puts a document over an object."""

    def decide(current: StoredObject | None, moment: Moment) -> WriteDecision:
        found = expected.found(key, current)
        base = StoredDocument(found.data)
        made = _put_over(key, put(base, moment.scheme), further, moment.scheme)
        data = made.data
        if data == found.data:
            return WriteDecision(None, found)
        before, after = base.members, made.members
        is_same = same_content(before, after)
        if is_same and len(data) == len(found.data) and same_document(before, after):
            return WriteDecision(None, found)
        written = _written(found, data, moment)
        if counts and found.storage_version != written.storage_version:
            before = members_of(moment.scheme.convert_json(found.data))
            is_same = same_content(before, after)
        if counts and not is_same:
            written = replace(written, generation=found.generation + 1)
        return _ended(found, written)

    return decide


def _seen(
    stored: StoredDocument, version: str | None, scheme: AnyScheme
) -> Iterator[StoredDocument]:
    """What writers may have read of a stored document: itself, and as a version shows it."""
    yield stored
    if version is not None:
        yield StoredDocument(scheme.read(version, stored.data))


def _put_over(
    key: Key, stored: StoredDocument, further: Sequence[bytes], scheme: AnyScheme
) -> StoredDocument:
    """A stored document after further documents were put over it, one after another."""
    for each in further:
        stored = putting(key, each)(stored, scheme)
    return stored


def deleting(key: Key, expected: Expected, finalizers: tuple[str, ...]) -> Decide:
    """Deletes an object, or marks it as deleted while it has finalizers."""

    def decide(current: StoredObject | None, moment: Moment) -> WriteDecision:
        found = expected.found(key, current)
        more = tuple(each for each in finalizers if each not in found.finalizers)
        marked = found
        if more:
            marked = _with_metadata(found, moment, {"finalizers": [*found.finalizers, *more]})
        if not marked.finalizers:
            return WriteDecision("deleted", replace(marked, written=moment.written))
        if found.deleted is None:
            marked = replace(
                marked,
                deleted=moment.time,
                written=moment.written,
                generation=found.generation + 1,
            )
        return WriteDecision(None if marked is found else "modified", marked)

    return decide


MetadataEdit: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]


def editing_metadata(key: Key, edit: MetadataEdit, expected: Expected) -> Decide:
    """Changes the metadata of an object, without any conversion."""

    def decide(current: StoredObject | None, moment: Moment) -> WriteDecision:
        found = expected.found(key, current)
        kept = metadata_of(key, members_of(found.data))
        metadata = {name: msgspec.json.decode(each) for name, each in kept.items()}
        edited = {**edit(dict(metadata))}
        if edited == metadata:
            return WriteDecision(None, found)
        for name in ("name", "namespace"):
            if edited.get(name) != metadata.get(name):
                known, there = shown(metadata.get(name)), shown(edited.get(name))
                advice = "leave it as it is"
                raise InvalidMetadataError(f"{key}: metadata.{name}", known, there, advice)
        for name in IN_COLUMNS:
            edited.pop(name, None)
        return _ended(found, _with_metadata(found, moment, edited, whole=True))

    return decide


def resource_beside(key: Key, members: Mapping[str, msgspec.Raw], scheme: AnyScheme) -> str | None:
    """The resource type to name beside a document; None where the document names it, as puts are faster then."""
    known = scheme.resources[key.resource]
    said = members.get(known.name_property)
    named = said is not None and bytes(said) == msgspec.json.encode(known.name)
    return None if named and known.name == key.resource else key.resource


def _with_metadata(
    found: StoredObject, moment: Moment, members: Mapping[str, Any], *, whole: bool = False
) -> StoredObject:
    before: Mapping[str, Any] = {} if whole else metadata_of(found.key, members_of(found.data))
    data = with_metadata(found.data, msgspec.json.encode({**before, **members}))
    return _written(found, data, moment)


def _written(found: StoredObject, data: bytes, moment: Moment) -> StoredObject:
    columns = columns_of(found.key, data)
    return replace(found, data=data, written=moment.written, **columns._asdict())


def _ended(found: StoredObject, written: StoredObject) -> WriteDecision:
    """An object that is marked as deleted is gone when it has no finalizers; watchers see it as it was before, as those of a cluster do."""
    if written.deleted is None or written.finalizers:
        return WriteDecision("modified", written)
    return WriteDecision("deleted", written, replace(found, written=written.written))
