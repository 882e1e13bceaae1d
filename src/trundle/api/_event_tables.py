"""Tables of events, as Kubernetes prints them: what was seen last of which object stands before everything else.

Source: `printEvent` of Kubernetes' `pkg/printers/internalversion`, and the descriptions of `core/v1` `Event`.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from trundle.api._ages import age

_UNKNOWN = "<unknown>"
_COLUMNS = (
    ("Last Seen", 0, "The time at which the most recent occurrence of this event was recorded."),
    (
        "Type",
        0,
        "Type of this event (Normal, Warning), new types could be added in the future",
    ),
    (
        "Reason",
        0,
        (
            "This should be a short, machine understandable string that gives the reason for the transition into the object's "
            "current status."
        ),
    ),
    ("Object", 0, "The object that this event is about."),
    (
        "Subobject",
        1,
        (
            "If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field "
            "access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container "
            'within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container '
            'that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this '
            "pod). This syntax is chosen only to have some well-defined way of referencing a part of an object."
        ),
    ),
    (
        "Source",
        1,
        "The component reporting this event. Should be a short machine understandable string.",
    ),
    ("Message", 0, "A human-readable description of the status of this operation."),
    (
        "First Seen",
        1,
        "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
    ),
    ("Count", 1, "The number of times this event has occurred."),
)


def event_columns(name: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The columns of tables of events.

    Args:
        name: the column with names, which is the first one of other tables.
    """
    found = [
        {"name": each, "type": "string", "format": "", "description": text, "priority": priority}
        for each, priority, text in _COLUMNS
    ]
    return [*found, {**name, "priority": 1}]


def event_cells(event: Mapping[str, Any], now: dt.datetime) -> list[Any]:
    """What stands in the row of an event.

    Args:
        event: the event.
        now: the time.
    """
    about, source = event.get("involvedObject") or {}, event.get("source") or {}
    first = _since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = event.get("lastTimestamp")
    seen, count = (_since(last, now) if last else first), event.get("count") or 1
    if series := event.get("series"):
        seen, count = _since(series.get("lastObservedTime"), now), series.get("count", 0)
    component = source.get("component") or event.get("reportingComponent")
    instance = source.get("host") or event.get("reportingInstance")
    return [
        seen,
        event.get("type", ""),
        event.get("reason", ""),
        "/".join(filter(None, (about.get("kind", "").lower(), about.get("name")))),
        about.get("fieldPath", ""),
        f"{component or ''}, {instance}" if instance else component or "",
        event.get("message", "").strip(),
        first,
        count,
        event["metadata"].get("name", ""),
    ]


def _since(time: str | None, now: dt.datetime) -> str:
    return age(time, now) if time else _UNKNOWN
