"""What can go wrong with packages: their manifests, their archives, their locks."""

from collections.abc import Iterable

from trundle.errors import Code, Finding, Kind, Place, TrundleError
from trundle.version import SemVer


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


def finding(code: PackageCode, file: object, expected: str, found: str, advice: str) -> Finding:
    """A finding about a file or folder."""
    return Finding(code, Place(str(file)), expected, found, advice)


class PackageError(TrundleError):
    """Base of all errors of packages.

    It has the attributes of the engine's errors as well, so that a caller of both reads one kind of error; with several
    findings they are about the first. What a damaged package cannot say is empty.

    Attributes:
        findings: everything that is wrong.
        message: what is wrong, with the place.
        advice: what to do about it.
        file: the file.
        line: the line in the file; the first is 1.
        path: the place in the file.
    """

    package = class_name = member = ""
    version: SemVer | None = None
    requirements: tuple[str, ...] = ()

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))
        if self.findings:
            first = self.findings[0]
            self.message, self.advice = str(first), first.advice
            self.file, self.line, self.path = first.place.file, first.place.line, first.place.path

    @property
    def code(self) -> str:
        """`manifest` for what is wrong with a manifest, or with the files it names, else the code of the finding."""
        found = self.findings[0].code
        return "manifest" if found is PackageCode.FILE_MISSING else str(found)

    @property
    def errors(self) -> "tuple[PackageError, ...]":
        """An error for each finding."""
        if len(self.findings) == 1:
            return (self,)
        return tuple(type(self)([each]) for each in self.findings)


class ManifestError(PackageError):
    """A manifest that cannot be used."""

    kind = Kind.REFUSED

    @property
    def code(self) -> str:
        """`manifest`."""
        return "manifest"


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
