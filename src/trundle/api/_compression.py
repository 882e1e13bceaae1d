"""Long answers, packed for clients that accept gzip, as API servers do it.

Source: `deferredResponseWriter` of `apiserver`'s `responsewriters`.
"""

import asyncio
import zlib

from starlette.responses import Response

from trundle.api.access import Scope

_LEAST = 128 * 1024
"""Shorter answers are sent as they are: packing takes longer than sending."""
_LEVEL = 1
_GZIP = zlib.MAX_WBITS + 16


class Packer:
    """Packs an answer part by part, so that no more than a part is in memory."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)

    def packed(self, part: bytes, *, is_last: bool) -> bytes:
        """What is sent of a part; some of it may come with the next one."""
        found = self._packer.compress(part)
        return found + self._packer.flush() if is_last else found


def accepts_gzip(scope: Scope) -> bool:
    """Whether a client can read answers that are packed."""
    said = (each for name, each in scope["headers"] if name == b"accept-encoding")
    return any(each.strip() == b"gzip" for each in next(said, b"").split(b","))


def mark_packed(response: Response) -> Response:
    """A response that says that it is packed."""
    response.headers["content-encoding"] = "gzip"
    response.headers["vary"] = "accept-encoding"
    return response


async def packed(response: Response, scope: Scope) -> Response:
    """A response, packed where it is long and its client accepts that."""
    body = bytes(response.body)
    if len(body) < _LEAST or not accepts_gzip(scope):
        return response
    response.body = await asyncio.to_thread(Packer().packed, body, is_last=True)
    response.headers["content-length"] = str(len(response.body))
    return mark_packed(response)
