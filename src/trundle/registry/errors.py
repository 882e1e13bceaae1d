"""What can go wrong with a registry; every error says where, what was expected, what was found, what to do."""


class RegistryError(Exception):
    """Base of all errors of this room.

    Attributes:
        where: the registry, repository, tag, digest or file that is concerned.
        expected: what should have been there.
        found: what was there instead.
        advice: what to do about it.
    """

    def __init__(self, where: str, expected: str, found: str, advice: str) -> None:
        self.where = where
        self.expected = expected
        self.found = found
        self.advice = advice
        super().__init__(f"{where}: expected {expected}, found {found}; {advice}")

    def __reduce__(self) -> tuple[type["RegistryError"], tuple[str, str, str, str]]:
        """Lets the error cross from one process to another."""
        return type(self), (self.where, self.expected, self.found, self.advice)


class InvalidReferenceError(RegistryError):
    """Text that does not name a registry, repository, tag or digest."""


class UnreachableError(RegistryError):
    """The registry does not answer, or is in trouble itself, also after the retries."""


class UnauthorisedError(RegistryError):
    """The registry does not let these credentials do that."""


class NotFoundError(RegistryError):
    """No such repository, tag, manifest or blob."""


class DigestMismatchError(RegistryError):
    """Content that is not what its descriptor says; nothing of it was kept."""


class TooLargeError(RegistryError):
    """Content beyond what is read or stored of its kind."""


class InvalidManifestError(RegistryError):
    """A manifest, an index or a layout that cannot be understood."""


class ConflictError(RegistryError):
    """Somebody else changed what was about to be changed; nothing was changed."""


class BusyError(ConflictError):
    """Somebody else still holds what this needs for itself."""


class LeaseLostError(ConflictError):
    """The holder of a lease took so long that others may have gone on without it."""


class RefusedError(RegistryError):
    """The registry understands and does not do it, such as deleting where that is switched off."""


class StorageError(RegistryError):
    """A folder that cannot be read or written, as on a full disk; what was there before still is."""


class MissingExtraError(RegistryError):
    """A registry over HTTP needs packages that are not installed."""
