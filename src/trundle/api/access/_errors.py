"""What can be wrong with the files that say who may do what."""

from collections.abc import Sequence

from trundle.errors import Code, Finding, Kind, TrundleError


class AccessCode(Code):
    """What can be wrong with files of tokens and certificates."""

    TOKENS = "wrong-token-line"
    CERTIFICATE = "unusable-certificate"


class AccessFileError(TrundleError):
    """A file that says who may do what, and that cannot be used.

    Attributes:
        findings: everything that is wrong with it.
    """

    kind = Kind.USAGE

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, findings)))
