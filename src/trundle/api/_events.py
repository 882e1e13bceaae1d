"""Events: what the server says to people about objects."""

import datetime as dt
import hashlib
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from trundle._clock import Clock
from trundle.api._core import EVENTS
from trundle.api._inventory import Inventory
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.store import Key, NoSuchObjectError, StoredObject

_COMPONENT = "trundle"
_ELSEWHERE = "default"
"""The namespace of events about objects that are in none."""

_KEPT = dt.timedelta(hours=1)
_AGAIN = dt.timedelta(minutes=5)
"""After how long the same is said again."""
_BETWEEN = dt.timedelta(minutes=1)
"""How long after each other old events are looked for."""
_MOST = 1000
_LONGEST_NAME = 200
_LONGEST_MESSAGE = 1024


class _Event(NamedTuple):
    kind: ServedKind
    served: ServedVersion
    object: StoredObject
    reason: str
    message: str
    type: str


class EventRecorder:
    """Writes down what happens to objects, and forgets it after an hour.

    Args:
        inventory: all objects.
        clock: gives the time.
    """

    def __init__(self, inventory: Inventory, clock: Clock) -> None:
        self._kind = inventory.core_kind(EVENTS)
        self._store = inventory.core
        self._clock = clock
        self._noted: dict[tuple[str, str, str], dt.datetime] = {}
        self._waiting: deque[_Event] = deque(maxlen=_MOST)
        self._expired = clock()

    def note(
        self,
        kind: ServedKind,
        served: ServedVersion,
        found: StoredObject,
        reason: str,
        message: str,
        *,
        warning: bool = False,
    ) -> None:
        """Takes note of what happened to an object; `flush` writes it down, so that no reader has to wait for that.

        Args:
            kind: the resource type of the object.
            served: the version at which it happened.
            found: the object.
            reason: a word for programs, e.g. `CannotBeConverted`.
            message: a sentence for people.
            warning: whether a person should do something about it.
        """
        now, about = self._clock(), (found.uid, reason, message)
        before = self._noted.get(about)
        if before is not None and abs(now - before) < _AGAIN:  # The clock may go back.
            return
        if len(self._noted) >= _MOST:
            self._noted.clear()
        self._noted[about] = now
        type_ = "Warning" if warning else "Normal"
        message = message[:_LONGEST_MESSAGE]
        self._waiting.append(_Event(kind, served, found, reason, message, type_))

    def flush(self) -> bool:
        """Writes down what was noted, and forgets what is old; whether anything was noted."""
        wrote = False
        while self._waiting:
            self._write(self._waiting.popleft())
            wrote = True
        now = self._clock()
        if abs(now - self._expired) >= _BETWEEN:
            self._expired = now
            self._expire(now)
        return wrote

    def _write(self, event: _Event) -> None:
        about = event.object
        digest = hashlib.sha256(f"{about.uid} {event.reason} {event.message}".encode()).hexdigest()
        name = f"{about.key.name[:_LONGEST_NAME]}.{digest[:16]}"
        key = Key(self._kind.resource, about.key.namespace or _ELSEWHERE, name)
        self._store.update(key, self._counted(event, name))

    def _counted(self, event: _Event, name: str) -> Callable[[StoredObject | None], bytes]:
        """An event that is there once more."""
        now = f"{self._clock():%Y-%m-%dT%H:%M:%SZ}"
        key = event.object.key

        def change(current: StoredObject | None) -> bytes:
            known: dict[str, Any] = {} if current is None else msgspec.json.decode(current.data)
            head = {"apiVersion": f"{self._kind.said_group}/v1", "kind": self._kind.kind}
            reference = {
                "apiVersion": event.kind.api_version(event.served),
                "kind": event.kind.kind,
                **({"namespace": key.namespace} if key.namespace else {}),
                "name": key.name,
                "uid": event.object.uid,
                "resourceVersion": str(event.object.resource_version),
            }
            document = {
                **head,
                "metadata": {"name": name},
                "involvedObject": reference,
                "reason": event.reason,
                "message": event.message,
                "type": event.type,
                "count": known.get("count", 0) + 1,
                "firstTimestamp": known.get("firstTimestamp", now),
                "lastTimestamp": now,
                "source": {"component": _COMPONENT},
                "reportingComponent": _COMPONENT,
            }
            return msgspec.json.encode(document)

        return change

    def _expire(self, now: dt.datetime) -> None:
        """Removes events that are old, and those from a time that is not to come for long: the clock was wrong then."""
        for each in self._store.stream(self._kind.resource):
            if abs(now - dt.datetime.fromisoformat(each.written)) > _KEPT:
                try:
                    self._store.delete(each.key, uid=each.uid)
                except NoSuchObjectError:
                    continue
