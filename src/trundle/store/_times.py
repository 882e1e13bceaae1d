"""Times as a store writes them: RFC 3339 in UTC with microseconds, so that their order is that of the text."""

import datetime as dt

_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
_AHEAD = dt.timedelta(hours=1)
"""How far a clock may go back at most for what was written before to be taken for right."""


def time_text(time: dt.datetime) -> str:
    """A time as text."""
    return time.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_of(text: str) -> dt.datetime:
    """The time that a text says."""
    return dt.datetime.strptime(text, _FORM).replace(tzinfo=dt.UTC)


def going_on(now: dt.datetime, last: str) -> str:
    """The time of a write: that of the clock, and no earlier one than that of the write before, so that a clock that goes back makes nothing old.

    Where the write before is more than an hour ahead, the clock was wrong then: ages would count from that time for as long as it is to come.

    Args:
        now: the time.
        last: the time of the write before.
    """
    text = time_text(now)
    return text if last <= text or is_ahead(last, now) else last


def is_ahead(text: str, now: dt.datetime) -> bool:
    """Whether a time was written by a clock that was wrong then: it is more than an hour from now."""
    return text > time_text(now + _AHEAD)
