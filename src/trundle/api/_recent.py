"""What was made of something lately, to be found again instead of being made again."""

from collections.abc import Hashable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Recent(Generic[_T]):
    """Keeps what was made lately, as long as it is asked for or there is room.

    Threads may share it: at worst something is made again.

    Args:
        most: how many bytes it may hold, about.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        # With how many bytes it holds, and what it was made of.
        self._new: dict[Hashable, tuple[_T, int]] = {}
        self._old: dict[Hashable, tuple[_T, int]] = {}

    def get(self, key: Hashable) -> _T | None:
        """What was kept; None where it was not, or long ago."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.keep(key, *found)
        return found[0]

    def keep(self, key: Hashable, made: _T, held: int) -> None:
        """Keeps something.

        Args:
            key: all that it was made of, so that it never has to be forgotten for being wrong.
            made: what was made.
            held: how many bytes both hold, about.
        """
        self._new[key] = made, held
        self._size += held
        if self._size > self._most // 2:  # What was not asked for since the last time is gone.
            self._old, self._new, self._size = self._new, {}, 0
