"""Servers that do not answer are asked beside the looks, all at once."""

import contextlib
import socket
import threading

import msgspec
import pytest
from dripping import dripping
from serving import free_port, registry
from simulating import Simulator

from trundle.kubernetes.operator._reachability import Doorbell, servers_of
from trundle.registry import HttpSettings, Outages, UnreachableError, fetch_file, open_registry

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


@pytest.mark.full
def test_silent_servers_are_waited_for_together_and_once(tmp_path):
    """With the patience of one after the other, this would take half an hour."""
    outages, asked = Outages(), []
    doorbell = Doorbell(outages, PATIENT, lambda: None, seconds=10)
    with contextlib.ExitStack() as stack:
        there = stack.enter_context(registry(tmp_path))
        silent = [stack.enter_context(dripping(b"", b"", asked)) for _ in range(40)]
        gone = f"127.0.0.1:{free_port()}"
        assert rung(outages, doorbell, *silent, there, gone) == set(silent)
        assert "no answer within 10 seconds" in outages.reason(silent[0], "acme/b")
        before = len(asked)
        for _ in range(20):  # None of them waits: it would take minutes.
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


class Slow:
    """Lets a registry send the beginning of an answer about a repository, and no more until it may."""

    def __init__(self, part):
        self.part, self.may_speak = part, threading.Event()

    def __call__(self, handler, method, path):
        if self.part not in path or self.may_speak.is_set():
            return False
        with contextlib.suppress(OSError):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
        self.may_speak.wait()
        handler.close_connection = True
        return True


LATE = HttpSettings(connect_timeout=60, read_timeout=2, request_time=2, retries=1, first_pause=0.01)


def test_a_repository_that_is_too_slow_for_a_look_is_asked_for_beside_the_others():
    outages, heard = Outages(), threading.Event()
    settings = msgspec.structs.replace(LATE, outages=outages)
    doorbell = Doorbell(outages, PATIENT, heard.set, seconds=60)  # The registry itself answers.
    slow = Slow("acme/slow")
    with Simulator() as simulator:
        servers = {simulator.address: f"http://{simulator.address}/v2/"}
        simulator.faults.append(slow)
        found = open_registry(simulator.address, settings=settings)

        def look(name):
            with contextlib.suppress(UnreachableError):
                found.repository(name).tags()
                return True
            return False

        try:
            outages.begin_round()
            doorbell.ring(servers)
            assert not look("acme/slow")
            before = simulator.asked("GET", "acme/slow")
            outages.begin_round()
            doorbell.ring(servers)
            for _ in range(10):
                outages.begin_round()
                assert not look("acme/slow")
            assert simulator.asked("GET", "acme/slow") <= before + 1
            assert look("acme/brisk")
            assert not heard.is_set()
            slow.may_speak.set()
            while not heard.wait(0.1):
                outages.begin_round()
                doorbell.ring(servers)
            assert look("acme/slow")
        finally:
            slow.may_speak.set()


@pytest.mark.full
def test_a_channel_by_url_that_is_too_slow_for_a_look_is_let_go_with_its_installation():
    outages = Outages()
    settings = msgspec.structs.replace(LATE, outages=outages)
    doorbell = Doorbell(outages, LATE, lambda: None, seconds=0.2)
    with dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b"{" * 999) as host:
        outages.begin_round()
        with pytest.raises(UnreachableError):
            list(fetch_file(f"http://{host}/a/latest", settings=settings))
        outages.begin_round()
        doorbell.ring({host: f"http://{host}/a/latest"})
        assert outages.reason(host, f"http://{host}/a")
        outages.end(host)
        assert outages.reason(host, f"http://{host}/a")
        assert outages.reason(host, f"http://{host}/b") is None
        outages.begin_round()
        doorbell.ring({})
        assert outages.reason(host, f"http://{host}/a") is None
