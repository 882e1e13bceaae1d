"""How often objects are converted for clients, and how that ends."""

import contextlib
from collections.abc import Iterator

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
        CONVERSIONS.labels(group, resource, version, "failed").inc()
        raise
    CONVERSIONS.labels(group, resource, version, "done").inc()
