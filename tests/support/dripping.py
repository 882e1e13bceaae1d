"""Servers that are there, and hardly answer."""

import contextlib
import socket
import threading


@contextlib.contextmanager
def dripping(at_once: bytes, then: bytes, asked: list[bytes] | None = None):
    """A server that answers every request with some bytes, and goes on byte by byte; with nothing at all it stays silent.

    Args:
        at_once: the first bytes.
        then: those that follow.
        asked: gets what is asked.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def serve(connection):
            with connection, contextlib.suppress(OSError):
                request = connection.recv(65536)
                if asked is not None:
                    asked.append(request)
                connection.sendall(at_once)
                for place in range(len(then)):
                    if stop.wait(0.05):
                        return
                    connection.sendall(then[place : place + 1])
                stop.wait()

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
