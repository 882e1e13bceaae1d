"""The conversion webhook as an ASGI application: reviews, health and metrics."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from typing import Any, TypeAlias

import msgspec

from trundle.api import ConversionReviews
from trundle.errors import TrundleError
from trundle.kubernetes._admission import Admissions
from trundle.kubernetes._answer_cache import AnswerCache
from trundle.kubernetes._conversions import Conversions
from trundle.kubernetes._metrics import MEDIA_TYPE, WebhookMetrics

_Scope: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_Answer: TypeAlias = tuple[int, str, bytes]

_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"
_MOST_BYTES = 256 * 1024 * 1024
_SMALL = 64 * 1024
"""Up to how many bytes a review is answered at once; a larger one does not keep others waiting."""


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
        reviews = ConversionReviews(conversions.convert, conversions.quick)
        self._reviews: Mapping[str, Callable[[bytes], bytes]] = {
            "/convert": AnswerCache(reviews.answer, metrics).answer,
            "/admit": Admissions(conversions, metrics).answer,
        }
        self._metrics = metrics
        self._threads = threads
        self._stopping = False

    def stop(self) -> None:
        """Makes `/readyz` say that no more requests should come."""
        self._stopping = True

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answers a request."""
        status, media_type, body = await self._answer(scope["method"], scope["path"], receive)
        headers = [
            (b"content-type", media_type.encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, method: str, path: str, receive: _Receive) -> _Answer:
        if path in self._reviews:
            if method != "POST":
                return 405, _TEXT, b"POST a review\n"
            body = await _body(receive)
            if body is None:
                return 413, _TEXT, b"the review is too large\n"
            answer = self._reviews[path]
            if self._threads is None and len(body) < _SMALL:
                return _review(answer, body)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _review, answer, body)
        if method not in {"GET", "HEAD"}:
            return 405, _TEXT, b"only reviews are posted, to /convert and /admit\n"
        if path in {"/livez", "/healthz"}:
            return 200, _TEXT, b"ok"
        if path == "/readyz":
            return (503, _TEXT, b"stopping") if self._stopping else (200, _TEXT, b"ok")
        if path == "/metrics":
            return 200, MEDIA_TYPE, self._metrics.shown()
        return 404, _TEXT, b"404 page not found\n"


def _review(answer: Callable[[bytes], bytes], body: bytes) -> _Answer:
    try:
        return 200, _JSON, answer(body)
    except TrundleError as error:
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": str(error),
        }
        return 400, _JSON, msgspec.json.encode({**status, "reason": "BadRequest", "code": 400})


async def _body(receive: _Receive) -> bytes | None:
    """The body of a request; None where it is too large."""
    found = bytearray()
    while True:
        message = await receive()
        found += message.get("body", b"")
        if len(found) > _MOST_BYTES:
            return None
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return bytes(found)
