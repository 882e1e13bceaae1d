"""Runs the static methods of a package in processes of its own, each of which is ended where a call takes too long or too much memory.

So a method of a package that others wrote can neither hang nor exhaust the server that converts by it. A process starts with the first call; there are
several where several threads call at once.
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from select import POLLHUP, POLLIN, poll
from typing import IO, Any

from trundle.project._method_errors import LimitReachedError, StaticMethodError

_MOST = 4
"""How many processes run the methods of one package."""
_START = 60.0
"""Seconds that a process has to start."""
_CALL = 6.0
"""Seconds that a call has; the engine ends it earlier, unless it is in one long step."""
_PATIENCE = 5.0
"""Seconds that a call waits for a process that is busy, before another one is started."""
_LONGEST_WAIT = 20.0
"""Seconds that a call waits where all processes are busy."""
_REMEMBERED = 1000
_AGAIN = 60.0
"""After how many seconds a call is tried again that reached a limit."""
_SPENT = 10.0
"""Seconds that calls which reach a limit may take in that time; then no call is made, so that others are not held up for long."""
_SIZE = 4
_CHUNK = 1 << 16
_ENDED = "it took more time or memory than a hook may"
_TOO_MANY = "calls of this package reached limits too often; they are tried again within a minute"
_BUSY = "all processes for the methods of this package are busy"


class MethodsApart:
    """Runs methods, at most some at a time.

    Args:
        files: the files of the package of classes.
        clock: seconds that only grow.
    """

    def __init__(
        self, files: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = dict(files)
        self._clock = clock
        self._idle: list[_Process] = []
        self._count = 0
        self._lock = threading.Lock()
        self._free = threading.Condition(self._lock)
        self._ended: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._spent: deque[tuple[float, float]] = deque()
        self._is_closed = False
        weakref.finalize(self, _end_all, self._idle)

    def compute(self, class_name: str, method: str, values: Mapping[str, Any]) -> Any:
        """What a method returns for plain values.

        Raises:
            StaticMethodError: it fails, or reaches a limit.
        """
        request = json.dumps([class_name, method, values]).encode()
        known = hashlib.blake2b(request, digest_size=16).digest()
        self._raise_known(known)
        process = self._taken()
        is_well, begun = True, 0.0
        try:
            self._raise_known(known)
            is_well, begun = False, time.monotonic()
            answer = process.ask(request)
            is_well = answer is not None
        finally:
            self._give_back(process, is_well=is_well)
        kind, found = ("limit", _ENDED) if answer is None else json.loads(answer)
        if kind == "limit":
            self._remember(known, found, time.monotonic() - begun)
        if kind != "done":
            raise StaticMethodError(found)
        return found

    def _taken(self) -> "_Process":
        """A process that does nothing; another one is started only where none becomes free soon."""
        begun = time.monotonic()
        with self._free:
            while not self._idle:
                waited = time.monotonic() - begun
                if not self._count or (waited >= _PATIENCE and self._count < _MOST):
                    break
                if waited >= _LONGEST_WAIT:
                    raise StaticMethodError(_BUSY)
                longest = _PATIENCE if self._count < _MOST else _LONGEST_WAIT
                self._free.wait(max(longest - waited, 0.01))
            if self._idle:
                return self._idle.pop()
            self._count += 1
        try:
            return _Process(self._files)
        except BaseException:
            self._give_back(None, is_well=False)
            raise

    def _give_back(self, process: "_Process | None", *, is_well: bool) -> None:
        if process is not None and not is_well:
            process.end()
        with self._free:
            is_kept = process is not None and is_well and not self._is_closed
            if process is not None and is_kept:
                self._idle.append(process)
            else:
                self._count -= 1
            self._free.notify()
        if process is not None and is_well and not is_kept:
            process.end()

    def close(self) -> None:
        """Ends the processes; one that is asked now, or later, ends with its answer."""
        with self._free:
            self._is_closed = True
            self._count -= len(self._idle)
            _end_all(self._idle)

    def _raise_known(self, known: bytes) -> None:
        """Raises what a call came to that reached a limit a moment ago, as it would come to the same; and where calls did so too often."""
        now = self._clock()
        with self._lock:
            why, until = self._ended.get(known, ("", 0.0))
            while self._spent and self._spent[0][0] <= now - _AGAIN:
                self._spent.popleft()
            spent = sum(seconds for _, seconds in self._spent)
        if why and now < until:
            raise StaticMethodError(why)
        if spent >= _SPENT:
            raise StaticMethodError(_TOO_MANY)

    def _remember(self, known: bytes, why: str, seconds: float) -> None:
        now = self._clock()
        with self._lock:
            self._spent.append((now, seconds))
            self._ended[known] = why, now + _AGAIN
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)


class _Process:
    """A process that runs methods.

    Raises:
        StaticMethodError: it does not start.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - Python itself
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._answers = poll()
        self._answers.register(_there(self._process.stdout), POLLIN | POLLHUP)
        if self._exchange(json.dumps(files).encode(), _START) is None:
            self.end()
            raise StaticMethodError("the process that runs it did not start")

    def ask(self, request: bytes) -> bytes | None:
        """The answer to a request; None where none comes in time."""
        return self._exchange(request, _CALL)

    def end(self) -> None:
        """Ends it."""
        self._process.kill()
        for each in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                _there(each).close()
        self._process.wait()

    def _exchange(self, message: bytes, seconds: float) -> bytes | None:
        until = time.monotonic() + seconds
        try:
            _send(_there(self._process.stdin), message)
        except OSError:
            return None
        head = self._read(_SIZE, until)
        return None if head is None else self._read(int.from_bytes(head, "big"), until)

    def _read(self, size: int, until: float) -> bytes | None:
        output = _there(self._process.stdout).fileno()
        found = b""
        while len(found) < size:
            left = until - time.monotonic()
            if left <= 0 or not self._answers.poll(left * 1000):
                return None
            part = os.read(output, min(_CHUNK, size - len(found)))
            if not part:
                return None
            found += part
        return found


def _end_all(idle: list[_Process]) -> None:
    while idle:
        idle.pop().end()


def _there(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(_SIZE, "big") + message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    """The next message; nothing where the other side is gone."""
    size = int.from_bytes(stream.read(_SIZE), "big")
    return stream.read(size)


def _serve() -> None:
    """Answers requests until the process that asks is gone."""
    from trundle.project._methods_here import LIMITS, MethodsHere  # noqa: PLC0415 - only here
    from trundle.workers import bound_memory  # noqa: PLC0415 - only here

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # It ends when nothing asks any more.
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What prints must not get among the answers.
    methods = MethodsHere(json.loads(_receive(requests)))
    with contextlib.suppress(StaticMethodError):  # Each call says what is wrong with the classes.
        methods.load()
    bound_memory(LIMITS.memory)
    _send(answers, b"ready")
    while request := _receive(requests):
        class_name, method, values = json.loads(request)
        try:
            answer = json.dumps(["done", methods.compute(class_name, method, values)])
        except LimitReachedError as error:
            answer = json.dumps(["limit", str(error)])
        except StaticMethodError as error:
            answer = json.dumps(["failed", str(error)])
        except MemoryError:
            return
        except Exception as error:  # noqa: BLE001 - the next call must not pay for it
            answer = json.dumps(["failed", f"{type(error).__name__}: {error}"])
        _send(answers, answer.encode())


if __name__ == "__main__":
    _serve()
