"""Times as a store writes them: RFC 3339 in UTC with microseconds, so that their order is that of the text."""

import datetime as dt

_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def time_text(time: dt.datetime) -> str:
    """A time as text."""
    return time.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_of(text: str) -> dt.datetime:
    """The time that a text says."""
    return dt.datetime.strptime(text, _FORM).replace(tzinfo=dt.UTC)
