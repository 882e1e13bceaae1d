"""Bodies of answers about several objects, and about objects that are gone."""

from collections.abc import Mapping
from typing import Any

import msgspec

from trundle.api._requests import Target
from trundle.store import StoredObject


def list_of(target: Target, metadata: Mapping[str, Any], items: list[bytes]) -> bytes:
    """A list as JSON, from its items as JSON."""
    head = {
        "apiVersion": target.kind.api_version(target.served),
        "kind": f"{target.kind.kind}List",
        "metadata": metadata,
    }
    return msgspec.json.encode(head)[:-1] + b',"items":[' + b",".join(items) + b"]}"


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
