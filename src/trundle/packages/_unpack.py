"""Unpacks an archive into a new folder, and trusts nothing in it.

Only regular files are taken, and folders, which are made as files need them. A name that leads out of the folder, a link, a
device, two names for one file, more than the limits allow: each refuses the whole archive. The folder appears with one
rename when all of it is on disk, so it is never visible in part.
"""

import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from trundle.packages._errors import FolderExistsError, PackageCode, UnpackError, finding
from trundle.packages._limits import BLOCK, HEADER, Limits
from trundle.packages._names import Names, name_problem

_CHUNK = 1024 * 1024
_PLAIN, _EXECUTABLE = 0o644, 0o755
_OWNER_RUNS = 0o100


class _Source:
    """Reads an archive, and no more of it than the next step may need."""

    def __init__(self, source: BinaryIO) -> None:
        self.source = source
        self.allowed = 0

    def read(self, size: int) -> bytes:
        """Reads on.

        Raises:
            UnpackError: a header is longer than any description of a file.
        """
        size = min(size, self.allowed)
        if not size:
            raise _refusal("a description of each file in at most 64 KiB", "a longer one")
        data = self.source.read(size)
        self.allowed -= len(data)
        return data


def unpack(
    archive: BinaryIO,
    folder: Path,
    limits: Limits | None = None,
    *,
    check: Callable[[Path], None] | None = None,
) -> tuple[str, ...]:
    """Unpacks an archive into a folder that does not exist yet.

    The digest of the archive is for the caller to verify. If unpacking fails or dies, the folder does not exist; what a dead
    process left is beside it under a name that starts with a dot and ends in `.partial`.

    Args:
        archive: a plain tar, read once from its current position.
        folder: where the files go; its parents are made where they do not exist.
        limits: how large the package may be; the default limits where None.
        check: called with the unpacked files before the folder appears; it raises to refuse them.

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
        names = _unpack(archive, staged, limits or Limits())
        if check is not None:
            check(staged)
        _flush_tree(staged)
        try:
            staged.rename(folder)
        except OSError:
            if os.path.lexists(folder):
                raise _exists(folder) from None
            raise
        _flush(folder.parent)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return names


def _unpack(archive: BinaryIO, root: Path, limits: Limits) -> tuple[str, ...]:
    source = _Source(archive)
    source.allowed = HEADER
    unpacked: dict[str, None] = {}
    names = Names()
    room = limits.size
    try:
        with tarfile.open(
            fileobj=cast("BinaryIO", source), mode="r|", bufsize=BLOCK, encoding="utf-8"
        ) as tar:
            while (member := tar.next()) is not None:
                # Keeps a long archive from filling the memory: the library remembers every member.
                tar.members = []  # type: ignore[attr-defined]
                member.name = member.name.removeprefix("./")
                if member.isdir():
                    _check_name(member.name.rstrip("/") or ".")
                else:
                    _check(member, names)
                    if len(unpacked) == limits.files:
                        raise _refusal(f"at most {limits.files} files", "more")
                    if member.size > room:
                        raise _refusal(f"at most {limits.size} bytes of files", "more")
                    room -= member.size
                    source.allowed += member.size + BLOCK
                    _write(tar, member, root)
                    unpacked[member.name] = None
                source.allowed = HEADER
    except tarfile.TarError as error:
        raise _refusal("a whole tar archive", f"this: {error}") from None
    except (ValueError, OverflowError, EOFError) as error:
        raise _refusal("a tar archive", f"this: {error}") from None
    return tuple(unpacked)


def _check(member: tarfile.TarInfo, names: Names) -> None:
    """Makes sure that an entry is a file that stays in its folder and meets no other."""
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise _refusal("files and folders only", f"another kind of entry at {member.name!r}")
    if member.size < 0:
        raise _refusal("files with a size", f"a negative one at {member.name!r}")
    _check_name(member.name)
    if other := names.clash(member.name):
        found = f"{member.name!r} beside {other!r}"
        raise _refusal("names that differ by more than letter case and accents", found)


def _check_name(name: str) -> None:
    if name == ".":
        return
    if problem := name_problem(name):
        expected, found, _ = problem
        raise _refusal(expected, f"{found} at {name[:200]!r}")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> None:
    path = root / member.name
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _EXECUTABLE if member.mode & _OWNER_RUNS else _PLAIN
    content = tar.extractfile(member)
    assert content is not None  # regular files have content
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        left = member.size
        while left:
            data = content.read(min(left, _CHUNK))
            if not data:
                raise _refusal("a whole tar archive", f"the end within {member.name!r}")
            file.write(data)
            left -= len(data)
        os.fchmod(file.fileno(), mode)  # whatever the umask


def _flush_tree(root: Path) -> None:
    """Gives each folder its permissions, and puts everything on disk; all at the end, which is far quicker."""
    for place, _, files in os.walk(root, topdown=False):
        for name in files:
            _flush(Path(place, name))
        Path(place).chmod(_EXECUTABLE)
        _flush(Path(place))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(expected: str, found: str) -> UnpackError:
    advice = "get the package again from a source that you trust"
    return UnpackError(
        [finding(PackageCode.UNSAFE_ARCHIVE, "the archive", expected, found, advice)]
    )


def _exists(folder: Path) -> FolderExistsError:
    expected, advice = "no such folder", "remove it, or choose another"
    return FolderExistsError([finding(PackageCode.FOLDER_EXISTS, folder, expected, "one", advice)])
