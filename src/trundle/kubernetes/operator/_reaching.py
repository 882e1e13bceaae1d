"""Finds out which servers do not answer, beside what is done meanwhile."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
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


class Doorbell:
    """Asks servers whether they answer at all, all at once; those that do not are asked for nothing else until they do.

    A look waits some seconds for each server once, for all of them together; a server that is silent goes on being asked, beside the looks.

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
        self._asking: dict[str, threading.Event] = {}
        self._silent: dict[str, str] = {}
        self._answered: dict[str, float] = {}
        self._left: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._threads = 0

    def ring(self, servers: Mapping[str, str]) -> None:
        """Asks servers, and notes which of them do not answer. Called when a round of the outages has begun.

        Args:
            servers: a URL of each host.
        """
        deadline = time.monotonic() + self._seconds
        with self._lock:
            self._silent = {host: why for host, why in self._silent.items() if host in servers}
            for host, url in sorted(servers.items(), key=lambda each: each[0] in self._silent):
                fresh = self._answered.get(host, -_FRESH) + _FRESH > time.monotonic()
                if host not in self._asking and not fresh:
                    self._ask(host, url)
            awaited = {
                host: each
                for host, each in self._asking.items()
                if host in servers and host not in self._silent
            }
        for each in awaited.values():
            each.wait(max(0.0, deadline - time.monotonic()))
        with self._lock:
            for host, each in awaited.items():
                if not each.is_set():
                    self._silent[host] = f"no answer within {self._seconds:g} seconds"
            for host, why in self._silent.items():
                self._outages.note(host, why)

    def _ask(self, host: str, url: str) -> None:
        self._asking[host] = threading.Event()
        self._left.put((host, url))
        if self._threads < min(len(self._asking), _MOST):
            self._threads += 1
            threading.Thread(target=self._work, name="doorbell", daemon=True).start()

    def _work(self) -> None:
        while True:
            host, url = self._left.get()
            begun, why = time.monotonic(), ""
            try:
                reach(url, self._settings)
            except UnreachableError as error:
                why = error.found
            except Exception as error:  # noqa: BLE001 - a look that asks finds out what is wrong
                why = str(error)
            self._end(host, why, is_late=time.monotonic() - begun >= self._seconds)

    def _end(self, host: str, why: str, *, is_late: bool) -> None:
        """Takes note of an answer, or that there was none; what fails at once can be asked by looks."""
        with self._lock:
            was_silent = host in self._silent
            if why and is_late:
                self._silent[host] = why
            else:
                self._silent.pop(host, None)
            if not why:
                self._answered[host] = time.monotonic()
            self._asking.pop(host).set()
            speaks = was_silent and host not in self._silent
        if speaks:
            self._outages.end(host)
            self._heard()
