"""Reviews in Kubernetes' protobuf, which kubectl sends them in.

The numbers of fields are those of `k8s.io/api`'s `generated.proto`; a body is the text `k8s`, a zero byte, and a
`runtime.Unknown` around the object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT = 10

Message: TypeAlias = Mapping[int, "tuple[str, Message | None]"]
"""The fields of a message that count: their names, and what they have inside; None for text."""

_TYPE: Message = {1: ("apiVersion", None), 2: ("kind", None)}
_RESOURCE: Message = {
    1: ("namespace", None),
    2: ("verb", None),
    3: ("group", None),
    4: ("version", None),
    5: ("resource", None),
    6: ("subresource", None),
    7: ("name", None),
}
_PATH: Message = {1: ("path", None), 2: ("verb", None)}
_ASKED: Message = {1: ("resourceAttributes", _RESOURCE), 2: ("nonResourceAttributes", _PATH)}
_MESSAGES: Mapping[str, Message] = {
    "SelfSubjectAccessReview": {2: ("spec", _ASKED)},
    "SelfSubjectRulesReview": {2: ("spec", {1: ("namespace", None)})},
    "SelfSubjectReview": {},
}


def decoded(body: bytes) -> dict[str, Any]:
    """A review as JSON would have it.

    Raises:
        ValueError: the body is no review in protobuf.
    """
    if not body.startswith(_MAGIC):
        raise ValueError("no Kubernetes object in protobuf")
    parts = dict(_fields(body[len(_MAGIC) :]))
    head = _message(parts.get(1, b""), _TYPE)
    known = _MESSAGES.get(str(head.get("kind")))
    if known is None:
        raise ValueError(f"the kind {head.get('kind')!r}")
    return {**head, **_message(parts.get(2, b""), known)}


def _message(data: bytes, known: Message) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, value in _fields(data):
        if number in known:
            name, inside = known[number]
            found[name] = value.decode() if inside is None else _message(value, inside)
    return {name: value for name, value in found.items() if value != ""}


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that are texts, bytes or messages; others are passed over."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in _WIDTHS:
            size = _WIDTHS[kind]
        else:
            raise ValueError("an unknown type of field")
        if at + size > len(data):
            raise ValueError("the end of the body within a field")
        if kind == _BYTES:
            yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for index, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 - the last byte of a number
            return value, at + index + 1
    raise ValueError("the end of the body within a number")
