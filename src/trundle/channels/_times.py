"""Reads and writes times and durations as channel files and policies spell them."""

import datetime as dt
import re

import msgspec

from trundle.errors import expectation

_STRICT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_LAX = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)[Tt ](\d\d?):(\d\d?):(\d\d?)(?:\.(\d+))?([Zz]|[+-]\d\d?:?\d\d)",
    re.ASCII,
)
_WEEKS = re.compile(r"P(\d{1,5})W", re.ASCII)
_SPELLED = re.compile(r"P[0-9A-Z.]+")
_LONGEST = dt.timedelta(days=366_000)
"""The longest duration, about a thousand years: it still fits onto any present time."""

CLOCK_TOLERANCE = dt.timedelta(minutes=5)
"""How far a clock may be put back, as time servers do, before it counts as going back."""


def parse_time(text: str) -> tuple[dt.datetime, bool]:
    """Reads a moment with its offset from UTC.

    Besides RFC 3339, lax spellings are read, such as `2019-09-2T4:39:04Z`, which the document that defines
    channel files has in its example. Digits below a microsecond are cut off.

    Returns:
        The moment in UTC, and whether the text is RFC 3339 to the letter.

    Raises:
        ValueError: the text is no moment.
    """
    match = _STRICT.fullmatch(text)
    strict = match is not None
    match = match or _LAX.fullmatch(text)
    if match is None:
        raise ValueError("not a time with its offset from UTC")
    *clock, fraction, offset = match.groups()
    year, month, day, hour, minute, second = map(int, clock)
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    moment = dt.datetime(year, month, day, hour, minute, second, micro, tzinfo=dt.UTC)
    if offset not in "Zz":
        digits = offset[1:].replace(":", "").rjust(4, "0")
        hours, minutes = int(digits[:2]), int(digits[2:])
        if hours > _HOURS or minutes > _MINUTES:
            raise ValueError("an offset from UTC of more than a day")
        shift = dt.timedelta(hours=hours, minutes=minutes)
        try:
            moment = moment + shift if offset[0] == "-" else moment - shift
        except OverflowError:
            raise ValueError("a time before the year 1 or after the year 9999") from None
    return moment, strict


_HOURS, _MINUTES = 23, 59


def format_time(moment: dt.datetime) -> str:
    """Writes a moment as RFC 3339 in UTC, such as `2019-09-12T17:39:04Z`."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"


def require_aware(moment: dt.datetime) -> dt.datetime:
    """A moment in UTC.

    Raises:
        ValueError: the moment has no time zone, so that it is ambiguous.
    """
    if moment.tzinfo is None:
        raise ValueError(expectation("a time with its time zone", moment.isoformat()))
    return moment.astimezone(dt.UTC)


def add(moment: dt.datetime, duration: dt.timedelta) -> dt.datetime:
    """A moment later by a duration; at most the last one that a calendar here knows."""
    try:
        return moment + duration
    except OverflowError:
        return LAST


LAST = dt.datetime.max.replace(tzinfo=dt.UTC)
"""The last moment that can be expressed."""


def parse_duration(text: str) -> dt.timedelta:
    """Reads an ISO 8601 duration: weeks, or days, hours, minutes and seconds; a day has 24 hours.

    Raises:
        ValueError: the text is no duration, a negative one, one of more than about a thousand years, or has years or
            months, whose length varies.
    """
    weeks = _WEEKS.fullmatch(text)
    if not weeks and not _SPELLED.fullmatch(text):
        raise ValueError("not an ISO 8601 duration")
    try:
        duration = (
            dt.timedelta(weeks=int(weeks[1])) if weeks else msgspec.convert(text, dt.timedelta)
        )
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except (OverflowError, ValueError):
        duration = dt.timedelta.max
    if duration > _LONGEST:
        raise ValueError(f"longer than P{_LONGEST.days}D")
    return duration


def format_duration(duration: dt.timedelta) -> str:
    """Writes a duration, such as `P1DT2H` or `PT15M`."""
    minutes, seconds = divmod(duration.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    exact = (
        f"{seconds}.{duration.microseconds:06}".rstrip("0") if duration.microseconds else seconds
    )
    parts = ((hours, "H"), (minutes, "M"), (exact, "S"))
    clock = "".join(f"{number}{unit}" for number, unit in parts if number)
    days = f"{duration.days}D" if duration.days else ""
    return f"P{days}T{clock}" if clock else f"P{days}" if days else "PT0S"
