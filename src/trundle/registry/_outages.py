"""Which hosts do not answer, for callers that ask many registries in turn."""

import threading


class Outages:
    """Hosts that have not answered, or with trouble of their own; threads may share it.

    A host that did not answer in a round is not asked again in it, and is asked once, without repetitions, in the rounds that follow, until it
    answers. So registries that are away delay what needs others as little as possible.

    Trouble (5xx, 429) may be a matter of one repository alone, so each round asks for another one of those that are wanted. When one is answered well, the
    host is there, and the trouble of those that were not is from then on a matter of theirs: it holds up no other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away: dict[str, str] = {}
        self._asked: set[str] = set()
        self._wanted: dict[str, set[str]] = {}
        self._troubled: dict[str, set[str]] = {}

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
