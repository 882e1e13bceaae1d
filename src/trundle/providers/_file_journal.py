"""A journal in a file: one line of JSON for each write, on disk before the next thing happens."""

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trundle._durable import sync_folder, write_all, write_durably
from trundle._locking import locked
from trundle.engine.effects import Journal, ProviderError, Record
from trundle.errors import Kind, expectation

_SPARE = 200
"""How many lines more than records a file has before it is written anew."""


class FileJournal(Journal):
    """A journal in a file; use it in a `with` statement, which keeps others out.

    Args:
        path: the file, in a folder that exists.

    Raises:
        LockBusyError: another run has it.
        ProviderError: the file is no journal.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, Record] = {}
        self._descriptor: int | None = None
        self._is_open = False
        self._left = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as left:
            left.enter_context(locked(self._path.with_name(f"{self._path.name}.lock"), 0))
            self._read()
            self._left = left.pop_all()
        self._is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.close()
        self._descriptor, self._is_open = None, False

    def records(self) -> Sequence[Record]:
        return tuple(self._records.values())

    def write(self, record: Record) -> None:
        self._append({"write": record.to_plain()})
        self._records[record.key] = record

    def forget(self, key: str) -> None:
        if key in self._records:
            self._append({"forget": key})
            del self._records[key]

    def _append(self, entry: dict[str, Any]) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        size = os.fstat(self._descriptor).st_size
        try:
            write_all(self._descriptor, json.dumps(entry).encode() + b"\n", self._path)
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, size)  # Else the next line would begin within this one.
            raise

    def _open(self) -> int:
        """Opens the file to write to; what only reads a journal makes none."""
        if not self._is_open:
            raise ValueError(f"{self._path}: the journal is closed")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        self._left.callback(os.close, descriptor)
        sync_folder(self._path.parent)
        return descriptor

    def _read(self) -> None:
        """Reads the file; a last line that was not written in full never happened."""
        self._records.clear()
        data = self._path.read_bytes() if self._path.exists() else b""
        *lines, rest = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                self._replay(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                message = expectation("a line of a journal", "something else")
                advice = "restore the file from a backup"
                raise ProviderError(
                    f"{self._path}:{number}: {message}; {advice}", Kind.REFUSED
                ) from None
        if rest or len(lines) > 2 * len(self._records) + _SPARE:
            entries = [{"write": each.to_plain()} for each in self._records.values()]
            text = "".join(f"{json.dumps(each)}\n" for each in entries)
            write_durably(self._path, text.encode(), mode=0o600)

    def _replay(self, entry: dict[str, Any]) -> None:
        match entry:
            case {"write": data}:
                record = Record.from_plain(data)
                self._records[record.key] = record
            case {"forget": str(key)}:
                del self._records[key]
            case _:
                raise ValueError(entry)
