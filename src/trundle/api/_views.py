"""What clients are shown of stored objects, at a version."""

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from trundle.api._documents import (
    shown_object,
    to_client,
    to_scheme,
    with_tidy_metadata,
    without_empty,
)
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._ownership import Ownership
from trundle.api._reading import unknown_of
from trundle.api._recent import Recent
from trundle.api.monitoring import counted
from trundle.runtime import ConversionError, DocumentError, Lenience
from trundle.store import Key, PreparedWrite, Store, StoredObject

OWNERS = "managedFields"
"""The member of metadata that says who owns which fields."""

UNCONVERTIBLE = "trundle.dev/cannot-be-converted"
"""The annotation of an object that a version cannot show; its value says why."""


_REMEMBERED = 16 * 1024 * 1024
"""How many bytes of objects as clients see them are remembered, with what they were made of, about."""

Failed: TypeAlias = Callable[[StoredObject, ServedKind, ServedVersion, ConversionError], object]


class Views:
    """Shows stored objects as clients of a version see them.

    Args:
        store: keeps the objects.
        failed: called with each object that a version cannot show in a list or watch, and why.
    """

    def __init__(self, store: Store, failed: Failed = lambda *_: None) -> None:
        self._store = store
        self._failed = failed
        self._ownerships: dict[tuple[str, str], Ownership] = {}
        self._recent: Recent[bytes] = Recent(_REMEMBERED)

    def ownership(self, kind: ServedKind, served: ServedVersion) -> Ownership:
        """Who owns what at a version of a resource type."""
        key = kind.resource, served.version
        if key not in self._ownerships:
            self._ownerships[key] = Ownership(kind, served)
        return self._ownerships[key]

    def kept(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as JSON, with the owners of its fields as they are kept; remembered for a while.

        Raises:
            ConversionError: the version cannot show it.
        """
        # All that the answer depends on: no change can make it wrong.
        key = (
            *(kind.resource, served.version, found.uid, found.resource_version, found.generation),
            *(found.created, found.deleted, found.data),
        )
        shown = self._recent.get(key)
        if shown is None:
            shown = self._converted(found, kind, served)
            self._recent.keep(key, shown, len(shown) + len(found.data))
        return shown

    def _converted(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """Like `kept`, but not remembered. Kubernetes does not count the writes of its own."""
        with counted(kind.group, kind.plural, served.label):
            try:
                shown = to_client(self._store.shown(found, served.version), kind, served)
            except DocumentError as error:  # It is no document of the client that asks.
                raise ConversionError(str(error)) from error
        return _as_own(shown, kind)

    def exact(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as JSON; remembered for a while.

        Raises:
            ConversionError: the version cannot show it.
        """
        return self.ownership(kind, served).shown(self.kept(found, kind, served))

    def draft(
        self,
        key: Key,
        document: dict[str, Any],
        kind: ServedKind,
        served: ServedVersion,
        lenience: Lenience,
        current: StoredObject | None = None,
    ) -> PreparedWrite:
        """What a client's document makes of an object.

        Args:
            key: the object's key.
            document: the document, with owners of its fields as they are kept.
            kind: its resource type.
            served: its version.
            lenience: what is tolerated about it.
            current: the object as it is stored; None where it is created.

        Raises:
            ConversionError: it is not what its version says.
            InvalidMetadataError: its metadata cannot be kept, or names another object.
        """
        given = to_scheme(with_tidy_metadata(document), kind, served)
        return self._store.draft(key, given, current, lenience=lenience)

    def drafted(
        self,
        draft: PreparedWrite,
        kind: ServedKind,
        served: ServedVersion,
        current: StoredObject | None = None,
    ) -> dict[str, Any]:
        """A draft as the object would be shown: with its defaults, without what is dropped; see `draft`."""
        if current is None:
            shown = self._store.scheme.read(served.version, draft.data)
        else:
            as_drafted = msgspec.structs.replace(current, data=draft.data)
            shown = self._store.shown(as_drafted, served.version)
        return shown_object(_as_own(to_client(shown, kind, served), kind))

    def unknown(
        self,
        document: dict[str, Any],
        kind: ServedKind,
        served: ServedVersion,
        stored: bytes | None = None,
    ) -> list[str]:
        """The fields of a document that a version does not know, and that it does not show of what is stored; the document may be wrong otherwise.

        Args:
            document: the document.
            kind: its resource type.
            served: its version.
            stored: what is stored of the object; None where it is created.
        """
        given = to_scheme(with_tidy_metadata(document), kind, served)
        lenience = Lenience(nulls=True, defaults=True)
        try:
            self._store.scheme.put(None, given, stored, resource=kind.resource, lenience=lenience)
        except DocumentError as error:
            return unknown_of(error)
        except ConversionError:
            pass
        return []

    def as_read(
        self,
        document: dict[str, Any],
        kind: ServedKind,
        served: ServedVersion,
        lenience: Lenience,
        stored: bytes | None,
    ) -> dict[str, Any]:
        """A document as it would be shown if it were written: with its defaults, without what is dropped.

        Args:
            document: the document.
            kind: its resource type.
            served: its version.
            lenience: what is tolerated about it.
            stored: what is stored of the object; None where nothing is.

        Raises:
            ConversionError: it is not what its version says.
        """
        scheme = self._store.scheme
        given = to_scheme(with_tidy_metadata(document), kind, served)
        put = scheme.put(None, given, stored, resource=kind.resource, lenience=lenience)
        return shown_object(to_client(scheme.read(served.version, put), kind, served))

    def listed(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as it stands in lists: one that the version cannot show has its metadata, and the reason.

        So one object blocks no other. Nothing is remembered, as lists can be long.
        """
        return self._shown_or_why(self._converted, found, kind, served)

    def watched(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as it stands in watches; see `listed`. It is remembered for a while, as by the request that wrote it."""
        return self._shown_or_why(self.kept, found, kind, served)

    def _shown_or_why(
        self,
        convert: Callable[[StoredObject, ServedKind, ServedVersion], bytes],
        found: StoredObject,
        kind: ServedKind,
        served: ServedVersion,
    ) -> bytes:
        try:
            return self.ownership(kind, served).shown(convert(found, kind, served))
        except ConversionError as error:
            self._failed(found, kind, served, error)
            metadata: dict[str, Any] = {
                "name": found.key.name,
                **({"namespace": found.key.namespace} if found.key.namespace else {}),
                "uid": found.uid,
                "resourceVersion": str(found.resource_version),
                "generation": found.generation,
                "creationTimestamp": f"{found.created[:19]}Z",
                "labels": dict(found.labels),
                "annotations": {UNCONVERTIBLE: str(error)},
            }
            head = {"apiVersion": kind.api_version(served), "kind": kind.kind}
            return msgspec.json.encode({**head, "metadata": metadata})


def _as_own(shown: bytes, kind: ServedKind) -> bytes:
    """An object as API servers show it; those of Kubernetes' own have no generation, and nothing that Go leaves out as it is empty."""
    return without_empty(shown, kind.kept_empty) if kind.is_core else shown
