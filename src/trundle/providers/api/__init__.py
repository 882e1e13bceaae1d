"""A provider that applies objects to an API of Kubernetes' kind: a cluster, or `trundle serve`. It needs the extra `kube`."""

from trundle.providers.api._clients import (
    CurrentContext,
    check_context,
    client_of_kubeconfig,
    client_of_server,
    current_context,
)
from trundle.providers.api._provider import ApiProvider

__all__ = [
    "ApiProvider",
    "CurrentContext",
    "check_context",
    "client_of_kubeconfig",
    "client_of_server",
    "current_context",
]
