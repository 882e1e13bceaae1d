"""What is done with a store in the background, written down: the last piece of work, whichever server does or did it.

Who works has a lock that the operating system, or the database server, frees when the process dies. So work that is written down as running
while no process has the lock was interrupted.
"""

import contextlib
import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from trundle.database import BusyError
from trundle.errors import Kind, TrundleError
from trundle.store import _tables as t
from trundle.store._store import Store
from trundle.store._times import time_of, time_text

_LOCK = "work on the store"
_W = t.WORK.c


class BusyStoreError(TrundleError):
    """Something else is being done with the store."""

    kind = Kind.CONFLICT


@dataclass(frozen=True, slots=True)
class WorkNote:
    """What is known of a piece of work.

    Attributes:
        number: its number; each has a higher one than those before.
        task: what is done.
        began: when it began.
        noted: when this was written down.
        is_running: whether a process does it.
        is_interrupted: whether it is not done any more and did not come to its end.
        progress: what else is to be known; plain values.
    """

    number: int
    task: str
    began: dt.datetime
    noted: dt.datetime
    is_running: bool
    is_interrupted: bool
    progress: Mapping[str, Any]


class WorkLog:
    """Writes down the last piece of work, and reads it.

    Each method raises `DatabaseError` where the database cannot be used.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._interrupted = 0

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Keeps other work out while the block runs; it ends with the process.

        Raises:
            BusyStoreError: other work is going on.
        """
        with contextlib.ExitStack() as left:
            try:
                left.enter_context(self._store.database.alone(_LOCK))
            except BusyError:
                message = "Something is being done with the store. Wait, or stop it."
                raise BusyStoreError(message) from None
            yield

    def begin(self, task: str) -> int:
        """Writes down that something begins, in place of what was done before; gives its number.

        Who calls it has `working`.
        """
        time = time_text(self._store.clock())
        with self._store.database.writing() as connection:
            before = _last(connection)
            number = 1 if before is None else before.number + 1
            connection.execute(delete(t.WORK))
            row = {"number": number, "task": task, "began": time, "noted": time}
            flags = {"is_running": True, "is_to_stop": False}
            connection.execute(insert(t.WORK), {**row, **flags, "progress": {}})
        return number

    def note(self, number: int, progress: Mapping[str, Any], *, is_running: bool) -> bool:
        """Writes down how far a piece of work is, or how it ended.

        Returns:
            Whether it is to go on: no user asked for its end, and nothing else was begun since.
        """
        values = {"progress": progress, "is_running": is_running}
        values["noted"] = time_text(self._store.clock())
        with self._store.database.writing() as connection:
            connection.execute(update(t.WORK).where(_W.number == number).values(values))
            found = connection.execute(select(_W.is_to_stop).where(_W.number == number)).scalar()
        return found is not None and not found

    def stop(self) -> None:
        """Asks for the end of what is done, in any process."""
        with self._store.database.writing() as connection:
            connection.execute(update(t.WORK).where(_W.is_running).values(is_to_stop=True))

    def last(self) -> WorkNote | None:
        """The last piece of work; None before the first."""
        found = self._read()
        if found is None or not found.is_running:
            return found
        if found.number != self._interrupted:
            try:
                with self.working():
                    found = self._read()  # It may have ended meanwhile.
            except BusyStoreError:
                return found
            if found is None or not found.is_running:
                return found
            self._interrupted = found.number  # So looking keeps no work out again.
        return replace(found, is_running=False, is_interrupted=True)

    def _read(self) -> WorkNote | None:
        with self._store.database.reading() as connection:
            return _last(connection)


def _last(connection: Connection) -> WorkNote | None:
    row = connection.execute(select(*_W).order_by(_W.number.desc()).limit(1)).first()
    if row is None:
        return None
    return WorkNote(
        number=row.number,
        task=row.task,
        began=time_of(row.began),
        noted=time_of(row.noted),
        is_running=row.is_running,
        is_interrupted=False,
        progress=row.progress,
    )
