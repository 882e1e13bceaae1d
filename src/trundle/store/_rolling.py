"""Rolls stored objects forward: rewrites them in the storage version that is agreed on.

A revision is rewritten in its place, with the resource version that it has: no API version shows a difference, so watchers need no
event. Writers add revisions and never change what they hold, so rolling cannot write over anything newer, and what it reads is what it
rewrites. It locks the resource type as writers do before it locks revisions, so neither waits for the other in a circle. Which revisions are left is seen in the rows; so it goes on after being killed, wherever that was.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from trundle._clock import Timer
from trundle.errors import Finding, Place
from trundle.runtime import AnyScheme, ConversionError
from trundle.store._decisions import resource_beside
from trundle.store._documents import columns_of, members_of
from trundle.store._errors import MovedVersionError, StoreCode
from trundle.store._leases import Move, check_readable, move_storage_versions
from trundle.store._records import StoredObject
from trundle.store._rows import Rows
from trundle.store._store import Store
from trundle.version import ApiVersion

_BATCH = 100

Progress = Callable[[str, int, int], None]
"""Called with what is rolled, how many revisions are done, and how many there are."""


def ignore(step: str, done: int, total: int) -> None:
    """Shows no progress."""
    del step, done, total


@dataclass(slots=True)
class Rolled:
    """What rolling did to a resource type, or would do.

    Attributes:
        resource: the resource type, as the scheme calls it.
        storage_version: the version that it is stored in from now on.
        rolled: how many revisions were rewritten, by the storage version that they had.
        findings: what is left as it is, and why.
    """

    resource: str
    storage_version: str
    rolled: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def to_plain(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "resource": self.resource,
            "storageVersion": self.storage_version,
            "rolled": self.rolled,
            "findings": [each.to_plain() for each in self.findings],
        }


@dataclass(frozen=True, slots=True)
class Roll:
    """What rolling did, or would do.

    Attributes:
        moves: storage versions that moved, or that servers hold back.
        resources: what happened to each resource type of which something is stored.
    """

    moves: tuple[Move, ...]
    resources: tuple[Rolled, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is left as it is, and why."""
        return tuple(each for rolled in self.resources for each in rolled.findings)

    def to_plain(self) -> dict[str, Any]:
        """What was done as plain values."""
        moves = [
            {"resource": x.resource, "from": x.before, "to": x.after, "heldBy": x.held_by}
            for x in self.moves
        ]
        return {"moves": moves, "resources": [each.to_plain() for each in self.resources]}


def roll(
    store: Store,
    *,
    rate: float | None = None,
    verify: bool = False,
    dry_run: bool = False,
    progress: Progress = ignore,
    timer: Timer | None = None,
) -> Roll:
    """Rewrites everything that is stored in another version than what is agreed on, beside servers that read and write.

    Storage versions move up first where all servers can read that. An object that cannot be converted is a finding; it stays as it is, and
    all others are rolled. What is killed midway goes on with the next run.

    Args:
        store: the store.
        rate: how many revisions are rewritten in a second at most; as many as can be where None.
        verify: whether each revision is read at every version before and after; where two differ it is a finding, and stays as it is.
        dry_run: whether nothing is written: all is converted, and the result says what would happen.
        progress: called after each batch.
        timer: measures the time for the rate.

    Raises:
        NewerShapeError: the store keeps what this release cannot read.
        MovedVersionError: a server of an earlier release came back meanwhile; what was rolled until then is.
        DatabaseError: the database cannot be written; what was rolled until then is.
    """
    moves, parts = plan_roll(store, dry_run=dry_run)
    pace = Pace(rate, timer)
    done = [
        roll_part(store, each, pace, verify=verify, dry_run=dry_run, progress=progress)
        for each in parts
    ]
    return Roll(moves, together(done))


@dataclass(frozen=True, slots=True)
class RollPart:
    """Revisions of a resource type that are rolled one after the other; parts can be rolled at the same time, by several processes.

    Attributes:
        resource: the resource type, as the scheme calls it.
        version: the version that they are to be stored in.
        after: the resource version behind which they begin.
        up_to: the last one.
        count: how many there are, about.
    """

    resource: str
    version: str
    after: int
    up_to: int
    count: int


def plan_roll(
    store: Store, number: int = 1, *, dry_run: bool = False
) -> tuple[tuple[Move, ...], tuple[RollPart, ...]]:
    """Moves storage versions, and finds what there is to roll.

    Args:
        store: the store.
        number: into how many parts each resource type is divided at most.
        dry_run: whether nothing moves.

    Returns:
        What moved, and the parts; one at least for each resource type of which something is stored.

    Raises:
        NewerShapeError: the store keeps what this release cannot read.
        DatabaseError: the database cannot be written.
    """
    moves = move_storage_versions(store, dry_run=dry_run)
    after = {each.resource: each.after for each in moves if not each.held_by}
    parts: list[RollPart] = []
    with store.database.reading() as connection:
        rows = Rows(connection)
        if not dry_run:
            check_readable(store, rows)
        stored = {(each.group, each.name): each for each in rows.resources()}
        for type_ in store.types.all.values():
            found = stored.get((type_.group, type_.name))
            if found is not None:
                version = after.get(type_.called, found.storage_version)
                count, first, last = rows.span_unrolled(found, version)
                parts += _divided(RollPart(type_.called, version, first - 1, last, count), number)
    return moves, tuple(parts)


def _divided(whole: RollPart, number: int) -> Iterator[RollPart]:
    number = max(1, min(number, whole.count // _BATCH))
    edges = [
        whole.after + (whole.up_to - whole.after) * each // number for each in range(number + 1)
    ]
    for begin, end in pairwise(edges):
        yield RollPart(whole.resource, whole.version, begin, end, whole.count // number)


def roll_part(
    store: Store,
    part: RollPart,
    pace: "Pace",
    *,
    verify: bool = False,
    dry_run: bool = False,
    progress: Progress = ignore,
) -> Rolled:
    """Rolls the revisions of a part; see `roll`.

    Raises:
        MovedVersionError: see `roll`.
        DatabaseError: the database cannot be written; what was rolled until then is.
    """
    return _Work(store, part, verify=verify).run(pace, progress, dry_run=dry_run)


def together(parts: Iterable[Rolled]) -> tuple[Rolled, ...]:
    """What became of resource types, from what became of their parts."""
    found: dict[str, Rolled] = {}
    for each in parts:
        whole = found.setdefault(each.resource, Rolled(each.resource, each.storage_version))
        for version, number in each.rolled.items():
            whole.rolled[version] = whole.rolled.get(version, 0) + number
        whole.findings += each.findings
    return tuple(found.values())


class _Work:
    """Rolling of one part."""

    def __init__(self, store: Store, part: RollPart, *, verify: bool) -> None:
        type_ = store.types[part.resource]
        with store.database.reading() as connection:
            found = Rows(connection).resource(type_.group, type_.name)
        assert found is not None, "something of it is stored"
        self._store = store
        self._type = type_
        self._found = found
        self._part = part
        self._version = part.version
        self._verify = verify
        self._scheme = store.types.storing(type_, part.version)

    def run(self, pace: "Pace", progress: Progress, *, dry_run: bool) -> Rolled:
        result = Rolled(self._type.called, self._version)
        done, total = 0, self._part.count
        for batch in self._batches():
            rolled = self._converted(batch, result)
            if rolled and not dry_run:
                with self._store.database.writing() as connection:
                    rows = Rows(connection)
                    self._require_agreed(rows)
                    rows.rewrite(self._found, rolled)
            done += len(batch)
            progress(self._type.called, done, max(done, total))
            if not dry_run:
                pace.keep(len(rolled))
        return result

    def _require_agreed(self, rows: Rows) -> None:
        """Locks the resource type, and refuses to go on where a server of an earlier release came back meanwhile.

        Raises:
            MovedVersionError: the agreed storage version is an earlier one now, which that server can read.
        """
        now = rows.resource(self._found.group, self._found.name, locked=True)
        assert now is not None, "resource types stay"
        if ApiVersion.parse(now.storage_version) < ApiVersion.parse(self._version):
            expected = f"{self._type.called} to be stored in {self._version} from now on"
            found = f"{now.storage_version}, to which a server of an earlier release went back"
            advice = "roll again when that server is gone"
            raise MovedVersionError(self._store.where, expected, found, advice)

    def _batches(self) -> Iterator[Sequence[StoredObject]]:
        after, up_to = self._part.after, self._part.up_to
        while True:
            with self._store.database.reading() as connection:
                rows = Rows(connection)
                batch = rows.unrolled(
                    self._found, self._type.called, self._version, after, _BATCH, up_to
                )
            if not batch:
                return
            yield batch
            after = batch[-1].resource_version

    def _converted(self, batch: Sequence[StoredObject], result: Rolled) -> list[StoredObject]:
        made = []
        for each in batch:
            found = rolled_object(each, self._scheme)
            if isinstance(found, StoredObject) and self._verify:
                found = self._verified(each, found)
            if isinstance(found, StoredObject):
                before = each.storage_version
                result.rolled[before] = result.rolled.get(before, 0) + 1
                made.append(found)
            else:
                result.findings.append(found)
        return made

    def _verified(self, before: StoredObject, after: StoredObject) -> StoredObject | Finding:
        """The object after rolling, where every version shows what it showed before."""
        for version in self._scheme.resources[self._type.called].versions:
            views = [_view(self._scheme, version, each) for each in (before, after)]
            if views[0] != views[1]:
                expected = f"what {version} shows to be the same in {after.storage_version}"
                advice = "it is left as it is; report it"
                return object_finding(before, StoreCode.DIFFERS, expected, "a difference", advice)
        return after


def rolled_object(found: StoredObject, scheme: AnyScheme) -> StoredObject | Finding:
    """An object in the shape that a scheme stores; a finding where it cannot be converted."""
    try:
        data = scheme.convert_json(
            found.data, resource=resource_beside(found.key, members_of(found.data), scheme)
        )
        columns = columns_of(found.key, data)
    except Exception as error:  # noqa: BLE001 - one object must not block others
        return _unconvertible(found, error)
    return replace(found, data=data, storage_version=columns.storage_version, labels=columns.labels)


def _unconvertible(found: StoredObject, error: Exception) -> Finding:
    reason = (
        str(error) if isinstance(error, ConversionError) else f"{type(error).__name__}: {error}"
    )
    expected = f"an object that can be converted from {found.storage_version}"
    advice = "its bytes are as they were; correct it, or delete it"
    return object_finding(found, StoreCode.UNCONVERTIBLE, expected, reason, advice)


def object_finding(
    found: StoredObject, code: StoreCode, expected: str, there: str, advice: str
) -> Finding:
    """A finding about an object."""
    place = Place(object=f"{found.key} at resource version {found.resource_version}")
    return Finding(code, place, expected, there, advice)


def _view(scheme: AnyScheme, version: str, found: StoredObject) -> bytes | str:
    """What a version shows of an object, or why it cannot."""
    try:
        view: bytes = scheme.read(version, found.data)
    except ConversionError as error:
        return f"an error: {error}"
    return view


class Pace:
    """Keeps to a rate.

    Args:
        rate: how many in a second at most.
        timer: measures time, and waits.
    """

    def __init__(self, rate: float | None, timer: Timer | None = None) -> None:
        self._rate = rate
        self._timer = timer or Timer()
        self._start = self._timer.seconds()
        self._done = 0

    def keep(self, number: int) -> None:
        """Waits until so many more may have been done."""
        if self._rate is None:
            return
        self._done += number
        early = self._start + self._done / self._rate - self._timer.seconds()
        if early > 0:
            self._timer.sleep(early)
