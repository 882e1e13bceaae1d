"""How clusters and other API servers are asked by `httpx2`: each request has a total time.

The timeouts of `httpx2` bound each wait for bytes, so a server that answers byte by byte could keep a client for ever. Here a request ends, from
the connection to the last byte of its answer, when its read timeout is over. A watch has no read timeout; it ends when nothing comes for long.
"""

import contextlib
import ssl
import time
from collections.abc import Iterable, Iterator

import httpcore2
import httpx2
from lightkube.config.client_adapter import verify_cluster
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import User

from trundle._environment import proxy_of
from trundle._tls import as_kubernetes

WATCH_TIME = 300
"""After how many seconds a server is asked to end a watch, which is begun again then."""
_IDLE = WATCH_TIME + 60.0
_PIECE = 16 * 1024


def transport_of(config: SingleConfig) -> httpx2.HTTPTransport:
    """How the cluster of a kubeconfig's context is reached, through the proxy that the environment names.

    Raises:
        Exception: what lightkube lets through where a kubeconfig is not as it should be.
    """
    cluster = config.cluster
    verified = as_kubernetes(verify_cluster(cluster, config.user or User(), config.abs_file))
    return ServerTransport(cluster.server, verified)


class ServerTransport(httpx2.HTTPTransport):
    """The way to a server, on which requests take no longer than their read timeout as a whole.

    Args:
        url: the address of the server; the proxy that the environment names for it is used.
        verified: how its certificate is verified.
        idle: how many seconds a watch waits for its next bytes.
    """

    def __init__(self, url: str, verified: ssl.SSLContext, idle: float = _IDLE) -> None:
        super().__init__(verify=verified, proxy=proxy_of(url, "all"))
        # httpx2 takes no backend.
        self._pool._network_backend = _TimedBackend(self._pool._network_backend, idle)  # noqa: SLF001

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request; the time for its whole answer runs from now on."""
        timeouts = request.extensions.get("timeout", {})
        if timeouts.get("read") is not None:
            timeouts.update(
                dict.fromkeys(("connect", "write", "read"), _Deadline(timeouts["read"]))
            )
        return super().handle_request(request)


class _Deadline(float):
    """A timeout of a request as a whole: `httpcore2` passes it on for each wait, and `_left` gives what is left of it."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds


@contextlib.contextmanager
def _left(timeout: float | None, idle: float) -> Iterator[float]:
    """What is left of a timeout; as long as a watch may idle where there is none.

    Raises:
        ReadTimeout: the request has a deadline, and it is over.
    """
    if not isinstance(timeout, _Deadline):
        yield idle if timeout is None else timeout
        return
    message = f"no whole answer within {timeout:g} seconds"
    left = timeout.end - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout(message)
    try:
        yield left
    except httpcore2.TimeoutException:
        raise httpcore2.ReadTimeout(message) from None


class _TimedBackend(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend, idle: float) -> None:
        self._inner, self._idle = inner, idle

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        with _left(timeout, self._idle) as left:
            made = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return _TimedStream(made, self._idle)


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, idle: float) -> None:
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
        with _left(timeout, self._idle) as left:
            made = self._inner.start_tls(ssl_context, server_hostname, left)
        return _TimedStream(made, self._idle)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)
