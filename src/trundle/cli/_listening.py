"""How servers get at the address that they listen on."""

import contextlib
import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trundle.cli._failures import ExitCode, unmet
from trundle.cli._printing import warn

if TYPE_CHECKING:
    import socket

    from trundle.api import Access, Tls

LOCAL_HOST = "127.0.0.1"


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


class Address(NamedTuple):
    """Where a server listens, and the certificates by which it and its clients are known.

    Attributes:
        host: the address.
        port: the port; 0 for a free one.
        unix_socket: the file of a Unix socket that takes their place.
        tls: what `--tls` says.
        client_ca: the authority that clients may show certificates of.
    """

    host: str
    port: int
    unix_socket: Path | None
    tls: str | None
    client_ca: Path | None

    def check(self, access: "Access") -> None:
        """Refuses options that do not go together, and to let other machines in without knowing who asks, or where others can listen.

        Raises:
            CommandExit: there are some, or it would.
        """
        if self.client_ca is not None and self.tls is None:
            advice = "name the server's certificate"
            raise unmet("--client-ca", "--tls with it", "none", advice)
        if self.unix_socket is not None or _is_loopback(self.host):
            return
        lacks = [] if self.tls is not None else ["--tls"]
        lacks += [] if access.authenticates else ["--tokens or --client-ca"]
        if lacks:
            expected = f"{' and '.join(lacks)}, since other machines can connect"
            advice = f"add what is missing, or listen on {LOCAL_HOST}"
            raise unmet(f"--host {self.host}", expected, "none", advice)

    def secured(self, authorities: Callable[[], str] | None) -> "Tls | None":
        """How connections are secured; None where they are not.

        Args:
            authorities: gives the authorities that clients may show certificates of, in place of the one that is named.
        """
        from trundle.api import Tls, certificate_files  # noqa: PLC0415

        if self.tls is None:
            return None
        return Tls(*certificate_files(self.tls), authorities or self.client_ca, warn)

    @contextlib.contextmanager
    def listening(self) -> "Iterator[socket.socket]":
        """A socket that listens there.

        Raises:
            CommandExit: the address is taken, or cannot be used.
        """
        with listening_at(self.host, self.port, self.unix_socket) as listener:
            yield listener

    def url(self, listener: "socket.socket") -> str:
        """Where clients of this machine find the server."""
        if self.unix_socket is not None:
            return f"unix:{self.unix_socket}"
        name, number = listener.getsockname()[:2]
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{f'[{name}]' if ':' in name else name}:{number}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
