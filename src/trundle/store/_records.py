"""What a store gives: keys, objects, pages of lists, changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from trundle.store._selectors import LabelSelector

ChangeKind: TypeAlias = Literal["added", "modified", "deleted"]


class Key(msgspec.Struct, frozen=True, order=True):
    """Which object.

    Attributes:
        resource: its resource type, as the scheme calls it.
        namespace: its namespace; empty where the resource type has none.
        name: its name.
    """

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.resource} {'/'.join(filter(None, (self.namespace, self.name)))}"


class StoredObject(msgspec.Struct, frozen=True):
    """An object as a store keeps it.

    Attributes:
        key: which object.
        uid: what distinguishes it from all others, also from earlier ones of its key.
        resource_version: grows with each write to its resource type.
        generation: how often anything but its metadata was written.
        created: when it was created, in RFC 3339 with microseconds, in UTC.
        deleted: when it was marked as deleted; None where it was not. It is gone once it has no finalizers.
        written: when it was last written.
        labels: its labels, at its storage version.
        finalizers: who has to do something before it is gone.
        owners: the uids of its owners.
        storage_version: the version whose storage type it has.
        written_with: the API version that it was last written with.
        data: the stored document, without what the other attributes have; see `Store.shown`.
    """

    key: Key
    uid: str
    resource_version: int
    generation: int
    created: str
    deleted: str | None
    written: str
    labels: Mapping[str, str]
    finalizers: tuple[str, ...]
    owners: tuple[str, ...]
    storage_version: str
    written_with: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ObjectChoice:
    """Which objects of a resource type.

    Attributes:
        namespace: those of one namespace; of all where None.
        name: those of one name; of all where None.
        labels: those that a selector chooses by their labels at the storage version.
    """

    namespace: str | None = None
    name: str | None = None
    labels: LabelSelector = LabelSelector()  # noqa: RUF009 - it is immutable

    def has(self, found: StoredObject) -> bool:
        """Whether an object is among them."""
        return (
            self.namespace in {None, found.key.namespace}
            and self.name in {None, found.key.name}
            and self.labels.matches(found.labels)
        )


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One write that changed an object.

    Attributes:
        kind: what the write did.
        object: the object after it; of one that was deleted its last state, with the resource version of the deletion.
        previous: the object before it; None for one that was added.
    """

    kind: ChangeKind
    object: StoredObject
    previous: StoredObject | None = None

    @property
    def resource_version(self) -> int:
        """The resource version of the write."""
        return self.object.resource_version

    def within(self, chosen: Callable[[StoredObject], bool]) -> "ObjectChange | None":
        """The change as a watcher of some objects sees it; None where it does not concern these.

        An object that begins to be among them is `added`, one that ceases to be is `deleted`, in the state that was among them.

        Args:
            chosen: whether an object is among them.
        """
        before = self.previous is not None and chosen(self.previous)
        after = self.kind != "deleted" and chosen(self.object)
        if before and after:
            return self
        if after:
            return ObjectChange("added", self.object)
        if not before:
            return None
        if self.kind == "deleted":
            return self
        assert self.previous is not None, "it was among them"
        last = msgspec.structs.replace(self.previous, resource_version=self.resource_version)
        return ObjectChange("deleted", last, self.previous)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a resource type after a resource version.

    Attributes:
        changes: the changes, in their order.
        resource_version: up to where they are complete; go on from there.
    """

    changes: tuple[ObjectChange, ...]
    resource_version: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list.

    Attributes:
        objects: the objects, by namespace and name.
        resource_version: the moment that all pages of this list show; a watch goes on from there.
        token: gives the next page; empty where this is the last one.
        remaining: how many objects follow those of this page; None where that was not counted.
    """

    objects: tuple[StoredObject, ...]
    resource_version: int
    token: str = ""
    remaining: int | None = None
