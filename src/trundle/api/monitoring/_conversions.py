"""How often objects are converted for clients, and how that ends."""

from functools import cache

from prometheus_client import Counter

CONVERSIONS = Counter(
    "trundle_conversions",
    "Objects that were shown to clients at a version, by how that ended.",
    ("group", "resource", "version", "result"),
    registry=None,
)


class counted:  # noqa: N801 - it is used like a function
    """Counts a conversion; it failed where an error leaves the block."""

    __slots__ = ("_of",)

    def __init__(self, group: str, resource: str, version: str) -> None:
        self._of = group, resource, version

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        _counter(*self._of, "done" if error is None else "failed").inc()


_counter = cache(CONVERSIONS.labels)
