"""What a catalog says of its packages, and of changes to it."""

from typing import Any

import msgspec

from trundle.errors import Finding, errors_among
from trundle.packages import Package
from trundle.version import SemVer


class Offer(msgspec.Struct, frozen=True):
    """A version of a package in a catalog, without its manifest and files.

    Attributes:
        tenant: whose it is.
        name: the name of the package.
        version: its version.
        public: whether all tenants see it.
        digest: the digest of its archive.
    """

    tenant: str
    name: str
    version: SemVer
    public: bool
    digest: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def is_seen_by(self, tenant: str) -> bool:
        """Whether a tenant sees it."""
        return self.public or self.tenant == tenant

    def to_plain(self) -> dict[str, Any]:
        """The version as plain values, for programs."""
        return {
            "name": self.name,
            "version": str(self.version),
            "tenant": self.tenant,
            "public": self.public,
            "digest": self.digest,
        }


class Upload(msgspec.Struct, frozen=True):
    """What became of an upload.

    Attributes:
        stored: the packages that were stored, or would be; none if a finding is an error.
        findings: everything that is to be known. An error refuses the whole upload.
    """

    stored: tuple[Package, ...]
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether nothing was stored because of an error."""
        return bool(errors_among(self.findings))


class Change(msgspec.Struct, frozen=True):
    """A version that was deleted or shared, or would be.

    Attributes:
        offer: the version as it was before.
        findings: warnings for what the change breaks; only where it was forced.
    """

    offer: Offer
    findings: tuple[Finding, ...] = ()
