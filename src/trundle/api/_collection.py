"""Python's collector of circles while requests are answered.

A write makes some hundred containers, and drops all of them without the collector. But their number begins its rounds, and the long ones go through
all that was ever loaded: generated classes, schemas, libraries. These took a tenth of the time of writes, and each held all requests for 80 milliseconds.
"""

import contextlib
import gc
from collections.abc import Iterator

_NEW = 20_000
"""How many more containers there are than at the last round when the next one begins; those of the requests that a server answers at a time stay below."""


@contextlib.contextmanager
def seldom_collecting() -> Iterator[None]:
    """Spares what is loaded by now from the collector's rounds, and has fewer of them. Circles that are made meanwhile are found all the same."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
