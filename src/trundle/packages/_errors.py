"""What can go wrong with packages: their manifests, their archives, their locks."""

from collections.abc import Iterable


class PackageError(Exception):
    """Base of all errors of packages.

    Attributes:
        findings: everything that is wrong; each says where, what was expected, what was found, and what to do.
    """

    def __init__(self, findings: Iterable[str]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(self.findings))


class ManifestError(PackageError):
    """A manifest that cannot be used."""


class ManifestMissingError(ManifestError):
    """There is no manifest where one was expected."""


class PackError(PackageError):
    """A folder that cannot be packed."""


class UnpackError(PackageError):
    """An archive that cannot be unpacked; the folder does not exist afterwards."""


class FolderExistsError(UnpackError):
    """The folder to unpack into exists; it is as it was before."""


class LockError(PackageError):
    """A lock that cannot be read."""
