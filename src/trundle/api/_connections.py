"""Connections of clients: HTTP by uvicorn and httptools, the certificates that clients show, and the end of patience."""

import asyncio
import ssl
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trundle.api._responses import failed
from trundle.api._status import ApiError
from trundle.api.access import PEER, Application, Receive, Scope, Send

_CONNECTION = "trundle.connection"
_READS = ("GET", "HEAD")
_LENGTH = b"content-length"
_SHORT = 64 * 1024
"""Up to how many bytes what follows a head is copied to be sent with it."""
_MOST_HEADERS = 1024 * 1024
"""How many bytes the headers of a request may have; the limit of Go's servers."""


@dataclass(frozen=True, slots=True)
class Patience:
    """For how many seconds the server waits for clients.

    Attributes:
        headers: for the headers of a request, from its first byte or the start of the connection.
        body: for the body of a request.
        reading: for a client to read what was sent before.
        closing: for a client to read the end of what was sent before.
        refused: for a client that was refused while it was sending to stop; the answer would be lost to it where the
            connection ended before, as Go's servers know it (`rstAvoidanceDelay` of `net/http`).
    """

    headers: float = 10
    body: float = 60
    reading: float = 30
    closing: float = 30
    refused: float = 0.5


class _Joined(asyncio.Transport):
    """A transport that sends the head of an answer together with its body: each write is a call of the system, and a packet.

    Args:
        transport: sends it.

    Attributes:
        holds: whether what is written next waits for what is written after it.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self.holds = False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        """Sends something, or holds it where it is a head."""
        if self.holds:
            self.holds = False
            self._head = data
        elif self._head and len(data) <= _SHORT:
            self._transport.write(self._head + data)
            self._head = b""
        else:
            self.flush()
            self._transport.write(data)

    def flush(self) -> None:
        """Sends what is held."""
        if self._head:
            self._transport.write(self._head)
            self._head = b""

    def close(self) -> None:
        """Sends what is held, and ends the connection."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Ends the connection at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether the connection ends, or has ended."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Takes nothing from the client for a while."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Goes on with that."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the connection."""
        return self._transport.get_extra_info(name, default)


class Connection(HttpToolsProtocol):
    """A connection; requests know the certificate of their client, and slow clients are cut off.

    Attributes:
        patience: for how long the server waits; set for all connections by who serves.
    """

    patience: ClassVar[Patience] = Patience()
    _awaited: tuple[float, str] | None = None
    """For how many seconds what the client sends next is waited for, and what it is; None where nothing is."""
    _deadline: asyncio.TimerHandle | None = None
    _size: int | None = 0
    _peer: tuple[dict[str, Any], bytes] | None = None
    _is_refused: bool = False

    @property
    def is_full(self) -> bool:
        """Whether what was sent waits for the client, so that more has to wait, too."""
        return self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins a connection."""
        self._joined = _Joined(transport)
        super().connection_made(self._joined)
        self._peer = _peer(transport.get_extra_info("ssl_object"))
        self._await(self.patience.headers, "the headers of a request")
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends a connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what the client sends, and ignores it once the client is refused."""
        if self._is_refused:
            return
        super().data_received(data)
        self._wait()
        if self._size is not None:
            self._size += len(data)
            if self._size > _MOST_HEADERS:
                self._end_with(
                    431,
                    "Request Header Fields Too Large",
                    "RequestEntityTooLarge",
                    "the headers are too large",
                )

    def on_message_begin(self) -> None:
        """Begins a request."""
        super().on_message_begin()
        self._size = 0
        self._await(self.patience.headers, "the headers of a request")
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope["extensions"] = {_CONNECTION: self}
        if self._peer is not None:
            scope["extensions"][PEER] = self._peer

    def on_headers_complete(self) -> None:
        """Begins to answer."""
        self._size = None
        self._await(self.patience.body, "the body of a request")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is here."""
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer is complete."""
        self._joined.flush()
        super().on_response_complete()

    def join(self) -> None:
        """Sends what is written next, the head of an answer, together with what is written after it."""
        self._joined.holds = True

    def end(self, last: bytes) -> None:
        """Ends the connection with a last part of a streamed answer, and at once if the client goes on not to read."""
        if not self.transport.is_closing():
            self.transport.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(last), last))
            self.transport.close()
            self.loop.call_later(self.patience.closing, self.transport.abort)

    def break_off(self) -> None:
        """Ends the connection in the middle of an answer, which its client does not take for whole."""
        self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True

    def send_400_response(self, msg: str) -> None:
        """Refuses what is not a request."""
        self._end_with(400, "Bad Request", "BadRequest", msg)

    def _await(self, seconds: float, what: str) -> None:
        """Begins to wait for something; most of it is here at once, so a timer starts only once all is read that came with it."""
        self._stop_waiting()
        self._awaited = seconds, what

    def _wait(self) -> None:
        """Starts the timer of what did not come yet."""
        if self._awaited is not None and self._deadline is None:
            seconds, what = self._awaited
            self._deadline = self.loop.call_later(seconds, self._refuse, what)

    def _stop_waiting(self) -> None:
        self._awaited = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, what: str) -> None:
        """Ends a connection whose client did not send in time."""
        self._end_with(408, "Request Timeout", "Timeout", f"Timeout: {what} did not arrive in time")

    def _end_with(self, code: int, phrase: str, reason: str, message: str) -> None:
        """Ends the connection with an answer, unless another one has begun."""
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        self._stop_waiting()
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            body = msgspec.json.encode(ApiError(code, reason, message).status)
            head = (
                f"HTTP/1.1 {code} {phrase}\r\ncontent-type: application/json\r\n"
                f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.flow.resume_reading()
        self.loop.call_later(self.patience.refused, self.transport.close)


class Patient:
    """Ends answers to clients that do not read them, and those to requests that the end of the server cuts off.

    Args:
        application: answers the requests.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        connection = scope.get("extensions", {}).get(_CONNECTION)
        has_begun = False

        async def sending(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                if any(name == _LENGTH for name, _ in message["headers"]):
                    connection.join()  # The body follows at once.
            if not connection.is_full:
                await send(message)
                return
            try:
                async with asyncio.timeout(connection.patience.reading):
                    await send(message)
            except TimeoutError:
                error = ApiError(
                    410, "Expired", "the client reads too slowly; list and watch again"
                )
                event = {"type": "ERROR", "object": error.status}
                connection.end(msgspec.json.encode(event) + b"\n")
                raise ClientDisconnect("the client reads too slowly") from None

        try:
            await self._application(scope, receive, send if connection is None else sending)
        except asyncio.CancelledError:
            if connection is None:
                raise
            if has_begun:
                connection.break_off()
            else:
                await failed(_cut_off(scope["method"]))(scope, receive, send)


def _cut_off(method: str) -> ApiError:
    """The answer to a request that did not end while its server waited to stop.

    A read may be sent again at once, which clients do by themselves where an answer has `Retry-After`; a write may have been done.
    """
    details = {"retryAfterSeconds": 1} if method in _READS else None
    message = "Timeout: request did not complete before the server stopped"
    return ApiError(504, "Timeout", message, details)


def _peer(connection: ssl.SSLObject | None) -> tuple[dict[str, Any], bytes] | None:
    """What the client's certificate says, and its bytes; None where it shows none."""
    der = None if connection is None else connection.getpeercert(binary_form=True)
    if connection is None or der is None:
        return None
    return dict(connection.getpeercert() or {}), der
