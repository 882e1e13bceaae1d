"""What can be wrong with what a cluster is given."""

from trundle.errors import Code, ExpectationError, Kind


class KubernetesCode(Code):
    """What can be wrong with CRDs, and with objects on their way to and from a cluster."""

    INVALID = "invalid-crd"
    MISSING = "missing-crd"
    UNKNOWN = "unknown-crd"
    CHANGED = "changed-crd"
    BREAKS = "breaking-crd"
    CARRIER = "unusable-carrier"
    UNCONVERTED = "unconverted-object"
    CLUSTER = "unusable-cluster"
    UNREADY = "unready-crd"
    STAYS = "unmigrated-object"
    SPEC = "invalid-installation"
    UNMIGRATED = "waits-for-migration"
    UNREADABLE = "unreadable-storage"
    SCHEMAS = "unusable-schemas"
    OWNED = "owned-by-another-release"
    OTHER_RUN = "another-run"
    REJECTED = "rejected-release"
    ROOT = "missing-root"
    FETCHING = "fetching"


class DefinitionError(ExpectationError):
    """Something that cannot be read as CRDs, or made one."""

    kind = Kind.REFUSED
    code = KubernetesCode.INVALID
