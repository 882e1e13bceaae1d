"""Unpacks an archive into a new folder, and trusts nothing in it.

Only regular files are taken, and folders, which are made as files need them. A name that leads out of the folder, a link, a
device, two names for one file, more than the limits allow: each refuses the whole archive. The folder appears with one
rename when all of it is on disk, so it is never visible in part.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from trundle.packages._entries import ArchiveEntry
from trundle.packages._errors import FolderExistsError, PackageCode, finding
from trundle.packages._limits import ArchiveLimits
from trundle.packages._tar_entries import tar_entries

_PLAIN, _EXECUTABLE = 0o644, 0o755


def unpack(
    archive: BinaryIO,
    folder: Path,
    limits: ArchiveLimits | None = None,
    *,
    check: Callable[[Path], None] | None = None,
    durable: bool = True,
) -> tuple[str, ...]:
    """Unpacks an archive into a folder that does not exist yet.

    The digest of the archive is for the caller to verify. If unpacking fails or dies, the folder does not exist; what a dead
    process left is beside it under a name that starts with a dot and ends in `.partial`.

    Args:
        archive: a plain tar, read once from its current position.
        folder: where the files go; its parents are made where they do not exist.
        limits: how large the package may be; the default limits where None.
        check: called with the unpacked files before the folder appears; it raises to refuse them.
        durable: whether the files are on disk before the folder appears. Those that are read once and removed need not be.

    Returns:
        The paths of the files, in the order of the archive.

    Raises:
        FolderExistsError: the folder exists.
        UnpackError: the archive is broken, or holds what no package holds.
        OSError: the folder cannot be written, as on a full disk.
    """
    if os.path.lexists(folder):
        raise _exists(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(
        tempfile.mkdtemp(prefix=f".{folder.name[:100]}.", suffix=".partial", dir=folder.parent)
    )
    try:
        names = _unpack(archive, staged, limits or ArchiveLimits())
        if check is not None:
            check(staged)
        _settle(staged, durable=durable)
        try:
            staged.rename(folder)
        except OSError:
            if os.path.lexists(folder):
                raise _exists(folder) from None
            raise
        if durable:
            _flush(folder.parent)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return names


def _unpack(archive: BinaryIO, root: Path, limits: ArchiveLimits) -> tuple[str, ...]:
    unpacked = []
    for entry in tar_entries(archive, limits):
        _write(entry, root)
        unpacked.append(entry.name)
    return tuple(unpacked)


def _write(entry: ArchiveEntry, root: Path) -> None:
    path = root / entry.name
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _EXECUTABLE if entry.executable else _PLAIN
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        for data in entry.pieces():
            file.write(data)
        os.fchmod(file.fileno(), mode)  # whatever the umask


def _settle(root: Path, *, durable: bool) -> None:
    """Gives each folder its permissions, and puts everything on disk where that is wanted; all at the end, which is far quicker."""
    for place, _, files in os.walk(root, topdown=False):
        for name in files if durable else ():
            _flush(Path(place, name))
        Path(place).chmod(_EXECUTABLE)
        if durable:
            _flush(Path(place))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exists(folder: Path) -> FolderExistsError:
    expected, advice = "no such folder", "remove it, or choose another"
    return FolderExistsError([finding(PackageCode.FOLDER_EXISTS, folder, expected, "one", advice)])
