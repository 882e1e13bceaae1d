"""What goes wrong, in the form that Kubernetes' clients read: a `Status` with a reason and causes."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from trundle.api._kinds import ServedKind
from trundle.database import BusyError
from trundle.errors import Finding, Kind, TrundleError, expectation
from trundle.runtime import DocumentError, ValueCode
from trundle.store import (
    ConflictError,
    FutureVersionError,
    GoneError,
    InvalidKeyError,
    InvalidMetadataError,
    NewerShapeError,
    NoSuchObjectError,
    ObjectExistsError,
    UnknownResourceError,
    UnrecordedShapeError,
)

_CODES = {
    Kind.USAGE: (400, "BadRequest"),
    Kind.REFUSED: (422, "Invalid"),
    Kind.EXISTS: (409, "AlreadyExists"),
    Kind.NOT_FOUND: (404, "NotFound"),
    Kind.VERIFICATION: (500, "InternalError"),
    Kind.UNREACHABLE: (503, "ServiceUnavailable"),
    Kind.CONFLICT: (409, "Conflict"),
    Kind.FAILED: (500, "InternalError"),
}
"""The status and the reason of each kind of error."""

_CAUSES = {
    ValueCode.MISSING: ("FieldValueRequired", "Required value"),
    ValueCode.VALUE: ("FieldValueInvalid", "Invalid value"),
    ValueCode.UNKNOWN: ("FieldValueInvalid", "Unknown field"),
}
_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Cause(NamedTuple):
    """One thing that is wrong with a document.

    Attributes:
        reason: what kind of mistake, e.g. `FieldValueInvalid`.
        field: the place, e.g. `spec.parts[0].name`.
        message: what is wrong.
    """

    reason: str
    field: str
    message: str


def unsupported(field: str, found: object, *supported: str) -> Cause:
    """What is wrong with a value that is none of those that there are.

    Args:
        field: the place.
        found: the value, or values.
        supported: those that there are.
    """
    said = msgspec.json.encode(found).decode()
    listed = ", ".join(msgspec.json.encode(each).decode() for each in supported)
    text = f"Unsupported value: {said}: supported values: {listed}"
    return Cause("FieldValueNotSupported", field, text)


class ApiError(TrundleError):
    """An answer that is no success.

    Attributes:
        code: the status of HTTP.
        reason: Kubernetes' word for it; clients decide by it.
        message: what a person reads.
        details: what it is about: `name`, `group`, `kind`, `uid`, `retryAfterSeconds`; None where that is not said.
        causes: what is wrong with a document, one for each place.
        warnings: what the client shows its user beside it.
    """

    warnings: tuple[str, ...] = ()

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        causes: Sequence[Cause] = (),
    ) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.details = None if details is None else dict(details)
        self.causes = tuple(causes)
        super().__init__(message)

    def with_warnings(self, warnings: Iterable[str]) -> "ApiError":
        """The same answer with warnings."""
        self.warnings = tuple(warnings)
        return self

    @property
    def status(self) -> dict[str, Any]:
        """The `Status` that is sent."""
        details = {key: each for key, each in (self.details or {}).items() if each != ""}
        if self.causes:
            details["causes"] = [
                {key: value for key, value in each._asdict().items() if value}
                for each in self.causes
            ]
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            **({"reason": self.reason} if self.reason else {}),
            **({"details": details} if details or self.details is not None else {}),
            "code": self.code,
        }


def bad_request(message: str) -> ApiError:
    """The request makes no sense."""
    return ApiError(400, "BadRequest", message)


def internal(what: str) -> ApiError:
    """The server, or someone whom it asks, is in trouble."""
    message = f"Internal error occurred: {what}"
    return ApiError(500, "InternalError", message, causes=[Cause("", "", what)])


def unknown_path() -> ApiError:
    """There is nothing at a path."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def not_allowed(kind: ServedKind | None = None, verb: str = "") -> ApiError:
    """There is something at a path, but it cannot do that.

    Args:
        kind: the resource type that the path is about; None where it is about none. One of Kubernetes' own is not named, as in a cluster.
        verb: what a request wants, as rules call it; empty where there is no word for it.
    """
    if kind is None or kind.is_core:
        message = "the server does not allow this method on the requested resource"
        return ApiError(405, "MethodNotAllowed", message, {})
    message = f'{verb} is not supported on resources of kind "{kind.qualified}"'
    return ApiError(405, "MethodNotAllowed", message, {"group": kind.group, "kind": kind.plural})


def unsupported_media_type(given: str, supported: Sequence[str]) -> ApiError:
    """The body has a form that is not understood."""
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(supported)}"
    )
    if not given:
        message = f"the body of the request says no media type - use one of: {', '.join(supported)}"
    return ApiError(415, "UnsupportedMediaType", message)


def invalid(kind: ServedKind, name: str, causes: Sequence[Cause], *, called: str = "") -> ApiError:
    """A document is not what its version says.

    Args:
        kind: its resource type.
        name: its name.
        causes: what is wrong with it.
        called: what an API server calls the resource type there, where that is not the kind.
    """
    called = called or kind.kind
    said = (f"{each.field}: {each.message}" if each.field else each.message for each in causes)
    lines = [*dict.fromkeys(said)]
    text = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    qualified = f"{called}.{kind.group}" if kind.group else called
    message = f'{qualified} "{name}" is invalid: {text}'
    named = {"name": name} if name else {}
    details = {**named, "group": kind.group, "kind": called}
    return ApiError(422, "Invalid", message, details, causes)


def modified(kind: ServedKind, name: str, reason: str = _MODIFIED, *, called: str = "") -> ApiError:
    """The object is not the one that the client read.

    Args:
        kind: its resource type.
        name: its name.
        reason: what is wrong.
        called: see `invalid`; else the plural.
    """
    called = called or kind.plural
    qualified = f"{called}.{kind.group}" if kind.group else called
    message = f'Operation cannot be fulfilled on {qualified} "{name}": {reason}'
    details = {"name": name, "group": kind.group, "kind": called}
    return ApiError(409, "Conflict", message, details)


def missing(kind: ServedKind, name: str) -> ApiError:
    """There is no such object."""
    details = {"name": name, "group": kind.group, "kind": kind.plural}
    return ApiError(404, "NotFound", f'{kind.qualified} "{name}" not found', details)


def expired(message: str) -> ApiError:
    """What is asked for was compacted."""
    return ApiError(410, "Expired", message)


def answer_to(error: TrundleError, kind: ServedKind, name: str) -> ApiError:
    """What a client is answered for an error of the store or the scheme.

    Args:
        error: the error.
        kind: the resource type that the request is about.
        name: the name of the object that it is about.
    """
    match error:
        case ApiError():
            return error
        case NoSuchObjectError() | InvalidKeyError():  # No object can be called so.
            return missing(kind, name)
        case ObjectExistsError():
            message = f'{kind.qualified} "{name}" already exists'
            details = {"name": name, "group": kind.group, "kind": kind.plural}
            return ApiError(409, "AlreadyExists", message, details)
        case ConflictError():
            return modified(kind, name)
        case GoneError():
            return expired(f"The resourceVersion for the provided list is too old: {error.found}")
        case FutureVersionError():
            message = (
                f"Timeout: Too large resource version: {error.found}, current: {error.expected}"
            )
            cause = Cause("ResourceVersionTooLarge", "", "Too large resource version")
            return ApiError(504, "Timeout", message, {"retryAfterSeconds": 1}, [cause])
        case DocumentError():
            return invalid(kind, name, [cause_of(each) for each in error.findings])
        case InvalidMetadataError():
            return invalid(kind, name, [_cause("metadata", error.expected, error.found)])
        case UnrecordedShapeError() | NewerShapeError() | UnknownResourceError():
            return internal(str(error))  # No document of a client changes it.
        case _:
            return answer_to_any(error)


def answer_to_any(error: TrundleError, message: str = "") -> ApiError:
    """What a client is answered for an error that is about no object; the error's own words where there is no message."""
    if isinstance(error, ApiError):
        return error
    code, reason = _CODES[error.kind]
    if isinstance(error, BusyError):  # No client's document is in conflict.
        code, reason = _CODES[Kind.UNREACHABLE]
    details = {"retryAfterSeconds": 1} if reason == "ServiceUnavailable" else None
    causes = [
        Cause("FieldValueInvalid", field_of(each.place.path), each.message)
        for each in error.findings
        if each.place.path.startswith("$")
    ]
    return ApiError(code, reason, message or str(error), details, causes)


def status_of(error: TrundleError) -> int:
    """The status of HTTP that an error is answered with, by its kind."""
    return answer_to_any(error).code


def cause_of(finding: Finding) -> Cause:
    """A finding about a document as a cause."""
    known = finding.code if isinstance(finding.code, ValueCode) else ValueCode.VALUE
    reason, words = _CAUSES.get(known, _CAUSES[ValueCode.VALUE])
    field = field_of(finding.place.path)
    return Cause(reason, field, f"{words}: {expectation(finding.expected, finding.found)}")


def _cause(field: str, expected: str, found: str) -> Cause:
    return Cause("FieldValueInvalid", field, f"Invalid value: {expectation(expected, found)}")


def field_of(path: str) -> str:
    """A JSON path as Kubernetes writes places: `$.spec.parts[0]` is `spec.parts[0]`."""
    return path.removeprefix("$").removeprefix(".")


def type_cause(field: str, value: Any, expected: str) -> Cause:
    """What is wrong with a value of another type than the one expected."""
    found = type_name(value)
    text = f'Invalid value: "{found}": {field} in body must be of type {expected}: "{found}"'
    return Cause("FieldValueTypeInvalid", field, text)


def type_name(value: Any) -> str:
    """What Kubernetes calls the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float() | Decimal():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
