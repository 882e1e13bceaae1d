"""Writes in steps: what requests that come together read and store is read and stored together.

A request that writes stops where it needs an object, and where it has a write to be stored. So one thread takes all that wait up to there,
asks the database once for all of them, and goes on: a transaction is shared, and no threads wait for each other.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

from trundle.api._requests import Answer
from trundle.store import Key, Store, StoredObject, Write, missing

_PATIENCE = 0.25
"""For which part of the time that the last requests took others are waited for."""
_LONGEST = 0.005
"""Seconds for which others are waited for at most."""


class Lookup:
    """A step that needs an object as it is now.

    Args:
        store: keeps the object.
        key: its key.

    Raises:
        InvalidKeyError: no object can be called so.
    """

    __slots__ = ("_found", "key", "store")

    def __init__(self, store: Store, key: Key) -> None:
        store.types.check(key)
        self.store = store
        self.key = key
        self._found: StoredObject | Exception | None = None

    def settle(self, found: StoredObject | Exception | None) -> None:
        """Says what was found."""
        self._found = found

    def outcome(self) -> StoredObject:
        """The object.

        Raises:
            NoSuchObjectError: there is none.
            DatabaseError: the database cannot be read.
        """
        if isinstance(self._found, Exception):
            raise self._found
        if self._found is None:
            raise missing(self.key)
        return self._found


class Storing(NamedTuple):
    """A step that has a write to be stored; its outcome is that of the write.

    Attributes:
        store: stores it.
        write: the write.
    """

    store: Store
    write: Write

    @property
    def key(self) -> Key:
        """The object's key."""
        return self.write.key


Step: TypeAlias = Lookup | Storing
Steps: TypeAlias = Generator[Step, None, Answer]


def done(steps: Steps) -> Answer:
    """Takes the steps of one request.

    Raises:
        ApiError: what the request raises.
    """
    try:
        while True:
            _take([next(steps)])
    except StopIteration as end:
        answer: Answer = end.value
        return answer


def _take(steps: Sequence[Step]) -> None:
    """Does what steps need: what they read first, then what they store."""
    of_store: dict[Store, tuple[list[Lookup], list[Write]]] = {}
    for each in steps:
        lookups, writes = of_store.setdefault(each.store, ([], []))
        if isinstance(each, Lookup):
            lookups.append(each)
        else:
            writes.append(each.write)
    for store, (lookups, writes) in of_store.items():
        if lookups:
            _look_up(store, lookups)
        if writes:
            store.commit(writes)


def _look_up(store: Store, lookups: Iterable[Lookup]) -> None:
    try:
        found = store.find_all({each.key for each in lookups})
    except Exception as error:  # noqa: BLE001 - each of them raises it
        for each in lookups:
            each.settle(error)
        return
    for each in lookups:
        each.settle(found.get(each.key))


class _Going:
    """A request on its way.

    Args:
        steps: its steps.
        answer: gets what the client is answered.

    Attributes:
        step: what it needs before it can go on; None where it has not begun, or has ended.
    """

    __slots__ = ("_answer", "_found", "_steps", "step")

    def __init__(self, steps: Steps, answer: asyncio.Future[Answer]) -> None:
        self._steps = steps
        self._answer = answer
        self._found: Answer | Exception | None = None
        self.step: Step | None = None

    def go_on(self) -> None:
        """Goes on to the next step, or to the end; then `settle` answers the client."""
        self.step = None
        try:
            self.step = next(self._steps)
        except StopIteration as end:
            self._found = end.value
        except Exception as error:  # noqa: BLE001 - it is what the client is answered
            self._found = error

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop in which the client waits."""
        return self._answer.get_loop()

    def settle(self) -> None:
        """Answers the client; called in its loop.

        An error keeps this object, as its traceback has `go_on`, so the object keeps neither the error nor the future that has it: they would stay
        until the collector of circles comes.
        """
        answer, found = self._answer, self._found
        del self._answer, self._found
        if answer.done():  # The client has gone.
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            assert found is not None, "it has ended"
            answer.set_result(found)


class Together:
    """Takes the steps of requests, those of all that came meanwhile together. The thread ends when nothing waits.

    Clients that were answered together come back one after the other. The first of them would be stored alone, so the thread waits a moment for
    as many as there were before, as the group commit of a store does. A client that writes alone never waits.

    The event loop and the thread wake each other once for all, not for each request: the last one that the thread waits for wakes it.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, "writes")
        self._lock = threading.Condition()
        self._waiting: deque[_Going] = deque()
        self._is_busy = False
        self._before = 0
        self._awaited = 0
        self._took = 0.0

    async def done(self, steps: Steps) -> Answer:
        """The answer of a request.

        Raises:
            ApiError: what the request raises.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append(_Going(steps, answer))
            if len(self._waiting) == self._awaited:
                self._lock.notify()
            begins, self._is_busy = not self._is_busy, True
        if begins:
            self._threads.submit(self._run)
        try:
            return await answer
        finally:
            del answer  # The traceback of an error has this frame.

    def _run(self) -> None:
        going: list[_Going] = []
        while (came := self._came(len(going))) is not None:
            start = time.monotonic()
            self._before = len(going) + len(came)
            going = _gone_on(came, (*going, *came))
            for kind in (Lookup, Storing):  # So that all that came share a transaction.
                going = _taken(going, kind)
            self._took = time.monotonic() - start

    def _came(self, going: int) -> list[_Going] | None:
        """The requests that came meanwhile; None where nothing is to be done any more.

        Args:
            going: how many are on their way.
        """
        with self._lock:
            self._awaited = self._before - going
            if self._before > 1 and len(self._waiting) < self._awaited:
                self._lock.wait(min(self._took * _PATIENCE, _LONGEST))
            self._awaited = 0
            came = list(self._waiting)
            self._waiting.clear()
            if not going and not came:
                self._is_busy = False
                self._before = 0
                return None
            return came


def _taken(going: Sequence[_Going], kind: type[Step]) -> list[_Going]:
    """Takes the steps of one kind whose turn it is; gives the requests that are still on their way."""
    steps = {each: step for each, step in _in_turn(going).items() if isinstance(step, kind)}
    _take(list(steps.values()))
    return _gone_on(steps, going)


def _gone_on(those: Iterable[_Going], going: Iterable[_Going]) -> list[_Going]:
    """Lets some requests go on, and answers the clients of those that end with that.

    Args:
        those: the requests.
        going: all that are on their way, these among them.

    Returns:
        Those that are still on their way.
    """
    ended: dict[asyncio.AbstractEventLoop, list[_Going]] = {}
    for each in those:
        each.go_on()
        if each.step is None:
            ended.setdefault(each.loop, []).append(each)
    for loop, of_loop in ended.items():
        with contextlib.suppress(RuntimeError):  # The server has ended.
            loop.call_soon_threadsafe(_settle, of_loop)
    return [each for each in going if each.step is not None]


def _settle(ended: Iterable[_Going]) -> None:
    for each in ended:
        each.settle()


def _in_turn(going: Iterable[_Going]) -> dict[_Going, Step]:
    """The steps that are taken now: of requests for one object those of the first, as all others would be in conflict with it."""
    found: dict[_Going, Step] = {}
    taken: set[tuple[Store, Key]] = set()
    for each in going:
        if each.step is not None and (each.step.store, each.step.key) not in taken:
            taken.add((each.step.store, each.step.key))
            found[each] = each.step
    return found
