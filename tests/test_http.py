import socket
import ssl

import httpcore2
import pytest

from trundle._http import _TimedBackend, deadline


def test_a_connection_whose_time_is_over_before_tls_begins_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        stream = _TimedBackend(None).connect_tcp("127.0.0.1", server.getsockname()[1], timeout=5)
        accepted, _ = server.accept()
        with accepted:
            with pytest.raises(httpcore2.ReadTimeout, match="no whole answer within 0 seconds"):
                stream.start_tls(ssl.create_default_context(), "registry.example", deadline(0))
            assert accepted.recv(1) == b""
