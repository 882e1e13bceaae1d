"""What a request comes to where a server cannot be asked, or not in time."""

import contextlib
import http.server
import socket
import ssl
import threading

import httpcore2
import httpx2
import pytest
from authorities import Authority

from trundle import _http
from trundle._http import TimedTransport, _TimedBackend, deadline
from trundle._tls import verifying


@contextlib.contextmanager
def serving(certificate=None):
    """The port of a web server, which speaks TLS where it has a certificate."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *_: None
    server.handle_error = lambda *_: None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(url):
    with contextlib.closing(TimedTransport(verifying())) as transport:
        transport.handle_request(httpx2.Request("GET", url, extensions={"timeout": {"read": 30}}))


def test_a_connection_whose_time_is_over_before_tls_begins_is_closed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        stream = _TimedBackend(None).connect_tcp("127.0.0.1", server.getsockname()[1], timeout=5)
        accepted, _ = server.accept()
        with accepted:
            with pytest.raises(httpcore2.ReadTimeout, match="no whole answer within 0 seconds"):
                stream.start_tls(ssl.create_default_context(), "registry.example", deadline(0))
            assert accepted.recv(1) == b""


def test_a_silent_address_of_a_host_leaves_time_for_the_next_one(monkeypatch):
    with contextlib.ExitStack() as stack:
        good = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = good.getsockname()[1]
        silent = stack.enter_context(socket.create_server(("127.0.0.2", port), backlog=0))
        for _ in range(3):  # Nothing accepts them, so the system answers no further ones.
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        monkeypatch.setattr(_http, "_addresses", lambda *_: ["127.0.0.2", "127.0.0.1"])
        stream = _TimedBackend(None).connect_tcp("registry.example", port, deadline(2))
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", port)
        stream.close()


def test_an_answer_without_tls_is_named():
    with serving() as port, pytest.raises(httpx2.ConnectError) as failure:
        asked(f"https://127.0.0.1:{port}/")
    assert str(failure.value) == "an answer that is not TLS, as servers of http:// give"


def test_a_certificate_that_does_not_verify_is_said_without_words_of_a_library(tmp_path):
    authority = Authority(tmp_path)
    with (
        serving(authority.server("server")) as port,
        pytest.raises(httpx2.ConnectError) as failure,
    ):
        asked(f"https://127.0.0.1:{port}/")
    text = str(failure.value)
    assert text.startswith("certificate verify failed: ")
    assert "_ssl.c" not in text


def test_a_port_that_there_is_not_is_no_other_port():
    """The system takes 65536 + n for n."""
    with serving() as port, pytest.raises(httpx2.ConnectError) as failure:
        asked(f"http://127.0.0.1:{65536 + port}/")
    assert str(failure.value) == f"no port {65536 + port}, as the last one is 65535"
