"""Reads a tar archive, and trusts nothing in it.

The archive is read once from its start to its end, and no more of it than the next step may need.
"""

import tarfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from trundle.packages._entries import BROKEN, ArchiveEntry, Inspection
from trundle.packages._limits import BLOCK, HEADER, ArchiveLimits

_OWNER_RUNS = 0o100


class _Source:
    """Reads an archive, and no more of it than is allowed."""

    def __init__(self, source: BinaryIO, inspection: Inspection) -> None:
        self.source = source
        self.inspection = inspection
        self.allowed = HEADER

    def read(self, size: int) -> bytes:
        """Reads on.

        Raises:
            UnpackError: a header is longer than any description of a file.
        """
        size = min(size, self.allowed)
        if not size:
            self.inspection.stop("a description of each file in at most 64 KiB", "a longer one")
        data = self.source.read(size)
        self.allowed -= len(data)
        return data


def tar_entries(archive: BinaryIO, limits: ArchiveLimits) -> Iterator[ArchiveEntry]:
    """The files of a tar archive, in its order.

    Raises:
        UnpackError: the archive is broken, or holds what no package holds; raised after the last entry where the entries
            before may be read. What was made of them is of no use then.
    """
    inspection = Inspection(limits)
    source = _Source(archive, inspection)
    try:
        with tarfile.open(
            fileobj=cast("BinaryIO", source), mode="r|", bufsize=BLOCK, encoding="utf-8"
        ) as tar:
            while (member := tar.next()) is not None:
                # Keeps a long archive from filling the memory: the library remembers every member.
                tar.members = []  # type: ignore[attr-defined]
                name = member.name.removeprefix("./")
                if member.isdir():
                    _ = name.rstrip("/") in ("", ".") or inspection.admits_name(name.rstrip("/"))
                else:
                    admitted = inspection.admits(name, max(member.size, 0), _strange(member))
                    source.allowed += max(member.size, 0) + BLOCK
                    if admitted:
                        yield _entry(tar, member, name)
                source.allowed = HEADER
    except BROKEN as error:
        inspection.stop("a whole tar archive", f"this: {error}")
    inspection.finish()


def _strange(member: tarfile.TarInfo) -> str:
    """What an entry is that is no plain file; empty for one."""
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        return "another kind of entry"
    return "" if member.size >= 0 else "a file of negative size"


def _entry(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> ArchiveEntry:
    content = tar.extractfile(member)
    assert content is not None  # regular files have content
    executable = bool(member.mode & _OWNER_RUNS)
    return ArchiveEntry(name, member.size, executable, cast("BinaryIO", content))
