"""The changes that a channel can undergo, as records that can be kept, sent and folded."""

import datetime as dt
import hashlib
from typing import Any, TypeAlias

import msgspec

from trundle.channels._refusals import ChannelError, RefusalCode, refusal
from trundle.channels._times import format_time, parse_time
from trundle.channels.files import ChannelFileError, ListedVersion, entry_from_json, entry_to_plain
from trundle.version import SemVer


class OperationError(ChannelError):
    """Bytes that are no operation."""


class _Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What all operations have.

    Attributes:
        at: when it was asked for.
        seen: the serial of the channel that the author had seen.
        expires: the end of the validity period of the channel's files; None leaves it as it is.
        by: who asked for it; may be empty.
    """

    at: dt.datetime
    seen: int = 0
    expires: dt.datetime | None = None
    by: str = ""


class Publish(_Operation, frozen=True, kw_only=True):
    """Adds a version."""

    entry: ListedVersion


class Unpublish(_Operation, frozen=True, kw_only=True):
    """Takes a version out, for good unless it is restored; `keep_content` leaves its tag in the registry."""

    version: SemVer
    reason: str
    keep_content: bool | None = None


class Restore(_Operation, frozen=True, kw_only=True):
    """Brings an unpublished version back with the same content."""

    version: SemVer


class Promote(_Operation, frozen=True, kw_only=True):
    """Makes a listed version the latest."""

    version: SemVer


class Deprecate(_Operation, frozen=True, kw_only=True):
    """Says why a version should no longer be used; None takes that back."""

    version: SemVer
    message: str | None = None


class Refresh(_Operation, frozen=True, kw_only=True):
    """Changes nothing but the time and the serial, so that the channel does not expire."""


Operation: TypeAlias = Publish | Unpublish | Restore | Promote | Deprecate | Refresh

_KINDS: dict[str, type[Any]] = {
    "publish": Publish,
    "unpublish": Unpublish,
    "restore": Restore,
    "promote": Promote,
    "deprecate": Deprecate,
    "refresh": Refresh,
}
_WORDS = {kind: word for word, kind in _KINDS.items()}


def kind_of(operation: Operation) -> str:
    """The name of an operation, such as `publish`."""
    return _WORDS[type(operation)]


def operation_to_json(operation: Operation) -> bytes:
    """Writes an operation as JSON, equal bytes for equal operations; `operation_from_json` reads it again."""
    fields = msgspec.structs.asdict(operation)
    plain = {"operation": kind_of(operation)} | {
        key: _plain(value) for key, value in sorted(fields.items()) if value is not None
    }
    return msgspec.json.encode(plain)


def operation_from_json(data: bytes, where: str = "operation") -> Operation:
    """Reads an operation.

    Raises:
        OperationError: this is no operation of this release of Trundle.
        ChannelFileError: the version that it publishes cannot be used.
    """
    try:
        plain = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        kind = _KINDS[msgspec.json.decode(plain.pop("operation"), type=str)]
        fields: dict[str, Any] = {key: _parsed(key, text, where) for key, text in plain.items()}
        operation: Operation = kind(**fields)
    except ChannelFileError:
        raise
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        expected = "an operation that this release of Trundle wrote"
        advice = "install the newest release, or repair the channel"
        code = RefusalCode.UNKNOWN_OPERATION
        raise OperationError([refusal(code, where, expected, str(error), advice)]) from None
    return operation


def id_of_operation(operation: Operation) -> str:
    """A name that no other operation has: the SHA-256 of its JSON, in 64 hexadecimal digits."""
    return hashlib.sha256(operation_to_json(operation)).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case ListedVersion():
            return entry_to_plain(value)
        case SemVer():
            return str(value)
        case dt.datetime():
            return format_time(value)
    return value


def _parsed(key: str, text: msgspec.Raw, where: str) -> Any:
    match key:
        case "entry":
            return entry_from_json(bytes(text), where)
        case "version":
            return SemVer.parse(msgspec.json.decode(text, type=str))
        case "at" | "expires":
            return parse_time(msgspec.json.decode(text, type=str))[0]
        case "seen":
            return msgspec.json.decode(text, type=int)
        case "keep_content":
            return msgspec.json.decode(text, type=bool)
    return msgspec.json.decode(text, type=str)
