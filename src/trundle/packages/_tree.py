"""A package with a folder for each of its releases, and a folder `dev` for what comes next."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trundle.packages._errors import ManifestError, PackageCode, finding
from trundle.packages._manifest import MANIFEST_FILE, MANIFEST_FILES, read_manifest
from trundle.version import SemVer, VersionRange, VersionSyntaxError

if TYPE_CHECKING:
    from trundle.errors import Finding

DEVELOPMENT = "dev"
"""The folder of what comes next; its version, and the ranges of its requirements, count as 0.0.0."""


def package_folders(folder: Path) -> tuple[Path, ...]:
    """The folders of packages of classes: the folder itself, or all that are somewhere below it, but not within each other."""
    if (folder / MANIFEST_FILE).is_file():
        return (folder,)
    below = [each.parent for each in sorted(folder.rglob(MANIFEST_FILE))]
    found = set(below)
    return tuple(each for each in below if found.isdisjoint(each.parents))


class ReleaseTree(msgspec.Struct, frozen=True):
    """A package's folders.

    Attributes:
        folder: the folder that holds them.
        releases: the folder of each release, by its version, the lowest first.
    """

    folder: Path
    releases: dict[SemVer, Path]

    @property
    def development(self) -> Path:
        """The folder of what comes next."""
        return self.folder / DEVELOPMENT

    def newest(self, line: VersionRange | None = None) -> SemVer | None:
        """The newest release, of a line such as `1.2` where one is given; None where there is none."""
        found = [each for each in self.releases if line is None or line.contains(each)]
        return max(found, default=None)

    def check(self) -> None:
        """Makes sure that each release says the version that its folder is called by.

        Raises:
            ManifestError: one does not, or its manifest cannot be used; the error lists all.
        """
        found: list[Finding] = []
        for version, folder in self.releases.items():
            try:
                said = read_manifest(folder).version
            except ManifestError as error:
                found += error.findings
                continue
            if said != version:
                code, advice = (
                    PackageCode.WRONG_FOLDER,
                    "rename the folder, or correct the manifest",
                )
                found.append(finding(code, folder, f"version {version}", str(said), advice))
        if found:
            raise ManifestError(found)


def release_tree(folder: Path) -> ReleaseTree | None:
    """The release tree in a folder; None where the folder is no such tree, as the folder of one package is none."""
    if not folder.is_dir() or _is_package(folder):
        return None
    found: dict[SemVer, Path] = {}
    for each in folder.iterdir():
        try:
            version = SemVer.parse(each.name)
        except VersionSyntaxError:
            continue
        if _is_package(each):
            found[version] = each
    if not found and not _is_package(folder / DEVELOPMENT):
        return None
    return ReleaseTree(folder, dict(sorted(found.items())))


def _is_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in MANIFEST_FILES)
