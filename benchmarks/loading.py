"""Small clients that load a server: they cost so little that the server is what is measured."""

import itertools
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any


class Connection:
    """A connection to a server that is kept.

    Args:
        port: the server's port on this machine.
        tls: the authorities that vouch for the server; None for a connection without TLS.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname="127.0.0.1")

    def send(self, request: bytes) -> None:
        """Sends a request."""
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """The body of the next answer; it has a length or comes in chunks, and is no refusal."""
        data = self._socket.recv(65536)
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._more()
        head = data[:end].lower()
        assert head[9:12] < b"300", data
        if b"transfer-encoding: chunked" in head:
            while not data.endswith(b"\r\n0\r\n\r\n"):
                data += self._more()
            return _whole(data[end + 4 :])
        start = head.index(b"content-length:") + 15
        length = int(head[start:].partition(b"\r\n")[0])
        while len(data) < end + 4 + length:
            data += self._more()
        return data[end + 4 :]

    def lines(self, number: int) -> list[bytes]:
        """The next lines of an answer in parts."""
        data = b""
        while data.count(b"}\n") < number:
            data += self._more()
        return [each for each in data.split(b"\n") if each.startswith(b"{")]

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def _more(self) -> bytes:
        found = self._socket.recv(1 << 20)
        assert found, "the server ended the connection"
        return found


def _whole(chunks: bytes) -> bytes:
    found: list[bytes] = []
    while True:
        size, _, chunks = chunks.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return b"".join(found)
        found.append(chunks[:length])
        chunks = chunks[length + 2 :]


def request(method: str, path: str, body: bytes = b"", /, **headers: str) -> bytes:
    """A request as it is sent."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    given = {"host": "127.0.0.1", "content-type": "application/json", **named}
    lines = [f"{key}: {value}" for key, value in given.items()]
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, f"content-length: {len(body)}"])
    return head.encode() + b"\r\n\r\n" + body


class Loaded:
    """A server, and connections to it.

    Args:
        port: its port.
        connections: how many connections there are.
    """

    def __init__(self, port: int, connections: int) -> None:
        self._connections = [Connection(port) for _ in range(connections)]
        self.port = port

    def ask(self, sent: bytes) -> bytes:
        """The body of one answer, on a connection of its own: servers end those that are idle for seconds."""
        connection = Connection(self.port)
        connection.send(sent)
        found = connection.receive()
        connection.close()
        return found

    def used(self, **headers: str) -> Any:
        """What the server says of itself."""
        return json.loads(self.ask(request("GET", "/used", **headers)))

    def together(self, sent: bytes | Sequence[bytes], times: int) -> float:
        """Every connection asks so often, all of them at a time; seconds on the clock, for each request.

        Args:
            sent: what they ask; of several requests each connection takes the next one.
            times: how often.
        """
        waiting = itertools.cycle([sent] if isinstance(sent, bytes) else sent)
        start = time.perf_counter()
        for _ in range(times):
            for each in self._connections:
                each.send(next(waiting))
            for each in self._connections:
                each.receive()
        return (time.perf_counter() - start) / times / len(self._connections)

    def apart(self, job: Callable[[int, Connection], None]) -> float:
        """Every connection does a job of its own, waiting for no other; seconds on the clock, for all."""
        threads = [threading.Thread(target=job, args=each) for each in enumerate(self._connections)]
        start = time.perf_counter()
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return time.perf_counter() - start
