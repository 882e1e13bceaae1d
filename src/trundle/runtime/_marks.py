"""When conversions mark what a writer leaves unsaid: where they make objects that are written over a stored one.

A merge has to see what a writer has no entry for, and which objects are there only for what is in them. What is not
merged has no marks. A generated conversion takes an object and gives one, so what it makes that for is said by context.
"""

import contextlib
import enum
from collections.abc import Iterator
from contextvars import ContextVar

_WRITING: ContextVar[bool] = ContextVar("WRITING", default=False)
"""Whether what is made now is written over a stored object."""


class There(enum.Enum):
    """That a writer has an object of which there is nothing to be said; a merge sees that the writer removes it."""

    THERE = "there"


THERE = There.THERE


@contextlib.contextmanager
def written_over() -> Iterator[None]:
    """Objects are made to be written over a stored one, while the block runs; their merge takes the marks out."""
    before = _WRITING.set(True)
    try:
        yield
    finally:
        _WRITING.reset(before)


@contextlib.contextmanager
def unmarked() -> Iterator[None]:
    """What is made while the block runs is compared, and never merged."""
    before = _WRITING.set(False)
    try:
        yield
    finally:
        _WRITING.reset(before)


def marks() -> bool:
    """Whether what is made now is marked."""
    return _WRITING.get()
