"""Bodies that clients send as protobuf: kubectl does so for the resource types that Kubernetes itself has, such as namespaces.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding, and the `generated.proto` of `k8s.io/api` and
`k8s.io/apimachinery`, which have the numbers of fields.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from trundle.api._documents import text_of
from trundle.api._status import ApiError, unsupported_media_type

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\0"
_CONTINUED = 0x80
_LONGEST_VARINT = 10

_Form: TypeAlias = "str | Mapping[int, tuple[str, _Form]] | tuple[_Form]"
"""What a field has: `text`, `number`, `flag`, `map` (of text), a message with its fields, or a list of one of these."""

_OWNER: _Form = {
    1: ("kind", "text"),
    3: ("name", "text"),
    4: ("uid", "text"),
    5: ("apiVersion", "text"),
    6: ("controller", "flag"),
    7: ("blockOwnerDeletion", "flag"),
}
_METADATA: _Form = {
    1: ("name", "text"),
    2: ("generateName", "text"),
    3: ("namespace", "text"),
    4: ("selfLink", "text"),
    5: ("uid", "text"),
    6: ("resourceVersion", "text"),
    7: ("generation", "number"),
    8: ("creationTimestamp", {}),
    11: ("labels", "map"),
    12: ("annotations", "map"),
    13: ("ownerReferences", (_OWNER,)),
    14: ("finalizers", ("text",)),
}
_FORMS: Mapping[tuple[str, str], _Form] = {
    ("v1", "Namespace"): {
        1: ("metadata", _METADATA),
        2: ("spec", {1: ("finalizers", ("text",))}),
        3: ("status", {1: ("phase", "text")}),
    },
}
_UNKNOWN: _Form = {1: ("type", {1: ("apiVersion", "text"), 2: ("kind", "text")}), 2: ("raw", "raw")}


def json_of(body: bytes) -> bytes:
    """A body in protobuf as JSON.

    Raises:
        ApiError: it is of a resource type that has no such form, or is damaged.
    """
    if not body.startswith(_MAGIC):
        raise _unreadable()
    try:
        whole = _message(body[len(_MAGIC) :], _UNKNOWN)
        form = _FORMS[whole["type"]["apiVersion"], whole["type"]["kind"]]
        return text_of({**whole["type"], **_message(whole.get("raw", b""), form)})
    except (ValueError, KeyError, IndexError) as error:
        raise _unreadable() from error


def _unreadable() -> ApiError:
    return unsupported_media_type(MEDIA_TYPE, ("application/json",))


def _message(body: bytes, form: Any) -> dict[str, Any]:
    """The fields of a message that are not empty."""
    found: dict[str, Any] = {}
    for number, value in _fields(body):
        if number not in form and form is not _UNKNOWN:
            raise KeyError(number)
        if number not in form:
            continue
        name, inner = form[number]
        if isinstance(inner, tuple):
            found.setdefault(name, []).append(_value(value, inner[0]))
        elif inner == "map":
            entry = _message(value, {1: ("key", "text"), 2: ("value", "text")})
            found.setdefault(name, {})[entry.get("key", "")] = entry.get("value", "")
        elif (read := _value(value, inner)) not in ("", {}, 0, b""):
            found[name] = read
    return found


def _value(value: Any, form: Any) -> Any:
    match form:
        case "text":
            return bytes(value).decode()
        case "flag":
            return bool(value)
        case "number" | "raw":
            return value
        case _:
            return _message(value, form) if form else {}


def _fields(body: bytes) -> Iterator[tuple[int, Any]]:
    """The numbers of the fields of a message, and what they have: whole numbers, or bytes."""
    at = 0
    while at < len(body):
        tag, at = _varint(body, at)
        match tag & 7:
            case 0:
                value, at = _varint(body, at)
                yield tag >> 3, value
            case 2:
                length, at = _varint(body, at)
                if at + length > len(body):
                    raise ValueError
                yield tag >> 3, body[at : at + length]
                at += length
            case _:
                raise ValueError


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _LONGEST_VARINT, 7):
        byte = body[at]
        value |= (byte & ~_CONTINUED) << shift
        at += 1
        if not byte & _CONTINUED:
            return value, at
    raise ValueError
