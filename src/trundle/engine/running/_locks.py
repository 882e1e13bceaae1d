"""Methods with `Synchronize`: calls of one that are alike go one after the other."""

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from trundle.engine._turns import Turns

Key: TypeAlias = tuple[Any, ...]
"""The method whose calls wait for each other, with the object where each object has its own."""


@dataclass(frozen=True, slots=True)
class Synchronized:
    """Which calls of a method wait for each other.

    Attributes:
        on_this: only those on the same object.
        on_args: only those that have equal values of these arguments.
    """

    on_this: bool = True
    on_args: tuple[str, ...] = ()

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any] | None) -> "Synchronized | None":
        """What a method has attached; None where its calls do not wait: nothing, or what leaves nothing by which they are alike."""
        if meta is None:
            return None
        names = meta.get("onArgs", ())
        found = cls(meta.get("onThis", True), (names,) if isinstance(names, str) else tuple(names))
        return found if found.on_this or found.on_args else None


class _Lock:
    """Which branch is in the methods of a lock, and which ones wait."""

    def __init__(self, values: Sequence[Any], owner: Any) -> None:
        self.values = values
        self.owner = owner
        self.depth = 0
        self.line: deque[Any] = deque()


class Locks:
    """The locks of a session."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._held: dict[Key, list[_Lock]] = {}

    @contextlib.contextmanager
    def holding(self, key: Key, values: Sequence[Any]) -> Iterator[None]:
        """Waits until no other branch holds a lock, and holds it; a branch that holds it already, or begun by one, goes on at once.

        Args:
            key: the method.
            values: the arguments that distinguish calls.

        Raises:
            EngineError: branches wait for each other.
        """
        branches = self._turns.branches()
        locks = self._held.setdefault(key, [])
        lock = next((each for each in locks if each.values == values), None)
        if lock is None:
            lock = _Lock(values, branches[0])
            locks.append(lock)
        elif lock.owner not in branches:
            self._turns.wait_in(lock.line)
        lock.depth += 1
        try:
            yield
        finally:
            lock.depth -= 1
            if not lock.depth:
                self._pass_on(key, lock)

    def _pass_on(self, key: Key, lock: _Lock) -> None:
        if lock.line:
            lock.owner = lock.line[0]
            self._turns.free(lock.line)
            return
        locks = self._held[key]
        locks.remove(lock)
        if not locks:
            del self._held[key]
