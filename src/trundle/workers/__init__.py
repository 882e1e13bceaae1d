"""Does work in other processes: many pieces in several of this machine or of a Dask cluster, or one in a process of its own.

`Processes` and `DaskCluster` are two ways to do the same: a piece of work is a function of a module and a value, and neither knows where it is done.
`run_apart` and `FreshProcesses` do one piece of work, which is ended where it takes too long or too much memory.
"""

from trundle.workers._afresh import FreshProcesses
from trundle.workers._apart import EndedError, Note, bound_memory, run_apart
from trundle.workers._cluster import DaskCluster
from trundle.workers._errors import DaskError, ForeignWorkerError, SchedulerAddressError
from trundle.workers._processes import (
    WorkerDiedError,
    cpu_count,
    spread,
    work_in_processes,
)
from trundle.workers._spreading import Opening, Processes, Workers

__all__ = [
    "DaskCluster",
    "DaskError",
    "EndedError",
    "ForeignWorkerError",
    "FreshProcesses",
    "Note",
    "Opening",
    "Processes",
    "SchedulerAddressError",
    "WorkerDiedError",
    "Workers",
    "bound_memory",
    "cpu_count",
    "run_apart",
    "spread",
    "work_in_processes",
]
