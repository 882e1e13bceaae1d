"""Durations in the forms of Go and of ISO 8601, and seconds; nothing is rounded.

A duration is an exact number of seconds: an integer, or a fraction where it has parts of a second.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from trundle.runtime._numbers import LONGEST, Exact, whole

_GO_UNITS: Mapping[str, int] = {
    "ns": 1,
    "us": 1_000,
    "\N{MICRO SIGN}s": 1_000,
    "\N{GREEK SMALL LETTER MU}s": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
"""Nanoseconds by the units that Go's `time.ParseDuration` reads."""
_SECOND = _GO_UNITS["s"]
_MOST = 2**63 - 1
"""Go counts nanoseconds in 64 bits."""

_DECIMAL = r"(\d+\.?\d*|\.\d+)"
_GO_PART = re.compile(rf"{_DECIMAL}({'|'.join(_GO_UNITS)})", re.ASCII)
_GO = re.compile(rf"[-+]?(0|({_GO_PART.pattern})+)", re.ASCII)

_ISO = re.compile(
    r"([-+]?)P(?=.)(?:{0}W)?(?:{0}D)?(?:T(?=.)(?:{0}H)?(?:{0}M)?(?:{0}S)?)?".format(
        r"(\d+(?:[.,]\d+)?)"
    ),
    re.ASCII,
)
_ISO_SECONDS = (7 * 24 * 3600, 24 * 3600, 3600, 60, 1)
"""Seconds in a week, a day, an hour, a minute and a second."""


def read_go_duration(text: str) -> Exact | None:
    """The seconds of a duration as Go writes it: `1h30m`, `-1.5h`, `300ms`, `0`.

    None for any other text, and for what Go cannot hold as whole nanoseconds in 64 bits.
    """
    if len(text) > LONGEST or not _GO.fullmatch(text):
        return None
    parts = [_decimal(number) * _GO_UNITS[unit] for number, unit in _GO_PART.findall(text)]
    if any(part.denominator != 1 for part in parts):
        return None  # Go cuts each part to whole nanoseconds
    total = int(-sum(parts) if text.startswith("-") else sum(parts))
    return whole(Fraction(total, _SECOND)) if _fits_go(total) else None


def write_go_duration(seconds: Exact) -> str | None:
    """Seconds as Go's `time.Duration.String` writes them; None for what Go cannot hold."""
    total = seconds * _SECOND
    if not _fits_go(total):
        return None
    count = int(total)
    sign, count = ("-", -count) if count < 0 else ("", count)
    if count == 0:
        return "0s"
    for unit in ("ns", "\N{MICRO SIGN}s", "ms"):
        if count < _GO_UNITS[unit] * 1000:
            return f"{sign}{_with_fraction(count, _GO_UNITS[unit])}{unit}"
    minutes, rest = divmod(count, _GO_UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    larger = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{larger}{_with_fraction(rest, _SECOND)}s"


def read_iso_duration(text: str) -> Exact | None:
    """The seconds of an ISO 8601 duration; None for any other text, and for years and months.

    Weeks, days, hours, minutes and seconds may stand together, each with a fraction. A day has 24 hours. A sign may
    stand before the `P`.
    """
    match = _ISO.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    sign, *parts = match.groups()
    total = sum(
        _decimal(part.replace(",", ".")) * unit
        for part, unit in zip(parts, _ISO_SECONDS, strict=True)
        if part is not None
    )
    return whole(Fraction(-total if sign == "-" else total))


def write_iso_duration(seconds: Exact) -> str:
    """Seconds as an ISO 8601 duration of hours, minutes and seconds: `PT25H1M1.5S`."""
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = [f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n]
    if rest or not parts:
        parts.append(f"{_all_places(Fraction(rest))}S")
    return f"{sign}PT{''.join(parts)}"


def read_duration(text: str) -> Exact | None:
    """The seconds of a duration in either form."""
    found = read_iso_duration(text)
    return read_go_duration(text) if found is None else found


def _fits_go(nanoseconds: Exact) -> bool:
    return nanoseconds.denominator == 1 and -_MOST - 1 <= nanoseconds <= _MOST


def _decimal(text: str) -> Exact:
    before, _, after = text.partition(".")
    digits = int(before + after)
    return Fraction(digits, 10 ** len(after)) if after else digits


def _with_fraction(count: int, unit: int) -> str:
    """A count of nanoseconds in a larger unit that is a power of ten of them, without trailing zeros."""
    before, after = divmod(count, unit)
    places = len(str(unit)) - 1
    return (
        f"{before}.{after:0{places}}".rstrip("0").rstrip(".") if places and after else str(before)
    )


def _all_places(value: Fraction) -> str:
    """A number of at least zero with all its decimal places; it came from a decimal, so these have an end."""
    places = 0
    while 10**places % value.denominator:
        places += 1
    before, after = divmod(value.numerator * 10**places // value.denominator, 10**places)
    return f"{before}.{after:0{places}}" if places else str(before)
