"""Waits for commits: for those of this process at once, for those of others by their signals, and by looking from time to time."""

import threading
import weakref
from collections.abc import Callable

from trundle.database import Signals

_POLL = 0.2
"""Seconds after which changes of other processes are seen at the latest, where they send no signals."""
_RARELY = 1.0
"""The same where they do: one that dies between its commit and its signal is noticed so."""


class News:
    """What readers of a store wait for.

    Args:
        signals: those of other processes; None where there are none.

    Attributes:
        commits: how many commits there were, as far as is known; read before what is waited for is looked at.
        signals: those of other processes.
    """

    def __init__(self, signals: Signals | None) -> None:
        self.commits = 0
        self.signals = signals
        self._changed = threading.Condition()
        self._listeners: list[Callable[[], object]] = []
        self._hears = False

    def listen(self, listener: Callable[[], object]) -> None:
        """Calls a listener after each commit of this process."""
        self._listeners.append(listener)

    def announce(self) -> None:
        """Says that this process committed."""
        self.wake()
        if self.signals is not None:
            self.signals.send()
        for each in self._listeners:
            each()

    def wake(self) -> None:
        """Lets readers look."""
        with self._changed:
            self.commits += 1
            self._changed.notify_all()

    def wait(self, commits: int, seconds: float) -> None:
        """Waits until there may be more commits than a reader knows of, for so long at most."""
        pause = self._pause()
        with self._changed:
            if self.commits == commits:
                self._changed.wait(min(seconds, pause))

    def _pause(self) -> float:
        """For how long to wait before looking for what other processes did, unless one sends a signal."""
        if self.signals is None:
            return _POLL
        if not self._hears:
            self._hears = True
            self.signals.listen(_waking(self))
        return _RARELY if self.signals.is_connected else _POLL


def _waking(news: News) -> Callable[[], None]:
    """Wakes readers, as long as there may be any; the signals of a database outlive its stores."""
    reference = weakref.ref(news)

    def wake() -> None:
        found = reference()
        if found is not None:
            found.wake()

    return wake
