"""Which hosts do not answer, for callers that ask many registries in turn."""

import threading
from collections.abc import Callable
from typing import NamedTuple


class Late(NamedTuple):
    """An answer that took too long.

    Attributes:
        reason: why it was given up.
        again: asks for the same once more; raises `UnreachableError` where it takes too long again.
    """

    reason: str
    again: Callable[[], object]


class Outages:
    """Hosts that have not answered, or with trouble of their own; threads may share it.

    A host that did not answer in a round is not asked again in it, and is asked once, without repetitions, in the rounds that follow, until it
    answers. So registries that are away delay what needs others as little as possible.

    Trouble (5xx, 429) may be a matter of one repository alone, so each round asks for another one of those that are wanted. When one is answered well, the
    host is there, and the trouble of those that were not is from then on a matter of theirs: it holds up no other.

    What took too long can be asked for beside the rounds, and is withheld from them until it comes in time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away: dict[str, str] = {}
        self._asked: set[str] = set()
        self._wanted: dict[str, set[str]] = {}
        self._troubled: dict[str, set[str]] = {}
        self._late: dict[tuple[str, str], Late] = {}
        self._withheld: dict[tuple[str, str], str] = {}

    def begin_round(self) -> None:
        """Every host may be asked again."""
        with self._lock:
            self._asked.clear()
            for host in self._away:
                if self._wanted.get(host, set()) <= self._troubled.get(host, set()):
                    self._troubled.pop(host, None)  # Each had its turn.
            self._wanted.clear()

    def reason(self, host: str, repository: str) -> str | None:
        """Why a host is not to be asked for a repository in this round; None where it may be."""
        with self._lock:
            if (host, repository) in self._withheld:
                return self._withheld[host, repository]
            if host not in self._away:
                return None
            self._wanted.setdefault(host, set()).add(repository)
            is_next = repository not in self._troubled.get(host, set())
            return None if is_next and host not in self._asked else self._away[host]

    def is_away(self, host: str) -> bool:
        """Whether a host did not answer when it was asked last."""
        with self._lock:
            return host in self._away

    def note(self, host: str, reason: str) -> None:
        """A host did not answer."""
        with self._lock:
            self._away[host] = reason
            self._asked.add(host)

    def give_up(self, host: str, repository: str, late: Late) -> None:
        """An answer for a repository took too long."""
        self.note(host, late.reason)
        with self._lock:
            self._late[host, repository] = late

    def take_late(self) -> dict[tuple[str, str], Late]:
        """What took too long since this was asked last, by host and repository."""
        with self._lock:
            found, self._late = self._late, {}
            return found

    def withhold(self, host: str, repository: str, reason: str) -> None:
        """A host is not to be asked for a repository in any round, until that is released."""
        with self._lock:
            self._withheld[host, repository] = reason

    def release(self, host: str, repository: str) -> None:
        """A host may be asked for a repository again."""
        with self._lock:
            self._withheld.pop((host, repository), None)

    def trouble(self, host: str, repository: str, reason: str) -> None:
        """A host answered with trouble of its own when it was asked for a repository."""
        with self._lock:
            troubled = self._troubled.setdefault(host, set())
            if host in self._away or repository not in troubled:
                self._away[host] = reason
                self._asked.add(host)
            troubled.add(repository)

    def end(self, host: str) -> None:
        """A host answered."""
        with self._lock:
            self._away.pop(host, None)
            self._asked.discard(host)


class Asking:
    """What is asked of a host, as outages have it: how often, and what becomes of the answer.

    Args:
        outages: the hosts that are away; None to be as patient with each request.
        host: the host.
        repository: what is wanted of it; for a file, its folder.

    Attributes:
        is_patient: whether each request is asked as if it were the first.
    """

    def __init__(self, outages: Outages | None, host: str, repository: str) -> None:
        self._outages, self._host, self._repository = outages, host, repository
        self.is_patient = outages is None

    def reason(self) -> str | None:
        """Why the host is not to be asked in this round; None where it may be."""
        return None if self._outages is None else self._outages.reason(self._host, self._repository)

    def attempts(self, retries: int) -> int:
        """How often it is asked, of the attempts that there are beside the first."""
        is_away = self._outages is not None and self._outages.is_away(self._host)
        return 1 if is_away else retries + 1

    def answered(self) -> None:
        """It answered well, or with what is no trouble of its own."""
        if self._outages is not None:
            self._outages.end(self._host)

    def troubled(self, reason: str) -> None:
        """It answered with trouble of its own each time."""
        if self._outages is not None:
            self._outages.trouble(self._host, self._repository, reason)

    def failed(self, reason: str) -> None:
        """It did not answer, or not in time."""
        if self._outages is not None:
            self._outages.note(self._host, reason)

    def late(self, late: Late) -> None:
        """Its answer took too long."""
        if self._outages is not None:
            self._outages.give_up(self._host, self._repository, late)
