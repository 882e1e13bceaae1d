"""How an object is to be deleted: `DeleteOptions`, in the body or in the query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trundle.api._documents import object_of
from trundle.api._garbage import FINALIZERS, Policy
from trundle.api._requests import Request
from trundle.api._requirements import resource_version_of
from trundle.api._status import ApiError, Cause, bad_request

_TRUTH = {"true": True, "false": False}


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


def deletion_of(request: Request) -> Deletion:
    """What a request to delete says; its body counts, and its query where the body is empty.

    Raises:
        ApiError: it makes no sense.
    """
    options = object_of(request.body) if request.body.strip() else request.query
    given = options.get("preconditions")
    conditions: Mapping[str, Any] = given if isinstance(given, dict) else {}
    if not isinstance(conditions.get("uid"), str | None):
        raise bad_request("preconditions.uid is no text")
    return Deletion(
        _policy(options),
        resource_version_of(conditions.get("resourceVersion")),
        conditions.get("uid"),
        request.dry_run or options.get("dryRun") == ["All"],
    )


def _policy(options: Mapping[str, Any]) -> Policy:
    policy = options.get("propagationPolicy") or None
    orphans = options.get("orphanDependents")
    orphans = _TRUTH.get(orphans.lower(), orphans) if isinstance(orphans, str) else orphans
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
    message = f'DeleteOptions.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
    details = {"group": "meta.k8s.io", "kind": "DeleteOptions"}
    return ApiError(422, "Invalid", message, details, [cause])
