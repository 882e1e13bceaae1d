"""What operators see of a conversion webhook."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from trundle.api import ServedKind

MEDIA_TYPE = CONTENT_TYPE_LATEST
_SIZES = (256, 1024, 4096, 16384, 65536, 131072, 262144)


class WebhookMetrics:
    """Counts conversions and carriers.

    Args:
        folder: where several processes keep what they count, so that each shows the sum; None where there is one.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._registry = CollectorRegistry()
        about = ("group", "resource", "version")
        self._conversions = Counter(
            "trundle_webhook_conversions",
            "Objects that were converted, by how that ended.",
            ("group", "resource", "source", "target", "result"),
            registry=self._registry,
        )
        self._remembered = Counter(
            "trundle_webhook_conversions_remembered",
            "Objects that were alone in their review, and answered as they were converted before; they are not counted again.",
            registry=self._registry,
        )
        self._unreadable = Counter(
            "trundle_webhook_not_shown",
            "Stored objects of which a version could only show the metadata.",
            about,
            registry=self._registry,
        )
        self._used = Counter(
            "trundle_webhook_carriers_read",
            "Carriers that clients wrote back, by whether they could be used.",
            (*about, "result"),
            registry=self._registry,
        )
        self._admitted = Counter(
            "trundle_webhook_admissions",
            "Writes that were looked at, by whether something had to be put back.",
            (*about, "operation", "result"),
            registry=self._registry,
        )
        self._sizes = Histogram(
            "trundle_webhook_carrier_bytes",
            "How large carriers are.",
            about,
            buckets=_SIZES,
            registry=self._registry,
        )
        self._omitted = Counter(
            "trundle_webhook_carriers_omitted",
            "Objects whose annotations had no room for a carrier.",
            about,
            registry=self._registry,
        )

    @contextlib.contextmanager
    def counted(self, kind: ServedKind, source: str, target: str) -> Iterator[None]:
        """Counts a conversion; it failed where an error leaves the block."""
        labels = kind.group, kind.plural, source, target
        try:
            yield
        except Exception:
            self._conversions.labels(*labels, "failed").inc()
            raise
        self._conversions.labels(*labels, "done").inc()

    def done(self, kind: ServedKind, source: str, target: str) -> Callable[[float], None]:
        """What counts conversions that are done."""
        return self._conversions.labels(kind.group, kind.plural, source, target, "done").inc

    def remembered(self) -> None:
        """Counts an object that was answered as it was converted before."""
        self._remembered.inc()

    def unreadable(self, kind: ServedKind, version: str) -> None:
        """Counts a stored object that a version could not show."""
        self._unreadable.labels(kind.group, kind.plural, version).inc()

    def carried(self, kind: ServedKind, version: str, result: str) -> None:
        """Counts a carrier that came back."""
        self._used.labels(kind.group, kind.plural, version, result).inc()

    def admitted(self, kind: ServedKind, version: str, operation: str, result: str) -> None:
        """Counts a write that was looked at."""
        self._admitted.labels(kind.group, kind.plural, version, operation, result).inc()

    def carrier(self, kind: ServedKind, version: str, size: int, *, fits: bool) -> None:
        """Counts a carrier that goes out, or had no room."""
        if fits:
            self._sizes.labels(kind.group, kind.plural, version).observe(size)
        else:
            self._omitted.labels(kind.group, kind.plural, version).inc()

    def shown(self) -> bytes:
        """All metrics in Prometheus' text."""
        if self._folder is None:
            return generate_latest(self._registry)
        sums = CollectorRegistry()
        MultiProcessCollector(sums, str(self._folder))  # type: ignore[no-untyped-call]
        return generate_latest(sums)
