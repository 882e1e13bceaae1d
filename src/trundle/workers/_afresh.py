"""Does one piece of work in a process of its own, for programs with threads, such as servers.

Such a program must not be forked: another thread may hold a lock just then. A process that does nothing else (Python's fork server) is asked for the new
process, so the work is a function of a module, and what it takes can be pickled.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess, parent_process
from typing import Any, NamedTuple, Self, TypeVar

from trundle.workers._apart import EndedError, Note, died, run_apart
from trundle.workers._ends import ending, kills_for_memory
from trundle.workers._processes import packed, portable

R = TypeVar("R")


class _Piece(NamedTuple):
    work: Callable[..., object]
    arguments: tuple[Any, ...]
    seconds: float
    memory: int


class FreshProcesses:
    """Runs pieces of work in processes of their own. Used as a context manager, which ends those that run. Threads may share it.

    Args:
        modules: what the work imports, so that each process has it from the start.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([*modules])
        self._running: set[BaseProcess] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all that run; nothing starts any more."""
        with self._lock:
            self._is_closed = True
            for each in self._running:
                each.kill()

    def run(self, work: Callable[..., R], *arguments: Any, seconds: float, memory: int) -> R:
        """What a function returns that runs in a process of its own.

        Args:
            work: a function of a module; it gets the note in which it may say what it does, and the arguments.
            arguments: what it is called with; all of it can be pickled, as what it returns.
            seconds: how long it may take.
            memory: how many bytes it may take beside those that the process has.

        Raises:
            EndedError: it took longer, or died.
            Exception: what it raises.
        """
        ours, theirs = self._context.Pipe(duplex=False)
        piece, kills = _Piece(work, arguments, seconds, memory), kills_for_memory()
        process = self._context.Process(target=_serve, args=(theirs, piece), daemon=False)
        with ours:
            with self._lock:
                if self._is_closed:
                    raise _closed()
                process.start()
                self._running.add(process)
            theirs.close()
            try:
                answer = ours.recv_bytes()
            except EOFError:
                answer = b""
            finally:
                process.join()
                with self._lock:
                    self._running.discard(process)
        if not answer and self._is_closed:
            raise _closed()
        if not answer:
            raise died(ending(process.exitcode, kills), memory)
        succeeded, result = pickle.loads(answer)  # noqa: S301 - by an own process
        if not succeeded:
            raise result
        return result  # type: ignore[no-any-return]


def _closed() -> EndedError:
    return EndedError("the server ended", "", is_limit=False)


def _serve(pipe: Connection, piece: _Piece) -> None:
    """What a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_server, daemon=True).start()

    def work(note: Note) -> object:
        return piece.work(note, *piece.arguments)

    try:
        answer = packed((True, run_apart(work, seconds=piece.seconds, memory=piece.memory)))
    except Exception as error:  # noqa: BLE001 - it is raised again where the work was asked for
        answer = packed((False, portable(error)))
    with contextlib.suppress(BrokenPipeError):
        pipe.send_bytes(answer)


def _die_with_server() -> None:
    server = parent_process()
    if server is not None:
        wait([server.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)
