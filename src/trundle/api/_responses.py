"""Answers as responses of HTTP."""

from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.responses import Response

from trundle.api._representations import JSON, YAML, Representation, in_yaml
from trundle.api._requests import Answer, Target
from trundle.api._status import ApiError

_FRESH = "no-cache, private"
"""Proxies and browsers ask again, as what they were answered may have changed."""


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
    """A response with what the client shows its user."""
    for each in warnings:
        plain = "".join(x if x.isprintable() else " " for x in " ".join(each.split()))
        quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
        response.raw_headers.append((b"warning", f'299 - "{quoted}"'.encode()))
    return response


def as_json(value: Any, media_type: str = JSON) -> Response:
    """Values as JSON."""
    return fresh(Response(msgspec.json.encode(value), media_type=media_type))


def fresh(response: Response) -> Response:
    """A response that no cache keeps."""
    response.headers["cache-control"] = _FRESH
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
