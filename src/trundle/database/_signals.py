"""Signals between processes that use one database of PostgreSQL, by LISTEN and NOTIFY.

A signal says that there is something new to read, and nothing else. It may come late, twice, or never: where the connection is lost, or the sender dies before
it sends. So a waiting process looks by itself as well, rarely while `is_connected`, and more often while not.

Signals are sent after commits, over a connection of their own: within a transaction they would make all commits of the server wait for
each other.
"""

import contextlib
import os
import selectors
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Engine

_PAUSE = 1.0
"""Seconds before a lost connection is opened again."""

_GATHER = 0.005
"""Seconds between two signals at least; what comes in between shares one."""


class Signals:
    """Signals of one name in one database.

    Args:
        engine: connects to the database.
        name: the name.

    Attributes:
        is_connected: whether signals of other processes are heard at the moment.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._own = str(uuid.uuid4())
        self._listeners: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._to_send = threading.Event()
        self._stopping = threading.Event()
        self._woken, self._wake = os.pipe()
        self.is_connected = False

    def listen(self, listener: Callable[[], object]) -> None:
        """Calls a listener when another process sends a signal, and when signals are heard again after a time in which they were not."""
        self._listeners.append(listener)
        self._start("listener", self._listen)

    def send(self) -> None:
        """Sends a signal soon; it does not wait for that."""
        self._to_send.set()
        self._start("sender", self._send)

    def close(self) -> None:
        """Ends listening and sending."""
        self._stopping.set()
        self._to_send.set()
        os.write(self._wake, b"x")
        for each in self._threads.values():
            each.join(_PAUSE)
        if not any(each.is_alive() for each in self._threads.values()):
            os.close(self._wake)
            os.close(self._woken)

    def _start(self, what: str, run: Callable[[], None]) -> None:
        with self._lock:
            if what not in self._threads and not self._stopping.is_set():
                thread = threading.Thread(target=run, name=f"{self._name} {what}", daemon=True)
                self._threads[what] = thread
                thread.start()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(Exception), self._connected() as connection:
                connection.execute(f'LISTEN "{self._name}"')
                self.is_connected = True
                self._call()  # What was sent before was not heard.
                self._hear(connection)
            self.is_connected = False
            self._stopping.wait(_PAUSE)

    def _hear(self, connection: Any) -> None:
        """Calls the listeners for each signal, until the connection is lost or the end is near."""
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._stopping.is_set():
                selector.select()
                connection.pgconn.consume_input()
                heard = False
                while (each := connection.pgconn.notifies()) is not None:
                    heard = heard or each.extra.decode() != self._own
                if heard:
                    self._call()

    def _call(self) -> None:
        for each in self._listeners:
            each()

    def _send(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(Exception), self._connected() as connection:
                while not self._stopping.is_set():
                    self._to_send.wait()
                    self._to_send.clear()
                    try:
                        connection.execute("SELECT pg_notify(%s, %s)", (self._name, self._own))
                    except Exception:
                        self._to_send.set()
                        raise
                    self._stopping.wait(_GATHER)
            self._stopping.wait(_PAUSE)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """A connection of the driver's own that no pool has; each statement is a transaction."""
        pooled = self._engine.raw_connection()
        driver: Any = pooled.driver_connection
        pooled.detach()
        try:
            driver.autocommit = True
            yield driver
        finally:
            driver.close()
