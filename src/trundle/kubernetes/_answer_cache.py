"""Keeps answers to conversion reviews: an API server asks for the same conversion several times in one write, each time with another uid."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from trundle.kubernetes._metrics import WebhookMetrics

_MOST_BYTES = 32 * 1024 * 1024
"""How many bytes of answers, and of what they answer, are kept."""

_LARGEST = 64 * 1024
"""From how many bytes on the answer to a review is not kept; so large a one is a list, which is hardly asked for again."""

_DONE = b'"result":{"status":"Success"}}}'
"""How answers end to which nothing is wrong."""


class _Request(msgspec.Struct):
    uid: str
    desiredAPIVersion: str  # noqa: N815 - as it is written
    objects: msgspec.Raw


class _Review(msgspec.Struct):
    apiVersion: str  # noqa: N815 - as it is written
    kind: str
    request: _Request


_Key: TypeAlias = tuple[str, str, str, bytes]

_review = msgspec.json.Decoder(_Review).decode
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class AnswerCache:
    """Answers conversion reviews, and keeps the answers.

    What a conversion gives depends on nothing but the object and the version, so an answer never gets old.

    Args:
        answer: answers what is not kept.
        metrics: counts what is.
        most: how many bytes are kept.
    """

    def __init__(
        self, answer: Callable[[bytes], bytes], metrics: WebhookMetrics, most: int = _MOST_BYTES
    ) -> None:
        self._answer = answer
        self._metrics = metrics
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()

    def answer(self, body: bytes) -> bytes:
        """The review with its response.

        Raises:
            ApiError: it is no such review.
        """
        if len(body) >= _LARGEST:
            return self._answer(body)
        try:
            asked = _review(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._answer(body)  # It says what is wrong.
        key = _key(asked)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        if found is None:
            found = self._answer(body)
            if found.endswith(_DONE):
                self._keep(key, found)
            return found
        self._metrics.remembered()
        review = _members(found)
        response = {**_members(review["response"]), "uid": asked.request.uid}
        return msgspec.json.encode({**review, "response": response})

    def _keep(self, key: _Key, answer: bytes) -> None:
        with self._lock:
            if key not in self._kept:  # Another thread may have been asked for the same.
                self._kept[key] = answer
                self._size += _held(key, answer)
            while self._size > self._most:
                self._size -= _held(*self._kept.popitem(last=False))


def _key(review: _Review) -> _Key:
    """What a review asks for, whatever its uid is."""
    request = review.request
    return review.apiVersion, review.kind, request.desiredAPIVersion, bytes(request.objects)


def _held(key: _Key, answer: bytes) -> int:
    """How many bytes are held for an answer."""
    return len(key[-1]) + len(answer)
