"""What was made of something lately, to be found again instead of being made again."""

from collections.abc import Hashable

Known = dict[Hashable, tuple[bytes, int]]
"""What was made, and how many bytes it holds with what it was made of."""


class Recent:
    """Keeps what was made lately, as long as it is asked for or there is room.

    Threads may share it: at worst something is made again.

    Args:
        most: how many bytes it may hold, about.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._new: Known = {}
        self._old: Known = {}

    def get(self, key: Hashable) -> bytes | None:
        """What was kept; None where it was not, or long ago."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                return None
            self.keep(key, *found)
        return found[0]

    def keep(self, key: Hashable, made: bytes, held: int) -> None:
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
