"""Export and import as JSON lines: what a store keeps at one moment, object by object.

The first line says the format, and the resource version of each resource type. Each line after it is an object; its document is written as it is
stored, so nothing is converted. The last line says how many objects there were: a file that was cut off is known as such.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeAlias

import msgspec

from trundle.errors import Finding, Place, did_you_mean
from trundle.runtime import AnyScheme
from trundle.store._apart import apart_from, is_apart
from trundle.store._decisions import Decide, Moment, WriteDecision
from trundle.store._documents import columns_of
from trundle.store._errors import RefusedImportError, StoreCode
from trundle.store._records import Key, StoredObject
from trundle.store._resources import UNREADABLE_ADVICE, StoredType
from trundle.store._rolling import Progress, ignore
from trundle.store._rows import Rows
from trundle.store._store import Store
from trundle.store._times import time_of
from trundle.store._writer import Write

_FORMAT = 1
_TOGETHER = 500
"""How many objects are written in one transaction."""
_MOST_FINDINGS = 100


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    resources: dict[str, Annotated[int, msgspec.Meta(ge=0, le=2**60)]]


class _Tail(msgspec.Struct, forbid_unknown_fields=True):
    objects: int


class _Line(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object in a line; `document` is text where it has line breaks."""

    group: str
    resource: str
    namespace: str = ""
    name: str
    uid: str
    generation: int
    created: str
    deleted: str | None = None
    written: str
    document: msgspec.Raw


_line = msgspec.json.Decoder(_Line).decode


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or would do.

    Attributes:
        stored: how many objects were stored.
        there: how many were there already, just as they are in the file.
    """

    stored: int
    there: int

    def to_plain(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"stored": self.stored, "there": self.there}


def export(store: Store, target: BinaryIO, *, progress: Progress = ignore) -> int:
    """Writes everything that a store keeps at one moment, in lines of JSON; gives how many objects that are.

    Args:
        store: the store. What its release does not know is exported as well.
        target: where the lines go.
        progress: called as it goes on.

    Raises:
        DatabaseError: the database cannot be read.
        OSError: the target cannot be written.
    """
    number = 0
    with store.database.reading() as connection:
        rows = Rows(connection)
        found = rows.resources()
        head = {_named(each.group, each.name): each.resource_version for each in found}
        target.write(msgspec.json.encode(_Head(_FORMAT, head)) + b"\n")
        for resource in found:
            for each in rows.all(resource, _TOGETHER):
                target.write(msgspec.json.encode(_line_of(resource.group, resource.name, each)))
                target.write(b"\n")
                number += 1
                if number % _TOGETHER == 0:
                    progress(resource.name, number, 0)
        target.write(msgspec.json.encode(_Tail(number)) + b"\n")
    return number


def _line_of(group: str, name: str, found: StoredObject) -> _Line:
    breaks = b"\n" in found.data or b"\r" in found.data
    document = msgspec.json.encode(found.data.decode()) if breaks else found.data
    return _Line(
        group=group,
        resource=name,
        namespace=found.key.namespace,
        name=found.key.name,
        uid=found.uid,
        generation=found.generation,
        created=found.created,
        written=found.written,
        deleted=found.deleted,
        document=msgspec.Raw(document),
    )


def import_(
    store: Store,
    path: Path,
    *,
    beside: Sequence[AnyScheme] = (),
    dry_run: bool = False,
    progress: Progress = ignore,
) -> Imported:
    """Stores what was exported, with uids and times as they were, and new resource versions, which no client of the other store has seen.

    The whole file is checked before anything is stored. An object that is there already, just as it is in the file, is left as it is;
    so an import that was interrupted is run again.

    Args:
        store: the store.
        path: the file.
        beside: further schemes whose objects the database keeps, such as that of a control plane's namespaces.
        dry_run: whether nothing is stored.
        progress: called as it goes on.

    Raises:
        RefusedImportError: the file is damaged, or has what this release cannot read, or objects that the store has in another state. Nothing was
            stored, unless another client creates such an object during the import.
        DatabaseError: the database cannot be written.
        OSError: the file cannot be read.
    """
    stores = (store, *map(store.beside, beside))
    total, there = _checked(stores, path)
    if dry_run:
        return Imported(total - there, there)
    _set_apart(stores, path)
    done = stored = 0
    for batch in _batches(stores, path):
        for owner in stores:
            writes = [Write(each.key, _importing(each)) for of, each in batch if of is owner]
            owner.writer.write_all(writes)
            stored += sum(each.outcome().kind is not None for each in writes)
        done += len(batch)
        progress("objects", done, total)
    return Imported(stored, done - stored)


def _set_apart(stores: Sequence[Store], path: Path) -> None:
    """Lets resource versions go on behind all that clients of the exported store can have, and answers these clients `GoneError`.

    Else a number that such a client has could be that of another state here: its write over what it was never shown would be taken, and its
    watch would leave out changes.
    """
    with path.open("rb") as stream:
        head = msgspec.json.decode(stream.readline(), type=_Head)
    for name, (store, type_) in _types_of(stores).items():
        number = head.resources.get(name, 1)
        with store.database.writing() as connection:
            rows = Rows(connection)
            rows.add_resource(type_.group, type_.name, type_.hub)
            found = rows.resource(type_.group, type_.name, locked=True)
            assert found is not None, "it was added"
            # Of what the file does not have, clients may know what was written after the export.
            is_new = found.resource_version == 1
            if (is_new or name in head.resources) and not is_apart(found.resource_version, number):
                rows.go_on_behind(found, apart_from(number, store.clock()))


def _types_of(stores: Sequence[Store]) -> dict[str, tuple[Store, StoredType]]:
    """The resource types of some stores, as an export calls them; where two have one, it is the first's."""
    return {
        _named(each.group, each.name): (store, each)
        for store in reversed(stores)
        for each in store.types.all.values()
    }


def _importing(found: StoredObject) -> Decide:
    def decide(current: StoredObject | None, moment: Moment) -> WriteDecision:
        if current is None:
            return WriteDecision("added", msgspec.structs.replace(found, written=moment.written))
        if _alike(current, found):
            return WriteDecision(None, current)
        raise RefusedImportError([_taken(str(found.key), found, current)])

    return decide


def _alike(one: StoredObject, other: StoredObject) -> bool:
    return (one.uid, one.data, one.deleted) == (other.uid, other.data, other.deleted)


def _taken(where: str, found: StoredObject, current: StoredObject) -> Finding:
    place = Place(object=where)
    there = "another object" if current.uid != found.uid else "the object in another state"
    advice = "delete it, or import into an empty store"
    return Finding(StoreCode.EXISTS, place, f"no {found.key}, or the same one", there, advice)


def _checked(stores: Sequence[Store], path: Path) -> tuple[int, int]:
    """How many objects a file has, and how many of them are stored already.

    Raises:
        RefusedImportError: something is wrong with it.
    """
    findings: list[Finding] = []
    total = there = 0
    for batch in _batches(stores, path, findings):
        total += len(batch)
        of_type: dict[tuple[Store, str], list[StoredObject]] = {}
        for store, each in batch:
            of_type.setdefault((store, each.key.resource), []).append(each)
        for (store, called), objects in of_type.items():
            current = _current(store, called, [each.key for each in objects])
            for each in objects:
                found = current.get(each.key)
                if found is not None and not _alike(found, each):
                    findings.append(_taken(str(path), each, found))
                there += found is not None
        if len(findings) >= _MOST_FINDINGS:
            break
    if findings:
        raise RefusedImportError(findings)
    return total, there


def _current(store: Store, called: str, keys: Sequence[Key]) -> dict[Key, StoredObject]:
    type_ = store.types[called]
    with store.database.reading() as connection:
        rows = Rows(connection)
        found = rows.resource(type_.group, type_.name)
        return {} if found is None else rows.current(found.id, keys)


_Owned: TypeAlias = tuple[Store, StoredObject]
"""An object, and the store of its resource type."""


def _batches(
    stores: Sequence[Store], path: Path, findings: list[Finding] | None = None
) -> Iterator[list[_Owned]]:
    """The objects of a file, some at a time."""
    batch: list[_Owned] = []
    for each in _Reader(stores, path, findings).objects():
        batch.append(each)
        if len(batch) == _TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch


class _Reader:
    """Reads a file of JSON lines.

    Args:
        stores: the stores that it is for, in one database.
        path: the file.
        findings: takes what is wrong; None where that was checked before.
    """

    def __init__(self, stores: Sequence[Store], path: Path, findings: list[Finding] | None) -> None:
        self._path = path
        self._findings = findings
        self._types = _types_of(stores)
        self._seen: set[tuple[Store, Key]] = set()

    def objects(self) -> Iterator[_Owned]:
        """The objects that nothing is wrong with."""
        with self._path.open("rb") as stream:
            head = stream.readline()
            if not self._is_head(head):
                return
            number, line = 1, b""
            for number, following in enumerate(stream, 2):
                if line and (found := self._object(number - 1, line)) is not None:
                    yield found
                line = following
        self._check_tail(number, line)

    def _is_head(self, line: bytes) -> bool:
        expected, advice = f"the first line of an export of format {_FORMAT}", "name such a file"
        try:
            head = msgspec.json.decode(line, type=_Head)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._note(1, expected, f"an error: {error}", advice)
            return False
        if head.format != _FORMAT:
            self._note(1, expected, f"format {head.format}", "use the release that wrote it")
            return False
        return True

    def _check_tail(self, number: int, line: bytes) -> None:
        expected, advice = (
            "a last line with the number of objects",
            "export again; the file was cut off",
        )
        try:
            tail = msgspec.json.decode(line, type=_Tail)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._note(number, expected, "none", advice)
            return
        if tail.objects != number - 2:
            self._note(number, f"{number - 2} objects", str(tail.objects), advice)

    def _object(self, number: int, line: bytes) -> _Owned | None:
        """The object of a line; None where something is wrong with it."""
        try:
            found = _line(line)
            data = bytes(found.document)
            if data.startswith(b'"'):
                data = str(msgspec.json.decode(data)).encode()
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            self._note(number, "an object of an export", f"an error: {error}", "export again")
            return None
        known = self._types.get(_named(found.group, found.resource))
        if known is None:
            name = _named(found.group, found.resource)
            advice = did_you_mean(name, tuple(self._types))
            self._note(number, "a resource type of the project", name, advice)
            return None
        return self._made(number, found, *known, data)

    def _made(
        self, number: int, line: _Line, store: Store, type_: StoredType, data: bytes
    ) -> _Owned | None:
        key = Key(type_.called, line.namespace, line.name)
        try:
            store.types.check(key)
            columns = columns_of(key, data)
            for each in filter(None, (line.created, line.written, line.deleted)):
                time_of(each)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a line is a finding
            self._note(number, "a stored object", f"an error: {error}", "export again")
            return None
        if columns.storage_version not in type_.readable:
            expected = f"{type_.called} in a storage version that this release can read"
            self._note(number, expected, columns.storage_version, UNREADABLE_ADVICE)
            return None
        if (store, key) in self._seen:
            self._note(number, "each object once", f"{key} again", "export again")
            return None
        self._seen.add((store, key))
        made = StoredObject(
            key=key,
            uid=line.uid,
            resource_version=0,
            generation=line.generation,
            created=line.created,
            deleted=line.deleted,
            written=line.written,
            data=data,
            **columns._asdict(),
        )
        return store, made

    def _note(self, line: int, expected: str, found: str, advice: str) -> None:
        finding = Finding(StoreCode.EXPORT, Place(str(self._path), line), expected, found, advice)
        if self._findings is None:
            raise RefusedImportError([finding])
        self._findings.append(finding)


def _named(group: str, name: str) -> str:
    return f"{group}/{name}"
