"""Objects, deleted as Kubernetes' API does it."""

from trundle.api._admission import Admission
from trundle.api._answers import deleted
from trundle.api._deletions import Deletion, deletion_of
from trundle.api._garbage import FINALIZERS
from trundle.api._object_reads import ObjectReads
from trundle.api._reading import explained
from trundle.api._requests import Answer, Request
from trundle.api._status import modified
from trundle.store import ConflictError, WriteDecision

_ATTEMPTS = 8
"""How often an object that hooks are asked about is deleted anew after another client wrote it."""


class Removals:
    """Answers requests that delete an object.

    Args:
        reads: the objects.
        admission: asks hooks before objects are deleted.
    """

    def __init__(self, reads: ObjectReads, admission: Admission) -> None:
        self._reads = reads
        self._admission = admission

    def one(self, request: Request) -> Answer:
        """Deletes an object, or marks it as deleted while it has finalizers."""
        target = request.target
        deletion = deletion_of(request)
        with explained(target):
            try:
                done, warnings = self._delete(request, deletion)
            except ConflictError as error:
                found = self._reads.store.get(self._reads.key(target))
                why = deletion.refused_by(found.uid, found.resource_version)
                called = target.kind.kind
                raise modified(target.kind, target.name, why, called=called) from error
            if done.kind == "deleted":
                return Answer(deleted(target, done.object), 200, warnings)
            return Answer(self._reads.shown(done.object, target), 200, warnings)

    def _delete(
        self, request: Request, deletion: Deletion
    ) -> tuple[WriteDecision, tuple[str, ...]]:
        """Deletes an object; one that hooks are asked about is the one that they saw."""
        key = self._reads.key(request.target)
        finalizers = FINALIZERS[deletion.policy]
        if not self._admission.handles(request.target.kind, "delete"):
            version, uid, dry_run = deletion.resource_version, deletion.uid, deletion.dry_run
            done = self._reads.store.delete(
                key, resource_version=version, uid=uid, finalizers=finalizers, dry_run=dry_run
            )
            return done, ()
        for _ in range(_ATTEMPTS):
            self._reads.store.delete(
                key, resource_version=deletion.resource_version, uid=deletion.uid, dry_run=True
            )
            seen = self._reads.store.get(key)
            dry_run = deletion.dry_run
            warnings = self._admission.deleting(request, request.target, seen, dry_run=dry_run)
            version, uid = seen.resource_version, seen.uid
            try:
                done = self._reads.store.delete(
                    key, resource_version=version, uid=uid, finalizers=finalizers, dry_run=dry_run
                )
            except ConflictError:
                continue
            return done, warnings
        raise modified(request.target.kind, request.target.name)
