"""The versions of an `all` file as its lines, each read when it is asked for.

Publishing changes one line of a file that may have ten thousand. So the file is cut into lines, and only those that
the change is about are read and written. A file that `write_all` wrote has one version on each line, newest first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar, overload

import msgspec

from trundle.version import SemVer


class Versioned(Protocol):
    """Something with a version, such as an entry of a channel."""

    @property
    def version(self) -> SemVer:
        """The version."""


T = TypeVar("T", bound=Versioned)


class _Version(msgspec.Struct):
    version: str


class Rows(Sequence[T], Generic[T]):
    """Lines of a file, newest version first; equal to a tuple of what they say.

    Args:
        rows: JSON of each line, or what is to be written there.
        read: reads the JSON of a line.
    """

    def __init__(self, rows: list[bytes | T], read: Callable[[bytes], T]) -> None:
        self._rows = rows
        self._read = read

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return Rows(self._rows[index], self._read)
        row = self._rows[index]
        return self._read(row) if isinstance(row, bytes) else row

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Rows | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def find(self, version: SemVer) -> T | None:
        """What a version's line says; None where it has none."""
        place = self._place(version)
        if place < len(self._rows) and self._version(place) == version:
            return self[place]
        return None

    def changed(self, changes: Mapping[SemVer, T | None]) -> "Rows[T]":
        """The same rows with some versions replaced, added, or removed where None stands for them."""
        rows = Rows(list(self._rows), self._read)
        for version, item in changes.items():
            rows._change(version, item)
        return rows

    def lines(self, write: Callable[[T], bytes]) -> list[bytes]:
        """The JSON of each line; `write` makes it of what was not read from a file."""
        return [row if isinstance(row, bytes) else write(row) for row in self._rows]

    def _change(self, version: SemVer, item: T | None) -> None:
        place = self._place(version)
        end = place + (place < len(self._rows) and self._version(place) == version)
        self._rows[place:end] = [] if item is None else [item]

    def _place(self, version: SemVer) -> int:
        """The first row whose version is not above a version."""
        low, high = 0, len(self._rows)
        while low < high:
            middle = (low + high) // 2
            if self._version(middle) > version:
                low = middle + 1
            else:
                high = middle
        return low

    def _version(self, place: int) -> SemVer:
        row = self._rows[place]
        if isinstance(row, bytes):
            return SemVer.parse(msgspec.json.decode(row, type=_Version).version)
        return row.version
