"""Does independent pieces of work in several processes, whatever way the system starts them.

Each worker is a fresh interpreter (`spawn`, the same on every system) that takes one piece after the other from
a pipe of its own. The work is a function of a module and a value; both must be picklable, and so must what it
returns. Workers never write: they compute, and the process that started them decides.

An interrupt reaches the main process alone, which ends all workers at once, as does any error.
"""

import contextlib
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from trundle.project.errors import ProjectError

T = TypeVar("T")
R = TypeVar("R")

_GRACE = 2.0
"""Seconds that a worker gets to end before it is killed."""


class WorkerDiedError(ProjectError):
    """A worker that ended without a word, as one that the system killed for want of memory."""


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
        WorkerDiedError: a worker ended without a word.
        Exception: whatever the work raised.
    """
    results: dict[int, R] = {}
    waiting = list(enumerate(pieces))
    with _workers(min(jobs, len(pieces))) as workers:
        busy: dict[Connection, int] = {}
        for pipe in workers:
            _next(pipe, work, waiting, busy)
        while busy:
            for ready in wait(list(busy)):
                pipe = next(each for each in busy if each is ready)
                number = busy.pop(pipe)
                results[number] = _result(pipe, workers[pipe])
                done(pieces[number])
                _next(pipe, work, waiting, busy)
    return [results[number] for number in range(len(pieces))]


def _next(
    pipe: Connection,
    work: Callable[[T], R],
    waiting: list[tuple[int, T]],
    busy: dict[Connection, int],
) -> None:
    """Gives a worker its next piece, if there is one."""
    if waiting:
        number, piece = waiting.pop(0)
        with contextlib.suppress(BrokenPipeError):  # its end is found when its result is waited for
            pipe.send((work, piece))
        busy[pipe] = number


def _result(pipe: Connection, worker: BaseProcess) -> Any:
    try:
        succeeded, result = pickle.loads(pipe.recv_bytes())  # noqa: S301 - by an own worker
    except (EOFError, OSError):
        worker.join(_GRACE)
        code = worker.exitcode
        killed = code is not None and code < 0
        how = f"signal {-code}" if killed and code else f"exit code {code}"
        text = f"expected a worker process to finish its work, found that it ended by {how}"
        advice = "do it in one process to see why, with --jobs 1"
        if killed:
            advice = "there may be too little memory for so many; try fewer with --jobs"
        raise WorkerDiedError(f"{text}; {advice}") from None
    if not succeeded:
        raise result
    return result


@contextlib.contextmanager
def _workers(count: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Starts workers, and ends them whatever happens."""
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            worker: BaseProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
            with _interrupts_held():
                worker.start()
                workers[ours] = worker
            theirs.close()
        yield workers
    except BaseException:
        for each in workers.values():
            each.kill()
        raise
    finally:
        for pipe in workers:
            pipe.close()
        for each in workers.values():
            each.join(_GRACE)
            if each.is_alive():
                each.kill()
                each.join()


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


def _serve(pipe: Connection) -> None:
    """What a worker does: one piece after the other, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work, piece = pipe.recv()
            try:
                answer = _packed((True, work(piece)))
            except Exception as error:  # noqa: BLE001 - it is raised again where the work was asked for
                answer = _packed((False, _portable(error)))
            pipe.send_bytes(answer)
            del answer, piece
    sys.stderr.flush()


class _Pickler(pickle.Pickler):
    """Packs errors whatever their constructors take, and whatever they carry."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Exception):
            return _rebuilt, (type(value), value.args, value.__dict__)
        return NotImplemented


def _rebuilt(kind: type[Exception], arguments: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error


def _packed(value: Any) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def _portable(error: Exception) -> Exception:
    """An error that can be sent; with where it arose, for the case that it is a bug."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(_packed(error))  # noqa: S301 - packed just now
    except Exception:  # noqa: BLE001 - whatever an error of somebody else's holds
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
