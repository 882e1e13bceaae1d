"""What clients are shown of stored objects, at a version."""

from typing import Any

import msgspec

from trundle.api._documents import to_client
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.runtime import ConversionError
from trundle.store import Store, StoredObject

UNCONVERTIBLE = "trundle.dev/cannot-be-converted"
"""The annotation of an object that a version cannot show; its value says why."""


class Views:
    """Shows stored objects as clients of a version see them.

    Args:
        store: keeps the objects.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def exact(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as JSON.

        Raises:
            ConversionError: the version cannot show it.
        """
        return to_client(self._store.shown(found, served.version), kind, served)

    def listed(self, found: StoredObject, kind: ServedKind, served: ServedVersion) -> bytes:
        """An object as it stands in lists and watches: one that the version cannot show has its metadata, and the reason.

        So one object blocks no other.
        """
        try:
            return self.exact(found, kind, served)
        except ConversionError as error:
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
