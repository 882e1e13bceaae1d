"""The entries of a ledger in their order, read only as far as they are needed.

A ledger may have ten thousand entries, of which a checkpoint has all but the newest. A reader that knows what the older ones
lead to needs the newest only. So entries come in *parts*, in order and without one in common; a part that is a
checkpoint is read when its entries are needed.

A *mark* stands for a set of entries. It is a sum over their names, so that the mark of a whole follows from those of its parts.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

import msgspec

_BITS = 256
_PREFIX = "sum:"
_MARK = re.compile(r"sum:[0-9a-f]{64}")


class LedgerEntry(msgspec.Struct, frozen=True, order=True):
    """A change; entries order as they are to be applied.

    Attributes:
        serial: one more than the highest that its author saw.
        id: its name, 16 hexadecimal digits.
        payload: what its author wrote.
    """

    serial: int
    id: str
    payload: bytes


class Part:
    """Entries that stand together, such as those of a checkpoint.

    Attributes:
        lowest: the lowest serial.
        highest: the highest serial.
        count: how many they are.
        mark: the mark of all of them.
    """

    def __init__(
        self,
        lowest: int,
        highest: int,
        count: int,
        mark: str,
        read: Callable[[], tuple[LedgerEntry, ...]],
    ) -> None:
        self.lowest = lowest
        self.highest = highest
        self.count = count
        self.mark = mark
        self._read = read
        self._entries: tuple[LedgerEntry, ...] | None = None

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The entries; read when they are asked for first."""
        # No `cached_property`: that of Python 3.11 locks out all other threads while the network is waited for.
        if self._entries is None:
            self._entries = self._read()
        return self._entries


def part_of(entries: Iterable[LedgerEntry]) -> Part:
    """A part of entries that are at hand."""
    ordered = tuple(sorted(entries))
    serials = [each.serial for each in ordered]
    lowest, highest = min(serials, default=0), max(serials, default=0)
    return Part(lowest, highest, len(ordered), mark_of(ordered), lambda: ordered)


class Entries(Sequence[LedgerEntry]):
    """All entries of a ledger.

    Args:
        parts: in order; no two have an entry in common.
    """

    def __init__(self, parts: Sequence[Part] = ()) -> None:
        self.parts = tuple(parts)
        self._sorted: tuple[LedgerEntry, ...] | None = None

    def __len__(self) -> int:
        return sum(each.count for each in self.parts)

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self._all)

    @overload
    def __getitem__(self, index: int) -> LedgerEntry: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[LedgerEntry, ...]: ...

    def __getitem__(self, index: int | slice) -> LedgerEntry | tuple[LedgerEntry, ...]:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Entries):
            return self.mark == other.mark
        return self._all == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.mark)

    @property
    def mark(self) -> str:
        """Stands for the set of entries."""
        return _sum(each.mark for each in self.parts)

    @property
    def highest(self) -> int:
        """The highest serial; 0 where there are no entries."""
        return max((each.highest for each in self.parts), default=0)

    def is_marked(self, mark: str | None) -> bool:
        """Whether a mark stands for just these entries; marks of earlier releases included."""
        if mark is None:
            return False
        return mark == (self.mark if mark.startswith(_PREFIX) else _old_mark_of(self._all))

    def after(self, mark: str) -> tuple[LedgerEntry, ...] | None:
        """The entries that follow those that a mark stands for; None where that cannot be said from the parts."""
        for number in range(len(self.parts), -1, -1):
            if _sum(each.mark for each in self.parts[:number]) == mark:
                return tuple(entry for part in self.parts[number:] for entry in part.entries)
        return None

    def plus(self, entry: LedgerEntry) -> "Entries":
        """These entries and another one."""
        if entry.serial > self.highest:
            return Entries((*self.parts, part_of([entry])))
        return Entries([part_of([*self._all, entry])])

    @property
    def _all(self) -> tuple[LedgerEntry, ...]:
        if self._sorted is None:
            self._sorted = tuple(sorted(entry for part in self.parts for entry in part.entries))
        return self._sorted


def mark_of(entries: Sequence[LedgerEntry]) -> str:
    """Stands for a set of entries."""
    if isinstance(entries, Entries):
        return entries.mark
    return _sum(_mark_of_name(each.id) for each in entries)


def is_mark(text: str) -> bool:
    """Whether a text is a mark as this release writes it."""
    return _MARK.fullmatch(text) is not None


def _mark_of_name(name: str) -> str:
    return f"{_PREFIX}{hashlib.sha256(name.encode()).hexdigest()}"


def _sum(marks: Iterable[str]) -> str:
    total = sum(int(each.removeprefix(_PREFIX), 16) for each in marks)
    return f"{_PREFIX}{total % 2**_BITS:0{_BITS // 4}x}"


def _old_mark_of(entries: Sequence[LedgerEntry]) -> str:
    """The mark that releases before 0.1 wrote."""
    names = "\n".join(each.id for each in sorted(entries))
    return hashlib.sha256(names.encode()).hexdigest()
