"""Reads the followed channels of a catalog again and again, beside the server."""

import contextlib
import datetime as dt
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from trundle._clock import Clock, Timer, now
from trundle.catalog import Catalog, ChannelKey, FollowedChannel
from trundle.database import DatabaseError
from trundle.errors import TrundleError

_ENOUGH = 5.0
"""Seconds that a reading under way may take when the server stops."""


class ChannelRefresh:
    """A thread that reads each followed channel again once a while. Used as a context manager.

    Servers of one catalog share the work: what another one reads, or has read meanwhile, is not read again.

    Args:
        catalog: keeps the channels.
        every: seconds between two readings of a channel.
        complain: says, in one line, what is wrong with a channel, when that changes.
        clock: returns the time.
        timer: waits.
    """

    def __init__(
        self,
        catalog: Catalog,
        every: float,
        complain: Callable[[str], None],
        *,
        clock: Clock = now,
        timer: Timer | None = None,
    ) -> None:
        self._channels = catalog.channels
        self._every = every
        self._complain = complain
        self._clock = clock
        self._timer = timer or Timer()
        self._stopped = threading.Event()
        self._said: dict[ChannelKey | None, str] = {}
        self._thread = threading.Thread(target=self._run, name="channels", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join(_ENOUGH)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self.turn()
            self._timer.wait(self._stopped, self._every)

    def turn(self) -> None:
        """Reads what is due, and says what is wrong."""
        before = self._clock() - dt.timedelta(seconds=self._every)
        try:
            self._channels.begin_round()
            for key in self._channels.due(before):
                if self._stopped.is_set():
                    return
                self._say(key, self._read(key, before))
            self._say(None, "")
        except Exception as error:  # noqa: BLE001 - a fault in one turn must not end all others
            if not self._stopped.is_set():
                why = _one_line(error)
                self._say(None, f"the channels of the catalog cannot be read again: {why}")

    def _read(self, key: ChannelKey, before: dt.datetime) -> str:
        """Reads a channel if no other server does; what is wrong with it.

        Raises:
            DatabaseError: the database cannot be written.
            ImportError: an extra is missing.
        """
        try:
            return _trouble_of(self._channels.refresh_due(key, before))
        except (DatabaseError, ImportError):  # They are the same for all channels.
            raise
        except Exception as error:  # noqa: BLE001 - a fault in one channel must not hold up the others
            named = f"channel {key.package} {key.channel} of {key.tenant}"
            return f"{named} cannot be read again: {_one_line(error)}"

    def _say(self, key: ChannelKey | None, trouble: str) -> None:
        if trouble and self._said.get(key) != trouble:
            with contextlib.suppress(OSError, ValueError):  # None listens; reading goes on.
                self._complain(trouble)
        self._said[key] = trouble


def _one_line(error: Exception) -> str:
    """What an error says; of one that is a fault of the program or the machine, also which it is."""
    text = str(error) if isinstance(error, TrundleError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _trouble_of(found: FollowedChannel | None) -> str:
    if found is None or found.problem is None:
        return ""
    how = "could not be read" if found.state == "valid" else f"is {found.state}"
    problem = found.problem
    return f"channel {found} of {found.tenant} {how}: {problem.message} [{problem.code}]"
