"""Writes files so that they are whole or absent, and verified before they have their name."""

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from trundle._durable import sync_folder, write_all
from trundle._locking import open_locked
from trundle.registry._interface import Progress
from trundle.registry._model import Descriptor
from trundle.registry.errors import DigestMismatchError, StorageError

CHUNK = 256 * 1024
"""Bytes that are held in memory while content streams."""


@contextlib.contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Explains the errors of the operating system.

    Raises:
        StorageError: a file could not be read or written.
    """
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else where
        full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
        advice = "make room on the disk" if full else "check the folder and its permissions"
        raise StorageError(
            place,
            "a file that can be read and written",
            error.strerror or str(error),
            f"{advice}, and try again; what was there before still is",
        ) from error


def make_folder(folder: Path) -> None:
    """Makes a folder and its parents where they are missing, and waits until their names are on disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    sync_folder(folder.parent)


def read_pieces(path: Path, offset: int = 0) -> Iterator[bytes]:
    """The content of a file from an offset on, piece by piece."""
    with path.open("rb") as file:
        file.seek(offset)
        while piece := file.read(CHUNK):
            yield piece


class Download:
    """A file that is being collected; its digest is computed while the bytes come in.

    Used as a context manager. Bytes of an interrupted run are taken over. While one process collects a file,
    another that wants the same collects it in a file of its own.
    """

    def __init__(
        self,
        descriptor: Descriptor,
        target: Path,
        where: str,
        *,
        partial: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._wanted = descriptor
        self._target = target
        self._where = where
        self._partial = partial or target.with_name(
            f".{target.name}.{descriptor.digest[7:19]}.part"
        )
        self._progress = progress or _unseen
        self._descriptor = -1
        self._digest = hashlib.sha256()
        self.size = 0
        """Bytes that are there."""
        self.resumed = False
        """Whether bytes of an earlier run are among them."""

    def __enter__(self) -> Self:
        self._open()
        try:
            self._take_over()
        except BaseException:
            os.close(self._descriptor)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, DigestMismatchError) or (kind is not None and self.size == 0):
            self._partial.unlink(missing_ok=True)
        os.close(self._descriptor)

    def is_complete(self) -> bool:
        """Whether as many bytes are there as the descriptor announces."""
        return self.size == self._wanted.size

    def write(self, piece: bytes) -> None:
        """Appends bytes.

        Raises:
            DigestMismatchError: there are more than the descriptor announces.
        """
        if self.size + len(piece) > self._wanted.size:
            raise self._mismatch("more bytes than that")
        write_all(self._descriptor, piece, self._partial)
        self._count(piece)

    def restart(self) -> None:
        """Forgets all bytes."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._progress(-self.size)
        self._digest = hashlib.sha256()
        self.size = 0
        self.resumed = False

    def verified(self) -> bool:
        """Whether the bytes are what the descriptor says."""
        return self.is_complete() and self._found == self._wanted.digest

    def finish(self) -> None:
        """Gives the file its name.

        Raises:
            DigestMismatchError: it is not what the descriptor says.
        """
        if not self.verified():
            raise self._mismatch(f"{self._found} with {self.size} bytes")
        os.fsync(self._descriptor)
        self._partial.replace(self._target)
        sync_folder(self._target.parent)

    @property
    def _found(self) -> str:
        return f"sha256:{self._digest.hexdigest()}"

    def _open(self) -> None:
        """Opens the file for collecting, a private one where another process holds it."""
        while (descriptor := open_locked(self._partial, os.O_NOFOLLOW)) is None:
            name = f"{self._partial.name}.{secrets.token_hex(4)}"
            self._partial = self._partial.with_name(name)
        self._descriptor = descriptor

    def _take_over(self) -> None:
        while piece := os.read(self._descriptor, CHUNK):
            self._count(piece)
        self.resumed = self.size > 0
        if self.size > self._wanted.size:
            self.restart()

    def _count(self, piece: bytes) -> None:
        self._digest.update(piece)
        self.size += len(piece)
        self._progress(len(piece))

    def _mismatch(self, found: str) -> DigestMismatchError:
        return DigestMismatchError(
            self._where,
            f"{self._wanted.digest} with {self._wanted.size} bytes",
            found,
            "the content was damaged or exchanged and was not kept; ask its publisher",
        )


def _unseen(_size: int) -> None:
    """Shows no progress."""


def collect_file(path: Path, download: Download) -> None:
    """Collects a local file; bytes of an interrupted run that do not fit are collected again."""
    for again in (True, False):
        for piece in read_pieces(path, download.size):
            download.write(piece)
        if not again or not download.resumed or download.verified():
            break
        download.restart()
    download.finish()
