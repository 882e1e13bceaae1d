"""Files that are read again when they change, while the server runs."""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from trundle.errors import TrundleError

_T = TypeVar("_T")


class Reloaded(Generic[_T]):
    """What some files say now.

    A change that cannot be read is reported once, and what was read before goes on to count.

    Args:
        paths: the files.
        read: reads them.
        complain: is given what is wrong with a change.
        beside: gives what else decides what is read; where it is another, they are read again.

    Raises:
        TrundleError: the files cannot be used at the start.
        OSError: the files cannot be read at the start.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        read: Callable[[], _T],
        complain: Callable[[str], None],
        beside: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._paths = paths
        self._beside = beside
        self._read = read
        self._complain = complain
        self._seen = self._signature()
        self._value = read()

    @property
    def value(self) -> _T:
        """What the files say."""
        seen = self._signature()
        if seen != self._seen:
            self._seen = seen
            try:
                self._value = self._read()
            except (TrundleError, OSError) as error:
                messages = error.messages if isinstance(error, TrundleError) else (str(error),)
                for each in messages:
                    self._complain(f"{each}; what was read before still counts")
        return self._value

    def _signature(self) -> tuple[Hashable, ...]:
        return (*map(_signature, self._paths), self._beside())


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
