"""What can go wrong with a cluster."""

from trundle.errors import Code, ExpectationError, Kind


class ClusterCode(Code):
    """What can be wrong with a cluster that is to do work."""

    UNREACHABLE = "cluster-not-reachable"
    ADDRESS = "invalid-cluster-address"
    FOREIGN = "worker-of-another-version"


class DaskError(ExpectationError):
    """A cluster that cannot be reached, or does not work."""

    kind = Kind.UNREACHABLE
    code = ClusterCode.UNREACHABLE


class SchedulerAddressError(ExpectationError):
    """What was given as the address of a scheduler, and cannot be one."""

    kind = Kind.USAGE
    code = ClusterCode.ADDRESS


class ForeignWorkerError(ExpectationError):
    """A worker that does not run the same Trundle as the command."""

    kind = Kind.REFUSED
    code = ClusterCode.FOREIGN
