"""Sends a blob: in one request where it is small, else in pieces that can be gone on with."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2

from trundle.registry._files import CHUNK
from trundle.registry._interface import Progress
from trundle.registry._model import Descriptor
from trundle.registry._transport import TransferError, Transport, closing, fault_text
from trundle.registry.errors import (
    DigestMismatchError,
    RegistryRefusedError,
    TooLargeError,
    UnreachableError,
)

_CREATED, _ACCEPTED, _NO_CONTENT = 201, 202, 204
_BAD_REQUEST, _NOT_FOUND, _TOO_LARGE, _OUT_OF_RANGE = 400, 404, 413, 416


def upload(
    transport: Transport,
    repository: str,
    content: bytes | Path,
    descriptor: Descriptor,
    where: str,
    progress: Progress | None,
) -> None:
    """Sends a blob that the registry does not have.

    Raises:
        DigestMismatchError: the registry finds that it is not what the descriptor says.
        TooLargeError: the registry does not take so much.
        UnreachableError: it broke off too often.
    """
    settings = transport.settings
    deadline = time.monotonic() + settings.request_time + descriptor.size / settings.slowest
    failures = 0
    failure = ""
    while failures <= settings.retries and time.monotonic() < deadline:
        session = _Session(transport, repository, content, descriptor, where, progress)
        try:
            session.run(deadline)
        except TransferError as error:
            failure = str(error)
        else:
            return
        transport.pause(failures)
        failures += 1
    raise UnreachableError(
        where, f"{descriptor.size} bytes to be taken", failure or "no end of it", "try again later"
    )


class _Session:
    """One upload, from its start to its end."""

    def __init__(
        self,
        transport: Transport,
        repository: str,
        content: bytes | Path,
        descriptor: Descriptor,
        where: str,
        progress: Progress | None,
    ) -> None:
        self._transport = transport
        self._repository = repository
        self._content = content
        self._descriptor = descriptor
        self._where = where
        self._progress = progress
        self._location = ""
        self._reported = 0

    def run(self, deadline: float) -> None:
        """Sends everything.

        Raises:
            TransferError: it broke off and has to begin again.
        """
        size = self._descriptor.size
        found = (
            len(self._content) if isinstance(self._content, bytes) else self._content.stat().st_size
        )
        if found != size:
            raise self._mismatch(f"{found} bytes")
        response = self._call("POST", f"/v2/{self._repository}/blobs/uploads/", {_ACCEPTED})
        self._follow(response)
        offset = 0
        if size > self._transport.settings.chunk:
            offset = self._send_pieces(deadline)
        self._finish(offset)

    def _send_pieces(self, deadline: float) -> int:
        """Sends the content in pieces; after a failure asks the registry how much it has."""
        size, chunk = self._descriptor.size, self._transport.settings.chunk
        offset = failures = 0
        while offset < size:
            end = min(offset + chunk, size)
            try:
                self._send_piece(offset, end)
                offset, failures = end, 0
            except TransferError:
                failures += 1
                if failures > self._transport.settings.retries or time.monotonic() > deadline:
                    raise
                self._transport.pause(failures)
                offset = self._received()
            self._report(offset)
        return offset

    def _send_piece(self, begin: int, end: int) -> None:
        headers = {"Content-Range": f"{begin}-{end - 1}"}
        accept = {_ACCEPTED, _NOT_FOUND, _OUT_OF_RANGE}
        response = self._send("PATCH", self._location, accept, begin, end, headers)
        if response.status_code != _ACCEPTED:
            raise TransferError(fault_text(response))
        self._follow(response)

    def _received(self) -> int:
        """How many bytes the registry has."""
        response = self._call("GET", self._location, {_NO_CONTENT, _ACCEPTED, _NOT_FOUND})
        if response.status_code == _NOT_FOUND:
            raise TransferError(fault_text(response))
        span = response.headers.get("Range", "").removeprefix("bytes=")
        self._follow(response)
        last = span.partition("-")[2]
        # Registries write 0-0 for nothing.
        is_number = last.isdecimal() and len(last) <= len(str(self._descriptor.size))
        return int(last) + 1 if is_number and last != "0" else 0

    def _finish(self, offset: int) -> None:
        """Sends the rest, and says what all of it is."""
        separator = "&" if "?" in self._location else "?"
        url = f"{self._location}{separator}digest={quote(self._descriptor.digest, safe='')}"
        accept = {_CREATED, _BAD_REQUEST, _NOT_FOUND, _TOO_LARGE}
        response = self._send("PUT", url, accept, offset, self._descriptor.size, {})
        if response.status_code == _CREATED:
            with closing(response):
                self._report(self._descriptor.size)
            return
        message = fault_text(response)
        if response.status_code == _BAD_REQUEST:
            if "DIGEST" in message or "SIZE" in message:
                raise self._mismatch(message)
            raise RegistryRefusedError(
                self._where, "the blob to be taken", message, "see what the registry allows"
            )
        if response.status_code == _TOO_LARGE:
            raise self._too_large(message)
        raise TransferError(message)

    def _send(
        self, method: str, url: str, accept: set[int], begin: int, end: int, headers: dict[str, str]
    ) -> httpx2.Response:
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(end - begin),
            **headers,
        }
        response = self._transport.call(
            method,
            url,
            repository=self._repository,
            accept=accept | {_TOO_LARGE},
            headers=headers,
            body=_part(self._content, begin, end),
            repeatable=False,
        )
        if response.status_code == _TOO_LARGE:
            raise self._too_large(fault_text(response))
        return response

    def _call(self, method: str, url: str, accept: set[int]) -> httpx2.Response:
        return self._transport.call(method, url, repository=self._repository, accept=accept)

    def _follow(self, response: httpx2.Response) -> None:
        """Goes on where the registry says."""
        with closing(response):
            location = response.headers.get("Location", "")
        try:
            self._location = self._transport.url(location) if location else self._location
        except ValueError:
            raise self._no_place(repr(location)) from None
        if not self._location:
            raise self._no_place("none")

    def _no_place(self, found: str) -> RegistryRefusedError:
        advice = "ask who runs the registry"
        return RegistryRefusedError(self._where, "a place to send the blob to", found, advice)

    def _report(self, offset: int) -> None:
        if self._progress is not None:
            self._progress(offset - self._reported)
            self._reported = offset

    def _mismatch(self, found: str) -> DigestMismatchError:
        return DigestMismatchError(
            self._where,
            f"{self._descriptor.digest} with {self._descriptor.size} bytes",
            found,
            "what was to be sent was damaged or changed; make it anew",
        )

    def _too_large(self, found: str) -> TooLargeError:
        return TooLargeError(
            self._where,
            "a registry that takes a blob of this size",
            found,
            "ask who runs the registry to raise its limit",
        )


def _part(content: bytes | Path, begin: int, end: int) -> Callable[[], Iterator[bytes]]:
    """Part of the content, as often as it is asked for."""

    def pieces() -> Iterator[bytes]:
        if isinstance(content, bytes):
            yield content[begin:end]
            return
        with content.open("rb") as file:
            file.seek(begin)
            left = end - begin
            while left and (piece := file.read(min(CHUNK, left))):
                left -= len(piece)
                yield piece

    return pieces
