"""What Kubernetes has against a new event: it is in the namespace of its object, and one with a time says who saw what.

Source: `legacyValidateEvent` of Kubernetes' `pkg/apis/core/validation`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle.api._namespaces import DEFAULT
from trundle.api._requests import Target
from trundle.api._resources import Resources
from trundle.api._status import Cause, invalid
from trundle.cel import format_errors

_WITHOUT_OBJECT = (DEFAULT, "kube-system")
"""The namespaces of events about objects that are in none."""
_LONGEST = 128
_LONGEST_MESSAGE = 1024


class Events(Resources):
    """Answers requests about events."""

    def made(self, target: Target, document: dict[str, Any]) -> dict[str, Any]:
        """An event as it is stored when it is created.

        Raises:
            ApiError: it is not in the namespace of its object, or does not say who saw what.
        """
        if causes := [*_causes(document, target.namespace)]:
            raise invalid(target.kind, target.name, causes)
        return super().made(target, document)


def _causes(event: Mapping[str, Any], namespace: str) -> Iterator[Cause]:
    about = event.get("involvedObject") or {}
    place = about.get("namespace") or "" if isinstance(about, Mapping) else None
    if not isinstance(place, str):  # The schema refuses it as it is.
        return
    has_time = bool(event.get("eventTime"))
    elsewhere = (
        namespace not in _WITHOUT_OBJECT[: 1 + has_time]
        if not place
        else place != namespace and not has_time
    )
    if elsewhere:
        yield _wrong("involvedObject.namespace", place, "does not match event.namespace")
    if has_time:
        yield from _who(event)
        message = event.get("message")
        if isinstance(message, str) and len(message.encode()) > _LONGEST_MESSAGE:
            text = f"can have at most {_LONGEST_MESSAGE} characters"
            yield _wrong("message", "", text)


def _who(event: Mapping[str, Any]) -> Iterator[Cause]:
    for name in ("reportingComponent", "reportingInstance", "action", "reason"):
        found = event.get(name) or ""
        if not isinstance(found, str):  # The schema refuses it as it is.
            continue
        if not found:
            yield Cause("FieldValueRequired", name, "Required value")
        if name == "reportingComponent":
            yield from (_wrong(name, found, each) for each in format_errors("qualifiedName", found))
        elif len(found.encode()) > _LONGEST:
            yield _wrong(name, "", f"can have at most {_LONGEST} characters")


def _wrong(field: str, found: Any, why: str) -> Cause:
    said = msgspec.json.encode(found).decode()
    return Cause("FieldValueInvalid", field, f"Invalid value: {said}: {why}")
