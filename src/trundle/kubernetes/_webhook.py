"""The conversion webhook: reviews, health and metrics."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor

import msgspec

from trundle.api import ConversionReviews
from trundle.errors import TrundleError
from trundle.kubernetes._admission import Admissions
from trundle.kubernetes._connections import Answer, Answered
from trundle.kubernetes._conversion_cache import ConversionCache
from trundle.kubernetes._conversions import Conversions
from trundle.kubernetes._metrics import MEDIA_TYPE, WebhookMetrics

_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"
_SMALL = 64 * 1024
"""Up to how many bytes a review is answered at once; a larger one does not keep others waiting."""

_LARGE_AT_ONCE = 8
"""How many larger ones are answered at a time."""


class WebhookApplication:
    """Answers `POST /convert` and `/admit`, `/livez`, `/readyz`, `/healthz` and `/metrics`.

    Args:
        conversions: converts the objects.
        metrics: what `/metrics` shows.
        threads: where reviews are answered that may wait for hooks; None to answer small ones at once.
    """

    def __init__(
        self, conversions: Conversions, metrics: WebhookMetrics, threads: Executor | None = None
    ) -> None:
        cache = ConversionCache(metrics)
        reviews = ConversionReviews(conversions.convert, conversions.quick, cache.converted)
        self._reviews: Mapping[str, Callable[[bytes], bytes]] = {
            "/convert": reviews.answer,
            "/admit": Admissions(conversions, metrics).answer,
        }
        self._metrics = metrics
        self._threads = threads or ThreadPoolExecutor(_LARGE_AT_ONCE, "reviews")
        self._small = _SMALL if threads is None else 0
        self._stopping = False

    def stop(self) -> None:
        """Makes `/readyz` say that no more requests should come."""
        self._stopping = True

    def answer(self, method: str, path: str, body: bytes) -> Answered:
        """Answers a request, at once or in another thread."""
        if path in self._reviews:
            if method != "POST":
                return Answer(405, _TEXT, b"POST a review\n")
            answer = self._reviews[path]
            if len(body) < self._small:
                return _review(answer, body)
            return self._threads.submit(_review, answer, body)
        if method not in {"GET", "HEAD"}:
            return Answer(405, _TEXT, b"only reviews are posted, to /convert and /admit\n")
        if path in {"/livez", "/healthz"}:
            return Answer(200, _TEXT, b"ok")
        if path == "/readyz":
            return Answer(503, _TEXT, b"stopping") if self._stopping else Answer(200, _TEXT, b"ok")
        if path == "/metrics":
            return Answer(200, MEDIA_TYPE, self._metrics.shown())
        return Answer(404, _TEXT, b"404 page not found\n")


def _review(answer: Callable[[bytes], bytes], body: bytes) -> Answer:
    try:
        return Answer(200, _JSON, answer(body))
    except TrundleError as error:
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": str(error),
        }
        body = msgspec.json.encode({**status, "reason": "BadRequest", "code": 400})
        return Answer(400, _JSON, body)
