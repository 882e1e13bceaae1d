"""Work that is spread over several processes, and ends with the one that asked for it."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

_A = TypeVar("_A")
_B = TypeVar("_B")

_TASKS = 24
"""After so many tasks a process makes room for a fresh one: what was imported is never quite forgotten."""


def spread(
    task: Callable[[_A], _B],
    inputs: Sequence[_A],
    *,
    jobs: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...] = (),
) -> Iterator[_B]:
    """The results of a task for all inputs, in the order in which they become ready.

    All processes end at once when the caller is interrupted, or asks for no more results.

    Args:
        task: a function of a module.
        inputs: what it is called with; plain data.
        jobs: how many processes there are at a time.
        start: a function of a module that each process calls first.
        arguments: what that is called with.
    """
    size = jobs * _TASKS
    for first in range(0, len(inputs), size):
        yield from _batch(task, inputs[first : first + size], jobs, start, arguments)


def _batch(
    task: Callable[[_A], _B],
    inputs: Sequence[_A],
    jobs: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[_B]:
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(inputs)), context, initializer=_started, initargs=(start, arguments)
    )
    try:
        for each in as_completed([pool.submit(task, each) for each in inputs]):
            yield each.result()
    except BaseException:  # an interrupt, too
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _started(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asked ends this one
    start(*arguments)
