"""The requests that a repository over HTTP is made of."""

import re
from urllib.parse import urlsplit

import httpx2

from trundle.registry._model import MANIFEST_TYPES
from trundle.registry._transport import (
    SlowTransferError,
    TransferError,
    Transport,
    closing,
    read_small,
)
from trundle.registry.errors import InvalidManifestError, NotFoundError, UnreachableError

ACCEPT = ", ".join((*MANIFEST_TYPES, "*/*"))
"""The kinds of manifest that are asked for."""

_OK, _NOT_FOUND = 200, 404
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next\b', re.IGNORECASE)
_LARGEST_PAGE = 64 * 1024 * 1024


class Requests:
    """Asks a registry about one repository."""

    def __init__(self, transport: Transport, repository: str) -> None:
        self._transport = transport
        self._repository = repository

    def read_page(self, url: str, where: str) -> tuple[bytes, str | None]:
        """A page of a list, and the URL of the next.

        Raises:
            InvalidManifestError: the next page is said to be at another registry.
        """
        content, headers = self._fetch(url, where, _LARGEST_PAGE)
        link = _NEXT.search(headers.get("Link", ""))
        if link is None:
            return content, None
        base = urlsplit(self._transport.base)
        try:
            following = urlsplit(self._transport.url(link[1]))
        except ValueError:
            expected, advice = "the URL of the next page", "ask who runs the registry"
            raise InvalidManifestError(where, expected, repr(link[1]), advice) from None
        if (following.scheme, following.netloc) != (base.scheme, base.netloc):
            raise InvalidManifestError(
                where,
                "a next page at the same registry",
                following.netloc,
                "ask who runs the registry",
            )
        return content, following.geturl()

    def read(self, url: str, where: str, *, limit: int) -> tuple[bytes, str]:
        """The content at a URL, and its media type."""
        content, headers = self._fetch(url, where, limit)
        return content, headers.get("Content-Type", "").partition(";")[0].strip()

    def _fetch(self, url: str, where: str, limit: int) -> tuple[bytes, httpx2.Headers]:
        settings = self._transport.settings
        for attempt in range(settings.retries + 1):
            response = self.call("GET", url, {_OK, _NOT_FOUND}, headers={"Accept": ACCEPT})
            try:
                with closing(response):
                    if response.status_code == _NOT_FOUND:
                        raise missing(where)
                    content = read_small(response, limit, settings.request_time, where)
                    return content, response.headers
            except TransferError as error:
                failure = str(error)
                if isinstance(error, SlowTransferError):
                    break
            self._transport.pause(attempt)
        self._transport.give_up(url, self._repository, failure, {"Accept": ACCEPT})
        raise UnreachableError(where, "the whole of it", failure, "try again")

    def exists(self, url: str) -> bool:
        """Whether there is something at a URL."""
        response = self.call("HEAD", url, {_OK, _NOT_FOUND}, headers={"Accept": ACCEPT})
        with closing(response):
            return response.status_code == _OK

    def call(
        self,
        method: str,
        url: str,
        accept: set[int],
        *,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        repeatable: bool = True,
    ) -> httpx2.Response:
        """Sends a request, as `Transport.call` has it."""
        return self._transport.call(
            method,
            url,
            repository=self._repository,
            accept=accept,
            headers=headers,
            body=body,
            repeatable=repeatable,
        )


def missing(where: str) -> NotFoundError:
    """The error for what the registry does not have."""
    return NotFoundError(where, "it at the registry", "nothing", "check the name, or push it first")
