"""Lets one process at a time write a folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from trundle import _locking
from trundle.project.errors import OutputBusyError


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
            found = "another process writing it"
            text = f"{root}: expected to write the folder alone, found {found}; try again later"
            raise OutputBusyError(root, [text]) from None
        yield
