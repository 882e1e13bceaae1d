"""Writes files so that, whenever the process dies, either the old or the new content is there."""

import contextlib
import errno
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO


@contextlib.contextmanager
def _becoming(path: Path, temporary: Path) -> Iterator[None]:
    """Removes an unfinished file where the block raises; errors name the file that it becomes."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in {temporary, str(temporary)}:
            error.filename, error.filename2 = str(path), None
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_durably(
    path: Path, content: bytes, *, staging: Path | None = None, mode: int | None = None
) -> None:
    """Replaces a file as a whole, and waits until that is on disk.

    Args:
        path: the file.
        content: its new content.
        staging: a folder on the same file system for the unfinished file; else it is beside the file.
        mode: the file's permissions, whatever the umask; else those of any new file.

    Raises:
        OSError: the file cannot be written; what was there before still is.
    """
    temporary = (staging or path.parent) / f".{path.name}.{secrets.token_hex(8)}"
    with _becoming(path, temporary):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o666)
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
            write_all(descriptor, content, temporary)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    sync_folder(path.parent)


def create_durably(path: Path, content: bytes) -> None:
    """Writes a file that is not there yet, whole or not at all: of several processes that do so at the same time, one succeeds.

    Args:
        path: the file.
        content: its content.

    Raises:
        FileExistsError: it is there.
        OSError: it cannot be written.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    with _becoming(path, temporary):
        write_durably(temporary, content)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            raise
        except OSError:
            # The file system has no hard links; a process that is killed may leave half a file.
            with path.open("xb") as target:
                target.write(content)
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


class _Named(io.FileIO):
    """A new file whose errors name the file that it becomes; the system names none."""

    def __init__(self, temporary: Path, path: Path) -> None:
        super().__init__(temporary, "xb")
        self._path = path

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error


@contextlib.contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is written in parts: it replaces what was there when the block ends, and is gone when the block raises.

    Args:
        path: the file.

    Raises:
        OSError: the file cannot be written; what was there before still is.
    """
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    with _becoming(path, temporary):
        with io.BufferedWriter(_Named(temporary, path)) as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        temporary.replace(path)
    sync_folder(path.parent)


def write_all(descriptor: int, content: bytes, path: Path) -> None:
    """Writes to an open file; errors name it."""
    view = memoryview(content)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:  # The system does not say which file; on which disk is what counts.
        raise OSError(error.errno, error.strerror, str(path)) from error


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on disk, where the file system can do that."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)
