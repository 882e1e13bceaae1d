"""Formats of the package language, as far as expressions differ between them."""

from typing import NamedTuple


class Format(NamedTuple):
    """A format of the package language, `1.0` to `1.4`; each class runs with that of its package."""

    major: int = 1
    minor: int = 4

    @property
    def is_legacy(self) -> bool:
        """Whether expressions have the older YAQL: maps that can be iterated, a missing key is null."""
        return self < (1, 2)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"
