"""The bodies of requests."""

from typing import Any

from starlette.requests import Request as HttpRequest

from trundle.api._documents import object_of
from trundle.api._requests import Request
from trundle.api._status import ApiError, bad_request, unsupported_media_type
from trundle.errors import TrundleError, expectation
from trundle.project import read_documents

_JSON, _YAML = "application/json", "application/yaml"


async def body_of(http: HttpRequest, most: int) -> bytes:
    """The body of a request, if it is not too large.

    Args:
        http: the request.
        most: how many bytes it may have.

    Raises:
        ApiError: it is.
    """
    if "content-length" not in http.headers and "transfer-encoding" not in http.headers:
        return b""
    found = bytearray()
    async for chunk in http.stream():
        found += chunk
        if len(found) > most:
            message = f"Request entity too large: limit is {most}"
            raise ApiError(413, "RequestEntityTooLarge", message)
    return bytes(found)


def document_of(request: Request) -> dict[str, Any]:
    """The document in the body of a request.

    Raises:
        ApiError: it is none, or has a form that is not understood.
    """
    if request.media_type in {"", _JSON}:
        return object_of(request.body)
    if request.media_type == _YAML:
        return object_of(as_json(request.body))
    raise unsupported_media_type(request.media_type, (_JSON, _YAML))


def as_json(body: bytes) -> bytes:
    """A configuration, YAML or JSON, as JSON.

    Raises:
        ApiError: it is not one document of these.
    """
    try:
        documents = read_documents(body, "the body of the request")
    except TrundleError as error:
        raise bad_request(str(error)) from None
    if len(documents) != 1:
        raise bad_request(expectation("one document", str(len(documents))))
    return documents[0].data
