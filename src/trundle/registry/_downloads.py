"""Fetches a blob over HTTP; goes on where a transfer broke off."""

import contextlib
import time

from trundle.registry._files import Download
from trundle.registry._model import Descriptor
from trundle.registry._transport import TransferError, Transport, pieces
from trundle.registry.errors import NotFoundError, UnreachableError

_OK, _PARTIAL = 200, 206
_NOT_FOUND, _OUT_OF_RANGE = 404, 416


def fill(
    transport: Transport, repository: str, descriptor: Descriptor, download: Download, where: str
) -> None:
    """Collects the bytes of a blob that are not there yet, as long as that leads somewhere.

    Raises:
        NotFoundError: there is no such blob.
        DigestMismatchError: there are more bytes than the descriptor announces.
        UnreachableError: it broke off too often, or takes too long.
    """
    settings = transport.settings
    deadline = time.monotonic() + settings.request_time + descriptor.size / settings.slowest
    failures = 0
    while not download.is_complete():
        before = download.size
        failure = "fewer bytes than announced"
        try:
            _stream(transport, repository, descriptor, download, where, deadline)
        except TransferError as error:
            failure = str(error)
        if download.is_complete():
            return
        failures = 0 if download.size - before >= settings.chunk // 4 else failures + 1
        if failures > settings.retries or time.monotonic() > deadline:
            transport.give_up(_url(repository, descriptor), repository, failure)
            raise UnreachableError(
                where,
                f"{descriptor.size} bytes",
                f"{download.size} bytes, then: {failure}",
                "try again; it continues where it stopped",
            )
        transport.pause(failures)


def _stream(
    transport: Transport,
    repository: str,
    descriptor: Descriptor,
    download: Download,
    where: str,
    deadline: float,
) -> None:
    headers = {"Range": f"bytes={download.size}-"} if download.size else {}
    response = transport.call(
        "GET",
        _url(repository, descriptor),
        repository=repository,
        accept={_OK, _PARTIAL, _NOT_FOUND, _OUT_OF_RANGE},
        headers=headers,
    )
    with contextlib.closing(response):
        if response.status_code == _NOT_FOUND:
            raise NotFoundError(
                where, "the blob at the registry", "nothing", "check the name, or push it first"
            )
        span = response.headers.get("Content-Range", "")
        goes_on = response.status_code == _PARTIAL and span.startswith(f"bytes {download.size}-")
        if download.size and not goes_on:
            download.restart()
        if response.status_code == _OUT_OF_RANGE:
            raise TransferError("a registry that does not have the rest")
        for piece in pieces(response, deadline):
            download.write(piece)


def _url(repository: str, descriptor: Descriptor) -> str:
    return f"/v2/{repository}/blobs/{descriptor.digest}"
