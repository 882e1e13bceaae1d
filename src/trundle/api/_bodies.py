"""The bodies of requests."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from trundle.api._documents import object_of, values_of
from trundle.api._metadata_types import as_read, wrong_types
from trundle.api._requests import Request, Target
from trundle.api._requirements import require_kind, require_said_kind
from trundle.api._status import ApiError, bad_request, invalid, unsupported_media_type
from trundle.api._whole_numbers import with_whole_numbers
from trundle.api.access import Receive
from trundle.errors import TrundleError, expectation
from trundle.project import read_documents

_JSON, _YAML = "application/json", "application/yaml"


async def body_of(http: HttpRequest, most: int) -> bytes:
    """The body of a request, if it is not too large; see `received`."""
    if "content-length" not in http.headers and "transfer-encoding" not in http.headers:
        return b""
    return await received(http.receive, most)


async def received(receive: Receive, most: int) -> bytes:
    """The body of a request that has one, if it is not too large.

    Args:
        receive: gives what the client sends.
        most: how many bytes it may have.

    Raises:
        ApiError: it is larger.
        ClientDisconnect: the client has gone.
    """
    found, goes_on = bytearray(), True
    while goes_on:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        found += message.get("body", b"")
        goes_on = message.get("more_body", False)
        if len(found) > most:
            text = f"Request entity too large: limit is {most}"
            raise ApiError(413, "RequestEntityTooLarge", text)
    return bytes(found)


def document_of(request: Request) -> dict[str, Any]:
    """The document in the body of a request, as it is meant.

    Raises:
        ApiError: it is none, or has a form that is not understood.
    """
    text = json_of(request)
    noted: list[Decimal] = []
    document = object_of(text, noted)
    require_kind(request.target, document)
    if causes := wrong_types(document.get("metadata")):
        kind, label = request.target.kind.kind, request.target.served.label
        said = "; ".join(each.message for each in causes)
        raise bad_request(f'{kind} in version "{label}" cannot be handled as a {kind}: {said}')
    return meant(document, noted, request.target)


def json_of(request: Request) -> bytes:
    """The body of a request, which is JSON or YAML, as JSON.

    Raises:
        ApiError: it has another form.
    """
    if request.media_type == _YAML:
        return as_json(request.body)
    if request.media_type not in {"", _JSON}:
        raise unsupported_media_type(request.media_type, (_JSON, _YAML))
    return request.body


def patched_document(patched: dict[str, Any], patch: bytes, target: Target) -> dict[str, Any]:
    """What a patch, or a configuration that is applied, makes of an object, as it is meant.

    Args:
        patched: the object after the patch, or the configuration.
        patch: the text of the patch, as JSON.
        target: what it is about.

    Raises:
        ApiError: it does not say what it is, or its metadata has other types than Kubernetes gives it.
    """
    require_said_kind(target, patched)
    if causes := wrong_types(patched.get("metadata")):
        raise invalid(target.kind, target.name, causes)
    noted: list[Decimal] = []
    values_of(patch, noted)
    return meant(patched, noted, target)


def meant(document: dict[str, Any], noted: Iterable[Decimal], target: Target) -> dict[str, Any]:
    """A client's document with what API servers read otherwise than it is written.

    Integers have no fraction, what is null within labels, annotations and lists of the metadata is empty, and what is in no namespace names none.

    Args:
        document: the document.
        noted: the numbers with a fraction or an exponent that the client sent; the document has no others.
        target: what it is a document of.
    """
    document = with_whole_numbers(document, noted, target.served)
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    found = as_read(metadata)
    if not target.kind.namespaced:
        found.pop("namespace", None)
    return document if found == metadata else {**document, "metadata": found}


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
