"""What a catalog says of its packages, and of changes to it."""

from collections.abc import Callable
from typing import Any, TypeAlias

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
        override: why it was stored in spite of its review; empty for most.
    """

    tenant: str
    name: str
    version: SemVer
    public: bool
    digest: str
    override: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def is_seen_by(self, tenant: str) -> bool:
        """Whether a tenant sees it."""
        return self.public or self.tenant == tenant

    def to_plain(self) -> dict[str, Any]:
        """The version as plain values, for programs."""
        plain = {
            "name": self.name,
            "version": str(self.version),
            "tenant": self.tenant,
            "public": self.public,
            "digest": self.digest,
        }
        return plain | {"override": self.override} if self.override else plain


class FoundPackages(msgspec.Struct, frozen=True):
    """What a search for packages finds.

    Attributes:
        number: how many packages there are.
        offers: the versions of the first of them, by name, the oldest first.
    """

    number: int
    offers: tuple[Offer, ...]


class Reviewed(msgspec.Struct, frozen=True):
    """What a review says of a package that is to be stored.

    Attributes:
        against: the errors that refuse it.
        override: the reason why it is stored in spite of them, which the catalog keeps; empty where it is not.
    """

    against: tuple[Finding, ...] = ()
    override: str = ""


Review: TypeAlias = Callable[[Package, Package | None], Reviewed]
"""Looks at a package that is to be stored and the release that it follows; None where there is none."""


class Upload(msgspec.Struct, frozen=True):
    """What became of an upload.

    Attributes:
        stored: the packages that were stored, or would be; none if a finding is an error.
        findings: everything that is to be known. An error refuses the whole upload.
        overridden: what reviews have against packages that are stored all the same, with a reason.
    """

    stored: tuple[Package, ...]
    findings: tuple[Finding, ...]
    overridden: tuple[Finding, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether nothing was stored because of an error."""
        return bool(errors_among(self.findings))

    def to_plain(self) -> dict[str, Any]:
        """The upload as plain values, for programs."""
        return {
            "stored": [
                {"name": each.name, "version": str(each.version), "digest": each.digest}
                for each in self.stored
            ],
            "findings": [each.to_plain() for each in self.findings],
            "overridden": [each.to_plain() for each in self.overridden],
        }


class Consumer(msgspec.Struct, frozen=True):
    """What uses versions of packages: a model that is kept somewhere, and loaded again later.

    Attributes:
        tenant: whose it is.
        name: its name.
        versions: what it uses, by name, the oldest first.
    """

    tenant: str
    name: str
    versions: tuple[Offer, ...]

    def to_plain(self) -> dict[str, Any]:
        """The environment as plain values, for programs."""
        versions = [{"name": x.name, "version": str(x.version)} for x in self.versions]
        return {"environment": self.name, "tenant": self.tenant, "uses": versions}


class VersionChange(msgspec.Struct, frozen=True):
    """A version that was deleted or shared, or would be.

    Attributes:
        offer: the version as it was before.
        findings: warnings for what the change breaks; only where it was forced.
    """

    offer: Offer
    findings: tuple[Finding, ...] = ()
