"""Runs an API until it is asked to stop: requests finish, watches end."""

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TextIO

import uvicorn

from trundle.api._application import Api
from trundle.api._collection import seldom_collecting
from trundle.api._connections import Connection, Patient
from trundle.api._limits import Limited, UserLimits
from trundle.api._succession import InstalledApi
from trundle.api.access import Application, Guard, Tls
from trundle.api.monitoring import Keeper, Recorder
from trundle.errors import TrundleError
from trundle.runtime import prepare_types
from trundle.store import NewerShapeError, ServerLease

_RENEW = 10.0
"""After how many seconds a server renews its lease."""

_GRACE = 30
_NO_LIMITS = UserLimits()
_UNREAD = 30_000
"""After how many milliseconds a connection ends whose client reads nothing of what was sent."""


class Server:
    """Serves an API on a port or a Unix socket.

    Args:
        api: the API.
        listener: the socket, bound.
        lease: says to other servers of the store that this one is there; None where no other server can use it.
        keepers: keep records of requests, such as an access log.
        tls: what TLS needs; None for none.
        limits: how much one user may ask for.
        complain: is given what goes wrong without ending the server.
        around: puts something in front of it all, such as the sessions of browsers.
    """

    def __init__(
        self,
        api: Api | InstalledApi,
        listener: socket.socket,
        lease: ServerLease | InstalledApi | None = None,
        keepers: Sequence[Keeper] = (),
        tls: Tls | None = None,
        limits: UserLimits = _NO_LIMITS,
        complain: Callable[[str], None] = lambda _: None,
        around: Callable[[Application], Application] = lambda guarded: guarded,
    ) -> None:
        self._api = api
        self._lease = lease
        self._complain = complain
        self._listener = listener
        guarded = Guard(Limited(api.application, limits), api.access)
        config = uvicorn.Config(
            around(Recorder(Patient(guarded), [api.metrics, *keepers])),
            http=Connection,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE,
            server_header=False,
            proxy_headers=False,
            ws="none",
        )
        config.load()
        if tls is not None:
            config.ssl = tls.context
        self._server = _Served(config)

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Serves until a signal, or until it is stopped; `on_ready` is called when requests are answered.

        Signals are those of the process, so a server in another thread than the main one ends by `stop` alone.
        """
        prepare_types()
        # In another thread, a process does more than to serve.
        collecting = seldom_collecting() if _is_main_thread() else contextlib.nullcontext()
        with collecting, asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self._run(on_ready))

    async def _run(self, on_ready: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        if _is_main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.stop)
        serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        ready = asyncio.create_task(self._wait(on_ready))
        renewing = asyncio.create_task(self._renew())
        controllers = threading.Thread(target=self._api.controllers.run, name="controllers")
        controllers.start()
        try:
            done, _ = await asyncio.wait({serving, renewing}, return_when=asyncio.FIRST_COMPLETED)
            self.stop()
            await serving
            if renewing in done:
                renewing.result()
        finally:
            for each in (ready, renewing):
                each.cancel()
            self._api.controllers.stop()
            await asyncio.to_thread(controllers.join)

    def stop(self) -> None:
        """Lets requests finish, and ends watches."""
        self._server.should_exit = True
        self._api.stop()

    async def _wait(self, on_ready: Callable[[], None]) -> None:
        while not self._server.started:  # noqa: ASYNC110 - uvicorn sets it
            await asyncio.sleep(0.01)
        on_ready()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_RENEW)
            if self._lease is not None:
                await asyncio.to_thread(self._renew_once, self._lease)

    def _renew_once(self, lease: ServerLease | InstalledApi) -> None:
        """Renews the lease, if the store can be written; a lease that ends meanwhile does no harm.

        Raises:
            NewerShapeError: the store keeps what this server cannot read.
        """
        try:
            lease.renew()
        except NewerShapeError:
            raise
        except TrundleError as error:
            self._complain(f"the lease is not renewed: {error}")


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes event loops: uvloop, where the system has it."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return None
    return uvloop.new_event_loop


class _Served(uvicorn.Server):
    """Leaves signals to its caller."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Takes no signals."""
        yield


@contextlib.contextmanager
def listening(
    host: str, port: int, unix_socket: Path | None = None, *, shared: bool = False
) -> Iterator[socket.socket]:
    """A socket that listens.

    Args:
        host: the address.
        port: the port; 0 for one that is free.
        unix_socket: the Unix socket to listen on instead; it is removed at the end.
        shared: whether other processes listen on the port as well, which they have to say, too.

    Raises:
        OSError: the address is taken, or cannot be used.
    """
    if unix_socket is None:
        with reserved(host, port, shared=shared) as listener:
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD)
            listener.listen(2048)
            yield listener
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(unix_socket))
        try:
            listener.listen(2048)
            yield listener
        finally:
            unix_socket.unlink(missing_ok=True)


@contextlib.contextmanager
def reserved(host: str, port: int, *, shared: bool) -> Iterator[socket.socket]:
    """A socket that has a port, and does not listen.

    Args:
        host: the address.
        port: the port; 0 for one that is free.
        shared: whether others may have it, too, who say the same.

    Raises:
        OSError: the address is taken, or cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        found.bind((host, port))
        yield found


def printing(stream: TextIO = sys.stderr) -> Callable[[str], None]:
    """Writes lines to a stream at once."""

    def log(line: str) -> None:
        stream.write(f"{line}\n")
        stream.flush()

    return log


def appending(path: Path) -> Callable[[str], None]:
    """Appends lines to a file; it may be moved away at any time, and is then made anew.

    Raises:
        OSError: the file cannot be written.
    """
    handler = WatchedFileHandler(path, encoding="utf-8")

    def log(line: str) -> None:
        handler.emit(logging.makeLogRecord({"msg": line}))

    return log
