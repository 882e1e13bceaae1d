"""Connections wait for what clients still have to send, and for nothing that is here already; answers go out whole."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from trundle.api._connections import Connection, Patient

REQUEST = b"PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nbody"
ANSWER = (
    {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body"},
)


class Transport(asyncio.Transport):
    """Takes what is sent."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def write(self, data):
        self.sent.append(data)

    def close(self):
        self.sent.append("closed")

    def is_closing(self):
        return False

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def application(scope, receive, send):
    while (await receive())["more_body"]:
        pass
    for each in ANSWER:
        await send(dict(each))


async def waited(parts, monkeypatch):
    """For how many seconds a connection waits after each part of what a client sends."""
    loop = asyncio.get_running_loop()
    config = uvicorn.Config(application, log_config=None, lifespan="off", ws="none")
    connection = Connection(config, ServerState(), {})
    connection.connection_made(Transport())
    found, real = [], loop.call_later

    def call_later(seconds, *rest):
        found[-1].append(seconds)
        return real(seconds, *rest)

    monkeypatch.setattr(loop, "call_later", call_later)
    for each in parts:
        found.append([])
        connection.data_received(each)
    monkeypatch.undo()
    for _ in range(5):
        await asyncio.sleep(0)
    connection.connection_lost(None)
    return found


def test_a_request_that_is_here_whole_is_not_waited_for(monkeypatch):
    assert asyncio.run(waited([REQUEST, REQUEST], monkeypatch)) == [[], []]


def test_each_part_of_a_request_has_its_patience(monkeypatch):
    patience = Connection.patience
    parts = [REQUEST[:10], REQUEST[10:20], REQUEST[20:-4], REQUEST[-4:-2], REQUEST[-2:]]
    found = asyncio.run(waited(parts, monkeypatch))
    # The first part comes within the patience of the connection, which is that for headers.
    assert found == [[patience.headers], [], [patience.body], [], []]


def test_a_request_behind_another_has_its_own_patience(monkeypatch):
    found = asyncio.run(waited([REQUEST[:-2], REQUEST[-2:] + REQUEST[:10]], monkeypatch))
    assert found == [[Connection.patience.body], [Connection.patience.headers]]


async def sent(request, *parts, fails=False):
    """What a connection sends in answer to a request, each write by itself; after each part of the answer all is looked at that was sent so far."""
    seen = []

    async def answer(scope, receive, send):
        for each in parts:
            await send(dict(each))
            seen.append(list(transport.sent))
        if fails:
            raise ValueError

    config = uvicorn.Config(Patient(answer), log_config=None, lifespan="off", ws="none")
    connection, transport = Connection(config, ServerState(), {}), Transport()
    connection.connection_made(transport)
    connection.data_received(request)
    for _ in range(5):
        await asyncio.sleep(0)
    connection.connection_lost(None)
    return seen, transport.sent


def start(*headers):
    return {"type": "http.response.start", "status": 200, "headers": list(headers)}


def body(text, **more):
    return {"type": "http.response.body", "body": text, **more}


GET = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\n"
LENGTH = HEAD + b"content-length: %d\r\n\r\n"


def test_an_answer_goes_out_in_one_piece():
    parts = start((b"content-length", b"4")), body(b"body")
    assert asyncio.run(sent(GET, *parts)) == (
        [[], [LENGTH % 4 + b"body"]],
        [LENGTH % 4 + b"body", "closed"],
    )


def test_the_next_answer_of_a_connection_goes_out_in_one_piece_too():
    parts = start((b"content-length", b"4")), body(b"body")
    _, found = asyncio.run(sent(GET * 2, *parts))
    assert found == [LENGTH % 4 + b"body"] * 2 + ["closed"]


@pytest.mark.parametrize("size", [64 * 1024 + 1, 10_000_000])
def test_a_long_body_is_not_copied(size):
    long = bytes(size)
    parts = start((b"content-length", b"%d" % size)), body(long)
    _, found = asyncio.run(sent(GET, *parts))
    assert found == [LENGTH % size, long, "closed"]
    assert found[1] is long


def test_the_head_of_a_stream_does_not_wait_for_its_first_part():
    parts = start(), body(b"one", more_body=True), body(b"")
    head = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    (first, *_), found = asyncio.run(sent(GET, *parts))
    assert first == [head]
    assert found == [head, b"3\r\none\r\n", b"0\r\n\r\n", "closed"]


def test_an_answer_without_a_body_is_sent():
    asked = GET.replace(b"GET", b"HEAD")
    _, found = asyncio.run(sent(asked, start((b"content-length", b"4")), body(b"")))
    assert found == [LENGTH % 4, "closed"]
    _, found = asyncio.run(sent(GET, start((b"content-length", b"0")), body(b"")))
    assert found == [LENGTH % 0, "closed"]


def test_an_answer_that_ends_the_connection_is_sent_before_its_end():
    asked = GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    _, found = asyncio.run(sent(asked, start((b"content-length", b"4")), body(b"body")))
    whole = HEAD + b"content-length: 4\r\nconnection: close\r\n\r\nbody"
    assert found[:2] == [whole, "closed"]


def test_a_head_whose_body_fails_is_sent_before_the_end():
    _, found = asyncio.run(sent(GET, start((b"content-length", b"4")), fails=True))
    assert found[:2] == [LENGTH % 4, "closed"]
