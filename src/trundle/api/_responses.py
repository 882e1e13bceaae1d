"""Answers as responses of HTTP."""

import re
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import msgspec
from starlette.responses import Response

from trundle.api._representations import JSON, YAML, Representation, in_yaml
from trundle.api._requests import Answer, Target
from trundle.api._status import ApiError

_FRESH = (b"cache-control", b"no-cache, private")
"""Proxies and browsers ask again, as what they were answered may have changed."""

_WARNING, _WARNS = b"warning", "299 - "
_MOST_WARNED = 4096
"""How many characters all warnings of an answer have; what begins before is shown, as API servers do."""
_MOST_OF_ONE = 256
"""How many characters of each are shown where all have more."""


def answered(answer: Answer, shown: Representation, target: Target) -> Response:
    """An answer about objects, in the form that the client wants."""
    response = Response(shown.of(answer.body, target), answer.code, media_type=shown.media_type)
    return warning(response, answer.warnings)


def deprecated(target: Target) -> list[str]:
    """What a client of a deprecated version is warned with, whatever it is answered.

    A warning that only says so names the version to use instead, as API servers do.
    """
    kind, said = target.kind, target.served.deprecated
    if said == f"{kind.api_version(target.served)} {kind.kind} is deprecated":
        preferred = next(iter(kind.versions.values()))
        if not preferred.deprecated:
            return [f"{said}; use {kind.api_version(preferred)} {kind.kind}"]
    return [said] if said else []


def warning(response: Response, warnings: Iterable[str]) -> Response:
    """A response with what the client shows its user, before what it shows of it already.

    Clients bound headers: where warnings are longer together than API servers let them be, each is shortened, and the last are left out.
    """
    texts = [
        "".join(x if x.isprintable() else " " for x in " ".join(each.split())) for each in warnings
    ]
    if not texts:
        return response
    before = [value for name, value in response.raw_headers if name == _WARNING]
    texts = list(dict.fromkeys(filter(None, (*texts, *map(_warned, before)))))
    if sum(map(len, texts)) > _MOST_WARNED:
        texts = [each[:_MOST_OF_ONE] for each in texts]
        lengths = accumulate(map(len, texts), initial=0)
        texts = [
            each for each, so_far in zip(texts, lengths, strict=False) if so_far < _MOST_WARNED
        ]
    response.raw_headers[:] = [each for each in response.raw_headers if each[0] != _WARNING]
    for each in texts:
        quoted = each.replace("\\", "\\\\").replace('"', '\\"')
        response.raw_headers.append((_WARNING, f'{_WARNS}"{quoted}"'.encode()))
    return response


def _warned(header: bytes) -> str:
    """The text of a header."""
    return re.sub(r"\\(.)", r"\1", header.decode()[len(_WARNS) + 1 : -1])


def as_json(value: Any, media_type: str = JSON) -> Response:
    """Values as JSON."""
    return fresh(Response(msgspec.json.encode(value), media_type=media_type))


def fresh(response: Response) -> Response:
    """A response that no cache keeps."""
    if _FRESH not in response.raw_headers:
        response.raw_headers.append(_FRESH)
    return response


def failed(error: ApiError, media_type: str = JSON) -> Response:
    """An answer that is no success, as JSON or YAML."""
    body = msgspec.json.encode(error.status)
    said = in_yaml(body) if media_type == YAML else body
    response = fresh(Response(said, error.code, media_type=media_type))
    if seconds := (error.details or {}).get("retryAfterSeconds"):
        response.headers["retry-after"] = str(seconds)
    return warning(response, error.warnings)


def broken(error: Exception) -> Response:
    """The answer where the server has a mistake."""
    message = f"Internal error occurred: {type(error).__name__}"
    return failed(ApiError(500, "InternalError", message))
