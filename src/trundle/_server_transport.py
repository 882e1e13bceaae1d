"""How clusters and other API servers are reached."""

import ssl

from lightkube.config.client_adapter import verify_cluster
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import User

from trundle._environment import proxy_of
from trundle._http import TimedTransport
from trundle._tls import as_kubernetes

WATCH_TIME = 300
"""After how many seconds a server is asked to end a watch, which is begun again then."""
_IDLE = WATCH_TIME + 60.0


def transport_of(config: SingleConfig) -> TimedTransport:
    """How the cluster of a kubeconfig's context is reached, through the proxy that the environment names.

    Raises:
        Exception: what lightkube lets through where a kubeconfig is not as it should be.
    """
    cluster = config.cluster
    verified = as_kubernetes(verify_cluster(cluster, config.user or User(), config.abs_file))
    return server_transport(cluster.server, verified)


def server_transport(url: str, verified: ssl.SSLContext, idle: float = _IDLE) -> TimedTransport:
    """How an API server is reached, through the proxy that the environment names.

    Args:
        url: its address.
        verified: how its certificate is verified.
        idle: how many seconds a watch waits for its next bytes.
    """
    return TimedTransport(verified, proxy_of(url, "all"), idle=idle)
