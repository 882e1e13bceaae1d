"""Runs the webhook until a signal: requests that have begun are answered."""

import asyncio
import contextlib
import ctypes
import signal
import socket
from collections.abc import Callable, Iterator

from trundle._clock import now
from trundle.api import Tls, loop_factory
from trundle.kubernetes._connections import Answering, Connection, Connections
from trundle.runtime import prepare_types

_GRACE = 30.0
_WAITING = 2048
"""How many connections may wait to be accepted."""
_MIB = 1024 * 1024
_KEPT = {-1: 16 * _MIB, -3: 8 * _MIB}
"""Options of glibc: how much free memory a thread keeps, and from which size on a piece of it is apart, and given back at once."""


def serve_webhook(
    application: Answering,
    listener: socket.socket,
    tls: Tls,
    on_ready: Callable[[], None] = lambda: None,
    alive: int | None = None,
) -> None:
    """Serves a webhook on a socket until SIGINT or SIGTERM.

    Args:
        application: the webhook.
        listener: the socket.
        tls: its certificate; one that was rotated counts from the next connection on.
        on_ready: is called when requests are answered.
        alive: a file descriptor; serving ends as by a signal when that can be read.
    """
    prepare_types()
    _keep_memory()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(application, listener, tls, on_ready, alive))


async def _serve(
    application: Answering,
    listener: socket.socket,
    tls: Tls,
    on_ready: Callable[[], None],
    alive: int | None,
) -> None:
    loop = asyncio.get_running_loop()
    connections = Connections(application.answer, now)
    connections.begin()
    stopped = asyncio.Event()

    def stop() -> None:
        """Ends; at once where it is to be ended a second time."""
        if stopped.is_set():
            connections.abort()
        application.stop()
        stopped.set()

    def left() -> None:
        """Ends, as the process that this one belongs to is gone."""
        assert alive is not None
        loop.remove_reader(alive)
        stop()

    with _signals(loop, stop):
        server = await loop.create_server(
            lambda: Connection(connections), sock=listener, ssl=tls.context, backlog=_WAITING
        )
        if alive is not None:
            loop.add_reader(alive, left)
        on_ready()
        await stopped.wait()
        server.close()
        await connections.end(_GRACE)


def _keep_memory() -> None:
    """Keeps the memory of large reviews for those that follow. By default, glibc gives it back after each, and the system makes it anew page by page."""
    with contextlib.suppress(AttributeError, OSError):  # Other C libraries have no such options.
        set_option = ctypes.CDLL(None).mallopt
        for option, size in _KEPT.items():
            set_option(option, size)


@contextlib.contextmanager
def _signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Iterator[None]:
    """Calls a function at a signal, and leaves signals as they were."""
    numbers = signal.SIGINT, signal.SIGTERM
    before = [signal.getsignal(each) for each in numbers]
    for each in numbers:
        loop.add_signal_handler(each, stop)
    try:
        yield
    finally:
        for each, handler in zip(numbers, before, strict=True):
            loop.remove_signal_handler(each)
            signal.signal(each, handler)
