"""Room on Python's stack for calls of methods that are nested."""

import contextlib
import sys
import threading
from collections.abc import Iterator

_FRAMES_FOR_A_CALL = 30
"""How many frames of Python one call of a method takes at most, with blocks within blocks around it."""

_MOST_FRAMES = 9_000
"""As many as fit on the stack of a thread, whatever they do."""

_lock = threading.Lock()
_runs: list[int] = []
_before = 0


@contextlib.contextmanager
def room_for(calls: int) -> Iterator[None]:
    """Raises Python's limit of recursion while methods run, and sets it back when the last run of the process ends.

    Args:
        calls: how many calls may be nested.
    """
    global _before  # noqa: PLW0603 - the limit belongs to the process
    with _lock:
        if not _runs:
            _before = sys.getrecursionlimit()
        _runs.append(max(_before, min(_before + calls * _FRAMES_FOR_A_CALL, _MOST_FRAMES)))
        sys.setrecursionlimit(max(_runs))
    try:
        yield
    finally:
        with _lock:
            _runs.pop()
            if not _runs:
                sys.setrecursionlimit(_before)
