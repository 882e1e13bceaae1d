"""The clock, and the timer. What needs the time is given one, so that tests set it by hand; these are given by default."""

import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], dt.datetime]
"""Returns the time, with its time zone."""


def now() -> dt.datetime:
    """The time of this machine."""
    return dt.datetime.now(dt.UTC)


class Timer:
    """Measures how long something takes, and waits."""

    def seconds(self) -> float:
        """Seconds since some moment; they never go back."""
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Waits for an event for so long at most; whether it was set."""
        return event.wait(seconds)

    def sleep(self, seconds: float) -> None:
        """Waits."""
        self.wait(threading.Event(), seconds)
