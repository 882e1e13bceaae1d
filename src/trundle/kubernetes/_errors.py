"""What can be wrong with what a cluster is given."""

from trundle.errors import Code, ExpectationError, Kind


class KubernetesCode(Code):
    """What can be wrong with CRDs."""

    INVALID = "invalid-crd"
    MISSING = "missing-crd"
    UNKNOWN = "unknown-crd"
    CHANGED = "changed-crd"
    BREAKS = "breaking-crd"


class DefinitionError(ExpectationError):
    """Something that cannot be read as CRDs, or made one."""

    kind = Kind.REFUSED
    code = KubernetesCode.INVALID
