"""Several processes that serve on one port.

They are forks of the process that has loaded everything, so they share its memory and start at once. Each listens by itself, and the kernel deals connections
out between them.
"""

import contextlib
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn

from trundle._clock import Timer

_PAUSE = 1.0
"""How many seconds pass before another process takes the place of one that ended."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ServerProcesses:
    """Keeps processes running until SIGINT or SIGTERM, and then waits until all have ended.

    Args:
        serve: serves until SIGTERM, in a process. It gets a file descriptor that ends when this process does, whatever ends it, and is to call a
            function when requests are answered.
        log: is given what happens to processes.
        timer: waits.
    """

    def __init__(
        self,
        serve: Callable[[int, Callable[[], None]], None],
        log: Callable[[str], object],
        timer: Timer | None = None,
    ) -> None:
        self._serve = serve
        self._log = log
        self._timer = timer or Timer()
        self._running: set[int] = set()
        self._stopping = False

    def run(self, number: int, on_ready: Callable[[], None] = lambda: None) -> None:
        """Keeps so many processes running; returns when all have ended after a signal.

        Args:
            number: how many.
            on_ready: is called when all of them answer.
        """
        gc.collect()
        gc.freeze()  # No collection writes to memory that processes share.
        pipe = os.pipe()
        before = [signal.signal(each, self._end) for each in _SIGNALS]
        try:
            for _ in range(number):
                self._start(*pipe)
            if not self._stopping:
                on_ready()
            while self._running:
                ended, status = os.wait()
                if ended in self._running:
                    self._running.discard(ended)
                    self._replace(ended, os.waitstatus_to_exitcode(status), pipe)
        finally:
            for each, handler in zip(_SIGNALS, before, strict=True):
                signal.signal(each, handler)
            for end in pipe:
                os.close(end)
            gc.unfreeze()

    def _replace(self, ended: int, code: int, pipe: tuple[int, int]) -> None:
        """Starts another process in the place of one that ended by itself."""
        if self._stopping:
            return
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._log(f"process {ended} ended by {how}; another one takes its place")
        self._timer.sleep(_PAUSE)
        self._start(*pipe)

    def _start(self, alive: int, held: int) -> None:
        """Starts a process, and waits until it answers or has ended, unless no more requests should come."""
        with _blocked():
            if self._stopping:
                return
            for each in (sys.stdout, sys.stderr):
                each.flush()
            ready = os.pipe()
            started = os.fork()
            if started:
                self._running.add(started)
            else:
                for number in _SIGNALS:
                    signal.signal(number, signal.SIG_DFL)
        if not started:
            os.close(held)
            self._work(alive, lambda: os.close(ready[1]))
        os.close(ready[1])
        os.read(ready[0], 1)  # It gets nothing, and that when the process has closed its end.
        os.close(ready[0])

    def _work(self, alive: int, on_ready: Callable[[], None]) -> NoReturn:
        """Serves, and ends this process."""
        code = 1
        try:
            self._serve(alive, on_ready)
            code = 0
        except BaseException:  # noqa: BLE001 - nothing of the process around may go on here
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                for each in (sys.stdout, sys.stderr):
                    each.flush()
            os._exit(code)

    def _end(self, *_: object) -> None:
        """Lets all processes end, which answer what has begun."""
        self._stopping = True
        for each in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGTERM)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Signals wait, so that one reaches a new process or counts before there is one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
