"""Answers that clients keep: what there is, and OpenAPI documents. They ask whether these have changed, and are not sent them again.

Source: `kube-openapi`'s `handler3` and the `aggregated` discovery of `apiserver`.
"""

import datetime as dt
import hashlib
from email.utils import format_datetime

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from trundle.api._compression import packed
from trundle.api._responses import fresh

_LONG = dt.timedelta(days=365)


def digest_of(document: bytes) -> str:
    """What names the state of a document."""
    return hashlib.sha256(document).hexdigest().upper()


async def kept(response: Response, http: HttpRequest) -> Response:
    """A response that its client keeps: without a body, where the client has this one."""
    tag = f'"{digest_of(bytes(response.body))}"'
    had = {each.strip() for each in http.headers.get("if-none-match", "").split(",")}
    found = Response(status_code=304) if tag in had else await packed(response, http.scope)
    found.headers["etag"] = tag
    found.headers.add_vary_header("Accept")
    return fresh(found)


async def kept_by_digest(response: Response, http: HttpRequest, now: dt.datetime) -> Response:
    """A response to a request that may name the digest of the document: that one is kept without asking again, and another one is elsewhere."""
    digest = digest_of(bytes(response.body))
    asked = http.query_params.get("hash", digest)
    if asked != digest:
        return fresh(
            Response(status_code=301, headers={"location": f"{http.url.path}?hash={digest}"})
        )
    found = await kept(response, http)
    if "hash" in http.query_params:
        found.headers["cache-control"] = "private, immutable"
        found.headers["expires"] = format_datetime(now + _LONG, usegmt=True)
    return found
