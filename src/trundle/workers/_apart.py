"""Does one piece of work in a process of its own, which is ended where it takes too long or too much memory.

The process is a fork: the work may be any function, and needs nothing that can be sent but its result. It must not use connections that
are open already. Where the process that waits dies, the other one dies with it.
"""

import contextlib
import ctypes
import io
import mmap
import os
import pickle
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import NoReturn, TypeVar

from trundle.errors import Kind, TrundleError, expectation
from trundle.workers._ends import Ending, ending, kills_for_memory
from trundle.workers._processes import packed, portable

R = TypeVar("R")

_GRACE = 5.0
"""Seconds that the work gets to end itself, after the time is over or a signal has come."""
_CHUNK = 65536
_PR_SET_PDEATHSIG = 1
"""The number by which Linux is asked for a signal when the parent dies."""
_LONGEST_NOTE = 1000


class EndedError(TrundleError):
    """Work that was ended: since it took too long or too much memory, or by something else.

    Attributes:
        where: what it was last known to do; empty where that is not known.
        is_limit: whether it took too long or too much memory, as far as that is known.
    """

    kind = Kind.REFUSED

    def __init__(self, message: str, where: str, *, is_limit: bool = True) -> None:
        self.where = where
        self.is_limit = is_limit
        if not is_limit:
            self.kind = Kind.FAILED
        code = " [limit]" if is_limit else ""
        super().__init__(f"{message}{code}" + (f" ({where})" if where else ""))


class Note:
    """A text that the work leaves for the process that waits for it, however it ends."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _LONGEST_NOTE + 2)

    @property
    def text(self) -> str:
        """The text."""
        length = int.from_bytes(self._shared[:2], "big")
        return self._shared[2 : 2 + length].decode(errors="replace")

    @text.setter
    def text(self, text: str) -> None:
        data = text.encode()[:_LONGEST_NOTE]
        self._shared[: 2 + len(data)] = len(data).to_bytes(2, "big") + data


def bound_memory(size: int) -> None:
    """Lets this process take so many bytes beside those that it has; beyond that is a `MemoryError`.

    Programs that it starts are bound, too, unless they lift their soft limit to the hard one, which stays as it was.
    """
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + size
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):  # Some systems know no such limit
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def run_apart(work: Callable[[Note], R], *, seconds: float, memory: int) -> R:
    """What a function returns that runs in a process of its own.

    Args:
        work: the function; it gets the note in which it may say what it does.
        seconds: how long it may take.
        memory: how many bytes it may take beside those that this process has.

    Raises:
        EndedError: it took longer, or died.
        Exception: what it raises.
    """
    note, kills = Note(), kills_for_memory()
    results, results_end = os.pipe()
    alive_end, alive = os.pipe()  # It is closed when this process dies
    for each in (sys.stdout, sys.stderr):
        each.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Of threads, which do nothing here
        parent, child = os.getpid(), os.fork()
    if not child:
        _die_with_parent(parent)
        os.close(results)
        os.close(alive)
        _serve(work, note, results_end, alive_end, memory)
    os.close(results_end)
    os.close(alive_end)
    try:
        data = _received(results, seconds + _GRACE)
    except BaseException:
        _end(child)
        raise
    finally:
        os.close(results)
        os.close(alive)
    if data is None:
        _kill(child)
        raise EndedError(f"the run took more than {seconds:g} seconds and was ended", note.text)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not data:
        raise died(ending(status, kills), memory, note.text)
    succeeded, result = pickle.loads(data)  # noqa: S301 - by an own process
    if not succeeded:
        raise result
    return result  # type: ignore[no-any-return]


def died(how: Ending, memory: int, where: str = "") -> EndedError:
    """The error for a process that ended without an answer.

    Args:
        how: how it ended.
        memory: how many bytes it was allowed to take.
        where: what it was last known to do.
    """
    text = expectation("a run that comes to its end", f"one whose process ended by {how.how}")
    advice = f"it may take {memory // 2**20} MiB of memory; let it do less, or allow more"
    match how.is_short_of_memory:
        case False:
            advice = "run it again; what it was doing is not finished"
        case None:
            advice = f"if memory was short, {advice}"
    return EndedError(f"{text}; {advice}", where, is_limit=how.is_short_of_memory is True)


def _received(pipe: int, seconds: float) -> bytes | None:
    """All that comes through a pipe until its other end is closed; None where that takes too long."""
    until, parts = time.monotonic() + seconds, io.BytesIO()
    while True:
        ready, _, _ = select([pipe], [], [], max(until - time.monotonic(), 0))
        if not ready:
            return None
        data = os.read(pipe, _CHUNK)
        if not data:
            return parts.getvalue()
        parts.write(data)


def _end(child: int) -> None:
    """Lets a process end by the signal for that, and sees to it that it does."""
    with _no_interrupts():
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
        until = time.monotonic() + _GRACE
        while time.monotonic() < until:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
        _kill(child)


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(
    work: Callable[[Note], object], note: Note, results: int, alive: int, memory: int
) -> NoReturn:
    """What the process does."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Who waits for it says what becomes of it
        threading.Thread(target=_die_with, args=(alive,), daemon=True).start()
        bound_memory(memory)
        try:
            answer = packed((True, work(note)))
        except Exception as error:  # noqa: BLE001 - it is raised again where the work was asked for
            answer = packed((False, portable(error)))
        for each in (sys.stdout, sys.stderr):
            each.flush()
        with open(results, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)


def _die_with_parent(parent: int) -> None:
    """Has this process killed when its parent dies, also while C code holds the interpreter; where the system can do that."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):  # The thread below does the same, later.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It died before that.
        os._exit(1)


def _die_with(alive: int) -> None:
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGKILL)
