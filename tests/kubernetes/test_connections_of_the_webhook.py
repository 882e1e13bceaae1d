"""Connections of the webhook, with requests byte by byte; what is right of them says RFC 9112."""

import asyncio
import contextlib
import datetime as dt
import socket
import threading
from concurrent.futures import Future

import h11
import pytest
from amounts import full

from trundle.kubernetes import Answer, _connections
from trundle.kubernetes._connections import Connection, Connections

DATE = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


class Serving:
    """Connections on a port of this machine, in a thread of their own.

    Attributes:
        held: what waits for an answer, by its path.
    """

    def __init__(self):
        self.held = {}
        self.asked = threading.Semaphore(0)
        self._loop = asyncio.new_event_loop()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def answer(self, method, path, body):
        if path == "/fails":
            raise ValueError
        text = b"%b %b %b" % (method.encode(), path.encode(), body)
        if path.startswith("/held"):
            self.held[path] = Future(), text
            self.asked.release()
            return self.held[path][0]
        return Answer(200, "text/plain", text)

    def let_go(self, path):
        self.asked.acquire(timeout=60)
        found, text = self.held[path]
        found.set_result(Answer(200, "text/plain", text))

    def call(self, function):
        """Calls a function of the connections in their loop, and waits for what it gives."""

        async def called():
            found = function(self._connections)
            return await found if asyncio.iscoroutine(found) else found

        return asyncio.run_coroutine_threadsafe(called(), self._loop)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self):
        self._loop.set_exception_handler(lambda *_: None)
        self._connections = Connections(self.answer, lambda: DATE)
        self._connections.begin()
        self._ended = asyncio.Event()
        server = await self._loop.create_server(lambda: Connection(self._connections), "127.0.0.1")
        self.port = server.sockets[0].getsockname()[1]
        self._begun.set()
        await self._ended.wait()
        server.close()
        await self._connections.end(0)

    def __enter__(self):
        self._thread.start()
        self._begun.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()


@pytest.fixture
def serving():
    with Serving() as found:
        yield found


class Client:
    """A connection, whose answers are read by h11."""

    def __init__(self, serving):
        self.socket = socket.create_connection(("127.0.0.1", serving.port), 60)
        self._read = h11.Connection(h11.CLIENT)

    def send(self, *parts):
        for each in parts:
            self.socket.sendall(each)
        return self

    def answer(self, method="POST"):
        """The status, the headers and the body of the next answer."""
        if self._read.our_state is h11.DONE:
            self._read.start_next_cycle()
        self._read.send(h11.Request(method=method, target="/", headers=[("host", "h")]))
        self._read.send(h11.EndOfMessage())
        head, body = None, b""
        while True:
            event = self._read.next_event()
            if event is h11.NEED_DATA:
                self._read.receive_data(self.socket.recv(65536))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return head.status_code, dict(head.headers), body
            else:
                assert isinstance(event, h11.InformationalResponse), event

    def is_over(self):
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.fixture
def client(serving):
    found = Client(serving)
    with found.socket:
        yield found


def post(path, body=b"", *headers):
    lines = [b"POST %b HTTP/1.1" % path, b"Host: h", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join([*lines, b"", body])


def test_a_connection_is_kept(client):
    for each in (b"/a", b"/b"):
        status, headers, body = client.send(post(each, b"x")).answer()
        assert (status, body) == (200, b"POST %b x" % each)
        assert headers == {
            b"content-type": b"text/plain",
            b"content-length": b"%d" % len(body),
            b"date": b"Fri, 02 Jan 2026 03:04:05 GMT",
        }


def test_a_request_may_come_byte_by_byte(client):
    asked = post(b"/a", b"xyz")
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    assert client.send(*(asked[at : at + 1] for at in range(len(asked)))).answer()[2] == (
        b"POST /a xyz"
    )


def test_a_body_may_come_in_chunks(client):
    head = b"POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert client.send(head, b"2\r\nxy\r\n1\r\nz\r\n0\r\n\r\n").answer()[2] == b"POST /a xyz"


def test_the_path_is_asked_for_without_its_query(client):
    for target in (b"/a%20b?c=d", b"http://host/a%20b?c=d"):
        assert client.send(post(target)).answer()[2] == b"POST /a b "


def test_answers_come_in_the_order_of_requests(client, serving):
    client.send(post(b"/held", b"1") + post(b"/b", b"2") + post(b"/c", b"3"))
    serving.let_go("/held")
    assert [client.answer()[2] for _ in range(3)] == [b"POST /held 1", b"POST /b 2", b"POST /c 3"]


def test_head_has_no_body(client):
    client.send(b"HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + post(b"/b"))
    status, headers, body = client.answer("HEAD")
    assert (status, headers[b"content-length"], body) == (200, b"8", b"")
    assert client.answer()[2] == b"POST /b "


def test_a_client_that_waits_before_it_sends_the_body_is_asked_for_it(client):
    client.send(post(b"/a", b"xyz", b"Expect: 100-continue")[:-3])
    found = b""
    while not found.endswith(b"\r\n\r\n"):
        found += client.socket.recv(100)
    assert found == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert client.send(b"xyz").answer()[2] == b"POST /a xyz"


@pytest.mark.parametrize(
    "asked",
    [
        post(b"/a", b"", b"Connection: close"),
        b"POST /a HTTP/1.0\r\n\r\n",
        post(b"/a", b"", b"Connection: upgrade", b"Upgrade: websocket"),
    ],
)
def test_a_connection_ends_where_its_client_says_so(client, asked):
    status, headers, _ = client.send(asked).answer()
    assert (status, headers[b"connection"]) == (200, b"close")
    assert client.is_over()


def test_an_error_is_answered_and_others_go_on(client):
    assert client.send(post(b"/fails")).answer()[0] == 500
    assert client.send(post(b"/a")).answer()[0] == 200


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        full(b"POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST /a HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 431),
        (post(b"/a", b"x" * 2048)[:-1], 413),
        full(b"POST http://:x/ HTTP/1.1\r\n\r\n", 400),
    ],
)
def test_what_cannot_be_answered_is_refused(client, asked, status, monkeypatch):
    monkeypatch.setattr(_connections, "_MOST_BODY", 1024)
    found, headers, _ = client.send(asked).answer()
    assert (found, headers[b"connection"]) == (status, b"close")
    assert client.is_over()


def test_what_comes_too_late_is_refused(client, serving):
    client.send(post(b"/a")).answer()
    client.send(post(b"/b", b"xyz")[:-1])
    until_begun(serving)
    serving.call(lambda connections: [each.end_if_late(1e12) for each in [*connections._open]])
    assert client.answer()[0] == 408
    assert client.is_over()


def until_begun(serving):
    """Waits until the part of a request has arrived."""
    while not serving.call(
        lambda connections: all(each._in_request for each in connections._open)
    ).result(60):
        pass


def test_a_connection_that_is_not_used_ends(client, serving):
    client.send(post(b"/a")).answer()
    serving.call(lambda connections: [each.end_if_late(1e12) for each in [*connections._open]])
    assert client.is_over()


def test_a_request_that_is_being_answered_is_never_too_late(client, serving):
    client.send(post(b"/held"))
    assert serving.asked.acquire(timeout=60)
    serving.asked.release()
    serving.call(
        lambda connections: [each.end_if_late(1e12) for each in [*connections._open]]
    ).result(60)
    serving.let_go("/held")
    assert client.answer()[0] == 200


@pytest.mark.full
def test_a_client_that_does_not_read_is_not_read_from(client, serving):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.socket.settimeout(1)
    asked, sent = post(b"/a", b"x" * 100_000), 0
    with contextlib.suppress(TimeoutError):
        while sent < 200 * len(asked):
            client.socket.sendall(asked)
            sent += len(asked)
    assert sent < 200 * len(asked)
    serving.call(lambda connections: [each.end_if_late(1e12) for each in [*connections._open]])
    with contextlib.suppress(ConnectionResetError):
        while client.socket.recv(1 << 20):
            pass


def test_what_has_begun_is_answered_at_the_end(client, serving):
    idle = Client(serving)
    with idle.socket:
        idle.send(post(b"/a")).answer()
        client.send(post(b"/held"))
        assert serving.asked.acquire(timeout=60)
        serving.asked.release()
        ending = serving.call(lambda connections: connections.end(60))
        assert idle.is_over()
        serving.let_go("/held")
        status, headers, _ = client.answer()
        assert (status, headers[b"connection"]) == (200, b"close")
        assert client.is_over()
        ending.result(60)


def test_the_end_waits_for_answers_only_for_so_long(client, serving):
    client.send(post(b"/held"))
    assert serving.asked.acquire(timeout=60)
    serving.call(lambda connections: connections.end(0.01)).result(60)
    assert client.is_over()
    serving.held["/held"][0].set_result(Answer(200, "text/plain", b""))  # It comes too late.


HEAD = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        [b"POST / HTTP/1.1\r\nHost: h\r\nX: ", b"x" * 200_000, b"\r\n\r\n"],
        [b"POST / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n"],
        [HEAD, b"1\r\na\r\n0\r\nX: ", b"x" * 100_000],
        [HEAD, b"1\r\na\r\n" * 20_000],
    ],
    ids=["a header", "a header in one piece", "a trailer", "pieces of one byte"],
)
def test_what_stands_beside_a_body_is_bounded(client, sent):
    with contextlib.suppress(ConnectionError):
        client.send(*sent)
    assert client.answer()[0] == 431


def test_what_was_asked_before_something_wrong_is_answered(client, serving):
    client.send(b"POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
    client.send(b"GET /one HTTP/1.1\r\nHost: h\r\n\r\nnonsense\r\n\r\n")
    serving.let_go("/held")
    assert client.answer()[2] == b"POST /held "
    status, headers, body = client.answer("GET")
    assert (status, body, headers[b"connection"]) == (200, b"GET /one ", b"close")


def test_what_follows_the_last_request_takes_no_answer_from_it(client):
    client.send(b"GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nmore\r\n\r\n")
    assert client.answer("GET")[2] == b"GET /last "


def test_a_url_without_a_path_is_that_of_the_root(client):
    client.send(b"GET http://h HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer("GET")[2] == b"GET / "


@pytest.mark.full
def test_a_connection_that_begins_at_the_end_does_not_keep_it_waiting(client, serving):
    client.send(b"POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
    serving.asked.acquire(timeout=60)
    serving.asked.release()
    ending = serving.call(lambda connections: connections.end(600))
    with Client(serving).socket as late:
        serving.let_go("/held")
        ending.result(60)
        assert late.recv(1) == b""


def test_a_request_whose_answer_is_given_up_is_answered(client, serving):
    client.send(b"POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
    serving.asked.acquire(timeout=60)
    serving.held["/held"][0].cancel()
    assert client.answer()[0] == 500
