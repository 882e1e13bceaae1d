"""What is done with a store in the background: one thing at a time, with progress, until it ends or is stopped.

It is written down in the store, so that it is known after a restart, and to other servers of the store.
"""

import contextlib
import datetime as dt
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import msgspec

from trundle._clock import Timer
from trundle.errors import Finding, TrundleError
from trundle.store import (
    CheckPart,
    Move,
    Pace,
    Rolled,
    RollPart,
    Store,
    WorkLog,
    check_part,
    plan_check,
    plan_roll,
    roll_part,
    together,
)

Task: TypeAlias = Literal["check", "try", "roll"]
_PARTS = 20
"""Into how many parts each resource type is divided at most: what is found in one is written down when it is done."""
_PAUSE = 1.0
"""Seconds between two notes of how far something is, at least."""
MOST_FINDINGS = 100
"""How many findings are kept."""
_LONGEST = 2000
"""How many characters of a finding are kept."""


class _Stopped(Exception):  # noqa: N818 - it is no error
    """The user asked to stop."""


@dataclass(frozen=True, slots=True)
class Found:
    """What cannot be converted.

    Attributes:
        place: the object.
        message: why.
    """

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """How many revisions of a resource type were rewritten.

    Attributes:
        resource: the resource type.
        storage_version: the version that they are stored in from now on.
        rolled: how many, by the storage version that they had.
    """

    resource: str
    storage_version: str
    rolled: dict[str, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something is.

    Attributes:
        task: what is done.
        began: when it began.
        noted: when this was known.
        resource: the resource type that is worked on; empty before the first.
        done: how many of its revisions are done.
        total: how many there are.
        state: `running`, or how it ended.
        rolled: what became of resource types; of a roll, and of one that is tried.
        moves: the storage versions that moved.
        findings: what cannot be converted, the first of it.
        found: how much that is.
        error: why it failed; empty where it did not.
    """

    task: Task
    began: dt.datetime | None = None
    noted: dt.datetime | None = None
    resource: str = ""
    done: int = 0
    total: int = 0
    state: Literal["running", "ended", "stopped", "failed", "interrupted"] = "running"
    rolled: tuple[Rewritten, ...] = ()
    moves: tuple[Move, ...] = ()
    findings: tuple[Found, ...] = ()
    found: int = 0
    error: str = ""


class Work:
    """Rolls and checks a store, in a thread.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._log = WorkLog(store)
        self._timer = Timer()
        self._noted = self._timer.seconds()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._number = 0
        self._progress: Progress | None = None

    @property
    def progress(self) -> Progress | None:
        """How far what is done is, or how the last thing ended, whichever server does or did it; None where nothing was done yet.

        Raises:
            DatabaseError: the database cannot be read.
        """
        last = self._log.last()
        with self._lock:
            own, number = self._progress, self._number
        if last is None or last.number < number:
            return own
        if last.number == number and (last.is_running or last.is_interrupted):
            return own  # It is further than what was written down, or that failed.
        try:
            found = msgspec.convert({**last.progress, "task": last.task}, Progress)
        except msgspec.ValidationError as error:
            reason = f"What was written down of it cannot be read: {error}"
            found = Progress("check", state="failed", error=reason)
        found = replace(found, began=last.began, noted=last.noted)
        return replace(found, state="interrupted") if last.is_interrupted else found

    def start(self, task: Task) -> None:
        """Starts something.

        Args:
            task: `check` reads every object at every version, `try` converts what a roll would and writes nothing, `roll` rewrites it.

        Raises:
            BusyStoreError: something else is being done, by this server or by another one.
            DatabaseError: the database cannot be written.
        """
        with contextlib.ExitStack() as left:
            left.enter_context(self._log.working())
            number = self._log.begin(task)
            self._stopping.clear()
            with self._lock:
                self._number, self._progress = number, Progress(task, self._store.clock())
            # The process may end meanwhile: what was rolled until then is, and the next roll goes on.
            arguments = task, left.pop_all()
            threading.Thread(target=self._run, args=arguments, name="storage", daemon=True).start()

    def stop(self) -> None:
        """Asks what is being done to stop, which it does after a batch.

        Raises:
            DatabaseError: the database cannot be written.
        """
        self._stopping.set()
        self._log.stop()

    def _run(self, task: Task, working: contextlib.ExitStack) -> None:
        with working:
            try:
                if task == "check":
                    self._check()
                else:
                    self._roll(dry_run=task == "try")
                self._end(state="ended")
            except _Stopped:
                self._end(state="stopped")
            except Exception as error:  # noqa: BLE001 - it is shown to the user
                self._end(state="failed", error=_text(str(error) or type(error).__name__))

    def _check(self) -> None:
        findings, parts = plan_check(self._store, _PARTS)
        self._keep(**self._with(findings))
        steps = _Steps(parts)
        for each in parts:
            done = check_part(self._store, each, lambda *step: self._step(*steps.at(*step)))
            steps.end()
            self._keep(**self._with(done))

    def _roll(self, *, dry_run: bool) -> None:
        moves, parts = plan_roll(self._store, _PARTS, dry_run=dry_run)
        self._keep(moves=moves)
        steps, pace = _Steps(parts), Pace(None)
        done: list[Rolled] = []
        for each in parts:
            rolled = roll_part(
                self._store,
                each,
                pace,
                dry_run=dry_run,
                progress=lambda *step: self._step(*steps.at(*step)),
            )
            steps.end()
            done.append(rolled)
            rewritten = (
                Rewritten(one.resource, one.storage_version, one.rolled) for one in together(done)
            )
            self._keep(rolled=tuple(rewritten), **self._with(rolled.findings))

    def _step(self, resource: str, done: int, total: int) -> None:
        self._note(resource=resource, done=done, total=total)  # It is done, stopped or not.
        if self._stopping.is_set():
            raise _Stopped
        if self._timer.seconds() - self._noted >= _PAUSE:
            self._keep()

    def _with(self, findings: Iterable[Finding]) -> dict[str, Any]:
        """What is found by now."""
        assert self._progress is not None, "something was started"
        more = tuple(findings)
        before = self._progress.findings
        kept = (
            Found(_text(str(each.place)), _text(each.message))
            for each in more[: max(0, MOST_FINDINGS - len(before))]
        )
        return {"findings": (*before, *kept), "found": self._progress.found + len(more)}

    def _note(self, **changes: Any) -> None:
        with self._lock:
            assert self._progress is not None, "something was started"
            self._progress = replace(self._progress, noted=self._store.clock(), **changes)

    def _keep(self, **changes: Any) -> None:
        """Writes down how far it is, and then shows it. Where it cannot be written down now, it will be later."""
        assert self._progress is not None, "something was started"
        self._noted = self._timer.seconds()
        values = _plain(replace(self._progress, **changes))
        with contextlib.suppress(TrundleError):
            if not self._log.note(self._number, values, is_running=True):
                self._stopping.set()
        self._note(**changes)

    def _end(self, **changes: Any) -> None:
        """Writes down how it ended; where that is not possible, the page of this server knows."""
        assert self._progress is not None, "something was started"
        ended = replace(self._progress, **changes)
        with contextlib.suppress(TrundleError):
            self._log.note(self._number, _plain(ended), is_running=False)
        self._note(**changes)


def _text(text: str) -> str:
    """A text as a database can keep it."""
    return text[:_LONGEST].replace("\0", "\ufffd").encode(errors="replace").decode()


def _plain(progress: Progress) -> dict[str, Any]:
    """What is written down of it; the times are written beside."""
    values = asdict(replace(progress, began=None, noted=None))
    return {name: value for name, value in values.items() if value not in (None, (), "", 0)}


class _Steps:
    """Counts over the parts of resource types.

    Args:
        parts: all parts, in the order in which they are done.
    """

    def __init__(self, parts: Iterable[CheckPart | RollPart]) -> None:
        self._totals: Counter[str] = Counter()
        for each in parts:
            self._totals[each.resource] += each.count
        self._before: Counter[str] = Counter()
        self._now = "", 0

    def at(self, resource: str, done: int, total: int) -> tuple[str, int, int]:
        """How far a resource type is, where one of its parts is so far."""
        del total
        self._now = resource, done
        whole = self._before[resource] + done
        return resource, whole, max(whole, self._totals[resource])

    def end(self) -> None:
        """Notes that a part is done."""
        resource, done = self._now
        self._before[resource] += done
        self._now = resource, 0
