"""Finds everything that is wrong with what a store keeps: reads each object at every version that is served."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trundle.errors import Finding
from trundle.runtime import ResourceType
from trundle.store._documents import columns_of
from trundle.store._errors import StoreCode
from trundle.store._records import Key, StoredObject
from trundle.store._rolling import Progress, ignore, object_finding, rolled_object
from trundle.store._rows import Rows
from trundle.store._status import dropped_in, status
from trundle.store._store import Store
from trundle.store._tokens import Token

_LEAST = 100
"""Fewer objects are not worth a part of their own."""


@dataclass(frozen=True, slots=True)
class CheckPart:
    """Objects of a resource type that are checked one after the other; parts can be checked at the same time, by several processes.

    Attributes:
        resource: the resource type, as the scheme calls it.
        at: the resource version at which all parts see them.
        after: the key behind which they begin; None for the first.
        up_to: the last key; None where there is none after them.
        count: how many there are, about.
    """

    resource: str
    at: int
    after: Key | None
    up_to: Key | None
    count: int


def check(store: Store, *, progress: Progress = ignore) -> tuple[Finding, ...]:
    """Everything that is wrong with what a store keeps.

    Each object is read at every version that is served, and converted to what would be stored; what cannot be is a finding, and so is an
    object that lacks what each version requires.

    Args:
        store: the store.
        progress: called as it goes on.

    Raises:
        DatabaseError: the database cannot be read.
    """
    findings, parts = plan_check(store)
    return (*findings, *(each for part in parts for each in check_part(store, part, progress)))


def plan_check(store: Store, number: int = 1) -> tuple[tuple[Finding, ...], tuple[CheckPart, ...]]:
    """What is wrong with whole resource types, and what else is to be checked.

    Args:
        store: the store.
        number: into how many parts each resource type is divided at most.

    Raises:
        DatabaseError: the database cannot be read.
    """
    types = {(each.group, each.name): each for each in store.types.all.values()}
    findings = dropped_in(store.database, {name: each.readable for name, each in types.items()})
    totals = {(each.group, each.resource): each.objects for each in status(store).resources}
    parts: list[CheckPart] = []
    with store.database.reading() as connection:
        rows = Rows(connection)
        for each in rows.resources():
            type_ = types.get((each.group, each.name))
            if type_ is not None and (total := totals.get((each.group, each.name), 0)):
                size = max(_LEAST, -(-total // number))
                keys = rows.every(each, type_.called, size) if size < total else ()
                edges = (None, *keys, None)
                parts += (
                    CheckPart(
                        type_.called,
                        each.resource_version,
                        after,
                        up_to,
                        max(0, min(size, total - at * size)),
                    )
                    for at, (after, up_to) in enumerate(pairwise(edges))
                )
    return findings, tuple(parts)


def check_part(store: Store, part: CheckPart, progress: Progress = ignore) -> list[Finding]:
    """What is wrong with the objects of a part; see `check`.

    Raises:
        GoneError: it took so long that the moment was compacted meanwhile; begin again.
        DatabaseError: the database cannot be read.
    """
    findings: list[Finding] = []
    for number, found in enumerate(_objects(store, part), 1):
        findings += _wrong(store, found)
        progress(part.resource, number, max(number, part.count))
    return findings


def _objects(store: Store, part: CheckPart) -> Iterator[StoredObject]:
    token = ""
    if part.after is not None:
        token = Token(part.resource, part.at, part.after.namespace, part.after.name).text()
    while True:
        page = store.list(part.resource, token=token, at=None if token else part.at)
        for each in page.objects:
            if part.up_to is not None and each.key > part.up_to:
                return
            yield each
        token = page.token
        if not token:
            return


def _wrong(store: Store, found: StoredObject) -> Iterator[Finding]:
    resource = store.scheme.resources[found.key.resource]
    if found.storage_version not in resource.storage:
        return  # It is counted among what the release dropped.
    rolled = rolled_object(found, store.scheme)
    if isinstance(rolled, Finding):
        yield rolled
        return
    unshown = [*_unshown(store, found, resource)]
    yield from unshown or _incomplete(store, found, resource)
    columns = columns_of(found.key, found.data)
    for name, value in columns._asdict().items():
        if getattr(found, name) != value:
            there, advice = repr(getattr(found, name)), "restore the database from a backup"
            yield object_finding(found, StoreCode.UNCONVERTIBLE, f"{name} {value!r}", there, advice)


def _unshown(store: Store, found: StoredObject, resource: ResourceType) -> Iterator[Finding]:
    """The served versions that cannot show an object."""
    for version in resource.versions:
        if version in store.scheme.served:
            try:
                store.shown(found, version)
            except Exception as error:  # noqa: BLE001 - one object must not block others
                expected, advice = f"an object that {version} can show", "correct it, or delete it"
                yield object_finding(found, StoreCode.UNCONVERTIBLE, expected, str(error), advice)


def _incomplete(store: Store, found: StoredObject, resource: ResourceType) -> Iterator[Finding]:
    """An object that no version can have written: each requires something for which nothing is stored.

    Where one of them can have it, the others lack something because it was written so, and show what they are configured to show.
    """
    lacking: dict[str, Sequence[str]] = {}
    for version in sorted(resource.versions, key=lambda each: each != found.written_with):
        try:
            lacking[version] = store.scheme.lacking(version, found.data)
        except Exception:  # noqa: BLE001 - a hook may need what is lacking, and one object must not block others
            return
        if not lacking[version]:
            return
    if lacking:
        expected = "what at least one version requires"
        each = (f"{', '.join(paths)} in {version}" for version, paths in lacking.items())
        there = f"nothing stored for {'; '.join(each)}"
        advice = "restore it from a backup, or write what is missing; readers are shown other values there"
        yield object_finding(found, StoreCode.INCOMPLETE, expected, there, advice)
