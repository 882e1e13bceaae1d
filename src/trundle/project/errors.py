"""What can go wrong at the edge of a project: its file, its documents, its generated folder."""

from collections.abc import Iterable
from pathlib import Path

from trundle.errors import Code, Finding, Kind, Place, TrundleError


class FileCode(Code):
    """What can be wrong with the files of a project."""

    NO_PROJECT = "project-missing"
    UNREADABLE = "unreadable-project"
    EXISTS = "file-exists"
    NOT_OURS = "not-generated"
    BUSY = "folder-busy"
    NOT_WRITABLE = "not-writable"
    BAD_NAME = "unusable-file-name"
    NO_RESOURCES = "no-resources"
    PACKAGE = "unusable-package"
    LOCK = "unusable-lock"
    PAIRS = "unusable-pairs"


def finding(code: FileCode, file: object, expected: str, found: str, advice: str) -> Finding:
    """A finding about a file or folder."""
    return Finding(code, Place(str(file)), expected, found, advice)


class ProjectError(TrundleError):
    """Base of all errors of a project on disk."""


class ProjectFileError(ProjectError):
    """A file or folder that cannot be used.

    Args:
        code: what is wrong with it.
        file: the file or folder, with the line where that is known.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it.
    """

    def __init__(
        self, code: FileCode, file: object, expected: str, found: str, advice: str
    ) -> None:
        self.findings = (finding(code, file, expected, found, advice),)
        super().__init__(str(self.findings[0]))


class ConfigError(ProjectError):
    """A `trundle.yaml` that cannot be used.

    Attributes:
        findings: everything that is wrong, in the order of the file.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class ConfigMissingError(ConfigError):
    """There is no `trundle.yaml` where one was expected."""

    kind = Kind.NOT_FOUND


class OutputError(ProjectError):
    """A generated folder that cannot be written; the folder is as it was before.

    Attributes:
        root: the folder.
        findings: everything that is in the way.
    """

    def __init__(self, root: Path, findings: Iterable[Finding]) -> None:
        self.root = root
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


class OutputRefusedError(OutputError):
    """The folder holds work that writing would destroy."""

    kind = Kind.REFUSED


class OutputBusyError(OutputError):
    """Another process is writing the folder."""

    kind = Kind.CONFLICT


class AlreadyExistsError(ProjectError):
    """New files would overwrite files that exist.

    Attributes:
        paths: the files that exist.
    """

    kind = Kind.EXISTS

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        advice = "remove it, or choose another folder"
        self.findings = tuple(
            finding(FileCode.EXISTS, path, "no such file", "one", advice) for path in self.paths
        )
        super().__init__("\n".join(map(str, self.findings)))
