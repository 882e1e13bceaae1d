"""Packages in the body of a request."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.api._status import ApiError, Cause, bad_request, unsupported_media_type
from trundle.errors import expectation
from trundle.packages import Package, PackageError

ARCHIVES = ("application/x-tar", "application/zip", "application/octet-stream")
"""The forms of a body that is one archive."""
_JSON = "application/json"


class _Archives(msgspec.Struct):
    archives: list[str]


def read_upload(body: bytes, media_type: str) -> tuple[Package, ...]:
    """The packages that are uploaded.

    Args:
        body: one archive, or JSON with several in Base64.
        media_type: the form of the body.

    Raises:
        ApiError: the body has another form, or an archive cannot be used; all that is wrong is among its causes.
    """
    if media_type in ARCHIVES:
        return _packages([("", body)])
    if media_type != _JSON:
        raise unsupported_media_type(media_type, [*ARCHIVES, _JSON])
    try:
        given = msgspec.json.decode(body, type=_Archives).archives
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        expected = "JSON with a list `archives`"
        raise bad_request(expectation(expected, str(error), "correct the body")) from None
    return _packages((f"archives[{at}]", _decoded(text, at)) for at, text in enumerate(given))


def _decoded(text: str, at: int) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        where = f"archives[{at}]"
        message = expectation("Base64", "something else", "encode the archive")
        raise bad_request(f"{where}: {message}") from None


def _packages(archives: Iterable[tuple[str, bytes]]) -> tuple[Package, ...]:
    found, causes = [], []
    for place, archive in archives:
        try:
            found.append(Package.from_archive(archive))
        except PackageError as error:
            causes += [Cause("FieldValueInvalid", place, each) for each in error.messages]
    if causes:
        message = "; ".join(each.message for each in causes)
        raise ApiError(422, "Invalid", message, {}, causes)
    return tuple(found)


def answer(stored: list[dict[str, Any]], findings: Iterable[dict[str, Any]]) -> bytes:
    """What an upload is answered with."""
    return msgspec.json.encode({"stored": stored, "findings": list(findings)})
