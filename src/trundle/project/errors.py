"""What can go wrong at the edge of a project: its file, its documents, its generated folder."""

from collections.abc import Iterable
from pathlib import Path


class ProjectError(Exception):
    """Base of all errors of a project on disk."""


class ConfigError(ProjectError):
    """A `trundle.yaml` that cannot be used.

    Attributes:
        findings: everything that is wrong, in the order of the file; each with file and line.
    """

    def __init__(self, findings: Iterable[str]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(self.findings))


class ConfigMissingError(ConfigError):
    """There is no `trundle.yaml` where one was expected."""


class OutputError(ProjectError):
    """A generated folder that cannot be written; the folder is as it was before.

    Attributes:
        root: the folder.
        findings: everything that stands in the way; each names its file.
    """

    def __init__(self, root: Path, findings: Iterable[str]) -> None:
        self.root = root
        self.findings = tuple(findings)
        super().__init__("\n".join(self.findings))


class OutputRefusedError(OutputError):
    """The folder holds work that writing would destroy."""


class OutputBusyError(OutputError):
    """Another process is writing the folder."""


class AlreadyExistsError(ProjectError):
    """New files would overwrite files that exist.

    Attributes:
        paths: the files that exist.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        listing = "\n".join(
            f"{path}: expected no such file, found one; remove it, or choose another folder"
            for path in self.paths
        )
        super().__init__(listing)
