"""Lets one process, and in it one thread, at a time do something with files."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from trundle.errors import Kind, TrundleError, expectation

_PAUSE = 0.05


class LockBusyError(TrundleError):
    """Another process or thread still holds the lock.

    Attributes:
        path: the lock file.
    """

    kind = Kind.CONFLICT

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path}: {expectation('a free lock', 'it held', 'try again later')}")


@contextlib.contextmanager
def locked(
    path: Path, wait: float, pause: float = _PAUSE, *, shared: bool = False
) -> Iterator[None]:
    """Holds a lock file; the operating system frees it when the process dies.

    Args:
        path: the lock file, in a folder that exists; it is removed at the end, unless the lock is shared.
        wait: seconds to wait for its holder.
        pause: seconds between two looks at it.
        shared: whether others may hold it at the same time, who share it too.

    Raises:
        LockBusyError: another process still holds the lock.
    """
    deadline = time.monotonic() + wait
    while (descriptor := open_locked(path, shared=shared)) is None:
        if time.monotonic() >= deadline:
            raise LockBusyError(path)
        time.sleep(pause)
    try:
        yield
    finally:
        # Removed before it is freed: a process that waits for the old file sees that it is no longer the lock. One
        # that cannot be removed is taken again by the next.
        if not shared:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        # A process that was forked meanwhile has the file open too, and would hold the lock until it ends.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def open_locked(path: Path, flags: int = 0, *, shared: bool = False) -> int | None:
    """Opens a file, and locks it; None where another holds it. It is free when the descriptor, which is not passed on, is closed.

    Args:
        path: the file; it is made where there is none.
        flags: further ones of `os.open`.
        shared: whether others may hold it at the same time, who share it too.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o666)
        try:
            if not try_lock(descriptor, shared=shared):
                os.close(descriptor)
                return None
            # A holder may have removed it since it was opened.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Locks an open file until it is closed, unless another holds it; whether it is locked."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
