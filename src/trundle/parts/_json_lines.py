"""Reads the lines of a stretch of a file, with bounded memory whatever is in it."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from trundle.parts._digests import Digest

CHUNK = 1 << 17
LONGEST = 64 << 20
"""How many bytes a line may have."""


class NumberedDocument(NamedTuple):
    """A document as it stands in a file.

    Attributes:
        number: the line or row; the first of the slice is 1.
        data: its bytes; None where the line is too long, or the row is null.
    """

    number: int
    data: bytes | None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def lines_in(stream: BinaryIO, begin: int, end: int, longest: int = LONGEST) -> "Lines":
    """The lines that begin in a stretch of a file: `Lines` has the arguments."""
    stream.seek(max(0, begin - 1))
    return Lines(stream, begin, end, longest)


class Lines:
    """The lines that begin in a stretch of a file, but those with nothing in them; a byte order mark is no part of them.

    Args:
        stream: the file, read up to the byte before the stretch: that byte says whether a line begins with the stretch.
        begin: the first byte of the stretch.
        end: the byte behind the last.
        longest: how many bytes a line may have.

    Attributes:
        count: how many lines were read, empty ones too.
        digest: the digest of their bytes.
    """

    def __init__(self, stream: _Readable, begin: int, end: int, longest: int = LONGEST) -> None:
        self._stream = stream
        self._begin = begin
        self._end = end
        self._longest = longest
        self._hash = Digest()
        self.count = 0

    @property
    def digest(self) -> str:
        """See above."""
        return str(self._hash)

    def __iter__(self) -> Iterator[NumberedDocument]:
        rest, position = self._first()
        while position < self._end and (rest or (rest := self._stream.read(CHUNK))):
            whole, rest = self._whole(rest, self._end - position)
            if whole:
                self._hash.update(whole)
                position += len(whole)
                for line in whole[:-1].split(b"\n"):
                    self.count += 1
                    document = self._unmarked(line) if self.count == 1 else line
                    if document.strip():
                        yield NumberedDocument(self.count, document)
            if rest and position < self._end:
                long, length, rest = self._long(rest)
                position += length
                self.count += 1
                if long is not None and self.count == 1:
                    long = self._unmarked(long)
                if long is None or long.strip():
                    yield NumberedDocument(self.count, long)

    def _unmarked(self, first: bytes) -> bytes:
        """The first line of the stretch without the mark with which some programs begin a file."""
        return first if self._begin else first.removeprefix(codecs.BOM_UTF8)

    def _first(self) -> tuple[bytes, int]:
        """What was read of the first line that begins in the stretch, and where it begins."""
        if self._begin == 0:
            return b"", 0
        position = self._begin - 1
        while position < self._end:
            data = self._stream.read(CHUNK)
            if not data:
                break
            at = data.find(b"\n") + 1
            if at:
                return data[at:], position + at
            position += len(data)
        return b"", self._end

    @staticmethod
    def _whole(data: bytes, most: int) -> tuple[bytes, bytes]:
        """The whole lines of what was read that begin in its first so many bytes, and the rest."""
        last = data.find(b"\n", most - 1) if len(data) >= most else -1
        if last < 0:
            last = data.rfind(b"\n")
        return data[: last + 1], data[last + 1 :]

    def _long(self, data: bytes) -> tuple[bytes | None, int, bytes]:
        """The line that begins with what was read: it, how long it is, and what was read behind it."""
        pieces, length = [data], len(data)
        rest = b""
        self._hash.update(data)
        while more := self._stream.read(CHUNK):
            at = more.find(b"\n") + 1
            line = more[:at] if at else more
            self._hash.update(line)
            length += len(line)
            if length <= self._longest:
                pieces.append(line)
            if at:
                rest = more[at:]
                break
        whole = b"".join(pieces).removesuffix(b"\n") if length <= self._longest else None
        return whole, length, rest
