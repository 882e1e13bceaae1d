"""A cluster that answers byte by byte, or not at all, cannot keep a client, over HTTP and TLS."""

import json
import ssl
import threading

import httpx2
import lightkube
import pytest
from dripping import dripping
from lightkube.config.kubeconfig import KubeConfig

from trundle._server_transport import server_transport
from trundle.engine.effects import ProviderError
from trundle.kubernetes._cluster import Cluster, ClusterError, connect
from trundle.kubernetes.operator._installations import Installations
from trundle.providers.api import client_of_kubeconfig, client_of_server
from trundle.providers.api._server import Server

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SLOW = pytest.mark.parametrize(
    ("at_once", "then"),
    [
        (b"", b""),
        (b"", HEADERS * 1000),
        (HEADERS, b"X-More: 1\r\n" * 10000),
        (HEADERS + b"\r\n", b" " * 100000),
        (CHUNKED, b"1\r\n \r\n" * 10000),
        (CHUNKED, b"1;" + b"x" * 100000),
    ],
    ids=["nothing", "a head", "headers", "content", "chunks", "the head of a chunk"],
)
LATE = "no whole answer within 0.3 seconds"


def kubeconfig(folder, server):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [
            {"name": "a", "cluster": {"server": server, "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": "a", "user": {}}],
    }
    (folder / "config").write_text(json.dumps(config))
    return folder / "config"


@pytest.fixture
def within():
    """Runs something that has to end; a test which waits for ever would say nothing."""

    def run(ask):
        caught = []

        def asked():
            try:
                ask()
            except Exception as error:  # noqa: BLE001 - the test looks at it
                caught.append(error)

        thread = threading.Thread(target=asked, daemon=True)
        thread.start()
        thread.join(45)
        assert not thread.is_alive(), "it still waits"
        return caught[0]

    return run


@SLOW
def test_commands_give_a_cluster_up(tmp_path, within, at_once, then):
    with dripping(at_once, then) as address:
        cluster = connect(kubeconfig(tmp_path, f"http://{address}"), timeout=0.3)
        error = within(cluster.definitions)
    assert isinstance(error, ClusterError)
    assert LATE in str(error)


@pytest.mark.full
@SLOW
def test_deploys_give_a_server_up(tmp_path, within, at_once, then):
    with dripping(at_once, then) as address:
        url = f"http://{address}"
        for client in (client_of_server(url), client_of_kubeconfig(kubeconfig(tmp_path, url))):
            client.timeout = httpx2.Timeout(0.3)
            with client:
                error = within(lambda client=client: Server(client).get("/apis"))
            assert isinstance(error, ProviderError)
            assert LATE in str(error)


def test_a_handshake_that_drips_is_given_up(tmp_path, within):
    with dripping(b"", b"\x16\x03\x03\x40\x00" + b"\x02" * 10000) as address:
        cluster = connect(kubeconfig(tmp_path, f"https://{address}"), timeout=0.3)
        error = within(cluster.definitions)
    assert isinstance(error, ClusterError)
    assert LATE in str(error)


EVENT = b'{"type":"ADDED","object":{"metadata":{"uid":"u","resourceVersion":"1"}}}\n'
WATCHED = CHUNKED + b"%x\r\n%s\r\n" % (len(EVENT), EVENT)


def test_a_watch_ends_when_nothing_comes_for_long(tmp_path, within):
    with dripping(WATCHED, b"", asked := []) as address:
        config = KubeConfig.from_file(kubeconfig(tmp_path, f"http://{address}")).get()
        transport = server_transport(f"http://{address}", ssl.create_default_context(), idle=2)
        client = lightkube.Client(config, transport=transport, timeout=httpx2.Timeout(60))
        seen = []
        error = within(lambda: seen.extend(Installations(Cluster(client)).watched()))
    assert isinstance(error, ClusterError)
    assert b"timeoutSeconds=300" in asked[0]


def test_a_watch_goes_on_for_as_long_as_something_comes(tmp_path):
    with dripping(WATCHED[:-60], WATCHED[-60:]) as address:
        cluster = connect(kubeconfig(tmp_path, f"http://{address}"), timeout=2)
        assert next(Installations(cluster).watched())[0] == "u"  # It takes three seconds.
