"""Keeps what objects were converted to: an API server asks for the same conversion several times in one write."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from trundle.kubernetes._metrics import WebhookMetrics

_MOST_BYTES = 32 * 1024 * 1024
"""How many bytes of objects are kept, as they were and as they became."""

_LARGEST = 64 * 1024
"""From how many bytes on an object is not kept."""

_Key: TypeAlias = tuple[str, bytes]


class ConversionCache:
    """Keeps objects that were converted.

    What a conversion gives depends on nothing but the object and the version, so it never gets old.

    Args:
        metrics: counts what is found here.
        most: how many bytes are kept.
    """

    def __init__(self, metrics: WebhookMetrics, most: int = _MOST_BYTES) -> None:
        self._metrics = metrics
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()

    def converted(self, data: bytes, wanted: Any, convert: Callable[[bytes, Any], bytes]) -> bytes:
        """An object at another version.

        Args:
            data: the object, as JSON.
            wanted: the `apiVersion` that it is to have.
            convert: converts what is not kept.
        """
        if len(data) >= _LARGEST or not isinstance(wanted, str):
            return convert(data, wanted)
        key = wanted, data
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        if found is None:
            found = convert(data, wanted)
            self._keep(key, found)
        else:
            self._metrics.remembered()
        return found

    def _keep(self, key: _Key, made: bytes) -> None:
        with self._lock:
            if key not in self._kept:  # Another thread may have been asked for the same.
                self._kept[key] = made
                self._size += _held(key, made)
            while self._size > self._most:
                self._size -= _held(*self._kept.popitem(last=False))


def _held(key: _Key, made: bytes) -> int:
    """How many bytes are held for an object."""
    return len(key[-1]) + len(made)
