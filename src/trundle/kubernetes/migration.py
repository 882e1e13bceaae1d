"""What `trundle kube migrate` needs; the only part of this room that asks a cluster."""

from trundle.kubernetes._cluster import Cluster, ClusterError, RequestError, connect
from trundle.kubernetes._migration import Migration, Subject, subjects

__all__ = [
    "Cluster",
    "ClusterError",
    "Migration",
    "RequestError",
    "Subject",
    "connect",
    "subjects",
]
