"""Connections of the webhook: HTTP/1.1 between an API server and a function that answers, and little else, as each review pays for it.

A server for applications in general takes more time for a review than its conversion does, see decision 350.
"""

import asyncio
import concurrent.futures
import math
from collections import deque
from collections.abc import Callable
from email.utils import format_datetime
from http import HTTPStatus
from typing import NamedTuple, Protocol, TypeAlias, cast
from urllib.parse import unquote

import httptools

from trundle._clock import Clock

_MOST_HEAD = 64 * 1024
"""How many bytes the head of a request may have; the limit of Go's servers."""

_LEAST_PIECE = 8
"""For how many bytes of a body in pieces one byte may come that is not of it."""

_MOST_BODY = 256 * 1024 * 1024

IDLE, RECEIVING, READING = 120.0, 60.0, 30.0
"""For how many seconds a connection may wait for its next request, a request to arrive, and an answer to be read. Go's clients, such as an API server,
give up connections that were idle for 90 seconds: they should be the first to do so, or a request may meet the end of its connection."""

_REFUSED = 0.5
"""For how many seconds a client that is refused while it sends may go on to do so: the answer would be lost to it where the connection ended before."""

_TEXT = "text/plain; charset=utf-8"


class _TooLargeError(Exception):
    """The headers of a request are too large."""


class Answer(NamedTuple):
    """The answer to a request.

    Attributes:
        status: its status.
        media_type: what its body is.
        body: its body.
    """

    status: int
    media_type: str
    body: bytes


Answered: TypeAlias = Answer | concurrent.futures.Future[Answer]
"""An answer, or one to come from another thread."""


class Answering(Protocol):
    """What answers requests, and is to be ended."""

    def answer(self, method: str, path: str, body: bytes) -> Answered:
        """Answers a request."""

    def stop(self) -> None:
        """Says that no more requests should come."""


class _Request(NamedTuple):
    method: str
    path: str
    body: bytes
    stays: bool
    """Whether the connection goes on after the answer."""


class Connections:
    """All connections of a server.

    Args:
        answer: answers a request.
        clock: says what the time is.
    """

    def __init__(self, answer: Callable[[str, str, bytes], Answered], clock: Clock) -> None:
        self.answer = answer
        self.stopping = False
        self.date = b""
        self._clock = clock
        self._open: set[Connection] = set()
        self._all_ended = asyncio.Event()

    def begin(self) -> None:
        """Looks once a second from now on at what lasts too long."""
        loop = asyncio.get_running_loop()
        loop.call_later(1, self.begin)
        self.date = format_datetime(self._clock(), usegmt=True).encode()
        for each in [*self._open]:
            each.end_if_late(loop.time())
            if self.stopping:  # It may have connected since the end began.
                each.end_if_idle()

    def opened(self, connection: "Connection") -> None:
        """A connection began."""
        self._open.add(connection)

    def ended(self, connection: "Connection") -> None:
        """A connection ended."""
        self._open.discard(connection)
        if self.stopping and not self._open:
            self._all_ended.set()

    async def end(self, patience: float) -> None:
        """Ends all connections, once requests that have begun are answered, and without that after so many seconds."""
        self.stopping = True
        for each in [*self._open]:
            each.end_if_idle()
        if self._open:
            try:
                await asyncio.wait_for(self._all_ended.wait(), patience)
            except TimeoutError:
                self.abort()

    def abort(self) -> None:
        """Ends all connections at once."""
        for each in [*self._open]:
            each.abort()


class Connection(asyncio.Protocol):
    """A connection.

    Args:
        connections: where it belongs.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._parser = httptools.HttpRequestParser(self)
        self._asked: deque[_Request] = deque()
        self._deadline = math.inf
        self._url = b""
        self._body: bytes | bytearray = b""
        self._head = self._beside = 0
        """How many bytes the headers of a request have, and all that came of it beside its body."""
        self._in_request = self._in_answer = False
        self._is_full = self._ignores_input = self._is_refused = False

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.opened(self)
        self._wait(IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends."""
        del exc
        self._is_refused = True
        self._asked.clear()
        self._connections.ended(self)

    def data_received(self, data: bytes) -> None:
        """Takes what the client sends, and ignores it once the client is refused."""
        if self._is_refused or self._ignores_input:
            return
        self._beside += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # It is ignored, as a server may do; the connection ends after the answer.
        except httptools.HttpParserError:
            if self._head <= _MOST_HEAD:
                self._refuse(HTTPStatus.BAD_REQUEST, "this is no request")
                return
        if max(self._head, self._beside - len(self._body) // _LEAST_PIECE) > _MOST_HEAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large")
        elif len(self._body) > _MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the review is too large")
        else:
            self._go_on()

    def pause_writing(self) -> None:
        """Waits for the client to read."""
        self._is_full = True
        self._transport.pause_reading()
        self._wait(READING)

    def resume_writing(self) -> None:
        """The client has read."""
        self._is_full = False
        if not self._in_answer:
            self._rest()
            self._transport.resume_reading()
            self._go_on()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Begins a request."""
        self._url = b""
        self._in_request = True
        self._wait(RECEIVING)

    def on_url(self, part: bytes) -> None:
        """Takes a part of what is asked for."""
        self._url += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Asks for the body, where the client waits for that.

        Raises:
            _TooLargeError: there are too many headers, those behind the body included.
        """
        self._head += len(name) + len(value)
        if self._head > _MOST_HEAD:
            raise _TooLargeError
        if len(name) == len(b"expect") and name.lower() == b"expect":
            is_next = not self._asked and not self._in_answer
            if is_next and value.lower() == b"100-continue":
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, part: bytes) -> None:
        """Takes a part of the body."""
        self._beside -= len(part)
        if not self._body:
            self._body = part
            return
        if isinstance(self._body, bytes):
            self._body = bytearray(self._body)
        self._body += part

    def on_message_complete(self) -> None:
        """The request is here."""
        body = bytes(self._body)
        url = self._url
        if not url.startswith(b"/"):
            url = httptools.parse_url(url).path or b"/"
        path = url.partition(b"?")[0].decode("ascii", "replace")
        stays = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        method = self._parser.get_method().decode("ascii")
        self._asked.append(_Request(method, unquote(path), body, stays))
        self._body = b""
        self._head = self._beside = 0
        self._in_request = False

    # Answering

    def _go_on(self) -> None:
        """Answers what was asked, in its order."""
        while self._asked and not (self._in_answer or self._is_full or self._is_refused):
            asked = self._asked.popleft()
            try:
                found = self._connections.answer(asked.method, asked.path, asked.body)
            except Exception as error:  # noqa: BLE001 - whatever it is, other requests go on
                found = self._failed(error)
            if isinstance(found, Answer):
                self._write(found, asked)
            else:
                self._in_answer = True
                self._deadline = math.inf
                self._transport.pause_reading()
                asyncio.wrap_future(found).add_done_callback(
                    lambda done, asked=asked: self._done(done, asked)  # type: ignore[misc]
                )

    def _done(self, found: asyncio.Future[Answer], asked: _Request) -> None:
        """Writes an answer that another thread gave."""
        self._in_answer = False
        error = asyncio.CancelledError() if found.cancelled() else found.exception()
        answer = found.result() if error is None else self._failed(error)
        if not self._is_refused:
            self._transport.resume_reading()
            self._write(answer, asked)
            self._go_on()

    def _failed(self, error: BaseException) -> Answer:
        context = {"message": "a request is not answered", "exception": error}
        self._loop.call_exception_handler(context)
        return Answer(HTTPStatus.INTERNAL_SERVER_ERROR, _TEXT, b"Internal Server Error")

    def _write(self, answer: Answer, asked: _Request) -> None:
        is_last = self._ignores_input and not self._asked
        stays = asked.stays and not is_last and not self._connections.stopping
        self._rest()
        self._transport.write(
            b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\ndate: %b\r\n%b\r\n%b"
            % (
                answer.status,
                _PHRASES[answer.status],
                answer.media_type.encode(),
                len(answer.body),
                self._connections.date,
                b"" if stays else b"connection: close\r\n",
                b"" if asked.method == "HEAD" else answer.body,
            )
        )
        if not stays:
            self._close()

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Ends with an answer, or with those to what was asked before."""
        self._ignores_input = True
        if self._in_answer or self._asked:
            self._go_on()
        else:
            answer = Answer(status, _TEXT, f"{why}\n".encode())
            self._write(answer, _Request("", "", b"", stays=False))

    def _close(self) -> None:
        """Ends once the client had the time to see the answer."""
        self._is_refused = True
        if self._in_request:
            self._loop.call_later(_REFUSED, self._transport.close)
        else:
            self._transport.close()

    # Ending

    def end_if_idle(self) -> None:
        """Ends unless a request has begun."""
        if not (self._in_request or self._in_answer or self._asked):
            self._transport.close()

    def end_if_late(self, now: float) -> None:
        """Ends if it has waited for its client for too long."""
        if now < self._deadline:
            return
        if self._is_full:
            self.abort()
        elif self._in_request and not self._is_refused:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the request did not arrive in time")
        else:
            self._transport.close()

    def abort(self) -> None:
        """Ends at once."""
        self._transport.abort()

    def _rest(self) -> None:
        """Waits for the next request, or for the rest of one that has begun."""
        self._wait(RECEIVING if self._in_request else IDLE)

    def _wait(self, seconds: float) -> None:
        self._deadline = self._loop.time() + seconds


_PHRASES = {each.value: each.phrase.encode() for each in HTTPStatus}
