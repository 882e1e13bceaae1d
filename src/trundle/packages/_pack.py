"""Packs a package folder: the same files give the same bytes, on every machine and at any time.

An archive is a plain tar in the format of POSIX.1-2001, without compression, since compressors differ from release to
release. It holds regular files only, ordered by the bytes of their names. Owners, times and permissions are fixed; of the
permissions just one is kept, whether the owner may run the file.
"""

import contextlib
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import msgspec

from trundle.errors import Finding
from trundle.packages._errors import ManifestError, PackageCode, PackError, finding
from trundle.packages._files import PackageFile, package_files
from trundle.packages._limits import ArchiveLimits
from trundle.packages._manifest import MANIFEST_FILES, manifest_text, manifest_with_notes
from trundle.packages._model import Manifest

ARCHIVE_MEDIA_TYPE = "application/vnd.oci.image.layer.v1.tar"
"""What an archive is called in an OCI artifact."""

_PLAIN, _EXECUTABLE = 0o644, 0o755


class Packed(msgspec.Struct, frozen=True):
    """A package that was packed.

    Attributes:
        manifest: what it says about itself.
        digest: `sha256:` and the digest of the archive in hexadecimal digits.
        size: the bytes of the archive.
        files: the paths of the files in it, ordered by their bytes.
        notes: what the manifest has that is passed over.
    """

    manifest: Manifest
    digest: str
    size: int
    files: tuple[str, ...]
    notes: tuple[Finding, ...] = ()


class _Tee:
    """Writes on, and keeps count and digest of what is written."""

    def __init__(self, target: BinaryIO) -> None:
        self.target = target
        self.digest = hashlib.sha256()
        self.size = 0

    @property
    def name(self) -> str:
        """The digest of what was written, as registries write it."""
        return f"sha256:{self.digest.hexdigest()}"

    def write(self, data: bytes) -> int:
        self.target.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)


def pack(folder: Path, target: BinaryIO, limits: ArchiveLimits | None = None) -> Packed:
    """Packs a folder with its manifest into an archive.

    Args:
        folder: the folder of the package.
        target: where the archive is written; what was written before an error is of no use.
        limits: how large the package may be; the default limits where None.

    Raises:
        ManifestMissingError: the folder has no manifest.
        ManifestError: the manifest cannot be used.
        PackError: the folder holds what cannot be packed, or changes meanwhile; it lists all findings.
        OSError: the target cannot be written.
    """
    data, name = manifest_text(folder)
    findings: list[Finding] = []
    manifest = None
    try:
        manifest, notes = manifest_with_notes(data, name)
    except ManifestError as error:
        findings += error.findings
    tree = package_files(folder)
    if manifest:
        findings += missing_files(manifest, name, {file.name for file in tree.files})
    findings += tree.findings
    if manifest is None:
        raise ManifestError(findings)
    findings += _too_large(folder, tree.files, limits or ArchiveLimits())
    if findings:
        raise PackError(findings)
    tee = _Tee(target)
    with _archive(tee) as archive:
        for file in tree.files:
            _add_file(archive, file, manifest_data=data)
    return Packed(manifest, tee.name, tee.size, tuple(file.name for file in tree.files), notes)


class Content(NamedTuple):
    """The content of a file of a package, and whether its owner may run it."""

    data: bytes
    executable: bool = False


def archive_of(files: Mapping[str, Content]) -> bytes:
    """The archive of files by their paths, as `pack` writes it for a folder with these files."""
    target = io.BytesIO()
    with _archive(_Tee(target)) as archive:
        for name in sorted(files, key=str.encode):
            data, executable = files[name]
            archive.addfile(_member(name, len(data), executable=executable), io.BytesIO(data))
    return target.getvalue()


def digest_of(data: bytes) -> str:
    """The digest of an archive, as registries write it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def missing_files(manifest: Manifest, where: str, names: Collection[str]) -> list[Finding]:
    """Findings for files that a manifest names and the package lacks."""
    places = [(f"Classes/{each.file}", each.file) for each in manifest.classes]
    places += [(f"UI/{each}", each) for each in manifest.forms]
    advice = "add it, see that it is not ignored, or correct the manifest"
    return [
        finding(
            PackageCode.FILE_MISSING,
            where,
            f"the file {own} or {usual} in the package",
            "neither",
            advice,
        )
        for usual, own in dict.fromkeys(places)
        if own not in names and usual not in names
    ]


def _too_large(
    folder: Path, files: tuple[PackageFile, ...], limits: ArchiveLimits
) -> list[Finding]:
    code, advice = PackageCode.TOO_LARGE, f"leave files out in {folder / '.trundleignore'}"
    if len(files) > limits.files:
        return [finding(code, folder, f"at most {limits.files} files", str(len(files)), advice)]
    size = sum(file.size for file in files)
    if size > limits.size:
        return [finding(code, folder, f"at most {limits.size} bytes", str(size), advice)]
    return []


@contextlib.contextmanager
def _archive(tee: _Tee) -> Iterator[tarfile.TarFile]:
    with tarfile.open(
        fileobj=cast("BinaryIO", tee),  # nothing but `write` is called
        mode="w|",
        format=tarfile.PAX_FORMAT,
        encoding="utf-8",
    ) as archive:
        yield archive


def _member(name: str, size: int, *, executable: bool) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = _EXECUTABLE if executable else _PLAIN
    return member


def _add_file(archive: tarfile.TarFile, file: PackageFile, manifest_data: bytes) -> None:
    """Adds a file.

    Raises:
        PackError: it is not the file any more that was found, or changed while it was read.
    """
    try:
        # Neither follows a link that came meanwhile, nor waits for a pipe.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(file.path, flags), "rb") as content:
            before = os.fstat(content.fileno())
            if not stat.S_ISREG(before.st_mode):
                raise _changed(file, "something else")
            member = _member(file.name, before.st_size, executable=file.executable)
            if file.name in MANIFEST_FILES and content.read(before.st_size + 1) != manifest_data:
                raise _changed(file, "other content")
            content.seek(0)
            archive.addfile(member, content)
            after = os.fstat(content.fileno())
    except PackError:
        raise
    except OSError as error:
        raise _changed(file, f"this: {error.strerror or error}") from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise _changed(file, "other content")


def _changed(file: PackageFile, found: str) -> PackError:
    expected = "a file that stays as it is while it is packed"
    return PackError(
        [finding(PackageCode.FILE_CHANGED, file.path, expected, found, "pack it again")]
    )
