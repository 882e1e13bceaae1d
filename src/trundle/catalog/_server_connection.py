"""What clients ask the server of a catalog, and what it refuses."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from trundle.catalog._errors import ServerError
from trundle.errors import Kind
from trundle.registry import request

OK = range(200, 300)
"""The statuses of requests that are answered."""
_KINDS = {
    400: Kind.USAGE,
    401: Kind.UNREACHABLE,
    403: Kind.UNREACHABLE,
    404: Kind.NOT_FOUND,
    409: Kind.CONFLICT,
    413: Kind.REFUSED,
    422: Kind.REFUSED,
    429: Kind.UNREACHABLE,
    503: Kind.UNREACHABLE,
}


class _Status(msgspec.Struct):
    message: str


class ServerConnection:
    """A server of a catalog.

    Args:
        url: the server.
        token: what the server knows the client by; None for none.

    Attributes:
        url: the server, without a slash at the end.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def read(self, path: str, query: Mapping[str, str]) -> tuple[str, bytes]:
        """What is at a path, and the URL of that.

        Raises:
            ServerError: the server refuses that, or is no server of a catalog.
            UnreachableError: the server does not answer.
        """
        where, status, content = self.asked("GET", path, query)
        if status not in OK:
            raise self.refused(where, status, content)
        return where, content

    def asked(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None = None
    ) -> tuple[str, int, bytes]:
        """What a request is answered with: the URL, the status and the content.

        Raises:
            UnreachableError: the server does not answer.
        """
        url = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        return (url, *request(method, url, headers=headers, body=body))

    def decoded(self, where: str, content: bytes, type_: Any) -> Any:
        """An answer as values of a type.

        Raises:
            ServerError: it is none of a server of a catalog.
        """
        try:
            return msgspec.json.decode(content, type=type_)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            expected = "the answer of a server of a catalog"
            advice = "check the URL, and that the server runs with --catalog"
            raise ServerError(where, expected, str(error), advice, Kind.UNREACHABLE) from None

    def refused(self, where: str, status: int, content: bytes) -> ServerError:
        """The error for a request that is refused."""
        try:
            found = msgspec.json.decode(content, type=_Status).message
        except (msgspec.MsgspecError, UnicodeDecodeError):
            found = "no message"
        kind = _KINDS.get(status, Kind.FAILED)
        return ServerError(where, "to be answered", f"status {status}: {found}", "", kind)
