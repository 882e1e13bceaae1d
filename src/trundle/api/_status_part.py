"""What of a document is its status, where that is written apart."""

import functools
from typing import Any

from trundle.api._kinds import ServedKind
from trundle.api._requests import Target
from trundle.api.apply import STATUS, restricted

_KINDS = 1024
"""Of how many resource types it is known at a time; each request asks."""


@functools.lru_cache(_KINDS)
def has_status_apart(kind: ServedKind) -> bool:
    """Whether the status of a resource type is written apart: where any version of it declares one."""
    return any(each.declares(STATUS) for each in kind.versions.values())


def stated_of(target: Target, document: dict[str, Any]) -> dict[str, Any]:
    """What of a new object is stored: all but its status, where that is written apart."""
    if not has_status_apart(target.kind):
        return document
    return {key: value for key, value in document.items() if key != STATUS}


def status_apart(target: Target, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is written of a document: only its status, or all but that."""
    if not has_status_apart(target.kind):
        return after
    return dict(restricted(target.subresource, before, after))
