"""Folders of this machine and of other file systems, by fsspec: what is in them, and files that are whole or absent."""

import contextlib
import datetime as dt
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from trundle._durable import create_durably, durable_file
from trundle.parts._errors import UnusableFileError
from trundle.parts._foreign import NamedStream, naming

_MARKS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated", "mtime", "created")
"""What file systems call that which changes whenever a file does, the surest first."""
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}")


class Found(NamedTuple):
    """A file that is in a folder.

    Attributes:
        path: its path in the folder.
        size: its bytes.
        mark: what changes whenever the file does; empty where the file system has nothing of the kind.
    """

    path: str
    size: int
    mark: str


class Folder:
    """A folder; it need not exist.

    Args:
        url: a path, or a URL that fsspec knows, such as `s3://BUCKET/FOLDER`.

    Attributes:
        url: the same; a path is absolute.
        local: the path; None where it is none of this machine.

    All methods raise an OSError that names the file, and UnreachableFolderError where another file system does not answer.

    Raises:
        UnusableFileError: fsspec has no such file system, or not what it needs.
    """

    def __init__(self, url: str) -> None:
        from fsspec.core import url_to_fs  # noqa: PLC0415
        from fsspec.implementations.local import LocalFileSystem  # noqa: PLC0415

        try:
            self._fs, self._root = url_to_fs(url)
        except (ImportError, ValueError) as error:
            expected, advice = "a folder that fsspec can read", "install what it needs"
            raise UnusableFileError(url, expected, str(error), advice) from None
        self._is_local = isinstance(self._fs, LocalFileSystem)
        self.local = Path(self._root) if self._is_local else None
        self.url = url if self.local is None else str(self.local)
        self._shown = url

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url,)

    def full(self, path: str) -> str:
        """The path of a file as the file system knows it."""
        return f"{self._root.rstrip('/')}/{path}" if path else self._root

    def named(self, path: str) -> str:
        """The path of a file as a user would write it."""
        return f"{self._shown.rstrip('/')}/{path}" if path else self._shown

    def is_file(self) -> bool:
        """Whether it is a file, and no folder."""
        with self._reaching(""):
            return bool(self._fs.isfile(self._root))

    def files(self) -> list[Found]:
        """All files in it and in folders below, by their paths; only it where it is a file.

        Raises:
            FileNotFoundError: there is no such folder.
        """
        if self.is_file():
            return [self.look("")]
        if self.local is not None and not self.local.exists():
            raise FileNotFoundError(2, "no such file or folder", self.url)
        start = len(self._root.rstrip("/")) + 1
        return sorted(_found(path[start:], info) for path, info in self._below(self._root))

    def _below(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The files in a folder and in folders below; `find` of fsspec leaves out the folders that it cannot list."""
        with self._reaching(folder[len(self._root.rstrip("/")) + 1 :]):
            listed = self._fs.ls(folder, detail=True)
        for info in listed:
            path = info["name"].rstrip("/")
            if info["type"] != "directory":
                yield path, info
            elif path != folder.rstrip("/"):  # Object stores list a folder in itself.
                yield from self._below(path)

    def look(self, path: str) -> Found:
        """A file as it is now.

        Raises:
            FileNotFoundError: there is none.
        """
        with self._reaching(path):
            return _found(path, self._fs.info(self.full(path)))

    def open(self, path: str) -> BinaryIO:
        """Opens a file for reading."""
        return self._opened(self.full(path), "rb", path, block_size=1 << 22)

    def read(self, path: str) -> bytes | None:
        """What is in a file; None where there is none."""
        try:
            with self._reaching(path):
                content: bytes = self._fs.cat_file(self.full(path))
        except FileNotFoundError:
            return None
        return content

    def remove(self, path: str) -> None:
        """Removes a file, if it is there."""
        with contextlib.suppress(FileNotFoundError), self._reaching(path):
            self._fs.rm(self.full(path))

    def create(self, path: str, content: bytes) -> None:
        """Writes a file that is not there yet: of several processes that do so at the same time, one succeeds.

        Raises:
            FileExistsError: it is there.
            OSError: it cannot be written.
        """
        full = self.full(path)
        with self._reaching(path):
            self._make_parent(full)
            if self._is_local:
                create_durably(Path(full), content)
            else:
                self._fs.pipe_file(full, content, mode="create")

    @contextlib.contextmanager
    def writing(self, path: str) -> Iterator[BinaryIO]:
        """A file that has its name once it is whole; it takes the place of an earlier one.

        Raises:
            OSError: it cannot be written; what was there before still is.
        """
        full = self.full(path)
        with self._reaching(path):
            self._make_parent(full)
        if self._is_local:
            with durable_file(Path(full)) as target:
                yield target
            return
        parent, _, name = full.rpartition("/")
        temporary = f"{parent}/.{name}.{secrets.token_hex(8)}"
        try:
            with self._opened(temporary, "wb", path) as target:
                yield target
            with self._reaching(path):
                self._put(temporary, full)
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm(temporary)
            raise

    def _opened(self, full: str, mode: str, path: str, **options: int) -> BinaryIO:
        with self._reaching(path):
            stream: BinaryIO = self._fs.open(full, mode, **options)
        return stream if self._is_local else cast("BinaryIO", NamedStream(stream, self.named(path)))

    def _reaching(self, path: str) -> contextlib.AbstractContextManager[None]:
        """Asks another file system anew, as other processes write there, too; and names the file in its errors."""
        if self._is_local:
            return contextlib.nullcontext()
        self._fs.invalidate_cache()
        return naming(self.named(path))

    def _put(self, temporary: str, full: str) -> None:
        """Gives a file its name."""
        try:
            self._fs.mv(temporary, full)
        except OSError:
            if not self._fs.exists(full):
                raise
            # SFTP and HDFS replace no file. What is between the two lines is as if the part was not begun.
            with contextlib.suppress(FileNotFoundError):
                self._fs.rm(full)
            self._fs.mv(temporary, full)

    def _make_parent(self, full: str) -> None:
        self._fs.makedirs(self._fs._parent(full), exist_ok=True)  # noqa: SLF001 - fsspec has no other name for it


def _found(path: str, info: dict[str, Any]) -> Found:
    mark = next((info[each] for each in _MARKS if info.get(each) is not None), "")
    if isinstance(mark, dt.datetime):  # In a list of files, the same time may be a number.
        mark = mark.timestamp()
    return Found(path, int(info["size"] or 0), str(mark))


def is_temporary(path: str) -> bool:
    """Whether a file is an unfinished one, of a process that writes it or that was killed meanwhile."""
    return _TEMPORARY.fullmatch(path.rpartition("/")[2]) is not None


def overlaps(one: Folder, other: Folder) -> bool:
    """Whether one of two folders is in the other one."""
    if type(one._fs) is not type(other._fs):  # noqa: SLF001 - of this module
        return False
    first, second = (f"{each.full('').rstrip('/')}/" for each in (one, other))
    return first.startswith(second) or second.startswith(first)
