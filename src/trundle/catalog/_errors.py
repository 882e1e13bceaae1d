"""What can go wrong with a catalog, and what its rules refuse."""

from collections.abc import Iterable

from trundle.errors import Code, ExpectationError, Finding, Kind, TrundleError


class CatalogCode(Code):
    """What can be wrong with packages in a catalog."""

    TENANT = "invalid-tenant"
    MISSING = "package-not-in-catalog"
    DAMAGED = "damaged-package-content"
    EXISTS = "version-stored-already"
    OTHER_CONTENT = "version-has-other-content"
    GIVEN_TWICE = "version-given-twice"
    SHADOWS = "shadows-public-package"
    REQUIREMENT = "unmet-requirement"
    NEEDED = "version-still-needed"
    SERVER = "server-refuses"
    OUTDATED = "review-outdated"
    OF_SERVER = "finding-of-a-newer-server"
    NOT_FOLLOWED = "channel-not-followed"
    FOLLOWED = "channel-followed-already"


class CatalogError(TrundleError):
    """Base of the errors of catalogs; those of the database are `trundle.database.DatabaseError`."""


class InvalidTenantError(CatalogError, ExpectationError):
    """The name of a tenant cannot be used."""

    kind = Kind.USAGE
    code = CatalogCode.TENANT


class ServerError(CatalogError, ExpectationError):
    """A server of a catalog refuses a request, or answers what no such server answers."""

    code = CatalogCode.SERVER

    def __init__(self, where: str, expected: str, found: str, advice: str, kind: Kind) -> None:
        self.kind = kind
        super().__init__(where, expected, found, advice)


class ReviewOutdatedError(CatalogError, ExpectationError):
    """A package was reviewed beside another release than the one that it follows now; nothing was stored."""

    kind = Kind.CONFLICT
    code = CatalogCode.OUTDATED


class NoSuchPackageError(CatalogError, ExpectationError):
    """The tenant sees no such package, or owns none."""

    kind = Kind.NOT_FOUND
    code = CatalogCode.MISSING


class NoSuchChannelError(CatalogError, ExpectationError):
    """The tenant sees no such channel, follows none, or the channel has no such file."""

    kind = Kind.NOT_FOUND
    code = CatalogCode.NOT_FOLLOWED


class ChannelFollowedError(CatalogError, ExpectationError):
    """The tenant follows the channel already, or all tenants see it as another one follows it."""

    kind = Kind.EXISTS
    code = CatalogCode.FOLLOWED


class DamagedContentError(CatalogError, ExpectationError):
    """The content of a package is not what was uploaded."""

    kind = Kind.VERIFICATION
    code = CatalogCode.DAMAGED


class BrokenRuleError(CatalogError):
    """A change would break a rule of the catalog; nothing was changed.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class StillNeededError(BrokenRuleError):
    """A change would take a version away that packages need; there is one finding for each of them."""
