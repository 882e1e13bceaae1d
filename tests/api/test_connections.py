"""Connections wait for what clients still have to send, and for nothing that is here already."""

import asyncio

import uvicorn
from uvicorn.server import ServerState

from trundle.api._connections import Connection

REQUEST = b"PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nbody"
ANSWER = (
    {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]},
    {"type": "http.response.body"},
)


class Transport(asyncio.Transport):
    """Takes what is sent."""

    def write(self, data):
        pass

    def close(self):
        pass

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
