"""Does independent pieces of work in several processes: of this machine, or of a Dask cluster.

`Processes` and `Cluster` are two ways to do the same: a piece of work is a function of a module and a value, and neither knows where it is done.
"""

from trundle.workers._cluster import Cluster
from trundle.workers._errors import ClusterError, ForeignWorkerError
from trundle.workers._processes import (
    WorkerDiedError,
    cpu_count,
    packed,
    portable,
    spread,
    work_in_processes,
)
from trundle.workers._spreading import Opening, Processes, Workers

__all__ = [
    "Cluster",
    "ClusterError",
    "ForeignWorkerError",
    "Opening",
    "Processes",
    "WorkerDiedError",
    "Workers",
    "cpu_count",
    "packed",
    "portable",
    "spread",
    "work_in_processes",
]
