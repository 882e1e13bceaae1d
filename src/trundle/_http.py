"""The one way on which servers are asked over HTTP: each request has a total time.

The timeouts of `httpx2` bound each wait for bytes, so a server that answers byte by byte could keep a client for ever. Here a request ends, from
the connection to the last byte of its answer, when its time is over. A watch has no such time; it ends when nothing comes for long.
"""

import contextlib
import socket
import ssl
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpcore2
import httpx2

from trundle._tls import verifying
from trundle.errors import Kind, TrundleError

_PIECE = 16 * 1024
_LAST_PORT = 65535


class LateAnswerError(TrundleError, httpx2.ReadTimeout):
    """An answer took longer than it may as a whole; to ask again would take as long."""

    kind = Kind.UNREACHABLE


class Deadline(float):
    """A timeout that also ends with the request as a whole: `httpcore2` passes it on for each wait, and `_left` gives what is left of it.

    Attributes:
        total: how many seconds the request has.
        end: when they are over, on the monotonic clock; `allow` sets another moment for the content.
    """

    total: float
    end: float

    def within(self, wait: float) -> "Deadline":
        """The same, with another time for each wait."""
        made = Deadline(wait)
        made.total, made.end = self.total, self.end
        return made


def deadline(total: float, wait: float | None = None) -> Deadline:
    """A timeout for a request that begins now.

    Args:
        total: how many seconds the request has.
        wait: how many seconds it waits for bytes; all that are left where None.
    """
    made = Deadline(total if wait is None else wait)
    made.total, made.end = total, time.monotonic() + total
    return made


def timeouts(total: float, *, connect: float, read: float) -> dict[str, Any]:
    """The extensions of a request that has a total time, and times for each wait."""
    whole = deadline(total, read)
    first = deadline(total, connect)
    return {"timeout": {"connect": first, "read": whole, "write": whole, "pool": None}}


def allow(response: httpx2.Response, moment: float) -> None:
    """Lets the content of an answer take until a moment on the monotonic clock."""
    until = response.request.extensions["timeout"]["read"]
    if isinstance(until, Deadline):
        until.end = moment


class TimedTransport(httpx2.BaseTransport):
    """The way to a server, on which requests take no longer than their read timeout as a whole, or than a `Deadline` says.

    Args:
        verified: how certificates of servers are verified; None where only HTTP is spoken.
        proxy: the URL of the proxy by which they are reached.
        idle: how many seconds a request without a timeout waits for its next bytes.
        kept: how many connections are kept open.
        expiry: for how many seconds each of them is.
    """

    def __init__(
        self,
        verified: ssl.SSLContext | None,
        proxy: str | None = None,
        *,
        idle: float | None = None,
        kept: int = 20,
        expiry: float | None = 5.0,
    ) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=verified,
            proxy=None if proxy is None else _proxy(proxy),
            max_connections=None,
            max_keepalive_connections=kept,
            keepalive_expiry=expiry,
            network_backend=_TimedBackend(idle),
        )
        weakref.finalize(self, self._pool.close)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request; the time for its whole answer runs from now on."""
        times = request.extensions.get("timeout", {})
        if times.get("read") is not None and not isinstance(times["read"], Deadline):
            times.update(dict.fromkeys(("connect", "write", "read"), deadline(times["read"])))
        assert isinstance(request.stream, httpx2.SyncByteStream)
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _errors():
            answer = self._pool.handle_request(sent)
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Content(answer.stream),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Closes all connections."""
        self._pool.close()


class _Content(httpx2.SyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        with _errors():
            yield from self._inner

    def close(self) -> None:
        self._inner.close()


def _proxy(url: str) -> httpcore2.Proxy:
    found = httpx2.Proxy(url)
    return httpcore2.Proxy(
        httpcore2.URL(
            scheme=found.url.raw_scheme,
            host=found.url.raw_host,
            port=found.url.port,
            target=found.url.raw_path,
        ),
        auth=found.raw_auth,
        ssl_context=verifying() if found.url.scheme == "https" else None,
    )


class _LateError(httpcore2.ReadTimeout):
    """A request is not answered within its total time."""


_ERRORS: Mapping[type[Exception], type[httpx2.TransportError]] = {
    _LateError: LateAnswerError,
    httpcore2.TimeoutException: httpx2.TimeoutException,
    httpcore2.ConnectTimeout: httpx2.ConnectTimeout,
    httpcore2.ReadTimeout: httpx2.ReadTimeout,
    httpcore2.WriteTimeout: httpx2.WriteTimeout,
    httpcore2.PoolTimeout: httpx2.PoolTimeout,
    httpcore2.NetworkError: httpx2.NetworkError,
    httpcore2.ConnectError: httpx2.ConnectError,
    httpcore2.ReadError: httpx2.ReadError,
    httpcore2.WriteError: httpx2.WriteError,
    httpcore2.ProxyError: httpx2.ProxyError,
    httpcore2.UnsupportedProtocol: httpx2.UnsupportedProtocol,
    httpcore2.ProtocolError: httpx2.ProtocolError,
    httpcore2.LocalProtocolError: httpx2.LocalProtocolError,
    httpcore2.RemoteProtocolError: httpx2.RemoteProtocolError,
}


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Raises errors of `httpcore2` as those of `httpx2`, with what the system said as their cause."""
    try:
        yield
    except tuple(_ERRORS) as error:
        cause = error.args[0] if error.args else None
        raised = _ERRORS[type(error)](_words(error, cause))
        raise raised from cause if isinstance(cause, BaseException) else error


def _words(error: Exception, cause: object) -> str:
    """What an error says, without the numbers and names that the system and libraries have for it."""
    match cause:
        case ssl.SSLCertVerificationError():
            return f"certificate verify failed: {cause.verify_message}"
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER" | "RECORD_LAYER_FAILURE"):
            return "an answer that is not TLS, as servers of http:// give"
        case ssl.SSLError(reason=str(reason)):
            return reason.replace("_", " ").lower()
        case OSError(strerror=str(reason)) if not isinstance(cause, ssl.SSLError):
            return reason
        case _:
            return str(error)


@contextlib.contextmanager
def _left(timeout: float | None, idle: float | None, parts: int = 1) -> Iterator[float | None]:
    """What is left of a timeout; as long as a request may idle where there is none.

    Args:
        timeout: the timeout.
        idle: how long a request may idle.
        parts: into how many parts what is left of a deadline is divided.

    Raises:
        _LateError: the request has a deadline, and it is over.
    """
    if not isinstance(timeout, Deadline):
        yield idle if timeout is None else timeout
        return
    message = f"no whole answer within {timeout.total:g} seconds"
    left = timeout.end - time.monotonic()
    if left <= 0:
        raise _LateError(message)
    wait = min(left, float(timeout)) / parts
    try:
        yield wait
    except httpcore2.TimeoutException:
        if left > wait:
            raise
        raise _LateError(message) from None


class _TimedBackend(httpcore2.NetworkBackend):
    def __init__(self, idle: float | None) -> None:
        self._inner, self._idle = httpcore2.SyncBackend(), idle

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connects to the first address of a host that lets it; all of them together have the time, and a silent one leaves the others their part of it."""
        failure: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        addresses = _addresses(host, port)
        until = time.monotonic() + (timeout or 0)
        for number, address in enumerate(addresses):
            if isinstance(timeout, Deadline):
                timeout = timeout.within(max(until - time.monotonic(), 0.001))
            try:
                with _left(timeout, self._idle, len(addresses) - number) as left:
                    made = self._inner.connect_tcp(
                        address, port, left, local_address, socket_options
                    )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(made, self._idle)
        raise failure or httpcore2.ConnectError(f"{host} has no address")


def _addresses(host: str, port: int) -> list[str]:
    if port > _LAST_PORT:  # the system would take what is left of it over that
        raise httpcore2.ConnectError(f"no port {port}, as the last one is {_LAST_PORT}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(error) from None
    except UnicodeError:  # The system is not asked for a name with an empty or a long part.
        raise httpcore2.ConnectError(f"no host {host}, as this is no name of a host") from None
    return [str(each[4][0]) for each in found]


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, idle: float | None) -> None:
        self._inner, self._idle = inner, idle

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _left(timeout, self._idle) as left:
            return self._inner.read(max_bytes, left)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            with _left(timeout, self._idle) as left:
                self._inner.write(buffer[start : start + _PIECE], left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            with _left(timeout, self._idle) as left:
                made = self._inner.start_tls(ssl_context, server_hostname, left)
        except BaseException:  # the caller has no stream yet that it could close
            self.close()
            raise
        return _TimedStream(made, self._idle)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)
