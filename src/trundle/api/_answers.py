"""Bodies of answers about several objects, and about objects that are gone."""

import msgspec

from trundle.api._requests import Target
from trundle.store import StoredObject

LIST_OF_VERSIONS = b'{"kind":"List","apiVersion":"v1","metadata":{},"items":['
"""How a list of what one object is at several versions begins; its items and `]}` follow."""


def list_head(target: Target, resource_version: int, token: str) -> bytes:
    """How a list begins; its items and `]}` follow."""
    metadata = {"resourceVersion": str(resource_version), "continue": token}
    head = {
        "apiVersion": target.kind.api_version(target.served),
        "kind": f"{target.kind.kind}List",
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
