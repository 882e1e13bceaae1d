"""Threads for requests that wait for hooks, whose code is the project's and may take any time."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from trundle.api._status import ApiError

_T = TypeVar("_T")
_RETRY = 5
"""After how many seconds a client shall try again."""
_IDLE = 60.0
"""After how many seconds without work a thread ends."""


class HookThreads:
    """Runs what waits for hooks. A hook that never comes back holds up neither others for ever nor the end of the process.

    Args:
        most: how many threads there are at most.
        patience: how many seconds a request waits for a free one.
    """

    def __init__(self, most: int, patience: float) -> None:
        self._most, self._patience = most, patience
        self._work: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._threads = self._idle = 0

    async def run(self, work: Callable[[], _T]) -> _T:
        """Does some work in a thread.

        Raises:
            ApiError: no thread was free in time; nothing was done.
        """
        future: Future[_T] = Future()
        self._add(future, work)
        result = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(asyncio.shield(result), self._patience)
        except TimeoutError:
            if not future.cancel():
                return await result
            message = f"Too many requests, please try again later: {self._most} wait for admission"
            details = {"retryAfterSeconds": _RETRY}
            raise ApiError(429, "TooManyRequests", message, details) from None
        except asyncio.CancelledError:
            future.cancel()
            raise

    def _add(self, future: Future[Any], work: Callable[[], Any]) -> None:
        with self._changed:
            self._work.append((future, work))
            if len(self._work) <= self._idle:
                self._changed.notify()
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._run, name="admission", daemon=True).start()

    def _run(self) -> None:
        while (taken := self._taken()) is not None:
            future, work = taken
            if future.set_running_or_notify_cancel():
                _settle(future, work)
            del taken, future, work

    def _taken(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """What is to be done next; None where there was nothing for long."""
        with self._changed:
            while not self._work:
                self._idle += 1
                is_called = self._changed.wait(_IDLE)
                self._idle -= 1
                if not is_called and not self._work:
                    self._threads -= 1
                    return None
            return self._work.popleft()


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - who waits for it raises it
        future.set_exception(error)
    else:
        future.set_result(result)
