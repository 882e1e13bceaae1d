"""How often objects are converted for clients, and how that ends."""

import contextlib
from collections.abc import Iterator
from functools import cache

from prometheus_client import Counter

CONVERSIONS = Counter(
    "trundle_conversions",
    "Objects that were shown to clients at a version, by how that ended.",
    ("group", "resource", "version", "result"),
    registry=None,
)


@contextlib.contextmanager
def counted(group: str, resource: str, version: str) -> Iterator[None]:
    """Counts a conversion; it failed where an error leaves the block."""
    try:
        yield
    except Exception:
        _counter(group, resource, version, "failed").inc()
        raise
    _counter(group, resource, version, "done").inc()


_counter = cache(CONVERSIONS.labels)
