"""The conversion webhook: `ConversionReview` of `apiextensions.k8s.io/v1`, answered without a store."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import msgspec

from trundle.api._documents import object_of, text_of, to_client, to_scheme, values_of
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._status import ApiError, bad_request
from trundle.errors import TrundleError, expectation
from trundle.runtime import WEBHOOK, AnyScheme

_API_VERSION, _KIND = "apiextensions.k8s.io/v1", "ConversionReview"
_MOST_NAMED = 10
"""How many objects that cannot be converted a message names."""


class _Request(msgspec.Struct):
    """What a review asks for, as it is written."""

    objects: list[msgspec.Raw]
    desiredAPIVersion: Any = None  # noqa: N815 - as it is written
    uid: Any = ""


class _Review(msgspec.Struct):
    request: _Request
    apiVersion: str = ""  # noqa: N815 - as it is written
    kind: str = ""


class _Asked(NamedTuple):
    """What a review asks for, with the JSON of its objects."""

    uid: Any
    wanted: Any
    objects: list[bytes]


_END = b"}}"
_OBJECTS = b'"objects":[{'
_PLACE = b'"of objects"'
"""What stands in the place of objects while the rest of their review is read."""
_review = msgspec.json.Decoder(_Review).decode

_T = TypeVar("_T")
_Convert: TypeAlias = Callable[[bytes, Any], bytes]
_Quick: TypeAlias = Callable[[Sequence[bytes], Any], Sequence[bytes | None]]


class ConversionReviews:
    """Answers conversion reviews.

    Args:
        convert: gives an object, as JSON, at the version that its `apiVersion` is to become. It raises a `TrundleError` where it cannot.
        quick: the quick way of it for the JSON of objects; None for those that it leaves to `convert`.
        remember: is asked for an object that is alone in its review, with what converts it, and may remember what that gave.
    """

    def __init__(
        self,
        convert: Callable[[Any, Any], bytes],
        quick: _Quick = lambda objects, _: [None] * len(objects),
        remember: Callable[[bytes, Any, _Convert], bytes] = lambda data, wanted, made: made(
            data, wanted
        ),
    ) -> None:
        self._convert = convert
        self._quick = quick
        self._remember = remember

    def answer(self, body: bytes) -> bytes:
        """The review with its response. One object that cannot be converted fails all of them, as the caller expects it.

        Raises:
            ApiError: it is no such review.
        """
        asked = _quickly_split(body)
        if asked is not None:
            with contextlib.suppress(ApiError):  # It may have been split within an object.
                return self._answer(asked)
        asked = _quickly_read(body)
        if asked is not None:
            return self._answer(asked)
        request = _request_in(body)
        wanted = request.get("desiredAPIVersion")
        return _answer(request.get("uid", ""), wanted, request["objects"], self._convert)

    def _answer(self, asked: _Asked) -> bytes:
        uid, wanted, objects = asked
        if len(objects) == 1:
            return _answer(uid, wanted, objects, self._made_alone)
        quickly = iter(self._quick(objects, wanted))
        return _answer(uid, wanted, objects, lambda *given: self._made(next(quickly), *given))

    def _made(self, quickly: bytes | None, data: bytes, wanted: Any) -> bytes:
        return self._convert(values_of(data), wanted) if quickly is None else quickly

    def _made_alone(self, data: bytes, wanted: Any) -> bytes:
        return self._remember(
            data, wanted, lambda *given: self._made(self._quick([data], wanted)[0], *given)
        )


def _quickly_split(body: bytes) -> _Asked | None:
    """What a review asks for, with its objects split where one begins like the first; None where that is not seen.

    It is right if each object is JSON, which is for those to see who read it: no JSON object begins with another one. An API server sorts
    members, so that objects mostly begin alike, and not like those within them.
    """
    start, end = body.find(_OBJECTS) + len(_OBJECTS) - 1, body.rfind(b"}]") + 1
    second = body.find(b":", body.find(b",", start, end), end) + 1
    if not len(_OBJECTS) <= start < second:
        return None
    around = _PLACE.join((body[:start], body[end:]))
    asked = _quickly_read(around)
    if asked is None or asked.objects != [_PLACE] or around.count(_PLACE) > 1:
        return None
    between, objects = b"}," + body[start:second], []
    while (place := body.find(between, start, end)) >= 0:
        objects.append(body[start : place + 1])
        start = place + 2
    return asked._replace(objects=[*objects, body[start:end]])


def _quickly_read(body: bytes) -> _Asked | None:
    """What a review asks for; None where anything is wrong with the review."""
    try:
        read = _review(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if (read.apiVersion, read.kind) != (_API_VERSION, _KIND):
        return None
    request = read.request
    return _Asked(request.uid, request.desiredAPIVersion, [*map(bytes, request.objects)])


def _answer(
    uid: Any, wanted: Any, objects: Iterable[_T], made: Callable[[_T, Any], bytes]
) -> bytes:
    """The answer to a review of objects, or of their JSON."""
    converted: list[bytes] = []
    failures: list[str] = []
    for number, each in enumerate(objects):
        try:
            converted.append(made(each, wanted))
        except TrundleError as error:
            failures.append(f"objects[{number}]{_called(each)}: {error}")
    result = {"status": "Success"}
    if failures:
        converted.clear()
        result = {"status": "Failed", "message": "\n".join(_shortened(failures))}
    head = {"apiVersion": _API_VERSION, "kind": _KIND, "response": {"uid": uid, "result": result}}
    return _with_objects(msgspec.json.encode(head), converted)


def _with_objects(answer: bytes, objects: Iterable[bytes]) -> bytes:
    """An answer with objects in its last member. An encoder would copy them several times, whenever its memory grows."""
    pieces = [answer.removesuffix(_END), b',"convertedObjects":[']
    separator = b""
    for each in objects:
        pieces += (separator, each)
        separator = b","
    return b"".join((*pieces, b"]", _END))


def _request_in(body: bytes) -> dict[str, Any]:
    """The request of a review, with its objects as values.

    Raises:
        ApiError: it is no such review.
    """
    review = object_of(body)
    request = review.get("request")
    if (review.get("apiVersion"), review.get("kind")) != (_API_VERSION, _KIND):
        found = f"{review.get('kind')} of {review.get('apiVersion')}"
        raise bad_request(expectation(f"a {_KIND} of {_API_VERSION}", found))
    if not isinstance(request, dict) or not isinstance(request.get("objects"), list):
        raise bad_request(expectation("a request with objects", "none"))
    return request


class PlainConversions:
    """Converts objects by themselves: what the other version cannot express is lost.

    Args:
        kinds: the resource types.
        scheme: converts their objects.
    """

    def __init__(self, kinds: Iterable[ServedKind], scheme: AnyScheme) -> None:
        self._kinds = {(each.group, each.kind): each for each in kinds}
        self._scheme = scheme

    def convert(self, document: Any, wanted: Any) -> bytes:
        """An object at another version.

        Raises:
            TrundleError: it cannot be converted.
        """
        if not isinstance(document, dict):
            raise bad_request(expectation("an object", type(document).__name__))
        kind, source = self._version(document.get("apiVersion"), document.get("kind"))
        _, target = self._version(wanted, kind.kind)
        if source is target:
            return text_of(document)
        given = to_scheme(document, kind, source)
        made = self._scheme.convert_json(
            given, target.version, resource=kind.resource, lenience=WEBHOOK
        )
        return to_client(made, kind, target)

    def _version(self, api_version: Any, kind: Any) -> tuple[ServedKind, ServedVersion]:
        group, _, label = str(api_version).rpartition("/")
        found = self._kinds.get((group, str(kind)))
        served = None if found is None else found.versions.get(label)
        if found is None or served is None:
            raise bad_request(expectation("a version that is served", f"{kind} of {api_version}"))
        return found, served


def _called(document: Any) -> str:
    """Which object a document is, or its JSON, as far as it says so."""
    if isinstance(document, bytes):
        document = values_of(document)
    if not isinstance(document, dict):
        return ""
    given = document.get("metadata")
    metadata: Mapping[str, Any] = given if isinstance(given, dict) else {}
    name = "/".join(str(metadata[key]) for key in ("namespace", "name") if metadata.get(key))
    return f" ({' '.join(filter(None, (str(document.get('kind', '')), name)))})"


def _shortened(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST_NAMED]
    if len(lines) > _MOST_NAMED:
        yield f"and {len(lines) - _MOST_NAMED} more"
