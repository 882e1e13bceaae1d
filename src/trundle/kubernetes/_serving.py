"""Runs the webhook until a signal: requests that have begun are answered."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

import uvicorn

from trundle.api import Tls
from trundle.runtime import prepare_types

_GRACE = 30


class Stoppable(Protocol):
    """An ASGI application that is to be ended."""

    async def __call__(self, scope: Any, receive: Any, send: Any, /) -> None:
        """Answers a request."""

    def stop(self) -> None:
        """Says that no more requests should come."""


def serve_webhook(
    application: Stoppable,
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
    config = uvicorn.Config(
        application,
        http="httptools",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        ws="none",
    )
    config.load()
    config.ssl = tls.context
    _Served(config, application, on_ready, alive).run(sockets=[listener])


class _Served(uvicorn.Server):
    """Says when it is ready, and takes signals as a wish to end that is no failure."""

    def __init__(
        self,
        config: uvicorn.Config,
        application: Stoppable,
        on_ready: Callable[[], None],
        alive: int | None,
    ) -> None:
        super().__init__(config)
        self._alive = alive
        self._application = application
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        await super().startup(sockets)
        if self._alive is not None:
            asyncio.get_running_loop().add_reader(self._alive, self._left)
        self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends the server at a signal, and lets the process go on after that."""
        numbers = signal.SIGINT, signal.SIGTERM
        before = [signal.signal(each, self._end) for each in numbers]
        try:
            yield
        finally:
            for each, handler in zip(numbers, before, strict=True):
                signal.signal(each, handler)

    def _left(self) -> None:
        """Ends the server, as the process that it belongs to is gone."""
        assert self._alive is not None
        asyncio.get_running_loop().remove_reader(self._alive)
        self._end(signal.SIGTERM, None)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._application.stop()
        self.handle_exit(number, frame)
