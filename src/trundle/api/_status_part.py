"""What of a document is its status, where that is written apart."""

from collections.abc import Mapping
from typing import Any

from trundle.api._requests import Target
from trundle.api.apply import STATUS, restricted

_HEAD = frozenset({"apiVersion", "kind", "metadata"})


def stated_of(target: Target, document: dict[str, Any]) -> dict[str, Any]:
    """What of a new object is stored: all but its status, where that is written apart."""
    if not target.kind.keeps_status(target.served):
        return document
    return {key: value for key, value in document.items() if key != STATUS}


def status_apart(target: Target, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is written of a document: only its status, or all but that."""
    if not target.kind.keeps_status(target.served):
        return after
    return dict(restricted(target.subresource, before, after))


def subresource_of(document: Mapping[str, Any], subresource: str) -> dict[str, Any]:
    """What of a document a request for a subresource writes, with what names the object."""
    return {key: each for key, each in document.items() if key in {*_HEAD, subresource}}


def leaves_out(target: Target, before: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether a document says something of an object that the request does not write: its status, or what is beside that."""
    if not target.kind.keeps_status(target.served):
        return False
    written = target.subresource == STATUS
    return any(
        (name == STATUS) is not written and each != before.get(name)
        for name, each in document.items()
        if name not in _HEAD
    )
