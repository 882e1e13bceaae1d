"""The files of an archive, and what an archive may not hold, whatever its form."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

import msgspec

from trundle.errors import Finding
from trundle.packages._errors import PackageCode, UnpackError, finding
from trundle.packages._limits import ArchiveLimits
from trundle.packages._names import Names, name_problem

BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError)
"""What the libraries raise for an archive that is damaged."""

_PIECE = 1024 * 1024
_MOST = 100
"""After how many findings an archive is not looked at any further."""


class ArchiveEntry(msgspec.Struct, frozen=True):
    """A file in an archive.

    Attributes:
        name: its path, with `/` between the parts.
        size: how many bytes it has.
        executable: whether its owner may run it.
        content: gives the bytes; read before the next entry is asked for.
    """

    name: str
    size: int
    executable: bool
    content: BinaryIO

    def pieces(self) -> Iterator[bytes]:
        """The content, piece by piece.

        Raises:
            UnpackError: it ends early.
        """
        left = self.size
        while left:
            try:
                data = self.content.read(min(left, _PIECE))
            except BROKEN as error:
                found = f"this: {error or 'an early end'} at {self.name!r}"
                raise UnpackError([_refusal("a whole archive", found)]) from None
            if not data:
                raise UnpackError([_refusal("a whole archive", f"the end within {self.name!r}")])
            left -= len(data)
            yield data


class Inspection:
    """Collects everything that an archive holds and should not.

    Args:
        limits: how large the package may be.
    """

    def __init__(self, limits: ArchiveLimits) -> None:
        self.limits = limits
        self.room = limits.size
        self._count = 0
        self._names = Names()
        self._findings: list[Finding] = []

    def admits(self, name: str, size: int, strange: str = "") -> bool:
        """Whether a file can be taken; what is wrong with it is noted.

        Args:
            name: its path.
            size: how many bytes it says that it has.
            strange: what it is, if it is neither a plain file nor a folder.

        Raises:
            UnpackError: the archive is larger than the limits allow, or has too many findings.
        """
        self._count += 1
        if self._count > self.limits.files:
            self.stop(f"at most {self.limits.files} files", "more")
        if size > self.room:
            self.stop(f"at most {self.limits.size} bytes of files", "more")
        self.room -= size
        if strange:
            return self._note("files and folders only", f"{strange} at {name[:200]!r}")
        if not self.admits_name(name):
            return False
        if other := self._names.clash(name):
            expected = "names that differ by more than letter case and accents"
            return self._note(expected, f"{name!r} beside {other!r}")
        return True

    def admits_name(self, name: str) -> bool:
        """Whether a path stays in the package; a problem is noted."""
        if problem := name_problem(name):
            expected, found, _ = problem
            return self._note(expected, f"{found} at {name[:200]!r}")
        return True

    def stop(self, expected: str, found: str) -> NoReturn:
        """Refuses the archive at once, with all that was noted.

        Raises:
            UnpackError: always.
        """
        raise UnpackError([*self._findings, _refusal(expected, found)])

    def finish(self) -> None:
        """Refuses the archive if anything was noted.

        Raises:
            UnpackError: something was; the error has all findings.
        """
        if self._findings:
            raise UnpackError(self._findings)

    def _note(self, expected: str, found: str) -> bool:
        self._findings.append(_refusal(expected, found))
        if len(self._findings) == _MOST:
            self.finish()
        return False


def _refusal(expected: str, found: str) -> Finding:
    advice = "get the package again from a source that you trust"
    return finding(PackageCode.UNSAFE_ARCHIVE, "the archive", expected, found, advice)
