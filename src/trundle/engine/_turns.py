"""Branches of a run that take turns: one goes on until it waits or ends, and then the next one does.

So a run repeats exactly, as long as what it waits for ends in the same order. All branches run in one thread; only coroutines of
functions and natives run in a thread of their own, on one event loop.
"""

import asyncio
import heapq
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from greenlet import getcurrent, greenlet

from trundle.engine._errors import EngineCode, EngineError

if TYPE_CHECKING:
    from concurrent.futures import Future

Value = TypeVar("Value")


class Turns:
    """The branches of one session.

    Attributes:
        depth: how many calls are nested in the branch that runs.
    """

    def __init__(self) -> None:
        self.depth = 0
        self._hub: greenlet | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begin()

    def _begin(self) -> None:
        self._ready: deque[greenlet] = deque()
        self._sleeping: list[tuple[float, int, greenlet]] = []
        self._slept = 0
        self._finished: queue.SimpleQueue[greenlet] = queue.SimpleQueue()
        self._outside = 0
        self._locked: list[greenlet] = []
        self._waiting_for: dict[greenlet, greenlet] = {}

    def all(self, tasks: Sequence[Callable[[], Value]], at_once: int) -> list[Value]:
        """What tasks yield, in their order; they take turns.

        Args:
            tasks: the tasks; all of them are done, also after one has failed.
            at_once: how many may have begun and not ended.

        Raises:
            Exception: what the first task in their order raises that fails.
        """
        results: list[Any] = [None] * len(tasks)
        errors: list[Exception | None] = [None] * len(tasks)
        left = deque(range(len(tasks)))
        this, going, depth = getcurrent(), min(at_once, len(tasks)), self.depth

        def branch() -> None:
            nonlocal going
            self.depth = depth
            while left:
                at = left.popleft()
                try:
                    results[at] = tasks[at]()
                except Exception as error:  # noqa: BLE001 - it is raised when all are done
                    errors[at] = error
            del self._waiting_for[getcurrent()]
            going -= 1
            if not going:
                self._ready.append(this)

        for _ in range(going):
            made = greenlet(branch, parent=self._current_hub())
            self._waiting_for[made] = this
            self._ready.append(made)
        if tasks:
            self._park()
        error = next((each for each in errors if each is not None), None)
        if error is not None:
            raise error
        return results

    def sleep(self, seconds: float) -> None:
        """Lets others take their turn for some time."""
        self._slept += 1
        heapq.heappush(self._sleeping, (time.monotonic() + seconds, self._slept, getcurrent()))
        self._park()

    def wait(self, coroutine: Coroutine[Any, Any, Value]) -> Value:
        """What a coroutine returns; others take their turn meanwhile."""
        future: Future[Value] = asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())
        self._outside += 1
        future.add_done_callback(partial(self._note, getcurrent()))
        try:
            self._park()
        except BaseException:
            future.cancel()
            raise
        return future.result()

    def _note(self, branch: greenlet, _: object) -> None:
        self._finished.put(branch)

    def wait_in(self, line: deque[greenlet]) -> None:
        """Lets others take their turn until one of them takes this branch out of a line, with `free`.

        Raises:
            EngineError: no other branch can go on, so that never happens.
        """
        this = getcurrent()
        line.append(this)
        self._locked.append(this)
        try:
            self._park()
        except EngineError:
            line.remove(this)
            raise

    def free(self, line: deque[greenlet]) -> None:
        """Readies the first branch of a line."""
        first = line.popleft()
        self._locked.remove(first)
        self._ready.append(first)

    def branches(self) -> tuple[greenlet, ...]:
        """The branch that runs, the one that waits for it to end, and so on."""
        found = [getcurrent()]
        while found[-1] in self._waiting_for:
            found.append(self._waiting_for[found[-1]])
        return tuple(found)

    def close(self) -> None:
        """Ends the event loop, if there is one."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def _park(self) -> None:
        depth = self.depth
        try:
            self._current_hub().switch()
        except BaseException:
            if self._hub is None or self._hub.dead:
                self._begin()
            raise
        finally:
            self.depth = depth

    def _current_hub(self) -> greenlet:
        if self._hub is None or self._hub.dead:
            self._hub = greenlet(self._serve)
        return self._hub

    def _serve(self) -> None:
        """Gives each branch its turn, as long as the session lives."""
        while True:
            self._wake()
            if self._ready:
                self._ready.popleft().switch()
            elif self._locked:
                blocked = self._locked.pop()
                message = "branches of `Parallel` wait for each other"
                advice = "let them call synchronized methods in the same order"
                blocked.throw(EngineError(EngineCode.INVALID_OPERATION, message, advice=advice))

    def _wake(self) -> None:
        """Readies what need not wait any longer; where nothing is ready, once something is."""
        while True:
            now = time.monotonic()
            while self._sleeping and self._sleeping[0][0] <= now:
                self._ready.append(heapq.heappop(self._sleeping)[2])
            pause = self._sleeping[0][0] - now if self._sleeping else None
            while self._outside:
                try:
                    found = self._finished.get(block=not self._ready, timeout=pause)
                except queue.Empty:
                    break
                self._ready.append(found)
                self._outside -= 1
            if self._ready or pause is None:
                return
            if not self._outside:
                time.sleep(pause)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(self._loop,), daemon=True).start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
