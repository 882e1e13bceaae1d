"""Which servers are asked over HTTP, and how patiently and generously."""

from urllib.parse import urlsplit

import msgspec

from trundle.registry._outages import Outages
from trundle.registry.errors import InvalidServerUrlError

_MIB = 1024 * 1024


class ServerToken(msgspec.Struct, frozen=True, kw_only=True):
    """What a server knows a client by; no other server is shown it.

    Attributes:
        server: the URL of the server; its scheme, host and port count.
        token: the bearer token.
    """

    server: str
    token: str

    def __repr__(self) -> str:
        """Keeps the secret out of logs and tracebacks."""
        return f"ServerToken(server={self.server!r})"


def require_url(text: str, where: str) -> None:
    """Makes sure that a text is the URL of a web server.

    Args:
        text: the text.
        where: where it stands, such as an option.

    Raises:
        InvalidServerUrlError: it is not.
    """
    fault = _fault(text)
    if fault:
        expected = "a URL such as https://trundle.example.com"
        raise InvalidServerUrlError(where, expected, fault, "correct it")


def _fault(text: str) -> str:
    """What stands in place of a URL; empty for one. Messages of Python would repeat parts of the text."""
    if text != text.strip() or any(each < " " or each == "\x7f" for each in text):
        return "one with a blank around it or a control character"  # `urlsplit` leaves these out.
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        host.encode("idna")
    except ValueError:
        return "one whose host is not a name or an address"
    if parts.scheme not in {"http", "https"}:
        return "a text without http:// or https://"
    if not host:
        return "one without a host"
    if " " in host or not host.isprintable():
        return "one with a space in its host"
    try:
        known = parts.port != 0
    except ValueError:
        known = False
    return "" if known else "one whose port is not a number from 1 to 65535"


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Times are in seconds, sizes in bytes.

    Attributes:
        connect_timeout: how long a connection may take to come about.
        read_timeout: how long the registry may be silent.
        retries: how often a request that may be repeated is, and a transfer that makes no progress.
        first_pause: the pause before the first repetition; it doubles, and a random part of it is taken.
        longest_pause: the longest pause, also where the registry asks for a longer one: then the request fails.
        request_time: how long a request for anything but a blob may take as a whole.
        slowest: bytes in a second below which the transfer of a blob is given up, after `request_time`.
        chunk: the largest blob that is sent in one request, and the size of the pieces of larger ones.
        largest_blob: the largest blob that is fetched.
        lease: how long the holder of a lease may show no sign of life; a dead one is waited for that long. Where
            the registry answers slowly it is longer.
        poll: the pause between two looks at the queue of a lease.
        token: what one web server is shown that serves files; registries have the logins of Docker's configuration. None for none.
        outages: the hosts that do not answer, for callers that ask many in turn; None to be as patient with each request. What
            took too long is not asked for again in a round.
    """

    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    retries: int = 4
    first_pause: float = 0.2
    longest_pause: float = 30.0
    request_time: float = 60.0
    slowest: int = 4096
    chunk: int = 16 * _MIB
    largest_blob: int = 16 * 1024 * _MIB
    lease: float = 6.0
    poll: float = 0.1
    token: ServerToken | None = None
    outages: Outages | None = None
