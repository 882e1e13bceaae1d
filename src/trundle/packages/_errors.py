"""What can go wrong with packages: their manifests, their archives, their locks."""

from collections.abc import Iterable

from trundle.errors import Code, Finding, Kind, Place, TrundleError


class PackageCode(Code):
    """What can be wrong with packages."""

    NO_MANIFEST = "manifest-missing"
    TWO_MANIFESTS = "two-manifests"
    UNREADABLE = "unreadable-file"
    FILE_MISSING = "file-missing"
    UNPACKABLE = "unpackable-file"
    TOO_LARGE = "package-too-large"
    FILE_CHANGED = "file-changed"
    DAMAGED_MANIFEST = "damaged-manifest"
    UNSAFE_ARCHIVE = "unsafe-archive"
    FOLDER_EXISTS = "folder-exists"
    WRONG_FOLDER = "wrong-release-folder"
    DAMAGED_LOCK = "damaged-lock"


def finding(code: PackageCode, file: object, expected: str, found: str, advice: str) -> Finding:
    """A finding about a file or folder."""
    return Finding(code, Place(str(file)), expected, found, advice)


class PackageError(TrundleError):
    """Base of all errors of packages.

    Attributes:
        findings: everything that is wrong.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class ManifestError(PackageError):
    """A manifest that cannot be used."""

    kind = Kind.REFUSED


class ManifestMissingError(ManifestError):
    """There is no manifest where one was expected."""

    kind = Kind.NOT_FOUND


class PackError(PackageError):
    """A folder that cannot be packed."""

    kind = Kind.REFUSED


class UnpackError(PackageError):
    """An archive that cannot be unpacked; the folder does not exist afterwards."""

    kind = Kind.VERIFICATION


class FolderExistsError(UnpackError):
    """The folder to unpack into exists; it is as it was before."""

    kind = Kind.EXISTS


class LockError(PackageError):
    """A lock that cannot be read."""
