"""What can go wrong with a registry; every error says where, what was expected, what was found, what to do."""

from trundle.errors import Code, ExpectationError, Kind


class RegistryCode(Code):
    """What can go wrong with a registry."""

    FAILED = "registry-failed"
    REFERENCE = "invalid-reference"
    URL = "invalid-server-url"
    UNREACHABLE = "registry-unreachable"
    UNAUTHORISED = "unauthorised"
    NOT_FOUND = "not-in-registry"
    DIGEST = "digest-mismatch"
    TOO_LARGE = "content-too-large"
    MANIFEST = "invalid-artifact"
    CONFLICT = "registry-conflict"
    BUSY = "registry-busy"
    LEASE = "lease-lost"
    REFUSED = "registry-refused"
    STORAGE = "registry-storage"
    EXTRA = "extra-missing"


class RegistryError(ExpectationError):
    """Base of all errors of this room.

    Attributes:
        where: the registry, repository, tag, digest or file that is concerned.
        expected: what should have been there.
        found: what was there instead.
        advice: what to do about it.
    """

    code = RegistryCode.FAILED


class InvalidReferenceError(RegistryError):
    """Text that does not name a registry, repository, tag or digest."""

    kind = Kind.USAGE
    code = RegistryCode.REFERENCE


class InvalidServerUrlError(RegistryError):
    """Text that is not the URL of a web server; the text is not in the message, as it may be a secret in the wrong place."""

    kind = Kind.USAGE
    code = RegistryCode.URL


class UnreachableError(RegistryError):
    """The registry does not answer, or is in trouble itself, also after the retries."""

    kind = Kind.UNREACHABLE
    code = RegistryCode.UNREACHABLE


class UnauthorisedError(RegistryError):
    """The registry does not let these credentials do that."""

    kind = Kind.UNREACHABLE
    code = RegistryCode.UNAUTHORISED


class NotFoundError(RegistryError):
    """No such repository, tag, manifest or blob."""

    kind = Kind.NOT_FOUND
    code = RegistryCode.NOT_FOUND


class DigestMismatchError(RegistryError):
    """Content that is not what its descriptor says; nothing of it was kept."""

    kind = Kind.VERIFICATION
    code = RegistryCode.DIGEST


class TooLargeError(RegistryError):
    """Content beyond what is read or stored of its kind."""

    kind = Kind.VERIFICATION
    code = RegistryCode.TOO_LARGE


class InvalidManifestError(RegistryError):
    """A manifest, an index or a layout that cannot be understood."""

    kind = Kind.VERIFICATION
    code = RegistryCode.MANIFEST


class ConflictError(RegistryError):
    """Another process changed what was about to be changed; nothing was changed."""

    kind = Kind.CONFLICT
    code = RegistryCode.CONFLICT


class BusyError(ConflictError):
    """Another process still holds what this one needs exclusively."""

    code = RegistryCode.BUSY


class LeaseLostError(ConflictError):
    """The holder of a lease took so long that others may have gone on without it."""

    code = RegistryCode.LEASE


class RegistryRefusedError(RegistryError):
    """The registry understands and does not do it, such as deleting where that is switched off."""

    kind = Kind.REFUSED
    code = RegistryCode.REFUSED


class StorageError(RegistryError):
    """A folder that cannot be read or written, as on a full disk; what was there before still is."""

    code = RegistryCode.STORAGE


class MissingExtraError(RegistryError):
    """A registry over HTTP needs packages that are not installed."""

    code = RegistryCode.EXTRA
