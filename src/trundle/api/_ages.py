"""How long ago something was, in the few words that tables have for it."""

import datetime as dt


def age(time: str, now: dt.datetime) -> str:
    """How long ago something was, as kubectl writes it: `5m`, `3h12m`, `2d`."""
    try:
        then = dt.datetime.fromisoformat(time)
    except ValueError:
        return "<invalid>"
    if then.tzinfo is None:
        return "<invalid>"
    seconds = int((now - then).total_seconds())
    if seconds < -1:
        return "<invalid>"
    return _duration(max(seconds, 0))


def _duration(seconds: int) -> str:
    """A duration in one or two units, the fewer the longer; the steps of Kubernetes' `HumanDuration`."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:  # noqa: PLR2004 - the steps
        return f"{seconds}s"
    if minutes < 10:  # noqa: PLR2004
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:  # noqa: PLR2004
        return f"{minutes}m"
    if hours < 8:  # noqa: PLR2004
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:  # noqa: PLR2004
        return f"{hours}h"
    if hours < 192:  # noqa: PLR2004
        return _two(days, "d", hours % 24, "h")
    if days < 730:  # noqa: PLR2004
        return f"{days}d"
    years = days // 365
    return _two(years, "y", days % 365, "d") if years < 8 else f"{years}y"  # noqa: PLR2004


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first}{unit}{second}{smaller}" if second else f"{first}{unit}"
