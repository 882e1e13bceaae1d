"""Metrics for Prometheus: under Kubernetes' names where it has them."""

from collections.abc import Callable, Collection, Iterable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from trundle.api.monitoring._conversions import CONVERSIONS
from trundle.api.monitoring._recording import RequestRecord

MEDIA_TYPE = CONTENT_TYPE_LATEST

_ABOUT = ("verb", "group", "version", "resource", "subresource")
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_OTHER = ("other", "", "", "", "")


class Metrics:
    """Counts requests.

    Args:
        known: the group, version and resource of each path that is served; requests about others are counted together, so that
            clients cannot make up labels.
        stored: gives how many objects are stored, by group, resource and storage version.
    """

    def __init__(
        self,
        known: Collection[tuple[str, str, str]],
        stored: Callable[[], Iterable[tuple[str, str, str, int]]],
    ) -> None:
        self._known = known
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "apiserver_request",
            "Requests that were answered.",
            (*_ABOUT, "code"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "apiserver_request_duration_seconds",
            "How long answers took; watches are left out.",
            _ABOUT,
            buckets=_BUCKETS,
            registry=self._registry,
        )
        # A request looks for its own among those that there are; their labels are bounded by what is known.
        self._count_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        self._watches = Gauge(
            "apiserver_longrunning_requests",
            "Watches that are open.",
            _ABOUT,
            registry=self._registry,
        )
        self._registry.register(CONVERSIONS)
        self._registry.register(_Stored(stored))

    def started(self, record: RequestRecord) -> None:
        """Counts a watch as open."""
        found = record.attributes
        if found is None or found.verb != "watch":
            return
        labels = self._labels(record)
        if labels[0] == "WATCH":
            self._watches.labels(*labels).inc()

    def completed(self, record: RequestRecord) -> None:
        """Counts a request."""
        labels = self._labels(record)
        self._count_of(*labels, str(record.status)).inc()
        if labels[0] != "WATCH":
            self._seconds_of(*labels).observe(record.seconds)
        elif record.status:
            self._watches.labels(*labels).dec()

    def shown(self) -> bytes:
        """All metrics in Prometheus' text."""
        return generate_latest(self._registry)

    def _labels(self, record: RequestRecord) -> tuple[str, ...]:
        found = record.attributes
        if found is None:
            return _OTHER
        if not found.is_resource:
            return (
                found.verb.upper() if found.verb in {"get", "head", "post"} else "other",
                "",
                "",
                "",
                "",
            )
        if (found.group, found.version, found.resource) not in self._known:
            return _OTHER
        subresource = found.subresource if found.subresource in {"", "status"} else "other"
        return found.verb.upper(), found.group, found.version, found.resource, subresource


class _Stored(Collector):
    """Counts what is stored when that is asked for."""

    def __init__(self, stored: Callable[[], Iterable[tuple[str, str, str, int]]]) -> None:
        self._stored = stored

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """The objects by storage version."""
        names = ("group", "resource", "storage_version")
        found = GaugeMetricFamily("trundle_store_objects", "Objects that are stored.", labels=names)
        for *labels, number in self._stored():
            found.add_metric(labels, number)
        yield found

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """What is counted, without looking into the store."""
        names = ("group", "resource", "storage_version")
        return [
            GaugeMetricFamily("trundle_store_objects", "Objects that are stored.", labels=names)
        ]
