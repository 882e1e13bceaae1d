"""A server whose authorities of clients are others later: connections are verified by those of their time."""

import ssl

import pytest
from authorities import Authority

from trundle._tls import verifying
from trundle.api.access import Tls


def handshake(tls, client):
    """Connects in memory; the certificate that the server has seen."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = tls.context.wrap_bio(to_server, to_client, server_side=True)
    there = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    waiting = [there, server]
    for _ in range(10):
        for each in list(waiting):
            try:
                each.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(each)
    assert not waiting
    return server.getpeercert()


def test_a_new_authority_counts_from_the_next_connection_on(tmp_path):
    signs = []
    for name in ("server", "first", "second"):
        (tmp_path / name).mkdir()
        signs.append(Authority(tmp_path / name))
    own, first, second = signs
    pair, said = own.server("server"), []
    now = [first.certificate.read_text()]
    tls = Tls(pair, pair, lambda: now[0], said.append)

    def client(authority=None):
        context = verifying(own.certificate)
        if authority is not None:
            context.load_cert_chain(authority.client("proxy", group="g"))
        return context

    assert handshake(tls, client(first))["subject"]
    assert not handshake(tls, client())
    with pytest.raises(ssl.SSLError):
        handshake(tls, client(second))
    now[0] = second.certificate.read_text()
    assert handshake(tls, client(second))["subject"]
    with pytest.raises(ssl.SSLError):
        handshake(tls, client(first))
    now[0] = "no certificate"
    assert handshake(tls, client(second))["subject"]
    assert "what was read before still counts" in said[0]
