"""Finds out which servers do not answer, beside what is done meanwhile."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from trundle.kubernetes.operator._wanted import SpecError, wanted_of
from trundle.registry import HttpSettings, Outages, Reference, UnreachableError, reach, url_of

_SECONDS = 5.0
"""How long a look waits for servers of which it is not known that they do not answer."""
_FRESH = 15.0
"""For how many seconds a server that has answered is not asked again."""
_MOST = 128
"""How many are asked at once."""


def servers_of(documents: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The registries and the channels by URL that installations name: a URL of each host."""
    found: dict[str, str] = {}
    for each in documents:
        try:
            wanted = wanted_of(each)
        except SpecError:
            continue
        url = url_of(Reference.parse(wanted.reference).registry)
        urls = [f"{url}/v2/"] if url else []
        channel = wanted.channel or ""
        urls += [channel] if channel.startswith(("http://", "https://")) else []
        for one in urls:
            found.setdefault(urlsplit(one).netloc, one)
    return found


class _Question(NamedTuple):
    """What a server is asked.

    Attributes:
        host: the server.
        repository: what of it was too slow for a look; empty where it is asked whether it answers at all.
    """

    host: str
    repository: str = ""


class Doorbell:
    """Asks servers whether they answer at all, all at once; those that do not are asked for nothing else until they do.

    A look waits some seconds for each server once, for all of them together; a server that is silent goes on being asked, beside the looks. So does
    one that answered, and was then too slow for a look: looks ask for no more of the same repository until it comes in time.

    Args:
        outages: where looks find which hosts are not to be asked.
        settings: how long an answer may take.
        heard: is called when a server answers for which no look waits any more.
        seconds: how long to wait for servers.
    """

    def __init__(
        self,
        outages: Outages,
        settings: HttpSettings,
        heard: Callable[[], object],
        seconds: float = _SECONDS,
    ) -> None:
        self._outages = outages
        self._settings = msgspec.structs.replace(settings, outages=None)
        self._heard = heard
        self._seconds = seconds
        self._lock = threading.Lock()
        self._slow: dict[_Question, Callable[[], object]] = {}
        self._asking: dict[_Question, threading.Event] = {}
        self._silent: dict[_Question, str] = {}
        self._answered: dict[_Question, float] = {}
        self._left: queue.SimpleQueue[tuple[_Question, Callable[[], object]]] = queue.SimpleQueue()
        self._threads = 0

    def ring(self, servers: Mapping[str, str]) -> None:
        """Asks servers, and notes which of them do not answer. Called when a round of the outages has begun.

        Args:
            servers: a URL of each host.
        """
        deadline = time.monotonic() + self._seconds
        with self._lock:
            self._take_slow(servers)
            asked = {_Question(host): partial(self._reach, url) for host, url in servers.items()}
            self._silent = {each: why for each, why in self._silent.items() if each.host in servers}
            for each, ask in sorted(
                (asked | self._slow).items(), key=lambda pair: pair[0] in self._silent
            ):
                fresh = self._answered.get(each, -_FRESH) + _FRESH > time.monotonic()
                if each not in self._asking and not fresh:
                    self._ask(each, ask)
            awaited = {
                each: event
                for each, event in self._asking.items()
                if each.host in servers and each not in self._silent
            }
        for event in awaited.values():
            event.wait(max(0.0, deadline - time.monotonic()))
        with self._lock:
            for each, event in awaited.items():
                if not event.is_set():
                    self._silent[each] = f"no answer within {self._seconds:g} seconds"
            for each, why in self._silent.items():
                if not each.repository:
                    self._outages.note(each.host, why)

    def _take_slow(self, servers: Mapping[str, str]) -> None:
        """Withholds from looks what was too slow for one, and lets go what no installation asks for any more."""
        for key, late in self._outages.take_late().items():
            each = _Question(*key)
            self._slow[each], self._silent[each] = late.again, late.reason
            self._outages.withhold(*each, late.reason)
        for each in [each for each in self._slow if each.host not in servers]:
            del self._slow[each]
            self._outages.release(*each)

    def _reach(self, url: str) -> None:
        reach(url, self._settings)

    def _ask(self, question: _Question, ask: Callable[[], object]) -> None:
        self._asking[question] = threading.Event()
        self._left.put((question, ask))
        if self._threads < min(len(self._asking), _MOST):
            self._threads += 1
            threading.Thread(target=self._work, name="doorbell", daemon=True).start()

    def _work(self) -> None:
        while True:
            question, ask = self._left.get()
            begun, why = time.monotonic(), ""
            try:
                ask()
            except UnreachableError as error:
                why = error.found
            except Exception as error:  # noqa: BLE001 - a look that asks finds out what is wrong
                why = str(error)
            self._end(question, why, is_late=time.monotonic() - begun >= self._seconds)

    def _end(self, question: _Question, why: str, *, is_late: bool) -> None:
        """Takes note of an answer, or that there was none; what fails at once can be asked by looks."""
        with self._lock:
            was_silent = question in self._silent
            if why and is_late:
                self._silent[question] = why
            else:
                self._silent.pop(question, None)
                self._slow.pop(question, None)
            if not (why or question.repository):
                self._answered[question] = time.monotonic()
            self._asking.pop(question).set()
            speaks = was_silent and question not in self._silent
        if speaks:
            if question.repository:
                self._outages.release(*question)
            else:
                self._outages.end(question.host)
            self._heard()
