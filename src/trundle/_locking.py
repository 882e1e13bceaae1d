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
    while (descriptor := _try(path, shared=shared)) is None:
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


def _try(path: Path, *, shared: bool) -> int | None:
    """Takes the lock if it is free."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
