"""Lets one process at a time write a folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from trundle import _locking
from trundle.project.errors import FileCode, OutputBusyError, finding


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
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(_locking.locked(path, wait))
        except _locking.LockBusyError:
            code, found = FileCode.BUSY, "another process writing it"
            why = finding(code, root, "to write the folder alone", found, "try again later")
            raise OutputBusyError(root, [why]) from None
        yield
