"""Applies what a release carries to a cluster, and deletes what an earlier release had applied."""

import contextlib
import json
import time
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from trundle.kubernetes._cluster import BUSY, MISSING, ClusterError, RequestError
from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes.operator._dry_run import attempt, lacks
from trundle.kubernetes.operator._leadership import LostLeaseError
from trundle.kubernetes.operator._objects import Objects, OwnedError
from trundle.kubernetes.operator._ordering import DEFINITION, Part, leaving, ordered, together
from trundle.kubernetes.operator._releases import (
    Ownership,
    Refused,
    parts_in_record,
    record_of,
    refused_in_record,
)

_SECONDS = 60
_STEP = 0.2
_LEAVING_SECONDS = 5
_TRIES = 5
_BEARING = ("Namespace", DEFINITION)
"""What others cannot be without; it comes first."""
_MOST_BYTES = 900 * 1024
"""How many bytes a record may have; etcd takes 1.5 MB in all, the API server 1 MiB of a ConfigMap's data."""


class Leftover(StrEnum):
    """What becomes of CRDs that a release no longer has."""

    UNUSED = "Unused"
    KEEP = "Keep"
    DELETE = "Delete"


@dataclass(frozen=True)
class Applied:
    """What came of it.

    Attributes:
        applied: what was applied, in order.
        deleted: what was deleted, in order.
        kept: CRDs that the release no longer has, and that stay.
        held: what was deleted and is still there, as finalizers hold it; the next run looks at it again.
    """

    applied: list[Part]
    deleted: list[Part]
    kept: list[Part]
    held: list[Part] = field(default_factory=list)

    def to_plain(self) -> dict[str, list[str]]:
        """The names of the parts as plain values, for programs."""
        return {
            "applied": list(map(str, self.applied)),
            "deleted": list(map(str, self.deleted)),
            "kept": list(map(str, self.kept)),
            "held": list(map(str, self.held)),
        }


def plan_of(earlier: Sequence[Part], wanted: Sequence[Part]) -> Applied:
    """What would be applied and deleted; no cluster is asked which CRDs have objects."""
    return Applied(ordered(wanted), leaving(earlier, wanted), [])


class Applier:
    """Applies releases under a name, and remembers in a ConfigMap of the cluster what it applied.

    What is about to be applied is remembered before, and what was deleted is forgotten after: one that is killed
    leaves nothing behind that the next run does not know. Of two that run at once, one ends with a conflict. An object of
    another release is neither applied nor deleted, as long as that release has it.

    Args:
        objects: the objects of the cluster.
        name: what is installed.
        sleep: waits between two looks at an object.
        yielding: releases that give up what they have, as `NAMESPACE/NAME`.
    """

    def __init__(
        self,
        objects: Objects,
        name: str,
        sleep: Callable[[float], None] = time.sleep,
        yielding: Container[str] = (),
    ) -> None:
        self._objects = objects
        self._sleep = sleep
        self._ownership = Ownership(objects, name, yielding)
        self._record = record_of(objects.namespace, name)
        self._version = ""
        self._known: list[Part] | None = None
        self._untried: list[Part] = []
        self.refused = Refused()
        self.release = ""

    def earlier(self) -> list[Part]:
        """What was applied under the name; `release` says of which release, and `refused` which of another one could not be written.

        Raises:
            DefinitionError: what is remembered cannot be read.
        """
        found = self._objects.get(self._record)
        if found is None:
            return []
        self._version = found["metadata"]["resourceVersion"]
        known = parts_in_record(found)
        self.release = found["data"].get("release", "")
        self.refused = refused_in_record(found)
        return known

    def apply(self, wanted: Sequence[Part], *, force: bool = False) -> Applied:
        """Tries a release, applies it, waits until its CRDs are established, and deletes what it no longer has.

        Args:
            wanted: all objects of the release.
            force: whether fields that others own, and objects that other releases have, are taken over.

        Raises:
            OtherReleaseError: another release has some of the objects; nothing was changed.
            RejectedError: the cluster refuses some of the objects; nothing was changed, but for namespaces and CRDs where the others could not be tried without them.
            ClusterError: the cluster refuses something that could not be tried, or a CRD is not established in time.
            DefinitionError: there are too many objects, or no namespace to remember them in.
        """
        self.attempt(wanted, force=force)
        steps = self.put(wanted, force=force)
        found = self.finish(wanted)
        return Applied(steps, found.deleted, found.kept, found.held)

    def attempt(
        self,
        wanted: Sequence[Part],
        brought: Collection[tuple[str, str]] = (),
        *,
        force: bool = False,
    ) -> None:
        """Makes sure that the cluster takes the objects of a release, as far as it can be known before; changes nothing.

        Args:
            wanted: the objects.
            brought: the group and the kind of resource types that come with the release besides.
            force: whether fields that others own, and objects that other releases have, are taken over.

        Raises:
            OtherReleaseError: another release has some of the objects.
            RejectedError: the cluster refuses some of them.
            ClusterError: the cluster cannot be asked.
            DefinitionError: as `apply` has it.
        """
        self._remember(together(self.earlier(), wanted), keep=False)
        marked = [self._ownership.marked(each) for each in wanted]
        self._untried += attempt(self._objects, marked, brought, force=force)
        if not force:  # After that: what may not be written can often not be read either.
            self._ownership.check(wanted)

    def put(self, wanted: Sequence[Part], *, force: bool = False, release: str = "") -> list[Part]:
        """Applies a release, and deletes nothing yet. What could not be tried before is tried when the CRDs and namespaces are there, and before anything else is written.

        Of a release that is not in the cluster yet, what is refused is remembered, and written first the next time: where it is refused again, nothing else
        has been changed.

        Args:
            wanted: all objects of the release.
            force: whether fields that others own, and objects that other releases have, are taken over.
            release: what is remembered as the release, when all is applied.

        Returns:
            What was applied, in order.

        Raises:
            RejectedError: the cluster refuses some of what could not be tried before; only namespaces and CRDs were written.
            RequestError: it refuses something else; what comes before it was written.
            OwnedError: the same, as others own fields of it.
            TrundleError: as `apply` has it.
        """
        if not force:
            self._ownership.check(wanted)
        known = self._known = together(self.earlier(), wanted)
        self._remember(known)
        steps = ordered(wanted)
        early = [each for each in steps if each.kind in _BEARING]
        for each in early:
            self._apply(each, force=force)
        self._establish([each for each in early if each.kind == DEFINITION])
        if early and self._untried:
            attempt(self._objects, self._untried, force=force, among=wanted)
        late = steps[len(early) :]
        is_new = release != self.release
        again = [each for each in late if is_new and each.identity in self.refused.of(release)]
        for number, each in enumerate([*again, *late]):
            try:
                self._apply(each, force=force)
            except (RequestError, OwnedError) as error:
                if (
                    number < len(again)
                    and isinstance(error, RequestError)
                    and lacks(error, each, wanted)
                ):
                    continue  # In its turn, what it needs is there.
                if is_new and not (isinstance(error, RequestError) and error.status in BUSY):
                    self.refused = self.refused.with_one(release, each)
                    with contextlib.suppress(RequestError):  # The cause is what was refused first.
                        self._remember(known)
                raise
        if is_new:
            self.release, self.refused = release, Refused()
            self._remember(known)
        return steps

    def _apply(self, part: Part, *, force: bool) -> None:
        """Applies an object. Where another operator acts by the time that this is answered, it is recorded once more, as that may have been forgotten by then.

        Raises:
            TrundleError: as `apply` has it.
        """
        self._objects.apply(self._ownership.marked(part), force=force)
        try:
            self._objects.check()
        except LostLeaseError:
            with contextlib.suppress(ClusterError, DefinitionError):
                self._admit(part)
            raise

    def _admit(self, part: Part) -> None:
        """Records what was written too late, so that the operator that acts deletes it where its release does not have it."""
        for last in [False] * (_TRIES - 1) + [True]:
            known = self.earlier()
            if part.identity in {each.identity for each in known}:
                return
            try:
                self._objects.apply_late(self._recorded(together(known, [part])))
            except OwnedError:
                if last:
                    raise
            else:
                return

    def finish(self, wanted: Sequence[Part], leftover: Leftover = Leftover.UNUSED) -> Applied:
        """Deletes what the release before had, and this one has not; but for what another release has taken over.

        Args:
            wanted: all objects of the release.
            leftover: what becomes of its CRDs.

        Raises:
            TrundleError: as `apply` has it.
        """
        gone = leaving(self.earlier() if self._known is None else self._known, wanted)
        deleted, kept = self._prune(gone, leftover)
        held = self._held(deleted)
        if gone or self._known is not None:  # Where another run came between, this ends it.
            self._remember(together([*kept, *held], wanted))
        return Applied([], deleted, kept, held)

    def beyond(self, parts: Sequence[Part]) -> list[Part]:
        """What is in the cluster of releases that were begun, besides the objects of another one."""
        there = leaving(self.earlier(), parts)
        return [e for e in there if self._objects.exists(e) and not self._ownership.is_foreign(e)]

    def forget(self) -> None:
        """Forgets what was applied, when all of it is gone or is to stay."""
        self._objects.delete(self._record)

    def _prune(self, gone: Sequence[Part], leftover: Leftover) -> tuple[list[Part], list[Part]]:
        deleted: list[Part] = []
        kept: list[Part] = []
        for each in gone:
            if self._ownership.is_foreign(each):
                continue
            if each.kind == DEFINITION and self._stays(each, leftover):
                kept.append(each)
                continue
            self._objects.delete(each)
            deleted.append(each)
        return deleted, kept

    def _stays(self, definition: Part, leftover: Leftover) -> bool:
        if leftover is Leftover.UNUSED:
            return self._objects.has_objects(definition)
        return leftover is Leftover.KEEP

    def _held(self, deleted: Sequence[Part]) -> list[Part]:
        """What is still there some seconds after it was deleted."""
        left = list(deleted)
        for _ in range(int(_LEAVING_SECONDS / _STEP)):
            left = [each for each in left if self._objects.exists(each)]
            if not left:
                break
            self._sleep(_STEP)
        return left

    def _establish(self, definitions: Sequence[Part]) -> None:
        for each in definitions:
            for _ in range(int(_SECONDS / _STEP)):
                if _established(self._objects.get(each)):
                    break
                self._sleep(_STEP)
            else:
                advice = f"see its conditions: kubectl describe crd {each.name}"
                raise ClusterError(str(each), "that it is established", "not yet", advice)

    def _recorded(self, parts: Sequence[Part]) -> Part:
        """The record, with some objects.

        Raises:
            DefinitionError: there are too many.
        """
        lines = [[each.api_version, each.kind, each.namespace, each.name] for each in parts]
        text = json.dumps(lines)
        if len(text) > _MOST_BYTES:
            found = f"{len(parts)} with {len(text)} bytes of names"
            expected = f"objects whose names take up to {_MOST_BYTES} bytes together"
            raise DefinitionError(str(self._record), expected, found, "divide the release")
        metadata = {"name": self._record.name, "namespace": self._record.namespace}
        if self._version:
            metadata["resourceVersion"] = self._version
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {"objects": text, "release": self.release, **self.refused.data},
        }
        return Part("v1", "ConfigMap", self._record.namespace, self._record.name, document)

    def _remember(self, parts: Sequence[Part], *, keep: bool = True) -> None:
        made = self._recorded(parts)
        try:
            if keep:
                written = self._objects.apply(made, force=True)
                self._version = written["metadata"]["resourceVersion"]
            else:
                self._objects.attempt(made, force=True)
        except OwnedError:
            advice = "let the other run end, and run again"
            found = "a change by another run"
            raise OwnedError(str(self._record), "what was read of it", found, advice) from None
        except RequestError as error:
            if error.status != MISSING:
                raise
            space = self._record.namespace
            advice = f"create it: kubectl create namespace {space}"
            raise DefinitionError(f"namespace {space}", "one that exists", "none", advice) from None


def _established(found: dict[str, Any] | None) -> bool:
    conditions = ((found or {}).get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
