"""Windows: whether one is open, how long it stays open, and when the next one opens.

A window begins whenever its cron expression fires, and ends when its duration has passed by a stop watch. It
includes its first moment and not its last. Windows that overlap or touch are one window here, also those of one
expression whose duration is longer than its period.
"""

import datetime as dt
from collections.abc import Iterable, Iterator

from trundle.channels._times import add
from trundle.channels.policy._model import Window
from trundle.channels.policy._schedule import Schedule

MOST_STEPS = 10_000
"""How many touching windows are followed to find the end of all; beyond that they are taken to go on."""


def schedule_of(window: Window) -> Schedule:
    """The moments at which a window opens."""
    return Schedule(window.start, window.timezone)


def end_at(window: Window, moment: dt.datetime) -> dt.datetime | None:
    """When a window that is open at a moment ends; None if it is not open."""
    start = schedule_of(window).last_until(moment, _since(moment, window.duration))
    end = start and add(start, window.duration)
    return end if end and end > moment else None


def is_open(windows: Iterable[Window], moment: dt.datetime) -> bool:
    """Whether any of the windows is open at a moment."""
    return any(end_at(each, moment) for each in windows)


def closes_at(
    windows: Iterable[Window], moment: dt.datetime, within: dt.timedelta
) -> dt.datetime | None:
    """When the windows that are open at a moment end, all that overlap or touch them included.

    Args:
        windows: the windows.
        moment: the moment.
        within: how much of the time after it matters; the search ends there.

    Returns:
        The end; where it is later than `within`, some moment that is not before that; None if no window is open.
    """
    every = tuple(windows)
    enough = add(moment, within)
    end = max((each for window in every if (each := end_at(window, moment))), default=None)
    for _ in range(MOST_STEPS):
        if end is None or end >= enough:
            return end
        later = [each for window in every if (each := end_at(window, end))]
        if not later:
            return end
        end = max(later)
    return enough


def opens_at(windows: Iterable[Window], moment: dt.datetime) -> dt.datetime | None:
    """The first moment, from the given one on, at which a window begins; None if none ever does."""
    starts = (schedule_of(each).first_from(moment) for each in windows)
    return min((each for each in starts if each), default=None)


def openings(
    window: Window, start: dt.datetime, end: dt.datetime
) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    """When a window opens and closes between two moments, in ascending order; times that overlap or touch are one.

    The first may have begun before `start`, and the last may end after `end`.
    """
    opened = closed = None
    for moment in schedule_of(window).between(_since(start, window.duration), end):
        until = add(moment, window.duration)
        if until <= start:
            continue
        if opened is not None and closed is not None and moment <= closed:
            closed = max(closed, until)
            continue
        if opened is not None and closed is not None:
            yield opened, closed
        opened, closed = moment, until
    if opened is not None and closed is not None:
        yield opened, closed


def _since(moment: dt.datetime, duration: dt.timedelta) -> dt.datetime:
    try:
        return moment - duration
    except OverflowError:
        return dt.datetime.min.replace(tzinfo=dt.UTC)
