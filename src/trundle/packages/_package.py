"""A package with its content, wherever it is kept: its manifest, and its files once they are asked for."""

import io
import tarfile
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from trundle.errors import Finding
from trundle.packages._entries import ArchiveEntry, Inspection
from trundle.packages._errors import (
    ManifestError,
    ManifestMissingError,
    PackageCode,
    PackError,
    finding,
)
from trundle.packages._limits import ArchiveLimits
from trundle.packages._manifest import APP_FILE, MANIFEST_FILE, MANIFEST_FILES, manifest_with_notes
from trundle.packages._model import Manifest, Requirement
from trundle.packages._pack import Content, Packed, archive_of, digest_of, missing_files, pack
from trundle.packages._tar_entries import tar_entries
from trundle.packages._zip_entries import ZIP_MARKS, zip_entries
from trundle.version import SemVer

IN_MEMORY = ArchiveLimits(files=10_000, size=64 * 1024**2)
"""How large a package may be that is kept in memory as a whole."""


class Package:
    """One version of a package. It never changes, and packages with the same content are equal.

    Made by `from_folder`, `from_archive` or `from_files`; the constructor is for those who keep packages elsewhere.

    Args:
        name: the name that others require it by.
        version: its version; 0.0.0 where a `manifest.yaml` gives none.
        digest: the digest of its archive.
        files: the paths of its files, ordered by their bytes.
        manifest: gives what it says about itself; called once, when that is asked for.
        archive: gives the archive, as `pack` writes it; called once, when a file is asked for.
        notes: what is to be known of the package, such as keys of the manifest that are passed over.
    """

    def __init__(
        self,
        name: str,
        version: SemVer,
        digest: str,
        files: tuple[str, ...],
        *,
        manifest: Callable[[], Manifest],
        archive: Callable[[], bytes],
        notes: tuple[Finding, ...] = (),
    ) -> None:
        self.name = name
        self.version = version
        self.digest = digest
        self.files = files
        self.notes = notes
        self._manifest = manifest
        self._archive = archive

    @classmethod
    def from_folder(cls, folder: Path | str) -> "Package":
        """Reads the package in a folder, without what its `.trundleignore` leaves out.

        Raises:
            ManifestMissingError: the folder has no manifest.
            ManifestError: the manifest cannot be used.
            PackError: the folder holds what cannot be packed, or is too large; it lists all findings.
        """
        target = io.BytesIO()
        packed = pack(Path(folder), target, IN_MEMORY)
        return cls._made(packed, target.getvalue())

    @classmethod
    def from_archive(cls, data: bytes) -> "Package":
        """Reads the package in an archive: a zip, or a tar such as `pack` writes it.

        Raises:
            UnpackError: the archive is broken, or holds what no package holds; it lists all findings.
            ManifestError: the manifest is missing, or cannot be used.
            PackError: the package lacks what its manifest names.
        """
        if data.startswith(ZIP_MARKS):
            entries = zip_entries(data, IN_MEMORY)
        else:
            entries = tar_entries(io.BytesIO(data), IN_MEMORY)
        return cls._of({entry.name: _content(entry) for entry in entries})

    @classmethod
    def from_files(cls, files: Mapping[str, str | bytes]) -> "Package":
        """Makes a package of files by their paths; text becomes UTF-8.

        Raises:
            UnpackError: the paths cannot be in one package, or the package is too large; it lists all findings.
            ManifestError: the manifest is missing, or cannot be used.
            PackError: the package lacks what its manifest names.
        """
        contents = {
            name: Content(each.encode() if isinstance(each, str) else each)
            for name, each in files.items()
        }
        inspection = Inspection(IN_MEMORY)
        for name, content in contents.items():
            inspection.admits(name, len(content.data))
        inspection.finish()
        return cls._of(contents)

    @classmethod
    def _of(cls, files: Mapping[str, Content]) -> "Package":
        name = _manifest_name(files)
        manifest, notes = manifest_with_notes(files[name].data, name)
        if missing := missing_files(manifest, name, files):
            raise PackError(missing)
        data = archive_of(files)
        names = tuple(sorted(files, key=str.encode))
        return cls._made(Packed(manifest, digest_of(data), len(data), names, notes), data)

    @classmethod
    def _made(cls, packed: Packed, archive: bytes) -> "Package":
        manifest = packed.manifest
        return cls(
            manifest.name,
            manifest.version,
            packed.digest,
            packed.files,
            manifest=lambda: manifest,
            archive=lambda: archive,
            notes=packed.notes,
        )

    @cached_property
    def manifest(self) -> Manifest:
        """What the package says about itself."""
        return self._manifest()

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements in the order of the manifest, then the implied ones: on itself, and on the core library."""
        return self.manifest.effective_requirements

    @cached_property
    def classes(self) -> Mapping[str, str]:
        """The path in the package of the file of each class, by the full name of the class."""
        names = set(self.files)
        paths = {}
        for each in self.manifest.classes:
            usual = f"Classes/{each.file}"
            paths[each.name] = usual if usual in names else each.file
        return MappingProxyType(paths)

    def file(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            KeyError: the package has no such file.
        """
        start, size = self._places[path]
        return self.archive[start : start + size]

    @cached_property
    def archive(self) -> bytes:
        """The archive of the package, as `pack` writes it."""
        return self._archive()

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, int]]:
        """Where each file begins in the archive, and how many bytes it has."""
        with tarfile.open(fileobj=io.BytesIO(self.archive), mode="r:", encoding="utf-8") as archive:
            return {each.name: (each.offset_data, each.size) for each in archive}

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Package) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Package {self.name} {self.version}>"


def _content(entry: ArchiveEntry) -> Content:
    return Content(b"".join(entry.pieces()), entry.executable)


def _manifest_name(files: Mapping[str, Content]) -> str:
    """The name of the one manifest among files.

    Raises:
        ManifestError: there are two.
        ManifestMissingError: there is none.
    """
    found = [name for name in MANIFEST_FILES if name in files]
    if len(found) == 1:
        return found[0]
    if found:
        code, both = PackageCode.TWO_MANIFESTS, f"{APP_FILE} and {MANIFEST_FILE}"
        raise ManifestError([finding(code, "the package", "one manifest", both, "remove one")])
    expected = f"{APP_FILE} or {MANIFEST_FILE}"
    advice = "put the manifest beside the folders of the package, not into one of them"
    code = PackageCode.NO_MANIFEST
    raise ManifestMissingError([finding(code, "the package", expected, "neither", advice)])
