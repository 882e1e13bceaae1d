"""When the operator looks at its installations again."""

import datetime as dt
from dataclasses import dataclass

SOON = 2.0
"""Seconds until what is pending is looked at again."""
_PATIENT = 15.0
"""The same while something else fails."""
_MOST_DOUBLINGS = 12


@dataclass(frozen=True)
class Look:
    """What one look at all installations came to.

    Attributes:
        lines: what there is to report.
        pending: whether something is to be looked at again soon.
        away: whether something could not be reached, or failed.
        next_change: when the first scheduled upgrade may start; None for none.
    """

    lines: tuple[str, ...] = ()
    pending: bool = False
    away: bool = False
    next_change: dt.datetime | None = None


class Pace:
    """The pauses between looks.

    What fails is tried again after 2, 4, 8 ... seconds, but at least at each interval, so that it delays no other installation by more; and while others roll
    out, at least each 15 seconds.

    Args:
        interval: the pause between two looks at channels where there is nothing to do.
    """

    def __init__(self, interval: dt.timedelta) -> None:
        self._interval = interval
        self._failures = 0

    def pause(self, found: Look, now: dt.datetime) -> float:
        """The seconds until the look that follows one."""
        self._failures = self._failures + 1 if found.away else 0
        pause = self._interval.total_seconds()
        if found.next_change is not None:
            pause = min(pause, max((found.next_change - now).total_seconds(), 1))
        if found.away:
            pause = min(pause, SOON * 2 ** min(self._failures - 1, _MOST_DOUBLINGS))
        if found.pending:
            pause = min(pause, _PATIENT if found.away else SOON)
        return pause
