"""What all ways of working in several processes have in common, and the way that needs this machine alone."""

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from functools import partial
from multiprocessing.util import Finalize
from typing import Any, NamedTuple, Protocol, TypeVar

from trundle.workers._processes import spread

T = TypeVar("T")
R = TypeVar("R")


class Opening(NamedTuple):
    """What a process needs before its first piece of work, such as an open store. It is kept for all further pieces.

    Attributes:
        open: a function of a module that returns a context manager.
        arguments: what that is called with; picklable.
    """

    open: Callable[..., contextlib.AbstractContextManager[Any]]
    arguments: tuple[Any, ...]


class Workers(Protocol):
    """Processes that do independent pieces of work."""

    @property
    def count(self) -> int:
        """How many pieces are done at the same time."""
        ...

    def results(
        self, opening: Opening, work: Callable[[Any, T], R], pieces: Sequence[T]
    ) -> Generator[R, None, None]:
        """The results of all pieces, in the order in which they become ready.

        A piece may be done twice, where a process died in it or only seemed to.

        Args:
            opening: what each process needs.
            work: a function of a module: of what was opened, and of a piece.
            pieces: what it is called with; begun in this order.

        Raises:
            WorkerDiedError: a process ended without a result.
            DaskError: the cluster is gone.
            Exception: whatever the opening or the work raised.
        """
        ...


class Processes:
    """Processes of this machine; where one is enough, that is the present one.

    Args:
        count: how many there are.
        option: the option that says how many there are, for messages.
    """

    def __init__(self, count: int, option: str = "--jobs") -> None:
        self.count = count
        self._option = option

    def results(
        self, opening: Opening, work: Callable[[Any, T], R], pieces: Sequence[T]
    ) -> Generator[R, None, None]:
        """See `Workers.results`."""
        jobs = min(self.count, len(pieces))
        if jobs < 2:  # noqa: PLR2004 - two are several
            yield from _here(opening, work, pieces)
            return
        yield from spread(
            partial(_do, work),
            pieces,
            jobs=jobs,
            start=_start,
            arguments=(opening,),
            option=self._option,
        )


def _here(
    opening: Opening, work: Callable[[Any, T], R], pieces: Sequence[T]
) -> Generator[R, None, None]:
    if pieces:
        with opening.open(*opening.arguments) as opened:
            for piece in pieces:
                yield work(opened, piece)


class _Kept:
    """What this process has opened: one thing at a time, so that pieces of two runs never meet.

    Threads of a process take turns. Nothing is lost by that where pieces compute, and what is imported for one run is never used by another.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._stack = contextlib.ExitStack()
        self._key = ""
        self._opened: Any = None

    def do(self, key: str, opening: Callable[[], Opening], work: Callable[[Any], R]) -> R:
        """Does something with what is opened.

        Args:
            key: what it is known by; what has another key is closed.
            opening: gives what is to be opened where nothing of that key is open.
            work: what to do with it.
        """
        with self._lock:
            if self._key != key:
                self.close(self._key)
                wanted = opening()
                self._opened = self._stack.enter_context(wanted.open(*wanted.arguments))
                self._key = key
            return work(self._opened)

    def close(self, key: str, *, wait: bool = True) -> None:
        """Closes what is open, if it has this key.

        Args:
            key: the key.
            wait: whether to wait for a piece of work that is being done; else what is in use stays open.
        """
        if self._lock.acquire(blocking=wait):
            try:
                if self._key == key:
                    self._key, self._opened = "", None
                    self._stack.close()
            finally:
                self._lock.release()


KEPT = _Kept()
"""What this process has opened."""

_OWN = "own"
"""The key of what a process of this machine opens, which lives for one run."""


def _start(opening: Opening) -> None:
    Finalize(None, KEPT.close, args=(_OWN,), exitpriority=0)  # As the process ends by itself.
    KEPT.do(_OWN, lambda: opening, lambda _: None)


def _do(work: Callable[[Any, T], R], piece: T) -> R:
    return KEPT.do(_OWN, _unopened, lambda opened: work(opened, piece))


def _unopened() -> Opening:
    raise AssertionError("a process opens what it needs before its first piece")
