"""Branches of a run that take turns: one goes on until it waits or ends, and then the next one does.

So a run repeats exactly, as long as what it waits for ends in the same order. All branches run in one thread. Coroutines of functions and
natives run on one event loop, in a thread of its own; it goes on only where all branches wait.
"""

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

from trundle.engine._errors import EngineCode, EngineError

Value = TypeVar("Value")

_MOST_BRANCHES = 5_000
"""How many branches there may be at once: each keeps what it has on the stack."""


class Turns:
    """The branches of one session.

    Attributes:
        innermost: the innermost call of a method in the branch that runs; it knows the one around it as `outer`. None for none.
    """

    def __init__(self) -> None:
        self.innermost: Any = None
        self._hub: greenlet | None = None
        self._loop: _Loop | None = None
        self._begin()

    def _begin(self) -> None:
        self._ready: deque[greenlet] = deque()
        self._parked: dict[greenlet, Any] = {}
        self._sleeping: list[tuple[float, int, greenlet]] = []
        self._slept = 0
        self._outside = 0
        self._locked: list[greenlet] = []
        self._waiting_for: dict[greenlet, greenlet] = {}

    def all(self, tasks: Sequence[Callable[[], Value]], at_once: int) -> list[Value]:
        """What tasks yield, in their order; they take turns.

        Args:
            tasks: the tasks; all of them are done, also after one has failed, but for those that have not begun when a limit ends the run.
            at_once: how many may have begun and not ended.

        Raises:
            EngineError: that makes too many branches; then nothing is done.
            Exception: what the first task in their order raises that fails.
        """
        results: list[Any] = [None] * len(tasks)
        errors: list[Exception | None] = [None] * len(tasks)
        left = deque(range(len(tasks)))
        this, going, outer = getcurrent(), min(at_once, len(tasks)), self.innermost
        if len(self._waiting_for) + going > _MOST_BRANCHES:
            message = f"more than {_MOST_BRANCHES} branches run at once"
            advice = "let fewer run at once: `Limit` of `Parallel`, or smaller lists for `pselect`"
            raise EngineError(EngineCode.LIMIT, message, advice=advice)

        def branch() -> None:
            nonlocal going
            self.innermost = outer
            while left:
                at = left.popleft()
                try:
                    results[at] = tasks[at]()
                except Exception as error:  # noqa: BLE001 - it is raised when all are done
                    errors[at] = error
                    if isinstance(error, EngineError) and error.code is EngineCode.LIMIT:
                        left.clear()  # The run ends: code cannot catch it
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
        if self._loop is None:
            self._loop = _Loop()
        loop, this = self._loop, getcurrent()
        loop.begin(this, coroutine)
        self._outside += 1
        self._park()
        return loop.result(this)  # type: ignore[no-any-return]

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
            loop.close()

    def all_frames(self) -> Iterator[Any]:
        """The calls of methods in all branches; those around several branches more than once."""
        for innermost in (self.innermost, *self._parked.values()):
            frame = innermost
            while frame is not None:
                yield frame
                frame = frame.outer

    def _park(self) -> None:
        this, innermost = getcurrent(), self.innermost
        self._parked[this] = innermost
        try:
            self._current_hub().switch()
        except BaseException:
            if self._hub is None or self._hub.dead:
                self.close()
                self._begin()
            raise
        finally:
            self._parked.pop(this, None)
            self.innermost = innermost

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
            if self._outside and not self._ready:
                assert self._loop is not None
                finished = self._loop.run(pause)
                self._outside -= len(finished)
                self._ready += finished
            if self._ready or pause is None:
                return
            if not self._outside:
                time.sleep(pause)


class _Loop:
    """An event loop in a thread of its own, so that a program may run one, too."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "trundle-engine")
        self._loop = asyncio.new_event_loop()
        self._starting: list[tuple[greenlet, Coroutine[Any, Any, Any]]] = []
        self._tasks: dict[greenlet, asyncio.Task[Any]] = {}
        self._going_on: asyncio.Task[Any] | None = None

    def begin(self, branch: greenlet, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Notes what a branch waits for."""
        self._starting.append((branch, coroutine))

    def run(self, seconds: float | None) -> list[greenlet]:
        """Goes on until something ends, or for some time.

        Returns:
            The branches for which something has ended, in the order in which they began to wait.
        """
        return self._thread.submit(self._loop.run_until_complete, self._advance(seconds)).result()

    async def _advance(self, seconds: float | None) -> list[greenlet]:
        for branch, coroutine in self._starting:
            self._tasks[branch] = asyncio.ensure_future(coroutine)
        self._starting.clear()
        self._going_on = asyncio.current_task()
        try:
            done, _ = await asyncio.wait(
                self._tasks.values(), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            self._going_on = None
        return [branch for branch, each in self._tasks.items() if each in done]

    async def _cancel(self) -> None:
        for each in self._tasks.values():
            each.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def result(self, branch: greenlet) -> Any:
        """What the coroutine of a branch returned.

        Raises:
            BaseException: what it raised.
        """
        return self._tasks.pop(branch).result()

    def close(self) -> None:
        """Cancels what still runs, also where something has interrupted `run`, and ends the thread."""
        for _, coroutine in self._starting:
            coroutine.close()
        going_on = self._going_on
        if going_on is not None:
            self._loop.call_soon_threadsafe(going_on.cancel)
        self._thread.submit(self._loop.run_until_complete, self._cancel()).result()
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()
