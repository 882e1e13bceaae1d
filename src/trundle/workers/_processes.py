"""Does independent pieces of work in several processes, whatever way the system starts them.

Each worker is a fresh interpreter (`spawn`, the same on every system) that takes one piece after the other from
a pipe of its own. The work is a function of a module and a value; both must be picklable, and so must what it
returns. A worker may be killed at any moment: what it writes must be whole or absent.

An interrupt reaches the main process alone, which ends all workers at once, as does any error.
"""

import contextlib
import io
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from trundle.errors import TrundleError, expectation
from trundle.workers._ends import Ending, ending, kills_for_memory

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")
R = TypeVar("R")

_GRACE = 2.0
"""Seconds that a worker gets to end before it is killed."""
_PIECES = 24
"""After so many pieces a fresh worker takes over: what was imported is never quite forgotten."""


_READY = object()
"""What a worker says that has started and begins with its first piece."""


class WorkerDiedError(TrundleError):
    """A worker that ended without a result, as one that the system killed for want of memory."""


def cpu_count() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def work_in_processes(
    work: Callable[[T], R], pieces: Sequence[T], jobs: int, done: Callable[[T], None]
) -> list[R]:
    """Does all pieces of work, as many at a time as there are workers.

    Args:
        work: a function of a module.
        pieces: what it is called with; started in this order.
        jobs: how many workers at most.
        done: called with each piece after it was done.

    Returns:
        The results, in the order of the pieces.

    Raises:
        WorkerDiedError: a worker ended without a result.
        Exception: whatever the work raised.
    """
    results: dict[int, R] = {}
    with _Workers(_nothing, ()) as workers:
        for number, result in workers.results(work, pieces, jobs):
            results[number] = result
            done(pieces[number])
    return [results[number] for number in range(len(pieces))]


def spread(
    task: Callable[[T], R],
    inputs: Sequence[T],
    *,
    jobs: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...] = (),
    option: str = "--jobs",
    seconds: float | None = None,
    lost: Callable[[T, str, float], R] | None = None,
) -> Iterator[R]:
    """The results of a task for all inputs, in the order in which they become ready.

    All workers end at once when the caller is interrupted, or asks for no more results.

    Args:
        task: a function of a module.
        inputs: what it is called with; plain data.
        jobs: how many workers there are at a time.
        start: a function of a module that each worker calls first.
        arguments: what that is called with.
        option: the option that says how many workers there are, for what is said of one that died.
        seconds: how long a worker may take for an input; it is killed then. As long as it needs where None.
        lost: what stands for the result of an input whose worker died or was killed, given why, and how many seconds it took; an error where None.

    Raises:
        WorkerDiedError: a worker ended without a result, and nothing stands for that.
        Exception: whatever the task or the start raised.
    """
    with _Workers(start, arguments, option, seconds, lost) as workers:
        for _, result in workers.results(task, inputs, jobs):
            yield result


def _nothing() -> None:
    """What a worker does first where nothing is to be done."""


class _Answer(NamedTuple):
    """The result of a piece, and whether its worker can do another one."""

    result: Any
    is_alive: bool


class _Workers:
    """Worker processes; as a context manager it ends them whatever happens, at once after an error."""

    def __init__(
        self,
        start: Callable[..., None],
        arguments: tuple[Any, ...],
        option: str = "--jobs",
        seconds: float | None = None,
        lost: Callable[[Any, str, float], Any] | None = None,
    ) -> None:
        self._option = option
        self._seconds = seconds
        self._lost = lost
        self._context = multiprocessing.get_context("spawn")
        self._start = (start, arguments)
        self._workers: dict[Connection, BaseProcess] = {}
        self._kills = kills_for_memory()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for each in self._workers.values():
                each.kill()
        for pipe in list(self._workers):
            self._end(pipe)

    def results(
        self, work: Callable[[T], R], pieces: Sequence[T], jobs: int
    ) -> Iterator[tuple[int, R]]:
        """The results with the number of their piece, as they become ready."""
        waiting = deque(enumerate(pieces))
        busy: dict[Connection, int] = {}
        begun: dict[Connection, float] = {}
        counts: dict[Connection, int] = {}

        def next_for(pipe: Connection) -> None:
            if not waiting:
                return
            if counts.get(pipe, 0) >= _PIECES:
                self._end(pipe)
                pipe = self._new()
            counts[pipe] = counts.get(pipe, 0) + 1
            busy[pipe], piece = waiting.popleft()
            begun[pipe] = time.monotonic() if pipe in begun else math.inf
            with contextlib.suppress(BrokenPipeError):  # found when its result is waited for
                pipe.send((work, piece))

        for _ in range(min(jobs, len(pieces))):
            next_for(self._new())
        while busy:
            ready = {id(each) for each in wait(list(busy), self._left(busy, begun))}
            for pipe in list(busy):
                if id(pipe) in ready:
                    answer = self._answer(pipe, pieces[busy[pipe]], begun[pipe])
                elif self._seconds is not None and self._left([pipe], begun) == 0:
                    answer = self._ended(pipe, pieces[busy[pipe]], begun[pipe])
                else:
                    continue
                if answer is None:
                    begun[pipe] = time.monotonic()
                    continue
                number = busy.pop(pipe)
                if answer.is_alive:
                    next_for(pipe)
                else:
                    self._end(pipe)
                    if waiting:
                        next_for(self._new())
                yield number, answer.result

    def _left(self, busy: Iterable[Connection], begun: Mapping[Connection, float]) -> float | None:
        """Seconds until the next worker has taken too long."""
        if self._seconds is None:
            return None
        left = min(begun[each] for each in busy) + self._seconds - time.monotonic()
        return None if left == math.inf else max(0.0, left)

    def _answer(self, pipe: Connection, piece: Any, begun: float) -> "_Answer | None":
        """What a worker answers; None where it says that it is ready to begin."""
        try:
            result = self._result(pipe)
        except WorkerDiedError as error:
            if self._lost is None:
                raise
            return _Answer(self._lost(piece, str(error), _since(begun)), is_alive=False)
        return None if result is _READY else _Answer(result, is_alive=True)

    def _ended(self, pipe: Connection, piece: Any, begun: float) -> "_Answer":
        """Kills a worker that has taken too long."""
        self._workers[pipe].kill()
        why = f"it took longer than {self._seconds:g} seconds"
        if self._lost is None:
            raise WorkerDiedError(why)
        return _Answer(self._lost(piece, why, _since(begun)), is_alive=False)

    def _new(self) -> Connection:
        ours, theirs = self._context.Pipe()
        worker: BaseProcess = self._context.Process(
            target=_serve, args=(theirs, *self._start), daemon=True
        )
        with _interrupts_held():
            worker.start()
            self._workers[ours] = worker
        theirs.close()
        return ours

    def _end(self, pipe: Connection) -> None:
        """Lets a worker end, and sees to it that it does."""
        worker = self._workers.pop(pipe)
        pipe.close()
        worker.join(_GRACE)
        if worker.is_alive():
            worker.kill()
            worker.join()

    def _result(self, pipe: Connection) -> Any:
        try:
            sent = pipe.recv_bytes()
            if not sent:
                return _READY
            succeeded, result = pickle.loads(sent)  # noqa: S301 - by an own worker
        except (EOFError, OSError):
            worker = self._workers[pipe]
            worker.join(_GRACE)
            raise _died(ending(worker.exitcode, self._kills), self._option) from None
        if not succeeded:
            raise result
        return result


def _since(begun: float) -> float:
    """Seconds since a worker began; 0 where it has not."""
    return max(0.0, time.monotonic() - begun)


def _died(how: Ending, option: str) -> WorkerDiedError:
    expected = "a worker process to finish its work"
    text = expectation(expected, f"that it ended by {how.how}")
    match how.is_short_of_memory:
        case True:
            advice = f"use {option} with a smaller number, so that it takes less memory"
        case False:
            advice = f"run it again, with {option} 1 to see what becomes of it"
        case None:
            advice = f"do it in one process to see why, with {option} 1, which takes less memory"
    return WorkerDiedError(f"{text}; {advice}")


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Lets a worker start with interrupts blocked; one that comes meanwhile arrives afterwards."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not (
        threading.main_thread()
    ):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """What a worker does: one piece after the other, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    started = False
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work, piece = pipe.recv()
            try:
                if not started:
                    start(*arguments)
                    started = True
                    pipe.send_bytes(b"")
                answer = packed((True, work(piece)))
            except Exception as error:  # noqa: BLE001 - it is raised again where the work was asked for
                answer = packed((False, portable(error)))
            pipe.send_bytes(answer)
            del answer, piece
    sys.stderr.flush()


class _Pickler(pickle.Pickler):
    """Packs errors whatever their constructors take, and whatever they carry."""

    def reducer_override(self, value: Any) -> Any:
        own = getattr(type(value), "__reduce__", None)
        has_own_way = own != getattr(Exception, "__reduce__", None)
        if isinstance(value, Exception) and not has_own_way:
            return _rebuilt, (type(value), value.args, value.__dict__)
        return NotImplemented


def _rebuilt(kind: type[Exception], arguments: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


def packed(value: Any) -> bytes:
    """A value for another process of this program."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def portable(error: Exception) -> Exception:
    """An error that can be sent; with where it arose, for the case that it is a bug."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(packed(error))  # noqa: S301 - packed just now
    except Exception:  # noqa: BLE001 - whatever a foreign error holds
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
