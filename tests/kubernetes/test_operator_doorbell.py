"""Servers that do not answer are asked beside the looks, all at once."""

import contextlib
import socket
import threading

import pytest
from dripping import dripping
from serving import free_port, registry

from trundle.kubernetes.operator._reaching import Doorbell, servers_of
from trundle.registry import HttpSettings, Outages

PATIENT = HttpSettings(connect_timeout=60, read_timeout=60, request_time=60)
HASTY = HttpSettings(connect_timeout=0.3, read_timeout=0.3, request_time=0.3)


def installation(name, **spec):
    return {"kind": "Installation", "metadata": {"name": name, "namespace": "a"}, "spec": spec}


def test_servers_are_registries_and_channels_by_url():
    found = servers_of(
        [
            installation("a", registry="registry.example.com", package="acme/a"),
            installation("b", registry="registry.example.com", package="acme/b"),
            installation(
                "c",
                registry="http://localhost:5000",
                package="a",
                channel="https://c.example.com/x",
            ),
            installation("d", registry="oci:/folder", package="/a"),
            installation("e", registry="//", package=""),
        ]
    )
    assert found == {
        "registry.example.com": "https://registry.example.com/v2/",
        "localhost:5000": "http://localhost:5000/v2/",
        "c.example.com": "https://c.example.com/x",
    }


def rung(outages, doorbell, *hosts):
    outages.begin_round()
    doorbell.ring({each: f"http://{each}/v2/" for each in hosts})
    return {each for each in hosts if outages.reason(each, "acme/a")}


def test_silent_servers_are_waited_for_together_and_once(tmp_path):
    """With the patience of one after the other, this would take half an hour."""
    outages, asked = Outages(), []
    doorbell = Doorbell(outages, PATIENT, lambda: None, seconds=3)
    with contextlib.ExitStack() as stack:
        there = stack.enter_context(registry(tmp_path))
        silent = [stack.enter_context(dripping(b"", b"", asked)) for _ in range(40)]
        gone = f"127.0.0.1:{free_port()}"
        assert rung(outages, doorbell, *silent, there, gone) == set(silent)
        assert "no answer within 3 seconds" in outages.reason(silent[0], "acme/b")
        before = len(asked)
        for _ in range(20):  # None of them waits: it would take a minute.
            assert rung(outages, doorbell, *silent, there, gone) == set(silent)
        assert len(asked) == before
        assert rung(outages, doorbell, there) == set()


@pytest.mark.parametrize("answer", ["200 OK", "401 Unauthorized", "404 Not Found", "503 Busy"])
def test_a_server_that_speaks_again_is_heard(answer):
    """Whatever it says: looks find out what that means."""
    outages, heard, may_speak = Outages(), threading.Event(), threading.Event()
    doorbell = Doorbell(outages, PATIENT, heard.set, seconds=0.2)
    with speaking(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode(), may_speak) as host:
        assert rung(outages, doorbell, host) == {host}
        assert rung(outages, doorbell, host) == {host}
        assert not heard.is_set()
        may_speak.set()
        assert heard.wait(60)
        assert rung(outages, doorbell, host) == set()


def test_a_server_that_fails_late_is_not_asked_by_looks():
    outages, asked = Outages(), []
    doorbell = Doorbell(outages, HASTY, lambda: None, seconds=0.1)
    with dripping(b"", b"", asked) as host:
        assert rung(outages, doorbell, host) == {host}
        until_asked(asked, 2, lambda: rung(outages, doorbell, host))
        assert rung(outages, doorbell, host) == {host}


def until_asked(asked, times, look):
    for _ in range(6000):
        if len(asked) >= times:
            return
        look()
        threading.Event().wait(0.01)
    raise AssertionError(len(asked))


@contextlib.contextmanager
def speaking(answer, may_speak):
    """A server that answers when it may."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(connection):
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                may_speak.wait()
                connection.sendall(answer)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
