"""What of a document is its status, where that is written apart."""

from typing import Any

from trundle.api._requests import Target
from trundle.api.apply import STATUS, restricted


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
