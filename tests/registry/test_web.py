"""Web servers that are no registries: files of them, and what is posted to them."""

import contextlib
import http.server
import threading
import time

import msgspec
import pytest
import serving
from artifacts import QUICK
from test_slow_servers import HEADERS, dripping

from trundle.registry import (
    InvalidServerUrlError,
    RegistryRefusedError,
    ServerToken,
    UnauthorisedError,
    UnreachableError,
    fetch_file,
    post,
    reach,
    require_url,
)

BODY = b'{"event":"upgrade"}'
SETTINGS = msgspec.structs.replace(QUICK, retries=2)
HURRIED = msgspec.structs.replace(SETTINGS, request_time=1.5, read_timeout=5)


@contextlib.contextmanager
def webhook(*answers):
    """A server that gives these answers in turn: a status, or None to close the connection; and what it got."""
    got, left = [], list(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            content = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["Content-Type"], content))
            answer = left.pop(0)
            if answer is None:
                self.connection.shutdown(2)
                return
            self.send_response(answer)
            if answer in range(300, 400):
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook?key=1", got
        server.shutdown()


@pytest.mark.parametrize("status", [200, 202, 204])
def test_what_is_posted_arrives_once(status):
    with webhook(status) as (url, got):
        post(url, BODY, settings=SETTINGS)
    assert got == [("/hook?key=1", "application/json", BODY)]


def test_a_server_that_is_busy_is_asked_again():
    with webhook(503, 429, 204) as (url, got):
        post(url, BODY, settings=SETTINGS)
    assert len(got) == 3


@pytest.mark.parametrize(
    ("answer", "error", "found"),
    [
        (404, RegistryRefusedError, "found status 404"),
        (500, RegistryRefusedError, "found status 500"),
        (302, RegistryRefusedError, "found status 302"),
        (401, UnauthorisedError, "found status 401"),
        (None, UnreachableError, "found Server disconnected"),
    ],
)
def test_what_is_refused_or_may_have_arrived_is_not_sent_again(answer, error, found):
    with webhook(answer, 204) as (url, got):
        with pytest.raises(error, match=found):
            post(url, BODY, settings=SETTINGS)
        assert len(got) == 1


def test_a_server_that_stays_busy_is_given_up():
    with webhook(*[503] * 9) as (url, got):
        with pytest.raises(RegistryRefusedError, match="status 503"):
            post(url, BODY, settings=SETTINGS)
        assert len(got) == SETTINGS.retries + 1


def test_a_server_that_is_not_there():
    with serving.refusing() as address, pytest.raises(UnreachableError, match="refused"):
        post(f"http://{address}/", BODY, settings=SETTINGS)


@pytest.mark.full
def test_a_server_that_drips_is_given_up_in_time():
    begin = time.monotonic()
    with dripping(b"", HEADERS) as address, pytest.raises(UnreachableError, match="no whole"):
        post(f"http://{address}/", BODY, settings=HURRIED)
    with dripping(HEADERS + b"\r\n\r\n", b"x" * 1000) as address:
        post(f"http://{address}/", BODY, settings=HURRIED)  # What it says besides does not count
    assert time.monotonic() - begin < 45


@contextlib.contextmanager
def asked_for_files(leads=None):
    """A server of files that leads to what is under `leads`, by path; and what it was shown, by path."""
    shown = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            shown[self.path] = self.headers["Authorization"]
            to = (leads or {}).get(self.path)
            self.send_response(302 if to else 200)
            if to:
                self.send_header("Location", to)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", shown
        server.shutdown()


def known(server):
    return msgspec.structs.replace(SETTINGS, token=ServerToken(server=server, token="secret-1"))


def test_a_token_is_shown_to_the_server_that_it_is_for_wherever_that_leads():
    with asked_for_files() as (other, others):
        leads = {"/here": "/there", "/away": f"{other}/away"}
        with asked_for_files(leads) as (own, shown):
            for path in ("/here", "/away"):
                assert list(fetch_file(own + path, settings=known(f"{own}/catalog/"))) == []
            reach(f"{own}/late", known(own))
            list(fetch_file(f"{other}/straight", settings=known(own)))
            list(fetch_file(f"{own}/none", settings=SETTINGS))
    assert shown == {
        **dict.fromkeys(("/here", "/there", "/away", "/late"), "Bearer secret-1"),
        "/none": None,
    }
    assert others == {"/away": None, "/straight": None}


@pytest.mark.parametrize("server", ["", "host:1", "http://", "https://[x", "HOST"])
def test_a_token_for_no_server_is_shown_to_none(server):
    with asked_for_files() as (own, shown):
        list(fetch_file(f"{own}/here", settings=known(server.replace("HOST", own[7:]))))
    assert shown == {"/here": None}


def test_a_token_is_in_no_message():
    assert "secret" not in repr(known("https://host"))


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "https://trundle.example.com:8443/v2/",
        "HTTP://127.0.0.1:1",
        "https://[::1]:65535/",
        "https://m\u00fcnchen.example/",
        "http://user@host/?a=b c",
    ],
)
def test_what_is_a_url_is_taken(url):
    require_url(url, "--server")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("", "without http"),
        ("secret-token", "without http"),
        ("localhost:8080", "without http"),
        ("ftp://host/", "without http"),
        ("http://", "without a host"),
        ("https:///path", "without a host"),
        ("http://[::1", "not a name or an address"),
        ("http://secret..host/", "not a name or an address"),
        (f"http://{'x' * 64}.com", "not a name or an address"),
        ("http://secret host/", "a space in its host"),
        (" http://secret/", "a blank around it"),
        ("http://secret/\n", "a blank around it"),
        ("http://sec\tret/", "control character"),
        ("http://host:0/", "port"),
        ("http://host:65536/", "port"),
        ("http://host:secret/", "port"),
    ],
)
def test_what_is_no_url_is_refused_and_not_repeated(url, found):
    with pytest.raises(InvalidServerUrlError) as refused:
        require_url(url, "--server")
    message = str(refused.value)
    assert message.startswith("--server: expected a URL such as https://trundle.example.com")
    assert found in refused.value.found
    assert "secret" not in message


def test_a_redirect_to_what_is_no_host_is_a_server_that_does_not_answer():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302)
            self.send_header("Location", "http://a..b/file")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/file"
        with pytest.raises(UnreachableError, match=r"no host a\.\.b"):
            b"".join(fetch_file(url, settings=SETTINGS))
        server.shutdown()
