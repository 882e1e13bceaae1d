"""Certificates are verified alike on every Python: as from Python 3.13 on, whose contexts ask for more by default."""

import socket
import ssl
import threading

import pytest
from authorities import Authority

from trundle._tls import as_kubernetes, verifying


@pytest.fixture
def strict(monkeypatch):
    """Contexts ask for what they ask for from Python 3.13 on."""
    create = ssl.create_default_context

    def strictly(*arguments, **named):
        found = create(*arguments, **named)
        found.verify_flags |= ssl.VERIFY_X509_STRICT
        return found

    monkeypatch.setattr(ssl, "create_default_context", strictly)


@pytest.fixture
def authority(tmp_path):
    """An authority whose certificates have no identifiers of keys."""
    return Authority(tmp_path)


@pytest.fixture
def port(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.server("server"))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            try:
                while True:
                    with listening.accept()[0] as client:
                        try:
                            context.wrap_socket(client, server_side=True).close()
                        except OSError:
                            continue
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def connect(port, context, name):
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname=name),
    ):
        pass


@pytest.mark.usefixtures("strict")
def test_an_authority_that_leaves_out_what_go_does_not_ask_for_is_trusted(authority, port):
    with pytest.raises(ssl.SSLCertVerificationError, match="Missing Authority Key Identifier"):
        connect(port, ssl.create_default_context(cafile=authority.certificate), "localhost")
    connect(port, verifying(authority.certificate), "localhost")
    found = ssl.create_default_context(cafile=authority.certificate)
    connect(port, as_kubernetes(found), "localhost")


@pytest.mark.usefixtures("strict")
def test_other_authorities_and_other_names_are_not_trusted(authority, port, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(port, verifying(), "localhost")
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(port, verifying(authority.certificate), "other.example.com")
    with pytest.raises(OSError, match="No such file"):
        verifying(tmp_path / "missing.pem")
