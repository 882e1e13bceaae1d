"""A limit for the time until an answer over HTTP begins.

The timeouts of a socket bound each wait for bytes, so a server that sends its headers byte by byte could keep a client
for ever. Here the whole way from the connection to the last header has a limit.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from trundle.errors import Kind, TrundleError


class LateAnswerError(TrundleError, HTTPError):
    """An answer took longer than it may as a whole. To ask again would take as long, so urllib3 does not."""

    kind = Kind.UNREACHABLE


def limit_answers(pool: urllib3.PoolManager, seconds: float) -> None:
    """Ends connections that take longer than some seconds to the last header of an answer, with `LateAnswerError`."""

    class TimedHttpConnection(_Timed, HTTPConnection):
        limit = seconds

    class TimedHttpsConnection(_Timed, HTTPSConnection):
        limit = seconds

    class TimedHttpPool(HTTPConnectionPool):
        ConnectionCls = TimedHttpConnection

    class TimedHttpsPool(HTTPSConnectionPool):
        ConnectionCls = TimedHttpsConnection

    pool.pool_classes_by_scheme = {"http": TimedHttpPool, "https": TimedHttpsPool}


class _Timed:
    """A connection that is closed when connecting, or an answer's headers, take too long."""

    limit: float
    sock: socket.socket | None
    _connecting: socket.socket | None = None

    def connect(self) -> None:
        """Connects, TLS included."""
        try:
            with self._limited():
                super().connect()  # type: ignore[misc]
        finally:
            if self._connecting is not None:
                self._connecting.close()
                self._connecting = None

    def _new_conn(self) -> socket.socket:
        """Opens the socket; a duplicate of it stays at hand while TLS takes the socket over."""
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        self._connecting = made.dup()
        return made

    def getresponse(self) -> Any:
        """Reads an answer up to its last header."""
        with self._limited():
            return super().getresponse()  # type: ignore[misc]

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        late = threading.Event()

        def close() -> None:
            late.set()
            for sock in filter(None, (self._connecting, self.sock)):
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.limit, close)
        timer.daemon = True
        timer.start()

        def check(cause: Exception | None = None) -> None:
            if late.is_set():
                message = f"no whole answer within {self.limit:g} seconds"
                raise LateAnswerError(message) from cause

        try:
            yield
        except Exception as error:
            check(error)
            raise
        finally:
            timer.cancel()
        # Headers that end where the socket was closed are parsed like whole ones.
        check()
