"""Namespaces: objects are created in one that is there, and go with it."""

import contextlib
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from trundle._clock import Clock
from trundle.api._core import NAMESPACES
from trundle.api._deletions import deletion_of
from trundle.api._events import EventRecorder
from trundle.api._garbage import FINALIZERS
from trundle.api._inventory import Inventory, Kept
from trundle.api._kinds import ServedKind
from trundle.api._reading import explained
from trundle.api._requests import Answer, Request, Target
from trundle.api._resources import Resources, Wanted
from trundle.api._status import (
    ApiError,
    Cause,
    answer_to_any,
    invalid,
    missing,
    not_allowed,
    unsupported,
)
from trundle.api._steps import done
from trundle.api.access import Gate
from trundle.errors import TrundleError
from trundle.store import ConflictError, NoSuchObjectError, StoredObject

DEFAULT = "default"
"""The namespace that is always there."""

_FINALIZER = "kubernetes"
_NAME_LABEL = "kubernetes.io/metadata.name"


class Host(Gate, Protocol):
    """A cluster that an API is a part of: it knows users, says what they may do, and has the namespaces."""

    def namespace(self, name: str) -> Mapping[str, Any] | None:
        """A namespace as it is now; None where there is none.

        Raises:
            TrundleError: the cluster cannot be asked.
        """


class HostNamespaces:
    """The namespaces of the cluster that the API is a part of. The cluster deletes what is in one that is deleted, by requests.

    Args:
        host: the cluster.
        kind: the resource type of namespaces.
    """

    def __init__(self, host: Host, kind: ServedKind) -> None:
        self._host = host
        self._kind = kind

    def require(self, target: Target) -> None:
        """Raises where nothing can be created in the namespace of a target.

        Raises:
            ApiError: it is not there, is being deleted, or the cluster cannot be asked.
        """
        if not target.kind.namespaced:
            return
        try:
            found = self._host.namespace(target.namespace)
        except TrundleError as error:
            raise answer_to_any(error) from error
        if found is None:
            raise missing(self._kind, target.namespace)
        if found.get("metadata", {}).get("deletionTimestamp"):
            raise _terminated(target)


class Namespaces(Resources):
    """Answers requests about namespaces.

    Args:
        inventory: all objects.
        clock: gives the time.
    """

    def __init__(self, inventory: Inventory, clock: Clock) -> None:
        super().__init__(inventory.core, clock)
        self._inventory = inventory
        self._kind = inventory.core_kind(NAMESPACES)
        self._served = next(iter(self._kind.versions.values()))

    def ensure(self, name: str) -> None:
        """Creates a namespace that is not there."""
        if self._inventory.find(self._kind, "", name) is None:
            target = Target(self._kind, self._served)
            body = msgspec.json.encode({"metadata": {"name": name}})
            try:
                done(self.create(Request(target, {"fieldManager": "trundle"}, body)))
            except ApiError as error:
                if error.reason != "AlreadyExists":  # Another server was quicker.
                    raise

    def require(self, target: Target) -> None:
        """Raises where nothing can be created in the namespace of a target.

        Raises:
            ApiError: it is not there, or is being deleted.
        """
        if not target.kind.namespaced:
            return
        found = self._inventory.find(self._kind, "", target.namespace)
        if found is None:
            raise missing(self._kind, target.namespace)
        if found.object.deleted is not None:
            raise _terminated(target)

    def delete(self, request: Request) -> Answer:
        """Marks a namespace as deleted; it is gone when nothing is inside any more."""
        target = request.target
        if target.name == DEFAULT:
            raise _forbidden(target, "this namespace may not be deleted")
        deletion = deletion_of(request)
        with explained(target):
            deletion_done = self.store.delete(
                self.key(target),
                resource_version=deletion.resource_version,
                uid=deletion.uid,
                finalizers=(_FINALIZER, *FINALIZERS[deletion.policy]),
                dry_run=deletion.dry_run,
            )
            found = deletion_done.object
            if not deletion.dry_run:
                self._terminate(target)
                found = self.store.find(self.key(target)) or found
            return Answer(self.shown(found, target))

    def delete_all(self, request: Request) -> Answer:  # noqa: ARG002 - it is refused whatever it says
        """Namespaces are deleted one by one."""
        raise not_allowed()

    def made(self, target: Target, document: dict[str, Any]) -> dict[str, Any]:
        """A new namespace: it has a label with its name, and is active.

        Raises:
            ApiError: it shall wait for another controller when it is deleted, which none can say that it is done with.
        """
        spec = document.get("spec") or {}
        asked = spec.get("finalizers") or [] if isinstance(spec, dict) else spec
        if isinstance(asked, list):  # Else the schema refuses it as it is.
            others = [each for each in asked if each != _FINALIZER]
            if others:
                causes = [unsupported("spec.finalizers", each, _FINALIZER) for each in others]
                raise invalid(target.kind, target.name, causes)
            spec = {"finalizers": [_FINALIZER]}
        return {**_labelled(document, target), "spec": spec, "status": {"phase": "Active"}}

    def changed(
        self, target: Target, before: dict[str, Any], after: dict[str, Any]
    ) -> dict[str, Any]:
        """A namespace after a write: whatever a client leaves out, the label with its name and its finalizers stay."""
        wanted = super().changed(target, before, after)
        return {**_labelled(wanted, target), "spec": before.get("spec", {})}

    def _terminate(self, target: Target) -> None:
        """Says in the status that a namespace is being deleted."""

        def terminating(live: dict[str, Any], _: StoredObject) -> Wanted:
            return Wanted({**live, "status": {**live.get("status", {}), "phase": "Terminating"}})

        status = Target(target.kind, target.served, "", target.name, "status")
        try:
            done(self.write(Request(status, {"fieldManager": "trundle"}), terminating))
        except ApiError as error:
            if error.reason != "NotFound":  # It was empty, and is gone already.
                raise


class NamespaceController:
    """Deletes what is in namespaces that are deleted.

    Args:
        inventory: all objects.
        recorder: takes note of what was deleted.
    """

    def __init__(self, inventory: Inventory, recorder: EventRecorder) -> None:
        self._inventory = inventory
        self._recorder = recorder

    def changed(self, found: Kept) -> None:
        """Looks at an object as it is now."""
        if found.kind.kind != NAMESPACES or found.kind.group or found.object.deleted is None:
            return
        left = False
        for each in self._inventory.inside(found.object.key.name):
            left = True
            with contextlib.suppress(NoSuchObjectError, ConflictError):
                each.store.delete(each.object.key, uid=each.object.uid)
        if not left and _FINALIZER in found.object.finalizers:
            with contextlib.suppress(NoSuchObjectError, ConflictError):
                found.store.edit_metadata(found.object.key, _released, uid=found.object.uid)
                served = next(iter(found.kind.versions.values()))
                message = "the namespace was deleted, with all that was inside"
                self._recorder.note(found.kind, served, found.object, "Deleted", message)

    def gone(self, found: Kept) -> None:
        """Looks at the namespace of an object that was deleted."""
        namespace = found.object.key.namespace
        if namespace:
            there = self._inventory.find(self._inventory.core_kind(NAMESPACES), "", namespace)
            if there is not None:
                self.changed(there)


def _labelled(document: dict[str, Any], target: Target) -> dict[str, Any]:
    """A namespace with the label that has its name."""
    metadata = document.get("metadata", {})
    labels = {**(metadata.get("labels") or {}), _NAME_LABEL: target.name}
    return {**document, "metadata": {**metadata, "labels": labels}}


def _released(metadata: dict[str, Any]) -> dict[str, Any]:
    kept = [each for each in metadata.get("finalizers") or () if each != _FINALIZER]
    return {**metadata, "finalizers": kept}


def _terminated(target: Target) -> ApiError:
    name = target.namespace
    reason = f"unable to create new content in namespace {name} because it is being terminated"
    why = f"namespace {name} is being terminated"
    return _forbidden(target, reason, (Cause("NamespaceTerminating", "metadata.namespace", why),))


def _forbidden(target: Target, reason: str, causes: tuple[Cause, ...] = ()) -> ApiError:
    kind = target.kind
    message = f'{kind.qualified} "{target.name}" is forbidden: {reason}'
    details = {"name": target.name, "group": kind.group, "kind": kind.plural}
    return ApiError(403, "Forbidden", message, details, causes)
