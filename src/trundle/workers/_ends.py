"""Why a process ended that was not to end, as far as the system says it.

The process that waits sees the signal, not the sender. Linux counts the processes that it ends for want of memory; where that count stays the same,
another process sent the signal. A limit of memory of the process itself (`RLIMIT_AS`) sends none: Python raises `MemoryError`, and code in C may crash.
"""

import signal
from pathlib import Path
from typing import NamedTuple

_COUNTS = Path("/proc/vmstat")
_KILLS = "oom_kill"
_CRASHES = frozenset(
    (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGSYS)
)


class Ending(NamedTuple):
    """How a process ended.

    Attributes:
        how: its exit code or signal, and who sent that.
        is_short_of_memory: whether memory ran out; None where that is not known.
    """

    how: str
    is_short_of_memory: bool | None


def kills_for_memory() -> int | None:
    """How many processes the system has ended for want of memory; None where it does not count them."""
    try:
        lines = _COUNTS.read_text().splitlines()
    except OSError:
        return None
    return next((int(each.split()[1]) for each in lines if each.split()[0] == _KILLS), None)


def ending(code: int | None, kills: int | None) -> Ending:
    """How a process ended.

    Args:
        code: the exit code that Python has for it: less than 0 for a signal.
        kills: what `kills_for_memory` gave before it began.
    """
    if code is None or code >= 0:
        return Ending(f"exit code {code}", None if code else False)
    number = -code
    known = number in {each.value for each in signal.Signals}
    shown = f"signal {number}" + (f" ({signal.Signals(number).name})" if known else "")
    if number in _CRASHES:
        return Ending(f"{shown}: it crashed, as code in C may where it gets no memory", None)
    if number == signal.SIGXCPU:
        return Ending(f"{shown}: the time of the processor that the system allows is over", False)
    if number != signal.SIGKILL:
        return Ending(f"{shown}, which another process sent", False)
    now = kills_for_memory()
    if kills is None or now is None:
        why = "whether another process sent it, or the system for want of memory, is not known"
        return Ending(f"{shown}: {why}", None)
    if now > kills:
        why = "the system ended processes for want of memory meanwhile, probably also this one"
        return Ending(f"{shown}: {why}", True)
    why = "the system ended none for want of memory meanwhile"
    return Ending(f"{shown}, which another process sent: {why}", False)
