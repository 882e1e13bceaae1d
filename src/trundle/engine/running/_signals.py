"""What comes after a statement that has run."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from trundle.engine.expressions import Scope

Signal: TypeAlias = str | tuple[Any] | None
"""None for the next statement, `BREAK`, `CONTINUE`, or what the method returns, as a tuple of one value."""

Run: TypeAlias = Callable[[Scope], Signal]
"""A statement, compiled."""

BREAK: Final = "break"
CONTINUE: Final = "continue"
