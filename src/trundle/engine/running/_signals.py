"""What comes after a statement that has run."""

from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias

from trundle.engine.expressions import Scope

Signal: TypeAlias = str | tuple[Any] | None
"""None for the next statement, `BREAK`, `CONTINUE`, or what the method returns, as a tuple of one value."""

Run: TypeAlias = Callable[[Scope], Signal]
"""A statement, compiled."""

BREAK: Final = "break"
CONTINUE: Final = "continue"


class Stray(str):
    """One of these that stands in no loop.

    Attributes:
        line: where it stands.
    """

    __slots__ = ("line",)

    def __new__(cls, word: str, line: int) -> Self:
        """Makes it of the word."""
        made = super().__new__(cls, word)
        made.line = line
        return made

    line: int
