"""Does work of tenants in threads by turns, so that one tenant does not keep the others waiting."""

import collections
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from trundle.api._status import ApiError
from trundle.errors import expectation

_RETRY = 5
"""After how many seconds a client tries again."""


class _Work(NamedTuple):
    tenant: str
    do: Callable[..., None]
    arguments: tuple[Any, ...]


class Places:
    """Counts what tenants do at a time.

    Args:
        most: how much one tenant may do.
        what: what is counted, as messages name it.
    """

    def __init__(self, most: int, what: str) -> None:
        self._most, self._what = most, what
        self._taken = collections.Counter[str]()
        self._changing = threading.Lock()

    def take(self, tenant: str) -> None:
        """Takes a place.

        Raises:
            ApiError: the tenant has as many as it may have.
        """
        with self._changing:
            if self._taken[tenant] >= self._most:
                expected = f"at most {self._most} {self._what} of a tenant at a time"
                message = expectation(expected, f"one more of {tenant}", "try again later")
                raise ApiError(429, "TooManyRequests", message, {"retryAfterSeconds": _RETRY})
            self._taken[tenant] += 1

    def leave(self, tenant: str) -> None:
        """Gives a place back."""
        with self._changing:
            self._taken[tenant] -= 1
            self._taken += collections.Counter()  # Without those that have none.


class Turns:
    """Threads in which tenants take turns.

    Args:
        most: how much is done at a time.
        most_of_one: how much of that is of one tenant.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._threads = ThreadPoolExecutor(most, "environments")
        self._waiting = list[_Work]()
        self._running = collections.Counter[str]()
        self._changing = threading.Condition()

    def submit(self, tenant: str, do: Callable[..., None], *arguments: Any) -> None:
        """Does something for a tenant when it is its turn."""
        with self._changing:
            self._waiting.append(_Work(tenant, do, arguments))
            self._begin()

    def close(self) -> None:
        """Waits until all is done."""
        with self._changing:
            self._changing.wait_for(lambda: not self._waiting and not self._running)
        self._threads.shutdown()

    def _begin(self) -> None:
        while self._running.total() < self._most:
            free = [x for x in self._waiting if self._running[x.tenant] < self._most_of_one]
            if not free:
                return
            turn = min(free, key=lambda each: self._running[each.tenant])
            self._waiting.remove(turn)
            self._running[turn.tenant] += 1
            self._threads.submit(self._do, turn)

    def _do(self, work: _Work) -> None:
        try:
            work.do(*work.arguments)
        finally:
            with self._changing:
                self._running[work.tenant] -= 1
                self._running += collections.Counter()  # Without those that have none.
                self._begin()
                self._changing.notify_all()
