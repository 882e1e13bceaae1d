"""How servers get at the address that they listen on."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._failures import ExitCode, unmet

if TYPE_CHECKING:
    import socket


@contextlib.contextmanager
def address_named(host: str, port: int, unix_socket: Path | None = None) -> Iterator[None]:
    """Names an address that cannot be listened on; only what takes the address belongs inside.

    Raises:
        CommandExit: it is taken, or cannot be used.
    """
    try:
        yield
    except OSError as error:
        where, advice = str(unix_socket), "choose another file with --unix-socket"
        if unix_socket is None:
            where, advice = f"{host}:{port}", "stop what listens there, or choose another --port"
        found = error.strerror or str(error)
        raise unmet(where, "an address to listen on", found, advice, ExitCode.FAILED) from None


@contextlib.contextmanager
def listening_at(
    host: str, port: int, unix_socket: Path | None = None
) -> "Iterator[socket.socket]":
    """A socket that listens.

    Raises:
        CommandExit: the address is taken, or cannot be used.
    """
    from trundle.api import listening  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        with address_named(host, port, unix_socket):
            listener = stack.enter_context(listening(host, port, unix_socket))
        yield listener
