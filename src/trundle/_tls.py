"""How certificates of servers are verified: alike on every Python, and as Kubernetes and its clients verify them.

From Python 3.13 on, contexts by default also ask for what RFC 5280 asks of certificates, such as an identifier of the authority's key.
Many authorities of clusters and companies leave that out, and Go does not ask for it.
"""

import ssl
from pathlib import Path


def verifying(authorities: Path | None = None) -> ssl.SSLContext:
    """A context that verifies certificates and names of servers.

    Args:
        authorities: a PEM file with the authorities to trust; those of this machine where None.

    Raises:
        OSError: the file cannot be read, or has no certificates.
    """
    return as_kubernetes(ssl.create_default_context(cafile=authorities))


def as_kubernetes(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context, which verifies no more than Go does."""
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
