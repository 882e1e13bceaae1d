"""A server that sends byte by byte cannot keep a client, over HTTP and TLS."""

import contextlib
import socket
import threading
import time

import msgspec
import pytest
from artifacts import QUICK

from trundle.registry import UnreachableError, fetch_file, open_registry

SETTINGS = msgspec.structs.replace(QUICK, request_time=0.5, read_timeout=5)
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-Long: " + b"x" * 1000


@contextlib.contextmanager
def dripping(at_once: bytes, then: bytes):
    """A server that answers every request with some bytes, and goes on byte by byte."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def serve(connection):
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                connection.sendall(at_once)
                for place in range(len(then)):
                    if stop.wait(0.05):
                        return
                    connection.sendall(then[place : place + 1])

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stop.set()


@pytest.fixture
def in_time():
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < 45


@pytest.mark.full
@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize(
    ("at_once", "then"),
    [
        (b"", HEADERS),
        (b"HTTP/1.1 200 OK\r\n", b"X-Long: " + b"x" * 1000),
        (b"HTTP/1.1 200 OK\r\nX-Whole: x\r\n", b"X-More: 1\r\n" * 100),
        (b"HTTP/1.1 404 Not Found\r\n", b"X-More: 1\r\n" * 100),
    ],
)
def test_headers_that_drip_are_given_up(at_once, then):
    with dripping(at_once, then) as address:
        repository = open_registry(address, settings=SETTINGS).repository("acme/db")
        with pytest.raises(UnreachableError, match=r"no whole answer within 0\.5 seconds"):
            repository.tags()
        with pytest.raises(UnreachableError, match=r"no whole answer within 0\.5 seconds"):
            list(fetch_file(f"http://{address}/latest", settings=SETTINGS))


@pytest.mark.full
@pytest.mark.usefixtures("in_time")
def test_content_that_drips_is_given_up():
    with dripping(HEADERS + b"\r\n\r\n", b"x" * 1000) as address:
        repository = open_registry(address, settings=SETTINGS).repository("acme/db")
        with pytest.raises(UnreachableError, match="too long"):
            repository.tags()
        with pytest.raises(UnreachableError, match="too long"):
            list(fetch_file(f"http://{address}/latest", settings=SETTINGS))


@pytest.mark.usefixtures("in_time")
def test_a_handshake_that_drips_is_given_up():
    with dripping(b"", b"\x16\x03\x03\x40\x00" + b"\x02" * 1000) as address:
        repository = open_registry(f"https://{address}", settings=SETTINGS).repository("acme/db")
        with pytest.raises(UnreachableError):
            repository.tags()
