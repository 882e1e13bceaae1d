"""What clients are answered whose requests are still at work when a server has waited long enough for them to stop."""

import asyncio
import http.client
import json
import socket
import threading
from types import SimpleNamespace

import pytest

from trundle.api import Access, Server, listening
from trundle.api import _server as under_test


class Application:
    """Works without an end, after it has begun to answer where the path says so."""

    def __init__(self):
        self.busy = threading.Semaphore(0)

    async def __call__(self, scope, receive, send):
        if scope["path"] == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        elif scope["path"] == "/body":
            self.busy.release()
            while (await receive())["more_body"]:
                pass
        self.busy.release()
        await asyncio.sleep(600)


class Record:
    def __init__(self):
        self.statuses = []

    def started(self, record):
        self.statuses.append((record.method, record.status))

    def completed(self, record):
        pass


@pytest.fixture
def stopped(monkeypatch, capfd):
    """Asks a server at once in several ways, stops it, and gives the answers."""
    monkeypatch.setattr(under_test, "_GRACE", 0.3)

    def ask(*requests):
        application, kept = Application(), Record()
        api = SimpleNamespace(
            application=application, access=Access(), stop=lambda: None, metrics=Record(),
            controllers=SimpleNamespace(run=lambda: None, stop=lambda: None),
        )  # fmt: skip
        with listening("127.0.0.1", 0) as listener:
            server = Server(api, listener, keepers=[kept])
            thread = threading.Thread(target=server.run)
            thread.start()
            clients = []
            for method, path, *body in requests:
                client = http.client.HTTPConnection(*listener.getsockname(), timeout=60)
                client.putrequest(method, path)
                if body:
                    client.putheader("content-length", "100")
                client.endheaders()
                assert application.busy.acquire(timeout=60)
                clients.append(client)
            server.stop()
            found = [answer_to(each) for each in clients]
            thread.join(60)
            assert not thread.is_alive()
        assert "Traceback" not in capfd.readouterr().err
        return found, kept.statuses

    return ask


def answer_to(client):
    """Status, headers and body of an answer; what came of it where it breaks off."""
    answer = client.getresponse()
    try:
        return answer.status, dict(answer.getheaders()), answer.read()
    except http.client.IncompleteRead as error:
        return answer.status, dict(answer.getheaders()), error.partial
    finally:
        client.close()


def test_a_request_that_is_cut_off_is_answered_as_api_servers_answer_one_that_takes_too_long(
    stopped,
):
    """A read may be sent again at once, and clients of Kubernetes do so where an answer has `Retry-After`. Whether a write was done is not known."""
    answers, logged = stopped(("GET", "/"), ("POST", "/"), ("PUT", "/body", b""))
    wanted = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Timeout: request did not complete before the server stopped",
        "reason": "Timeout",
        "code": 504,
    }
    assert [status for status, *_ in answers] == [504] * 3
    (_, headers, read), *writes = answers
    assert json.loads(read) == wanted | {"details": {"retryAfterSeconds": 1}}
    assert headers["retry-after"] == "1"
    for _, headers, body in writes:
        assert {"details": {}} | json.loads(body) == wanted | {"details": {}}
        assert "retry-after" not in headers
        assert headers["content-type"] == "application/json"
    assert sorted(logged) == [("GET", 504), ("POST", 504), ("PUT", 504)]


def test_an_answer_that_has_begun_breaks_off(stopped):
    """So that no client takes it for whole."""
    ((status, _, body),), _ = stopped(("GET", "/stream"))
    assert (status, body) == (200, b"begun")


def test_a_socket_without_a_request_is_closed(monkeypatch):
    """It keeps no server."""
    monkeypatch.setattr(under_test, "_GRACE", 30)
    api = SimpleNamespace(
        application=Application(), access=Access(), stop=lambda: None, metrics=Record(),
        controllers=SimpleNamespace(run=lambda: None, stop=lambda: None),
    )  # fmt: skip
    with listening("127.0.0.1", 0) as listener:
        server, ready = Server(api, listener), threading.Event()
        thread = threading.Thread(target=server.run, args=(ready.set,))
        thread.start()
        assert ready.wait(60)
        with socket.create_connection(listener.getsockname(), 60) as client:
            server.stop()
            assert client.recv(1) == b""
        thread.join(20)
        assert not thread.is_alive()
