"""When conversions mark what a writer leaves unsaid: where they make objects that are written over a stored one.

A merge has to see what a writer has no entry for, and which objects are there only for what is in them. What is not
merged has no marks. A generated conversion takes an object and gives one, so what it makes that for is said by context.
"""

from contextvars import ContextVar
from typing import Self


class WritingOver:
    """Objects are made to be written over a stored one, as long as the context is open.

    Attributes:
        marked: whether any of them has marks.
    """

    __slots__ = ("_before", "marked")

    def __init__(self) -> None:
        self.marked = False

    def __enter__(self) -> Self:
        self._before = _WRITING.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _WRITING.reset(self._before)


_WRITING: ContextVar[WritingOver | None] = ContextVar("WRITING", default=None)
"""What objects are made for now; None where they are not merged."""


def marks() -> bool:
    """Whether what is made now is marked; to be asked only where there is something to mark, which is then noted."""
    writing = _WRITING.get()
    if writing is None:
        return False
    writing.marked = True
    return True
