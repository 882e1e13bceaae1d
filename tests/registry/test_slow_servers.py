"""A server that sends byte by byte cannot keep a client, over HTTP and TLS."""

import time

import msgspec
import pytest
from artifacts import QUICK
from dripping import dripping

from trundle.registry import Outages, UnreachableError, fetch_file, open_registry

SETTINGS = msgspec.structs.replace(QUICK, request_time=0.5, read_timeout=5)
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nX-Long: " + b"x" * 1000

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


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
@pytest.mark.parametrize(
    ("at_once", "then"),
    [(HEADERS + b"\r\n\r\n", b"x" * 1000), (CHUNKED, b"1;" + b"x" * 1000)],
    ids=["content", "the head of a chunk"],
)
def test_content_that_drips_is_given_up(at_once, then):
    settings = msgspec.structs.replace(SETTINGS, request_time=2)  # Headers come in time.
    with dripping(at_once, then) as address:
        repository = open_registry(address, settings=settings).repository("acme/db")
        with pytest.raises(UnreachableError, match="too long"):
            repository.tags()
        with pytest.raises(UnreachableError, match="too long"):
            list(fetch_file(f"http://{address}/latest", settings=settings))


@pytest.mark.usefixtures("in_time")
def test_a_handshake_that_drips_is_given_up():
    with dripping(b"", b"\x16\x03\x03\x40\x00" + b"\x02" * 1000) as address:
        repository = open_registry(f"https://{address}", settings=SETTINGS).repository("acme/db")
        with pytest.raises(UnreachableError):
            repository.tags()


def require_asked(asked, times):
    """How often a server was asked; it may hear of that after its client has gone."""
    for _ in range(3000):
        if len(asked) >= times:
            break
        time.sleep(0.01)
    assert len(asked) == times


@pytest.mark.full
@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize(
    "at_once", [b"", HEADERS, HEADERS + b"\r\n\r\n"], ids=["silent", "headers", "content"]
)
def test_a_slow_host_is_waited_for_once_in_a_round(at_once):
    outages = Outages()
    settings = msgspec.structs.replace(SETTINGS, read_timeout=0.25, outages=outages)
    with dripping(at_once, b"x" * 1000 if at_once else b"", asked := []) as address:
        registry = open_registry(address, settings=settings)
        for expected in (1, 2):
            outages.begin_round()
            for name in ("acme/one", "acme/two", "acme/three"):
                with pytest.raises(UnreachableError):
                    registry.repository(name).tags()
            require_asked(asked, expected)


@pytest.mark.full
@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize(
    "at_once", [b"", HEADERS, HEADERS + b"\r\n\r\n"], ids=["silent", "headers", "content"]
)
def test_a_slow_web_server_is_waited_for_once_in_a_round(at_once):
    outages = Outages()
    settings = msgspec.structs.replace(SETTINGS, read_timeout=0.25, outages=outages)
    with dripping(at_once, b"x" * 1000 if at_once else b"", asked := []) as address:
        for expected in (1, 2):
            outages.begin_round()
            for name in ("one/latest", "one/root.json", "two/latest"):
                with pytest.raises(UnreachableError):
                    list(fetch_file(f"http://{address}/{name}", settings=settings))
            require_asked(asked, expected)
