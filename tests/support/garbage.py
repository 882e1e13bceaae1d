"""Frees what a test made, without going through all that a process of tests has in memory."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def collected() -> Iterator[None]:
    """At its end, frees what the block made that only refers to itself."""
    gc.disable()  # Or what it makes may be taken for old meanwhile.
    try:
        yield
        gc.collect(0)
    finally:
        gc.enable()
