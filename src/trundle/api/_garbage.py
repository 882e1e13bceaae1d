"""Deletes what has no owner any more, as Kubernetes' garbage collector does.

An object goes when all of its owners are gone. An owner that is deleted in the foreground waits for the objects that block it; one
that is deleted with the policy `Orphan` waits until no object names it any more.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from trundle.api._inventory import Inventory, Kept
from trundle.store import ConflictError, NoSuchObjectError

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
"""The finalizers of objects that are deleted so."""

Policy: TypeAlias = Literal["Background", "Foreground", "Orphan"]
FINALIZERS: Mapping[Policy, tuple[str, ...]] = {
    "Background": (),
    "Foreground": (FOREGROUND,),
    "Orphan": (ORPHAN,),
}

_Reference: TypeAlias = Mapping[str, Any]


class GarbageCollector:
    """Looks at objects that changed, and deletes what has no owner any more.

    Args:
        inventory: all objects.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def changed(self, found: Kept) -> None:
        """Looks at an object as it is now."""
        if found.object.deleted is not None:
            if FOREGROUND in found.object.finalizers:
                self._delete_dependents(found)
            elif ORPHAN in found.object.finalizers:
                self._release_dependents(found)
        elif found.object.owners:
            self._collect(found)

    def gone(self, found: Kept) -> None:
        """Looks at what an object that was deleted leaves behind."""
        for each in self._inventory.dependents(found.object.uid):
            self.changed(each)
        for owner in self._owners(found):
            self.changed(owner)

    def _collect(self, found: Kept) -> None:
        """Deletes an object whose owners are gone, or wait for it."""
        references = list(_references(found))
        owners = {str(each.get("uid")): self._owner(found, each) for each in references}
        unknown = any(not self._is_known(found, each) for each in references)
        waiting = [uid for uid, owner in owners.items() if owner is not None and _waits(owner)]
        there = [uid for uid, owner in owners.items() if owner is not None and uid not in waiting]
        if unknown or len(there) == len(owners):
            return
        if there:
            _edit(found, lambda metadata: _without_owners(metadata, owners.keys() - set(there)))
        elif waiting:
            if any(map(_waits, self._inventory.dependents(found.object.uid))):
                _edit(found, _unblocking)  # They wait for each other.
                return
            _delete(found, "Foreground")
        else:
            _delete(found, "Background")

    def _is_known(self, found: Kept, reference: _Reference) -> bool:
        """Whether it can be said that an owner is gone: not of a resource type that is not served here, nor in no namespace."""
        kind = self._inventory.named(reference)
        return kind is not None and (found.kind.namespaced or not kind.namespaced)

    def _delete_dependents(self, owner: Kept) -> None:
        dependents = list(self._inventory.dependents(owner.object.uid))
        for each in dependents:
            if each.object.deleted is None:
                self._collect(each)
        if not any(_blocks(each, owner) for each in self._inventory.dependents(owner.object.uid)):
            _edit(owner, lambda metadata: _without_finalizer(metadata, FOREGROUND))

    def _release_dependents(self, owner: Kept) -> None:
        for each in self._inventory.dependents(owner.object.uid):
            _edit(each, lambda metadata: _without_owners(metadata, {owner.object.uid}))
        _edit(owner, lambda metadata: _without_finalizer(metadata, ORPHAN))

    def _owners(self, found: Kept) -> Iterator[Kept]:
        owners = (self._owner(found, each) for each in _references(found))
        return (each for each in owners if each is not None)

    def _owner(self, found: Kept, reference: _Reference) -> Kept | None:
        """The owner that an object names; None where it is gone."""
        kind = self._inventory.named(reference)
        if kind is None:
            return None
        namespace, name = found.object.key.namespace, str(reference.get("name", ""))
        owner = self._inventory.find(kind, namespace, name)
        return owner if owner is not None and owner.object.uid == reference.get("uid") else None


def _references(found: Kept) -> Iterator[_Reference]:
    listed = found.metadata.get("ownerReferences")
    return (each for each in listed or () if isinstance(each, dict))


def _waits(owner: Kept) -> bool:
    """Whether an object is deleted once what it owns is gone."""
    return owner.object.deleted is not None and FOREGROUND in owner.object.finalizers


def _blocks(found: Kept, owner: Kept) -> bool:
    """Whether an owner that waits has to wait for an object."""
    return any(
        each.get("uid") == owner.object.uid and each.get("blockOwnerDeletion") is True
        for each in _references(found)
    )


def _delete(found: Kept, policy: Policy) -> None:
    """Deletes an object as it was seen; one that was written meanwhile is looked at again by that."""
    seen = found.object
    with contextlib.suppress(NoSuchObjectError, ConflictError):
        found.store.delete(
            seen.key,
            resource_version=seen.resource_version,
            uid=seen.uid,
            finalizers=FINALIZERS[policy],
        )


def _edit(found: Kept, edit: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    with contextlib.suppress(NoSuchObjectError, ConflictError):
        found.store.edit_metadata(found.object.key, edit, uid=found.object.uid)


def _without_finalizer(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    finalizers = [each for each in metadata.get("finalizers") or () if each != name]
    return _with(metadata, "finalizers", finalizers)


def _without_owners(metadata: dict[str, Any], uids: Collection[str]) -> dict[str, Any]:
    owners = [x for x in metadata.get("ownerReferences") or () if x.get("uid") not in uids]
    return _with(metadata, "ownerReferences", owners)


def _unblocking(metadata: dict[str, Any]) -> dict[str, Any]:
    owners = metadata.get("ownerReferences") or ()
    return {**metadata, "ownerReferences": [{**x, "blockOwnerDeletion": False} for x in owners]}


def _with(metadata: dict[str, Any], name: str, values: list[Any]) -> dict[str, Any]:
    """Metadata with a list, or without it where it is empty."""
    rest = {key: value for key, value in metadata.items() if key != name}
    return {**rest, name: values} if values else rest
