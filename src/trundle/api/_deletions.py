"""How an object is to be deleted: `DeleteOptions`, in the body or in the query."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.api._bodies import json_of
from trundle.api._documents import object_of
from trundle.api._garbage import FINALIZERS, Policy
from trundle.api._options import causes_of_dry_run, refused_options
from trundle.api._requests import Request, is_set
from trundle.api._requirements import resource_version_of
from trundle.api._status import Cause, bad_request, unsupported
from trundle.errors import expectation

_KIND = "DeleteOptions"


@dataclass(frozen=True, slots=True)
class Deletion:
    """How an object is to be deleted.

    Attributes:
        policy: what becomes of the objects that it owns.
        said_version: the state that the client means, as it says it; None for any.
        uid: the object that the client means; None for any.
        dry_run: whether nothing is to be stored.
    """

    policy: Policy
    said_version: str | None
    uid: str | None
    dry_run: bool

    @property
    def resource_version(self) -> int | None:
        """The state that the client means; None for any."""
        return resource_version_of(self.said_version)

    def refused_by(self, uid: str, resource_version: int) -> str:
        """Why an object is not the one that the client means, in Kubernetes' words.

        Args:
            uid: the uid of the object.
            resource_version: its resource version.
        """
        if self.uid not in {None, uid}:
            found = (
                f"the UID in the precondition ({self.uid}) does not match the UID in record ({uid})"
            )
            return f"{found}. The object might have been deleted and then recreated"
        found = f"the ResourceVersion in the precondition ({self.said_version}) does not match the"
        return f"{found} ResourceVersion in record ({resource_version}). The object might have been modified"


class _Preconditions(msgspec.Struct):
    uid: str | None = None
    resourceVersion: str | None = None  # noqa: N815 - as clients write it


class _Common(msgspec.Struct, kw_only=True):
    propagationPolicy: str | None = None  # noqa: N815
    orphanDependents: bool | None = None  # noqa: N815
    gracePeriodSeconds: int | None = None  # noqa: N815


class _Query(_Common, kw_only=True):
    """What stands in a query, as clients write it."""

    uid: str | None = None
    resourceVersion: str | None = None  # noqa: N815


class _Options(_Common, kw_only=True):
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
    dry_run = options.dryRun or ()
    if causes := [*_policy_causes(options), *causes_of_dry_run(dry_run)]:
        raise refused_options(_KIND, causes)
    conditions = options.preconditions or _Preconditions()
    return Deletion(
        _policy(options),
        conditions.resourceVersion,
        conditions.uid,
        request.dry_run or bool(dry_run),
    )


def _options(request: Request) -> _Options:
    text = json_of(request) if request.body.strip() else b""
    if text.strip() not in {b"", b"null"}:
        return msgspec.convert(object_of(text), _Options)
    query: Any = dict(request.query)
    if "orphanDependents" in query:
        query["orphanDependents"] = is_set(query["orphanDependents"])
    found = msgspec.convert(query, _Query, strict=False)
    return _Options(
        propagationPolicy=found.propagationPolicy,
        orphanDependents=found.orphanDependents,
        gracePeriodSeconds=found.gracePeriodSeconds,
        dryRun=[query["dryRun"]] if "dryRun" in query else None,
        preconditions=_Preconditions(found.uid or None, found.resourceVersion or None),
    )


def _policy(options: _Options) -> Policy:
    """What becomes of the objects that an object owns; of a policy without mistakes."""
    if options.orphanDependents is not None:
        return "Orphan" if options.orphanDependents else "Background"
    return next(each for each in FINALIZERS if options.propagationPolicy in {None, each})


def _policy_causes(options: _Options) -> Iterator[Cause]:
    """What is wrong with a policy."""
    policy = options.propagationPolicy
    if policy is None:
        return
    said, field = msgspec.json.encode(policy).decode(), "propagationPolicy"
    if options.orphanDependents is not None:
        text = f"Invalid value: {said}: orphanDependents and deletionPropagation cannot be both set"
        yield Cause("FieldValueInvalid", field, text)
    elif policy not in FINALIZERS:
        yield unsupported(field, policy, "Foreground", "Background", "Orphan", "nil")
