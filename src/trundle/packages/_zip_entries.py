"""Reads a zip archive, the form that catalogs of Murano exchange, and trusts nothing in it.

The sizes that an archive gives are not believed: each file is read up to its announced size, which counts against the
limits before anything is read, and one that has more is refused.
"""

import io
import stat
import struct
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from trundle.packages._entries import BROKEN, ArchiveEntry, Inspection
from trundle.packages._limits import ArchiveLimits
from trundle.packages._names import LONGEST_PATH

ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
"""How zip archives begin: with a file, or with the end where they have none."""

_UNIX = 3
_ENCRYPTED = 0x1
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LARGE_MARK = b"PK\x06\x07"
_LARGE_SIZE = 20
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def zip_entries(data: bytes, limits: ArchiveLimits) -> Iterator[ArchiveEntry]:
    """The files of a zip archive, in its order.

    Raises:
        UnpackError: the archive is broken, or holds what no package holds; raised after the last entry where the entries
            before may be read. What was made of them is of no use then.
    """
    inspection = Inspection(limits)
    _check_directory(data, inspection)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                name = info.orig_filename
                if name.endswith("/") and not info.file_size:
                    inspection.admits_name(name.rstrip("/"))
                elif inspection.admits(name, info.file_size, _strange(info)):
                    with archive.open(info) as content:
                        yield ArchiveEntry(
                            name, info.file_size, _runs(info), cast("BinaryIO", content)
                        )
                        if content.read(1):
                            expected = f"{info.file_size} bytes at {name!r}"
                            inspection.stop(expected, "more")
    except (*BROKEN, struct.error, NotImplementedError, RuntimeError) as error:
        inspection.stop("a whole zip archive", f"this: {error or 'an early end'}")
    inspection.finish()


def _check_directory(data: bytes, inspection: Inspection) -> None:
    """Refuses a directory of files that is too long to be read into memory.

    Raises:
        UnpackError: it is too long, or there is none.
    """
    at = data.rfind(_END_MARK)
    if at < 0 or len(data) < at + _END.size:
        inspection.stop("a whole zip archive", "no directory at its end")
    if data[max(at - _LARGE_SIZE, 0) : at].startswith(_LARGE_MARK):
        inspection.stop("a zip archive below 4 GiB", "one in the form for larger ones")
    size = _END.unpack_from(data, at)[5]
    if size > inspection.limits.files * LONGEST_PATH:
        inspection.stop(f"at most {inspection.limits.files} files", "a longer directory")


def _strange(info: zipfile.ZipInfo) -> str:
    """What an entry is that is no plain file; empty for one."""
    kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == _UNIX else 0
    if kind not in (0, stat.S_IFREG):
        return "another kind of entry"
    if info.flag_bits & _ENCRYPTED:
        return "an encrypted file"
    return "" if info.compress_type in _METHODS else "a file with another compression than deflate"


def _runs(info: zipfile.ZipInfo) -> bool:
    return info.create_system == _UNIX and bool(info.external_attr >> 16 & stat.S_IXUSR)
