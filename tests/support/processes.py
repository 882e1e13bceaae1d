"""Whether processes of this machine run."""

import time
from pathlib import Path


def runs(number: int | str) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # It may go between opening and reading.
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def ends(number: int | str, seconds: float = 60) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while runs(number):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
