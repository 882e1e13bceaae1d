"""What is done with a store in the background: one thing at a time, with progress, until it ends or is stopped."""

import threading
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from trundle._clock import now
from trundle.errors import Finding, Kind, TrundleError
from trundle.store import Move, Rolled, Store, check, roll

Task: TypeAlias = Literal["check", "try", "roll"]


class BusyStoreError(TrundleError):
    """Something else is being done with the store."""

    kind = Kind.CONFLICT


class _Stopped(Exception):  # noqa: N818 - it is no error
    """The user asked to stop."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something is.

    Attributes:
        task: what is done.
        resource: the resource type that is worked on; empty before the first.
        done: how many of its revisions are done.
        total: how many there are.
        state: `running`, or how it ended.
        rolled: what became of resource types; of a roll, and of one that is tried.
        moves: the storage versions that moved.
        findings: what cannot be converted.
        error: why it failed; empty where it did not.
    """

    task: Task
    resource: str = ""
    done: int = 0
    total: int = 0
    state: Literal["running", "ended", "stopped", "failed"] = "running"
    rolled: tuple[Rolled, ...] = ()
    moves: tuple[Move, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: str = ""


class Work:
    """Rolls and checks a store, in a thread.

    Args:
        store: the store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._progress: Progress | None = None
        self.since = now()
        """From when on it is known what was done: it is kept in memory, so a restart of the server forgets it."""

    @property
    def progress(self) -> Progress | None:
        """How far what is done is, or how the last thing ended; None where nothing was done yet."""
        return self._progress

    def start(self, task: Task) -> None:
        """Starts something.

        Args:
            task: `check` reads every object at every version, `try` converts what a roll would and writes nothing, `roll` rewrites it.

        Raises:
            BusyStoreError: something else is being done.
        """
        with self._lock:
            if self._progress is not None and self._progress.state == "running":
                raise BusyStoreError("Something is being done with the store. Wait, or stop it.")
            self._stopping.clear()
            self._progress = Progress(task)
        # The process may end meanwhile: what was rolled until then is, and the next roll goes on.
        threading.Thread(target=self._run, args=(task,), name="storage", daemon=True).start()

    def stop(self) -> None:
        """Asks what is being done to stop, which it does after a batch."""
        self._stopping.set()

    def _run(self, task: Task) -> None:
        try:
            self._do(task)
        except _Stopped:
            self._note(state="stopped")
        except Exception as error:  # noqa: BLE001 - it is shown to the user
            self._note(state="failed", error=str(error) or type(error).__name__)

    def _do(self, task: Task) -> None:
        if task == "check":
            self._note(findings=check(self._store, progress=self._step), state="ended")
            return
        done = roll(self._store, dry_run=task == "try", progress=self._step)
        self._note(rolled=done.resources, moves=done.moves, findings=done.findings, state="ended")

    def _step(self, resource: str, done: int, total: int) -> None:
        if self._stopping.is_set():
            raise _Stopped
        self._note(resource=resource, done=done, total=total)

    def _note(self, **changes: Any) -> None:
        assert self._progress is not None, "something was started"
        self._progress = replace(self._progress, **changes)
