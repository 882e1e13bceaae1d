"""How an object is to be deleted: `DeleteOptions`, in the body or in the query."""

from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.api._documents import object_of
from trundle.api._garbage import FINALIZERS, Policy
from trundle.api._requests import Request
from trundle.api._requirements import resource_version_of
from trundle.api._status import ApiError, Cause, bad_request
from trundle.errors import expectation

_KIND = "DeleteOptions"


@dataclass(frozen=True, slots=True)
class Deletion:
    """How an object is to be deleted.

    Attributes:
        policy: what becomes of the objects that it owns.
        resource_version: the state that the client means; None for any.
        uid: the object that the client means; None for any.
        dry_run: whether nothing is to be stored.
    """

    policy: Policy
    resource_version: int | None
    uid: str | None
    dry_run: bool


class _Preconditions(msgspec.Struct):
    uid: str | None = None
    resourceVersion: str | None = None  # noqa: N815 - as clients write it


class _Query(msgspec.Struct, kw_only=True):
    """What stands in a query, as clients write it."""

    propagationPolicy: str | None = None  # noqa: N815
    orphanDependents: bool | None = None  # noqa: N815
    gracePeriodSeconds: int | None = None  # noqa: N815


class _Options(_Query, kw_only=True):
    """What stands in a body."""

    kind: str | None = None
    dryRun: list[str] | None = None  # noqa: N815
    preconditions: _Preconditions | None = None


def deletion_of(request: Request) -> Deletion:
    """What a request to delete says; its body counts, and its query where the body is empty.

    Raises:
        ApiError: it makes no sense.
    """
    try:
        options = _options(request)
    except msgspec.ValidationError as error:
        raise bad_request(f"the options of the deletion: {error}") from None
    if options.kind not in {None, _KIND}:
        raise bad_request(expectation(f"{_KIND} as kind of the body", repr(options.kind)))
    if unknown := [each for each in options.dryRun or () if each != "All"]:
        raise bad_request(f'dryRun: Unsupported value: "{unknown[0]}": supported values: "All"')
    conditions = options.preconditions or _Preconditions()
    return Deletion(
        _policy(options),
        resource_version_of(conditions.resourceVersion),
        conditions.uid,
        request.dry_run or bool(options.dryRun),
    )


def _options(request: Request) -> _Options:
    if request.body.strip():
        return msgspec.convert(object_of(request.body), _Options)
    query: Any = {
        key: each.lower() if each in {"True", "False"} else each
        for key, each in request.query.items()
        if each
    }
    found = msgspec.convert(query, _Query, strict=False)
    return _Options(**msgspec.structs.asdict(found))


def _policy(options: _Options) -> Policy:
    policy, orphans = options.propagationPolicy or None, options.orphanDependents
    if policy is not None and orphans is not None:
        raise _invalid("orphanDependents and deletionPropagation cannot be both set")
    if orphans is not None:
        return "Orphan" if orphans else "Background"
    for each in FINALIZERS:
        if policy is None or policy == each:
            return each
    raise _invalid('needs to be one of "Background", "Foreground", "Orphan" or nil', str(policy))


def _invalid(reason: str, value: str = "") -> ApiError:
    shown = f'"{value}"' if value else "null"
    cause = Cause("FieldValueInvalid", "propagationPolicy", f"Invalid value: {shown}: {reason}")
    message = f'{_KIND}.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
    details = {"group": "meta.k8s.io", "kind": _KIND}
    return ApiError(422, "Invalid", message, details, [cause])
