"""Methods with `Synchronize`: calls of one with the same object and arguments go one after the other."""

import contextlib
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any

from trundle.engine._turns import Turns


class _Lock:
    """Which branch is in the methods of a lock, and which ones wait."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.depth = 0
        self.line: deque[Any] = deque()


class Locks:
    """The locks of a session."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._held: dict[Hashable, _Lock] = {}

    @contextlib.contextmanager
    def holding(self, key: Hashable) -> Iterator[None]:
        """Waits until no other branch holds a lock, and holds it; a branch that holds it already, or begun by one, goes on at once.

        Raises:
            EngineError: branches wait for each other.
        """
        branches = self._turns.branches()
        lock = self._held.get(key)
        if lock is None:
            lock = self._held[key] = _Lock(branches[0])
        elif lock.owner not in branches:
            self._turns.wait_in(lock.line)
        lock.depth += 1
        try:
            yield
        finally:
            lock.depth -= 1
            if not lock.depth:
                self._pass_on(key, lock)

    def _pass_on(self, key: Hashable, lock: _Lock) -> None:
        if lock.line:
            lock.owner = lock.line[0]
            self._turns.free(lock.line)
        else:
            del self._held[key]
