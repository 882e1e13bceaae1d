"""What the groups that events are served in call their fields."""

from collections.abc import Mapping
from typing import Any

from trundle.api._kinds import ServedKind

EVENTS_GROUP = "events.k8s.io"
SOURCE = "source"
"""The field by which selectors in the group without a name choose who an event is from."""
_OF_CORE: Mapping[str, str] = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""What fields of `events.k8s.io` are called in the group without a name."""


def is_event(kind: ServedKind) -> bool:
    """Whether a resource type is that of events, in one of its groups."""
    return kind.kind == "Event" and kind.group in {"", EVENTS_GROUP}


def words_of_core(kind: ServedKind, event: Mapping[str, Any]) -> dict[str, Any]:
    """An event with its fields as the group without a name calls them."""
    if kind.group != EVENTS_GROUP:
        return dict(event)
    return {_OF_CORE.get(name, name): each for name, each in event.items()}


def source_of(event: Mapping[str, Any]) -> str:
    """Who an event of the group without a name is from."""
    found = (event.get("source") or {}).get("component") or event.get("reportingComponent")
    return str(found or "")
