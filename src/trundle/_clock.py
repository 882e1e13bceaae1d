"""The clock. Whatever needs the time is given a clock, so that tests set it by hand; this one is given by default."""

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], dt.datetime]
"""Returns the time, with its time zone."""


def now() -> dt.datetime:
    """The time of this machine."""
    return dt.datetime.now(dt.UTC)
