"""Which hosts do not answer, for callers that ask many registries in turn."""

import threading


class Outages:
    """Hosts that have not answered; threads may share it.

    A host that did not answer in a round is not asked again in it, and is asked once, without repetitions, in the rounds that follow, until it
    answers. So registries that are away delay what needs others as little as possible.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away: dict[str, str] = {}
        self._asked: set[str] = set()

    def begin_round(self) -> None:
        """Every host may be asked again."""
        with self._lock:
            self._asked.clear()

    def reason(self, host: str) -> str | None:
        """Why a host is not to be asked in this round; None where it may be."""
        with self._lock:
            return self._away[host] if host in self._asked else None

    def is_away(self, host: str) -> bool:
        """Whether a host did not answer when it was asked last."""
        with self._lock:
            return host in self._away

    def note(self, host: str, reason: str) -> None:
        """A host did not answer."""
        with self._lock:
            self._away[host] = reason
            self._asked.add(host)

    def end(self, host: str) -> None:
        """A host answered."""
        with self._lock:
            self._away.pop(host, None)
            self._asked.discard(host)
