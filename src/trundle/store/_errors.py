"""What can go wrong with a store, and what it refuses."""

from collections.abc import Iterable

from trundle.errors import Code, ExpectationError, Finding, Kind, TrundleError


class StoreCode(Code):
    """What can be wrong with stored objects and with what is asked of a store."""

    RESOURCE = "resource-type-not-in-store"
    VERSION = "version-not-in-store"
    KEY = "invalid-key"
    METADATA = "invalid-metadata"
    SELECTOR = "invalid-selector"
    CONTINUE = "invalid-continue-token"
    MISSING = "object-not-found"
    EXISTS = "object-exists"
    CONFLICT = "object-changed"
    GONE = "resource-version-gone"
    FUTURE = "resource-version-in-the-future"
    NEWER = "stored-by-a-newer-release"
    UNRECORDED = "storage-version-not-recorded"
    MOVED = "storage-version-went-back"
    UNCONVERTIBLE = "object-not-convertible"
    INCOMPLETE = "object-lacks-required"
    DIFFERS = "view-differs-after-rolling"
    DROPPED = "storage-version-still-stored"
    PUT_BACK = "database-put-back"
    EXPORT = "unreadable-export"


class StoreError(ExpectationError):
    """Base of the errors of stores; those of the database are `trundle.database.DatabaseError`.

    What the scheme finds wrong with a document is a `trundle.runtime.ConversionError`.
    """


class UnknownResourceError(StoreError):
    """The project has no such resource type."""

    kind = Kind.NOT_FOUND
    code = StoreCode.RESOURCE


class UnknownVersionError(StoreError):
    """No resource type of the project has the version."""

    kind = Kind.NOT_FOUND
    code = StoreCode.VERSION


class InvalidKeyError(StoreError):
    """No object can be called so."""

    kind = Kind.REFUSED
    code = StoreCode.KEY


class InvalidMetadataError(StoreError):
    """The `metadata` of a document is not what a store can keep."""

    kind = Kind.REFUSED
    code = StoreCode.METADATA


class InvalidSelectorError(StoreError):
    """The text is no label selector."""

    kind = Kind.USAGE
    code = StoreCode.SELECTOR


class InvalidContinueError(StoreError):
    """The token did not come from a page of this list."""

    kind = Kind.USAGE
    code = StoreCode.CONTINUE


class NoSuchObjectError(StoreError):
    """There is no object of this key."""

    kind = Kind.NOT_FOUND
    code = StoreCode.MISSING


class ObjectExistsError(StoreError):
    """There is already an object of this key."""

    kind = Kind.EXISTS
    code = StoreCode.EXISTS


class ConflictError(StoreError):
    """The object is not the one that the writer read: another resource version, or another uid."""

    kind = Kind.CONFLICT
    code = StoreCode.CONFLICT


class GoneError(StoreError):
    """What is asked for was compacted; list again."""

    kind = Kind.NOT_FOUND
    code = StoreCode.GONE


class FutureVersionError(StoreError):
    """The resource version was not reached yet."""

    kind = Kind.CONFLICT
    code = StoreCode.FUTURE


class RefusedImportError(TrundleError):
    """A file cannot be imported.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class UnrecordedShapeError(StoreError):
    """The store keeps an earlier storage version, and the lock of this release does not record that it is to be written."""

    kind = Kind.REFUSED
    code = StoreCode.UNRECORDED


class NewerShapeError(StoreError):
    """The store keeps a storage version that this release cannot read."""

    kind = Kind.REFUSED
    code = StoreCode.NEWER


class MovedVersionError(StoreError):
    """The servers of the store went back to an earlier storage version while it was being rolled."""

    kind = Kind.CONFLICT
    code = StoreCode.MOVED
