"""Lets one process at a time write a folder."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from trundle.project.errors import OutputBusyError

_PAUSE = 0.05


@contextlib.contextmanager
def locked(root: Path, path: Path, wait: float) -> Iterator[None]:
    """Holds the lock file of a folder; the operating system frees it when the process dies.

    Args:
        root: the folder that is locked, for messages.
        path: the lock file; it is removed at the end.
        wait: seconds to wait for another process.

    Raises:
        OutputBusyError: another process still holds the lock.
    """
    deadline = time.monotonic() + wait
    while (descriptor := _try(path)) is None:
        if time.monotonic() >= deadline:
            found = "another process writing it"
            text = f"{root}: expected to write the folder alone, found {found}; try again later"
            raise OutputBusyError(root, [text])
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        # Removed before it is freed: whoever waits for the old file sees that it is no longer the lock.
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _try(path: Path) -> int | None:
    """Takes the lock if it is free."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None
