"""What a store would lose if a version went: what is stored in it, what cannot leave it, and what no other version shows."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trundle.errors import Finding, listed
from trundle.runtime import Lost, ResourceType, member_path
from trundle.store._decisions import resource_beside
from trundle.store._documents import members_of
from trundle.store._errors import StoreCode, UnknownVersionError
from trundle.store._records import StoredObject
from trundle.store._resources import StoredType
from trundle.store._rolling import Progress, ignore, object_finding, rolled_object
from trundle.store._rows import ResourceRow, Rows
from trundle.store._status import StoredVersion, status
from trundle.store._store import Store
from trundle.version import ApiVersion, own_spelling

_BATCH = 500
_EVERYWHERE = frozenset(("apiVersion", "kind", "type", "metadata"))


@dataclass(slots=True)
class LostPlace:
    """Values that one version alone shows.

    Attributes:
        path: where they are at that version; `[]` stands for any element of a list.
        objects: how many objects have one.
        example: the first of these objects.
        value: what it has there.
    """

    path: str
    objects: int
    example: str
    value: Any

    def to_plain(self) -> dict[str, Any]:
        """The same as plain values."""
        example = {"object": self.example, "value": self.value}
        return {"path": self.path, "objects": self.objects, "example": example}


@dataclass(slots=True)
class TypeLosses:
    """What would be lost of a resource type.

    Attributes:
        resource: the resource type, as the scheme calls it.
        version: the version that would go.
        stored: what is stored in it; None for nothing.
        is_written: whether what is written now is stored in it.
        is_hub: whether it is the newest version that the release stores; nothing can be rolled out of it.
        remaining: the served versions that are left.
        unconvertible: what cannot be stored in another version, and why.
        unseen: the objects that the version does not show, so that nothing can be said about their values, and why.
        places: the values that no other served version shows, by path.
    """

    resource: str
    version: str
    stored: StoredVersion | None
    is_written: bool
    is_hub: bool
    remaining: tuple[str, ...]
    unconvertible: list[Finding] = field(default_factory=list)
    unseen: list[Finding] = field(default_factory=list)
    places: dict[str, LostPlace] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether the version can go without any loss."""
        found = (self.stored, self.is_written, self.unconvertible, self.unseen, self.places)
        return not any(found)

    def to_plain(self) -> dict[str, Any]:
        """The same as plain values."""
        stored = self.stored
        return {
            "resource": self.resource,
            "version": self.version,
            "stored": {
                "objects": stored.objects if stored else 0,
                "earlier": stored.earlier if stored else 0,
                "written": self.is_written,
            },
            "remaining": list(self.remaining),
            "unconvertible": [each.to_plain() for each in self.unconvertible],
            "unseen": [each.to_plain() for each in self.unseen],
            "lost": [self.places[each].to_plain() for each in sorted(self.places)],
        }


def losses(store: Store, version: str, progress: Progress = ignore) -> tuple[TypeLosses, ...]:
    """What would be lost if a version went, with the project as it is, which still has it.

    A value counts as lost where the version shows it, and no other served version can express it: what it is converted to does not convert
    back to it. Nothing is changed.

    Args:
        store: the store.
        version: the API version, or storage version.
        progress: called as it goes on.

    Raises:
        UnknownVersionError: no resource type has it.
        DatabaseError: the database cannot be read.
    """
    kept = {(each.group, each.resource): each for each in status(store).resources}
    with store.database.reading() as connection:
        rows = {(each.group, each.name): each for each in Rows(connection).resources()}
    found = []
    for called, type_ in store.types.all.items():
        resource = store.scheme.resources[called]
        known = {ApiVersion.parse(x): x for x in (*resource.versions, *resource.storage)}
        own = own_spelling(version, known)
        if own is None:
            continue
        name = known[own]
        there = kept.get((type_.group, type_.name))
        stored = {each.version: each for each in there.versions} if there else {}
        left = [x for x in resource.versions if x in store.scheme.served and x != name]
        written = there is not None and there.storage_version == name
        result = TypeLosses(called, name, stored.get(name), written, type_.hub == name, tuple(left))
        if there is not None:
            row = rows[type_.group, type_.name]
            result.unconvertible += _unconvertible(store, type_, row, name)
            if name in resource.versions:
                _look(store, result, resource, there.objects, progress)
        found.append(result)
    if not found:
        versions = {x for each in store.scheme.resources.values() for x in each.versions}
        expected = f"a version of the project: {listed(sorted(versions))}"
        raise UnknownVersionError(store.where, expected, version, "correct it")
    return tuple(found)


def _unconvertible(
    store: Store, type_: StoredType, row: ResourceRow, version: str
) -> Iterator[Finding]:
    """What is stored in a version, and cannot be stored in that of the release."""
    after = 0
    while type_.hub != version:
        with store.database.reading() as connection:
            batch = Rows(connection).unrolled(row, type_.called, type_.hub, after, _BATCH)
        if not batch:
            return
        after = batch[-1].resource_version
        for each in batch:
            if each.storage_version == version:
                rolled = rolled_object(each, store.scheme)
                if isinstance(rolled, Finding):
                    yield rolled


def _look(
    store: Store, result: TypeLosses, resource: ResourceType, total: int, progress: Progress
) -> None:
    """Finds what no other version shows of the objects of a resource type."""
    for number, found in enumerate(store.stream(result.resource), 1):
        try:
            if found.storage_version in resource.storage:
                _add(result, found, _only_there(store, result, found))
        except Exception as error:  # noqa: BLE001 - one object must not block others
            expected, advice = (
                f"an object that {result.version} can show",
                "correct it, or delete it",
            )
            code = StoreCode.UNCONVERTIBLE
            result.unseen.append(object_finding(found, code, expected, str(error), advice))
        progress(result.resource, number, max(number, total))


def _add(result: TypeLosses, found: StoredObject, values: dict[str, Any]) -> None:
    seen: set[str] = set()
    for path, value in values.items():
        general = _general(path)
        place = result.places.get(general)
        if place is None:
            result.places[general] = LostPlace(general, 1, str(found.key), value)
        elif general not in seen:
            place.objects += 1
        seen.add(general)


def _only_there(store: Store, result: TypeLosses, found: StoredObject) -> dict[str, Any]:
    """The values that no other served version can express, by path."""
    view = store.scheme.read(result.version, found.data)
    common: dict[str, Any] | None = None
    for version in result.remaining:
        outcome = store.scheme.attempt(
            view,
            version,
            resource=resource_beside(found.key, members_of(view), store.scheme),
            losses=True,
        )
        lost = _shown(view) if outcome.error else outcome.lost
        leaves = dict(_leaves(lost))
        common = leaves if common is None else {x: y for x, y in common.items() if x in leaves}
        if not common:
            return {}
    return dict(_leaves(_shown(view))) if common is None else common


def _leaves(lost: Sequence[Lost]) -> Iterator[tuple[str, Any]]:
    """What was lost, as single values by path; so that what several versions lose can be compared."""
    for each in lost:
        yield from _below(each.path, each.value)


def _shown(view: bytes) -> list[Lost]:
    """All that a version shows, but for what every version has."""
    members: dict[str, Any] = json.loads(view)
    return [Lost(member_path("$", x), y) for x, y in members.items() if x not in _EVERYWHERE]


def _general(path: str) -> str:
    """A path with `[]` for the elements of lists."""
    return re.sub(r"\[\d+\]", "[]", path)


def _below(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _below(member_path(path, name), member)
    elif isinstance(value, list) and value:
        for number, element in enumerate(value):
            yield from _below(f"{path}[{number}]", element)
    else:
        yield path, value
