"""What can be wrong with models that are to be converted."""

from collections.abc import Iterable

from trundle.errors import Code, Finding, Kind, TrundleError


class ModelCode(Code):
    """What can be said of a model that is converted."""

    VALUE = "unfit-value"
    NO_CLASS = "unknown-class"
    NOT_THERE = "class-not-in-version"
    HOOK = "hook-failed"
    DEPTH = "model-too-deep"


class ModelError(TrundleError):
    """A model that cannot be converted; nothing of it is.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))
