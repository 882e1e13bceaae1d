"""What Kubernetes has against an event: it is in the namespace of its object, and one with a time says who saw what.

Events of `events.k8s.io` are held to more: they have a time and nothing that is deprecated, and what they say stays.

Source: `pkg/apis/core/validation/events.go` of Kubernetes. The places that it names are those of the group without a name.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trundle.api._causes import invalid_value
from trundle.api._event_words import EVENTS_GROUP, words_of_core
from trundle.api._namespaces import DEFAULT
from trundle.api._requests import Target
from trundle.api._resources import Resources
from trundle.api._status import Cause, invalid
from trundle.cel import format_errors

_WITHOUT_OBJECT = (DEFAULT, "kube-system")
"""The namespaces of events about objects that are in none."""
_LONGEST = 128
_LONGEST_MESSAGE = 1024
_TYPES = ("Normal", "Warning")
_LEAST_OF_A_SERIES = 2
_DEPRECATED = ("firstTimestamp", "lastTimestamp", "count", "source")
_FIXED = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
"""What an event of `events.k8s.io` has for good, in the order in which Kubernetes looks at it: at the reason twice, and says so twice."""
_TIMES = frozenset({"firstTimestamp", "lastTimestamp", "eventTime"})
_REFERENCE = {
    "Kind": "kind",
    "Namespace": "namespace",
    "Name": "name",
    "UID": "uid",
    "APIVersion": "apiVersion",
    "ResourceVersion": "resourceVersion",
    "FieldPath": "fieldPath",
}
_MEMBERS: Mapping[str, Mapping[str, str]] = {
    "involvedObject": _REFERENCE,
    "related": _REFERENCE,
    "source": {"Component": "component", "Host": "host"},
}
"""What Go calls the members of objects in an event."""
_BEYOND_MICROSECONDS = re.compile(r"(\.[0-9]{6})[0-9]+")

_Event = Mapping[str, Any]


class Events(Resources):
    """Answers requests about events."""

    def made(self, target: Target, document: dict[str, Any]) -> dict[str, Any]:
        """An event as it is stored when it is created.

        Raises:
            ApiError: Kubernetes takes no such event.
        """
        event = words_of_core(target.kind, document)
        causes = [*_causes(target, event)]
        if _is_strict(target):
            causes += _strict_causes(event)
        _require_none(target, causes)
        return super().made(target, document)

    def changed(
        self, target: Target, before: dict[str, Any], after: dict[str, Any]
    ) -> dict[str, Any]:
        """An event as it is stored when it is written over.

        Raises:
            ApiError: Kubernetes takes no such event, or no such change.
        """
        was, event = (words_of_core(target.kind, each) for each in (before, after))
        causes = [*_causes(target, event)]
        if _is_strict(target):
            causes += _change_causes(was, event)
        _require_none(target, causes)
        return super().changed(target, before, after)


def _is_strict(target: Target) -> bool:
    return target.kind.group == EVENTS_GROUP


def _require_none(target: Target, causes: list[Cause]) -> None:
    """Raises where there are causes; Kubernetes names no group then, as it looks at what it has inside.

    Raises:
        ApiError: there are.
    """
    if causes:
        raise invalid(replace(target.kind, group=""), target.name, causes)


def _causes(target: Target, event: _Event) -> Iterator[Cause]:
    """What every event is held to."""
    about = event.get("involvedObject") or {}
    place = about.get("namespace") or "" if isinstance(about, Mapping) else None
    if not isinstance(place, str):  # The schema refuses it as it is.
        return
    namespace, has_time = target.namespace, bool(event.get("eventTime"))
    elsewhere = (
        namespace not in _WITHOUT_OBJECT[: 1 + has_time]
        if not place
        else place != namespace and not has_time
    )
    if elsewhere:
        yield invalid_value("involvedObject.namespace", place, "does not match event.namespace")
    if has_time:
        yield from _who(event, "reportingController" if _is_strict(target) else "")
        message = event.get("message")
        if isinstance(message, str) and len(message.encode()) > _LONGEST_MESSAGE:
            text = f"can have at most {_LONGEST_MESSAGE} characters"
            yield invalid_value("message", "", text)


def _who(event: _Event, controller: str) -> Iterator[Cause]:
    """What an event with a time lacks of who saw what.

    Args:
        event: the event.
        controller: what the controller is called, if otherwise.
    """
    for name in ("reportingComponent", "reportingInstance", "action", "reason"):
        found = event.get(name) or ""
        if not isinstance(found, str):  # The schema refuses it as it is.
            continue
        is_controller = name == "reportingComponent"
        place = (controller or name) if is_controller else name
        if not found:
            yield Cause("FieldValueRequired", place, "Required value")
        if is_controller:
            yield from (
                invalid_value(place, found, each) for each in format_errors("qualifiedName", found)
            )
        elif len(found.encode()) > _LONGEST:
            yield invalid_value(name, "", f"can have at most {_LONGEST} characters")


def _strict_causes(event: _Event) -> Iterator[Cause]:
    """What a new event of `events.k8s.io` is held to beside that."""
    yield from _series_causes(event)
    if not event.get("eventTime"):
        yield Cause("FieldValueRequired", "eventTime", "Required value")
    type_ = event.get("type") or ""
    if type_ not in _TYPES:
        yield invalid_value("type", "", f"has invalid value: {type_}")
    for name in _DEPRECATED:
        if not _is_empty(event.get(name)):
            yield invalid_value(name, "", "needs to be unset")


def _change_causes(was: _Event, event: _Event) -> Iterator[Cause]:
    """What a change of an event of `events.k8s.io` is held to."""
    if _plain(was.get("series")) != _plain(event.get("series")):
        yield from _series_causes(event)
    for name in _FIXED:
        before, after = was.get(name), event.get(name)
        is_time = name in _TIMES
        if _plain(before, is_time=is_time) != _plain(after, is_time=is_time):
            place = "reportingController" if name == "reportingComponent" else name
            yield invalid_value(place, _as_go(name, after), "field is immutable")


def _series_causes(event: _Event) -> Iterator[Cause]:
    series = event.get("series")
    if not isinstance(series, Mapping):
        return
    count = series.get("count") or 0
    if isinstance(count, int) and count < _LEAST_OF_A_SERIES:
        yield invalid_value("series.count", "", f"should be at least {_LEAST_OF_A_SERIES}")
    if not series.get("lastObservedTime"):
        yield Cause("FieldValueRequired", "series.lastObservedTime", "Required value")


def _is_empty(value: Any) -> bool:
    """Whether Go has nothing there."""
    if isinstance(value, Mapping):
        return all(_is_empty(each) for each in value.values())
    return value in (None, "", 0)


def _plain(value: Any, *, is_time: bool = False) -> Any:
    """A value as Go compares it: without what is empty, and a time as such, to the microsecond."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items() if not _is_empty(each)}
    if _is_empty(value):
        return None
    if is_time and isinstance(value, str):
        try:
            return dt.datetime.fromisoformat(_BEYOND_MICROSECONDS.sub(r"\1", value))
        except ValueError:  # The schema refuses it as it is.
            return value
    return value


def _as_go(name: str, value: Any) -> Any:
    """The value of a field as Go has it, with all members of an object."""
    members = _MEMBERS.get(name)
    if members is not None:
        given = value if isinstance(value, Mapping) else {}
        absent = name == "related" and value is None
        return None if absent else {x: given.get(y) or "" for x, y in members.items()}
    if value is None and name not in _TIMES:
        return 0 if name == "count" else ""
    return value
