"""Reads files that are packed by gzip or zstd, stretch by stretch, so that memory is bounded however much a file comes to."""

import gzip
import zlib
from typing import Any, BinaryIO, NamedTuple, cast

from trundle.parts._errors import UnusableFileError
from trundle.parts._folders import Folder

_SKIPPABLE = tuple(bytes((at, 0x2A, 0x4D, 0x18)) for at in range(0x50, 0x60))
"""How frames of zstd begin that hold notes of programs."""


class _Packing(NamedTuple):
    """A way to pack files.

    Attributes:
        name: what it is called.
        beginnings: how files that are packed so may begin.
    """

    name: str
    beginnings: tuple[bytes, ...]


_PACKINGS = {
    ".gz": _Packing("gzip", (b"\x1f\x8b",)),
    ".zst": _Packing("zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE)),
}
PACKED = tuple(_PACKINGS)
"""How names of packed files end."""


def require_packed(folder: Folder, path: str) -> None:
    """Makes sure that a file begins as its name says.

    Raises:
        UnusableFileError: it does not.
    """
    packing = _packing(folder.named(path))
    with folder.open(path) as stream:
        begin = stream.read(4)
    if not begin.startswith(packing.beginnings):
        found = "another file" if begin else "an empty file"
        raise _damaged(folder.named(path), packing, found)


class Unpacked:
    """What is in a packed file.

    Args:
        stream: the file.
        name: the file as a user would write it.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._packing = _packing(name)
        self._name = name
        if self._packing.name == "gzip":
            self._stream: Any = gzip.GzipFile(fileobj=stream, mode="rb")
            return
        import pyarrow as pa  # noqa: PLC0415

        self._stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises:
            UnusableFileError: the file is damaged, or ends too early.
            OSError: it cannot be read.
        """
        try:
            return cast("bytes", self._stream.read(size))
        except EOFError:
            raise _damaged(self._name, self._packing, "one that ends too early") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise _damaged(self._name, self._packing, str(error)) from None
        except OSError as error:
            if error.errno is not None:
                raise  # Of the file itself; what pyarrow has to say has no number.
            raise _damaged(self._name, self._packing, str(error)) from None


def _packing(name: str) -> _Packing:
    return _PACKINGS[name[name.rindex(".") :].lower()]


def _damaged(name: str, packing: _Packing, found: str) -> UnusableFileError:
    advice = "pack it again, or move it away"
    return UnusableFileError(name, f"a whole file of {packing.name}", found, advice)
