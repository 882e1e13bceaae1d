"""Bodies of answers about several objects, and about objects that are gone."""

from typing import Any

import msgspec

from trundle.api._requests import Target
from trundle.store import Page, StoredObject

LIST_OF_VERSIONS = b'{"kind":"List","apiVersion":"v1","metadata":{},"items":['
"""How a list of what one object is at several versions begins; its items and `]}` follow."""


def list_head(target: Target, page: Page, *, paged: bool) -> bytes:
    """How a list begins; its items and `]}` follow.

    Args:
        target: what is listed.
        page: the first page.
        paged: whether a client asks for pages.
    """
    metadata: dict[str, Any] = {
        "resourceVersion": str(page.resource_version),
        "continue": page.token if paged else "",
    }
    if paged and page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    head = {
        "apiVersion": target.kind.api_version(target.served),
        "kind": target.kind.list_kind,
        "metadata": metadata,
    }
    return msgspec.json.encode(head)[:-1] + b',"items":['


def deleted(target: Target, gone: StoredObject) -> bytes:
    """What a deletion answers that leaves nothing of an object."""
    details = {
        "name": gone.key.name,
        "group": target.kind.group,
        "kind": target.kind.plural,
        "uid": gone.uid,
    }
    return msgspec.json.encode(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
    )
