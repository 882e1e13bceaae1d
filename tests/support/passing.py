"""Time that passes at once."""

import threading

from trundle._clock import Timer

_LOOK = 0.001


class PassingTime(Timer):
    """Time that passes as soon as all threads wait for it, and then to the first that ends its waiting.

    The threads are the one that makes it, and those that are started later. One that waits for anything else, such as the
    end of another thread, stops it.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._until: dict[threading.Thread, float] = {}
        self._changed = threading.Condition()
        self._others = {*threading.enumerate()} - {threading.current_thread()}

    def seconds(self) -> float:
        return self._now

    def wait(self, event: threading.Event, seconds: float) -> bool:
        thread = threading.current_thread()
        with self._changed:
            until = self._until[thread] = self._now + seconds
            while self._now < until and not event.is_set():
                if self._all_wait():
                    self._now = min(self._until.values())
                    self._changed.notify_all()
                else:
                    self._changed.wait(_LOOK)
            del self._until[thread]
        return event.is_set()

    def join(self, thread: threading.Thread) -> None:
        """Waits for the end of a thread, while time passes."""
        while thread.is_alive():
            self.sleep(1)

    def _all_wait(self) -> bool:
        waiting = {thread for thread, until in self._until.items() if until > self._now}
        return waiting >= {*threading.enumerate()} - self._others
