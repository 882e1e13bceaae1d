"""How certificates of servers are verified: alike on every Python, and as Kubernetes and its clients verify them.

From Python 3.13 on, contexts by default also ask for what RFC 5280 asks of certificates, such as an identifier of the authority's key.
Many authorities of clusters and companies leave that out, and Go does not ask for it.
"""

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from trundle._environment import proxy_of

if TYPE_CHECKING:
    import httpx2
    from lightkube.config.kubeconfig import SingleConfig


def verifying(authorities: Path | None = None) -> ssl.SSLContext:
    """A context that verifies certificates and names of servers.

    Args:
        authorities: a PEM file with the authorities to trust; those of this machine where None.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    return _as_kubernetes(ssl.create_default_context(cafile=authorities))


def transport_of(config: "SingleConfig") -> "httpx2.HTTPTransport":
    """How the cluster of a kubeconfig's context is reached, through the proxy that the environment names.

    Raises:
        Exception: what lightkube lets through where a kubeconfig is not as it should be.
    """
    import httpx2  # noqa: PLC0415 - this module is imported where there is no cluster
    from lightkube.config.client_adapter import verify_cluster  # noqa: PLC0415
    from lightkube.config.models import User  # noqa: PLC0415

    cluster = config.cluster
    verified = _as_kubernetes(verify_cluster(cluster, config.user or User(), config.abs_file))
    return httpx2.HTTPTransport(verify=verified, proxy=proxy_of(cluster.server, "all"))


def _as_kubernetes(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context, which verifies no more than Go does."""
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
