"""Connections to registries and other servers over HTTP, on which no answer takes longer than it may."""

import email.utils
import random
import time
from collections.abc import Callable, Iterable
from datetime import UTC
from typing import Self, TypeAlias
from urllib.parse import urlsplit

import httpx2

from trundle._clock import now
from trundle._environment import proxy_of
from trundle._http import TimedTransport, timeouts
from trundle._tls import verifying
from trundle.registry._settings import HttpSettings

Body: TypeAlias = bytes | Callable[[], Iterable[bytes]] | None
"""What a request sends: bytes, or a function that gives them anew for each attempt."""

_REDIRECTS = 5
_HEADERS = {"User-Agent": "trundle", "Accept": "*/*", "Accept-Encoding": "identity"}


class Pool:
    """The connections to a server, through the proxy that the environment names; threads may share them.

    Args:
        base: the URL of the server.
        settings: the times; `request_time` bounds the way to the last header of an answer, and what is sent may take longer if it is much.
        connections: how many connections are kept.
    """

    def __init__(self, base: str, settings: HttpSettings, connections: int = 4) -> None:
        self._settings = settings
        verified = verifying() if urlsplit(base).scheme == "https" else None
        self._transport = TimedTransport(verified, proxy_of(base), kept=connections, expiry=None)

    def send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: Body = None,
        *,
        redirects: bool,
    ) -> httpx2.Response:
        """The answer to a request, its content unread; the caller closes it.

        Credentials go to no other server, and redirects are followed for reading only.

        Raises:
            HTTPError: it cannot be had.
        """
        settings = self._settings
        size = int(headers.get("Content-Length", 0))
        times = timeouts(
            settings.request_time + size / settings.slowest,
            connect=settings.connect_timeout,
            read=settings.read_timeout,
        )
        content = body() if callable(body) else body
        try:
            request = httpx2.Request(
                method, url, headers={**_HEADERS, **headers}, content=content, extensions=times
            )
            for _ in range(_REDIRECTS + 1):
                response = self._transport.handle_request(request)
                response.request = request
                if not redirects or not response.has_redirect_location:
                    return response
                response.close()
                request = _following(request, response)
        except httpx2.InvalidURL as error:
            raise httpx2.UnsupportedProtocol(str(error)) from None
        raise httpx2.TooManyRedirects("too many redirects")

    def close(self) -> None:
        """Closes all connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pause_before(attempt: int, asked: float | None, settings: HttpSettings) -> bool:
    """Waits before something is tried again: longer with each attempt, and not as long as others do. False, without waiting, where more is asked for than the longest pause.

    Args:
        attempt: how often it was tried, less one.
        asked: the seconds that the server asks for.
        settings: the pauses.
    """
    longest = settings.longest_pause
    if asked is not None and asked > longest:
        return False
    usual = min(longest, settings.first_pause * 2**attempt)
    time.sleep(random.uniform(usual / 2, usual) + (asked or 0.0))  # noqa: S311 - no secret
    return True


def asked_pause(response: httpx2.Response) -> float | None:
    """The seconds that a `Retry-After` header asks for."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now()).total_seconds())


def _following(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request:
    """What is asked for where an answer leads elsewhere."""
    before, url = request.url, request.url.join(response.headers["Location"])
    headers = {name: value for name, value in request.headers.items() if name != "host"}
    if (url.scheme, url.host, url.port) != (before.scheme, before.host, before.port):
        headers.pop("authorization", None)
    return httpx2.Request(request.method, url, headers=headers, extensions=request.extensions)
