"""Documents on their way between clients and the scheme: what each calls the version and the resource type.

Clients write `apiVersion: crm.example.com/v20190909` and `kind: Person`. The scheme knows `2019-09-09`, and some resource types by a
`type`. Everything else passes as it is written: numbers keep their digits.
"""

import functools
import math
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

import msgspec

from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._metadata_types import METADATA, without_unknown
from trundle.api._status import ApiError, bad_request

_DEEPEST = 200
_EMPTY = frozenset({b'""', b"0"})


def _decimal(text: str) -> Decimal:
    """A number with a fraction or an exponent.

    Raises:
        ValueError: no client could read it again.
    """
    if not math.isfinite(float(text)):
        raise ValueError(f"the number {text[:40]} is out of range")
    return Decimal(text)


def _noting(noted: list[Decimal]) -> Callable[[str], Decimal]:
    def note(text: str) -> Decimal:
        found = _decimal(text)
        noted.append(found)
        return found

    return note


_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_values = msgspec.json.Decoder(float_hook=_decimal).decode
_shown_values = msgspec.json.Decoder(float_hook=Decimal).decode
_written = msgspec.json.Encoder(decimal_format="number").encode


def values_of(body: bytes, noted: list[Decimal] | None = None) -> Any:
    """JSON as values; numbers with a fraction are decimal numbers, so that they are written as they were read.

    Args:
        body: the text.
        noted: gets all numbers that are written with a fraction or an exponent.

    Raises:
        ApiError: it is no JSON, or nested too deeply.
    """
    decode = _values if noted is None else msgspec.json.Decoder(float_hook=_noting(noted)).decode
    try:
        value = decode(body)
    except (msgspec.DecodeError, ValueError) as error:
        raise bad_request(f"the body of the request is no JSON: {error}") from None
    except RecursionError:
        raise too_deep() from None
    require_bounded(value, body)
    return value


def text_of(value: Any) -> bytes:
    """Values as JSON."""
    return _written(value)


def object_of(body: bytes, noted: list[Decimal] | None = None) -> dict[str, Any]:
    """A JSON object as values.

    Args:
        body: the text.
        noted: see `values_of`.

    Raises:
        ApiError: it is none, or nested too deeply.
    """
    value = values_of(body, noted)
    if not isinstance(value, dict):
        raise bad_request("the body of the request is no JSON object")
    return value


def shown_object(shown: bytes) -> dict[str, Any]:
    """An object that a store shows, as values: like `object_of`, of what was bounded when a client wrote it."""
    found: dict[str, Any] = _shown_values(shown)
    return found


def too_deep() -> ApiError:
    """What a client is answered whose document is nested deeper than any client means."""
    return bad_request(f"the body of the request is nested deeper than {_DEEPEST} levels")


def require_bounded(value: Any, body: bytes | None = None) -> None:
    """Makes sure that a document is nested no deeper than any client means.

    Args:
        value: the document.
        body: the text that it was read from, which can make a look at all values needless.

    Raises:
        ApiError: it is nested deeper.
    """
    if body is not None and body.count(b"{") + body.count(b"[") <= _DEEPEST:
        return
    layer, depth = [value] if isinstance(value, dict | list) else [], 0
    while layer:
        depth += 1
        if depth > _DEEPEST:
            raise too_deep()
        layer = [
            inner
            for each in layer
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]


def to_scheme(document: dict[str, Any], kind: ServedKind, served: ServedVersion) -> bytes:
    """A client's document as the scheme reads it."""
    head: dict[str, Any] = {"apiVersion": _said_version(kind, served)}
    if kind.type_text:
        head["type"] = kind.type_text
    else:
        head["kind"] = kind.resource.rpartition("/")[2]
    rest = {key: value for key, value in document.items() if key not in {"apiVersion", "kind"}}
    return _written({**head, **rest})


def to_client(shown: bytes, kind: ServedKind, served: ServedVersion) -> bytes:
    """What the scheme shows at a version as clients read it."""
    said, read = _heads(kind, served.label)
    if said and shown.startswith(said):  # As the scheme writes it: the rest needs no reading.
        return read + shown[len(said) :]
    names = {"apiVersion": kind.api_version(served), "kind": kind.kind}
    members = _members(shown)
    rest = {key: value for key, value in members.items() if key not in names}
    return msgspec.json.encode({**names, **rest})


@functools.lru_cache(1024)
def _heads(kind: ServedKind, label: str) -> tuple[bytes, bytes]:
    """How documents of a version begin as the scheme writes them, and as clients read them; the former is empty where it depends on the document."""
    served = kind.versions[label]
    own = kind.resource.rpartition("/")[2], _said_version(kind, served)
    said = b"" if kind.type_text else _head(*own)
    return said, _head(kind.kind, kind.api_version(served))


def _head(kind: str, version: str) -> bytes:
    return msgspec.json.encode({"apiVersion": version, "kind": kind})[:-1] + b","


def _said_version(kind: ServedKind, served: ServedVersion) -> str:
    """What the scheme calls a version in documents."""
    return f"{kind.said_group}/{served.version}" if kind.said_group else served.version


def with_tidy_metadata(document: dict[str, Any]) -> dict[str, Any]:
    """A document without empty members of its metadata, which mean the same as none, and without unknown ones."""
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    tidy = {
        key: value
        for key, value in metadata.items()
        if key == "managedFields" or (key in METADATA and value not in (None, "", [], {}))
    }
    if "ownerReferences" in tidy:
        tidy["ownerReferences"] = without_unknown(tidy["ownerReferences"])
    return {**document, "metadata": tidy}


def equal_content(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two documents have equal values but for their metadata: `1` equals `1.0`, which schemas take for the same.

    It equals `True` as well, so it is for a document and what the scheme makes of it at the same version, which keeps types.
    """
    return {**one, "metadata": None} == {**other, "metadata": None}


def same_content(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two documents are spelt the same but for their metadata."""
    ours, theirs = ({**each, "metadata": None} for each in (one, other))
    return text_of(ours) == text_of(theirs)


def without_version(shown: bytes) -> bytes:
    """An object as clients see it, as JSON, without its resource version."""
    return without_member(shown, "resourceVersion")


def without_member(shown: bytes, name: str) -> bytes:
    """An object as clients see it, as JSON, without a member of its metadata."""
    members = _members(shown)
    metadata = _members(members["metadata"])
    metadata.pop(name, None)
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(members)


def without_empty(shown: bytes, kept: Collection[str]) -> bytes:
    """An object as clients see it, as JSON, without its generation, and without texts and numbers that are empty.

    Args:
        shown: the object.
        kept: the names of those that it has nevertheless.
    """
    members = _members(shown)
    metadata = _members(members["metadata"])
    metadata.pop("generation", None)
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    found = {x: each for x, each in members.items() if bytes(each) not in _EMPTY or x in kept}
    return msgspec.json.encode(found)


def require_object(value: Any) -> dict[str, Any]:
    """A value that has to be a JSON object.

    Raises:
        ApiError: it is none.
    """
    if isinstance(value, dict):
        return value
    raise ApiError(422, "Invalid", "the result of the patch is no JSON object")
