"""Group commit: what several threads write at the same time goes into one transaction.

There is no thread of its own. The first one that comes commits for all that wait, itself included; meanwhile others
gather behind it, and the first of these goes on.

Threads that were answered together come back one after the other. The first of them would commit alone, and all others would wait
for that; so it waits a moment for as many as there were before. A thread that writes alone never waits.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

_T = TypeVar("_T")


_PATIENCE = 0.25
"""For which part of the time that the last commit took others are waited for."""
_LONGEST = 0.005
"""Seconds for which others are waited for at most."""


class _Waiting(Generic[_T]):
    """What a thread commits, and how it waits for that.

    Attributes:
        items: what is to be committed.
        done: whether it was.
        awake: set when it was, or when its thread has to commit.
        error: what the thread that committed raised.
    """

    __slots__ = ("awake", "done", "error", "items")

    def __init__(self, items: Sequence[_T]) -> None:
        self.items = items
        self.done = False
        self.error: BaseException | None = None
        self.awake = threading.Event()


class GroupCommit(Generic[_T]):
    """Gathers what threads commit.

    Args:
        commit: commits some items; each item says itself what became of it. What it raises, each of their threads raises.
        most: of how many threads it is given the items at once.
    """

    def __init__(self, commit: Callable[[Sequence[_T]], None], most: int) -> None:
        self._commit = commit
        self._most = most
        self._lock = threading.Condition()
        self._before = 0
        self._took = 0.0
        self._queue: list[_Waiting[_T]] = []
        self._busy = False

    def submit(self, items: Sequence[_T]) -> None:
        """Commits items, together with those of other threads; returns when that is done."""
        mine = _Waiting(items)
        with self._lock:
            self._queue.append(mine)
            self._lock.notify()  # The one that waits for others, if any.
            leading, self._busy = not self._busy, True
        try:
            if not leading:
                mine.awake.wait()
                leading = not mine.done
            if leading:
                self._lead()
        except BaseException:  # An interrupt: others must not wait for this thread.
            self._leave(mine, leading=leading or mine.awake.is_set())
            raise
        if mine.error is not None:
            raise mine.error

    def _lead(self) -> None:
        with self._lock:
            if self._before > 1:
                patience = min(self._took * _PATIENCE, _LONGEST)
                self._lock.wait_for(lambda: len(self._queue) >= self._before, patience)
            batch, self._queue = self._queue[: self._most], self._queue[self._most :]
        error: BaseException | None = None
        start = time.monotonic()
        try:
            self._commit([item for each in batch for item in each.items])
        except BaseException as raised:  # noqa: BLE001 - each of the threads raises it
            error = raised
        self._before, self._took = len(batch), time.monotonic() - start
        for each in batch:
            each.error, each.done = error, True
        self._pass_on()
        for each in batch:
            each.awake.set()

    def _pass_on(self) -> None:
        with self._lock:
            self._busy = bool(self._queue)
            if self._queue:
                self._queue[0].awake.set()

    def _leave(self, mine: _Waiting[_T], *, leading: bool) -> None:
        with self._lock:
            if mine in self._queue:
                self._queue.remove(mine)
        if leading and not mine.done:
            self._pass_on()
