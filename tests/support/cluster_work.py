"""Pieces of work for workers of a cluster, which import this module."""

import contextlib
import os
import signal
import time
from pathlib import Path

from trundle.workers import ForeignWorkerError


@contextlib.contextmanager
def noting(folder, text):
    """Opens a text, and notes that it was opened and closed."""
    note = Path(folder) / f"opened-{os.getpid()}-{time.monotonic_ns()}"
    note.write_text(text)
    yield text
    note.rename(note.with_name(note.name.replace("opened", "closed")))


def doubled(opened, piece):
    if piece == "fail":
        raise ForeignWorkerError("a worker", "one", "another", "look")
    if piece == "die" and not Path(opened, "died").exists():
        Path(opened, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(piece, float):
        time.sleep(piece)
    return piece * 2
