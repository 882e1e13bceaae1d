"""Writes in transactions, one for all that come together."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from trundle._clock import Clock
from trundle.database import BusyError, Database, UnreachableError
from trundle.store._decisions import Decide, Moment, WriteDecision
from trundle.store._group_commit import GroupCommit
from trundle.store._records import Key, StoredObject
from trundle.store._resources import StoredTypes
from trundle.store._rows import ResourceRow, Revision, Rows
from trundle.store._times import going_on, time_text

_MOST = 256
"""How many writes share a transaction at most."""


class Write:
    """A write that is to be decided and stored.

    Attributes:
        key: the object's key.
        decide: says what becomes of it.
        result: what became of it.
        error: why it was refused.
    """

    __slots__ = ("decide", "error", "key", "result")

    def __init__(self, key: Key, decide: Decide) -> None:
        self.key = key
        self.decide = decide
        self.result: WriteDecision | None = None
        self.error: Exception | None = None

    def outcome(self) -> WriteDecision:
        """What became of it.

        Raises:
            TrundleError: it was refused.
        """
        if self.error is not None:
            raise self.error
        assert self.result is not None, "it was committed"
        return self.result


class Writer:
    """Writes to a store.

    Args:
        database: the database.
        types: the resource types.
        clock: gives the time of writes.
        committed: called after each transaction.
    """

    def __init__(
        self, database: Database, types: StoredTypes, clock: Clock, committed: Callable[[], None]
    ) -> None:
        self._database = database
        self._types = types
        self._clock = clock
        self._committed = committed
        self._group = GroupCommit(self._commit, _MOST)

    def prepared(self, key: Key, decide: Decide) -> Write:
        """A write that is to be stored.

        Raises:
            TrundleError: there can be no such object.
        """
        self._types.check(key)
        return Write(key, decide)

    def write(self, write: Write, *, dry_run: bool) -> WriteDecision:
        """Decides about an object, and stores that durably.

        Raises:
            TrundleError: the decision refuses it, or the database cannot be written. Nothing was changed.
        """
        if dry_run:
            with self._database.reading() as connection:
                self._decide_all(Rows(connection), [write], dry_run=True)
        else:
            self._group.submit([write])
        return write.outcome()

    def commit(self, writes: Sequence[Write]) -> None:
        """Stores some writes durably, with those of other threads in one transaction; each says itself what became of it."""
        try:
            self._group.submit(writes)
        except Exception as error:  # noqa: BLE001 - it is what became of each of them
            for each in writes:
                each.error = error

    def write_all(self, writes: Sequence[Write]) -> None:
        """Stores some writes in one transaction; each says itself what became of it.

        Raises:
            DatabaseError: the database cannot be written. Nothing was changed.
        """
        with self._database.writing() as connection:
            self._decide_all(Rows(connection), writes, dry_run=False)
        self._committed()

    def _commit(self, writes: Sequence[Write]) -> None:
        decided = False
        try:
            with self._database.writing() as connection:
                self._decide_all(Rows(connection), writes, dry_run=False)
                decided = True
        except (BusyError, UnreachableError):
            raise
        except Exception:
            if decided or len(writes) == 1:
                raise
            for each in writes:  # One of them may be what the database refuses.
                self._commit_alone(each)
        self._committed()

    def _commit_alone(self, write: Write) -> None:
        try:
            with self._database.writing() as connection:
                self._decide_all(Rows(connection), [write], dry_run=False)
        except Exception as error:  # noqa: BLE001 - its own thread raises it
            write.error = error

    def _decide_all(self, rows: Rows, writes: Sequence[Write], *, dry_run: bool) -> None:
        of_type: dict[str, list[Write]] = {}
        for each in writes:
            of_type.setdefault(each.key.resource, []).append(each)
        for called in sorted(of_type, key=lambda each: self._types[each].identity):
            self._decide_type(rows, called, of_type[called], dry_run=dry_run)

    def _decide_type(
        self, rows: Rows, called: str, writes: Sequence[Write], *, dry_run: bool
    ) -> None:
        type_ = self._types[called]
        resource = rows.resource(type_.group, type_.name, locked=not dry_run)
        if resource is None:
            if dry_run:
                resource = ResourceRow(0, type_.group, type_.name, 1, 1, "", type_.hub)
            else:
                rows.add_resource(type_.group, type_.name, type_.hub)
                resource = rows.resource(type_.group, type_.name, locked=True)
                assert resource is not None, "it was added"
        now = self._clock()
        moment = Moment(
            time_text(now),
            going_on(now, resource.written),
            self._types.storing(type_, resource.storage_version),
        )
        current = rows.current(resource.id, {each.key for each in writes})
        revisions = _decided(writes, current, moment, resource.resource_version)
        if revisions and not dry_run:
            rows.add(resource, revisions, moment.written)


def _decided(
    writes: Sequence[Write],
    current: dict[Key, StoredObject],
    moment: Moment,
    resource_version: int,
) -> list[Revision]:
    """Decides about writes in their order, each over what those before it left; gives what is to be stored."""
    revisions: list[Revision] = []
    for each in writes:
        before = current.get(each.key)
        each.error = each.result = None
        try:
            decision = each.decide(before, moment)
        except Exception as error:  # noqa: BLE001 - its own thread raises it, the others are stored
            each.error = error
            continue
        if decision.kind is not None:
            resource_version += 1
            written = replace(decision.object, resource_version=resource_version)
            previous = None if before is None else before.resource_version
            last = replace(decision.last or decision.object, resource_version=resource_version)
            revisions.append(Revision(decision.kind, last, previous))
            decision = WriteDecision(decision.kind, written)
            if decision.kind == "deleted":
                current.pop(each.key)
            else:
                current[each.key] = written
        each.result = decision
    return revisions
