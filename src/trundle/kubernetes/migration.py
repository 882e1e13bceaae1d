"""What `trundle kube migrate` and `adopt` need; the only part of this room that asks a cluster."""

from trundle.kubernetes._adoption import Adoption
from trundle.kubernetes._adoption_state import Adopted, AdoptionStep
from trundle.kubernetes._changed_definition import OtherRunError
from trundle.kubernetes._cluster import Cluster, ClusterError, RequestError, connect
from trundle.kubernetes._migration import Migration, Subject, subjects
from trundle.kubernetes._shown_objects import ShownObjects

__all__ = [
    "Adopted",
    "Adoption",
    "AdoptionStep",
    "Cluster",
    "ClusterError",
    "Migration",
    "OtherRunError",
    "RequestError",
    "ShownObjects",
    "Subject",
    "connect",
    "subjects",
]
