"""Connections of clients: HTTP by uvicorn and httptools, with the certificates that clients show."""

import ssl
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trundle.api.access import PEER


class Connection(HttpToolsProtocol):
    """A connection; requests know the certificate of their client."""

    def on_message_begin(self) -> None:
        """Begins a request."""
        super().on_message_begin()
        peer = _peer(self.transport.get_extra_info("ssl_object"))
        if peer is not None:
            scope: dict[str, Any] = self.scope  # type: ignore[assignment]
            scope["extensions"] = {PEER: peer}


def _peer(connection: ssl.SSLObject | None) -> tuple[dict[str, Any], bytes] | None:
    """What the client's certificate says, and its bytes; None where it shows none."""
    der = None if connection is None else connection.getpeercert(binary_form=True)
    if connection is None or der is None:
        return None
    return dict(connection.getpeercert() or {}), der
