"""What is made on first use is made by one thread at a time."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import msgspec

from trundle._faces import complete

FIRST_USE = threading.RLock()
"""Held while modules of a package are imported, and while a decoder is made.

Modules that import each other can stop two threads that import them for good. msgspec keeps what it knows of a class
with the class while it is still finding that out, so a second thread could use half of it.
"""


def prepare_types() -> None:
    """Imports what is still to be imported on demand, and lets msgspec find out about all structures, before several threads use them.

    A process that decodes one structure for the first time in two threads at once may end in a segmentation fault, so servers call this before they
    start threads. Decoders of the runtime do not need it: they are made under `FIRST_USE`.
    """
    with FIRST_USE:
        complete()
        for each in _below(msgspec.Struct):
            with contextlib.suppress(Exception):  # Some are never decoded, and cannot be.
                msgspec.json.Decoder(each)


def _below(class_: type[Any]) -> Iterator[type[Any]]:
    each: type[Any]
    for each in class_.__subclasses__():
        yield each
        yield from _below(each)
