"""Packages in the body of a request."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from trundle.api._documents import too_deep
from trundle.api._status import ApiError, Cause, bad_request, unsupported_media_type
from trundle.catalog import Review, Reviewed, ReviewOutdatedError
from trundle.errors import expectation
from trundle.packages import Package, PackageError

ARCHIVES = ("application/x-tar", "application/zip", "application/octet-stream")
"""The forms of a body that is one archive."""
_JSON = "application/json"


class _Review(msgspec.Struct):
    name: str
    version: str
    follows: str | None = None
    override: str = ""


class _Archives(msgspec.Struct):
    archives: list[str]
    reviews: list[_Review] = []


class Uploaded(NamedTuple):
    """What is uploaded.

    Attributes:
        packages: the packages.
        review: says what the client found out about them.
    """

    packages: tuple[Package, ...]
    review: Review


def read_upload(body: bytes, media_type: str) -> Uploaded:
    """The packages that are uploaded, with what the client says of them.

    Args:
        body: one archive, or JSON with several in Base64.
        media_type: the form of the body.

    Raises:
        ApiError: the body has another form, or an archive cannot be used; all that is wrong is among its causes.
    """
    if media_type in ARCHIVES:
        return Uploaded(_packages([("", body)]), _reviewed([]))
    if media_type != _JSON:
        raise unsupported_media_type(media_type, [*ARCHIVES, _JSON])
    try:
        given = msgspec.json.decode(body, type=_Archives)
    except RecursionError:
        raise too_deep() from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        expected = "JSON with a list `archives`"
        raise bad_request(expectation(expected, str(error), "correct the body")) from None
    archives = ((f"archives[{at}]", _decoded(text, at)) for at, text in enumerate(given.archives))
    return Uploaded(_packages(archives), _reviewed(given.reviews))


def _reviewed(reviews: Iterable[_Review]) -> Review:
    """The review of a client: it holds as long as each package still follows the release that the client compared it with."""
    known = {(each.name, each.version): each for each in reviews}

    def look(package: Package, base: Package | None) -> Reviewed:
        said = known.get((package.name, str(package.version)))
        if said is None:
            return Reviewed()
        found = None if base is None else base.digest
        if found != said.follows:
            where = f"{package.name} {package.version}"
            expected = f"that it follows {said.follows}" if said.follows else "the first release"
            actual = f"version {base.version}, {base.digest}" if base else "none before it any more"
            advice = "upload again, so that it is compared with that"
            raise ReviewOutdatedError(where, expected, actual, advice)
        return Reviewed(override=said.override.strip())

    return look


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
