"""Certificates are verified alike on every Python: as from Python 3.13 on, whose contexts ask for more by default."""

import json
import socket
import ssl
import threading

import httpx2
import pytest
from authorities import Authority

from trundle._tls import verifying
from trundle.kubernetes._cluster import ClusterError
from trundle.kubernetes._cluster import connect as connect_to_cluster
from trundle.providers.api import client_of_kubeconfig


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
    return Authority(tmp_path, strict=False)


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


@pytest.mark.usefixtures("strict")
def test_other_authorities_and_other_names_are_not_trusted(authority, port, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(port, verifying(), "localhost")
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(port, verifying(authority.certificate), "other.example.com")
    with pytest.raises(OSError, match="No such file"):
        verifying(tmp_path / "missing.pem")


def by_provider(kubeconfig):
    with client_of_kubeconfig(kubeconfig) as client, pytest.raises(httpx2.HTTPError) as caught:
        client.get("/version")
    return str(caught.value)


def by_operator(kubeconfig):
    with pytest.raises(ClusterError) as caught:
        connect_to_cluster(kubeconfig, timeout=5).definition("members.example.com")
    return str(caught.value)


CLIENTS = pytest.mark.parametrize("ask", [by_provider, by_operator])


def kubeconfig_of(tmp_path, url, **cluster):
    named = {"clusters": [{"name": "c", "cluster": {"server": url, **cluster}}]}
    named |= {"users": [{"name": "u", "user": {"token": "t"}}], "current-context": "x"}
    named |= {"contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}
    written = tmp_path / "kubeconfig"
    written.write_text(json.dumps(named))
    return written


@CLIENTS
@pytest.mark.usefixtures("strict")
def test_a_cluster_that_kubectl_trusts_is_trusted(ask, authority, port, tmp_path):
    url, own = f"https://localhost:{port}", {"certificate-authority": str(authority.certificate)}
    said = ask(
        kubeconfig_of(tmp_path, url, **own)
    )  # The server ends each connection that it accepts.
    assert "certificate" not in said.lower()
    assert "certificate" in ask(kubeconfig_of(tmp_path, url)).lower()


@CLIENTS
def test_a_cluster_is_reached_through_the_proxy_of_the_environment(ask, tmp_path, monkeypatch):
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def serve():
            with proxy.accept()[0] as client:
                asked.append(client.recv(1000).split(b"\r\n")[0])
                client.sendall(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        ask(kubeconfig_of(tmp_path, "https://cluster.example.com"))
        thread.join(10)
    assert asked == [b"CONNECT cluster.example.com:443 HTTP/1.1"]
