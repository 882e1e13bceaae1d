"""Records of requests as lines: for people, and as JSON."""

import datetime as dt
import ipaddress
import json
from collections.abc import Callable, Mapping
from typing import Any

from trundle._clock import Clock, now
from trundle.api.access import User
from trundle.api.monitoring._recording import RequestRecord, Stage, reason_of

_AUDIT = "audit.k8s.io/v1"
_FIRST_FAILURE = 400


class AccessLog:
    """Writes a line for each request that was answered.

    Args:
        write: takes the lines.
        as_json: whether they are JSON, rather than text for people.
    """

    def __init__(self, write: Callable[[str], None], *, as_json: bool = False) -> None:
        self._write = write
        self._as_json = as_json

    def started(self, record: RequestRecord) -> None:
        """Does nothing yet."""

    def completed(self, record: RequestRecord) -> None:
        """Writes the line."""
        time = record.received.astimezone(dt.UTC).isoformat(timespec="milliseconds")
        user = record.impersonated or record.user
        name = user.name if user is not None else "-"
        if not self._as_json:
            took = f"{record.seconds * 1000:.1f} ms"
            who = json.dumps(name)[1:-1]
            self._write(
                f"{time[:23]}Z {who} {record.method} {record.uri} {record.status} {record.size} B {took}"
            )
            return
        found = {
            "time": time,
            "id": record.id,
            "user": name,
            "method": record.method,
            "path": record.scope["path"],
            "query": record.scope["query_string"].decode("latin-1"),
            "status": record.status,
            "bytes": record.size,
            "seconds": round(record.seconds, 4),
        }
        self._write(json.dumps(found))


class Audit:
    """Writes who did what, when, and with which outcome, as Kubernetes' audit events at the level `Metadata`.

    Args:
        write: takes the lines.
        clock: gives the time.
    """

    def __init__(self, write: Callable[[str], None], clock: Clock = now) -> None:
        self._write = write
        self._clock = clock

    def started(self, record: RequestRecord) -> None:
        """Writes that a watch has begun; it may last."""
        attributes = record.attributes
        if attributes is not None and attributes.verb == "watch":
            self._write(json.dumps(_event(record, "ResponseStarted", self._clock())))

    def completed(self, record: RequestRecord) -> None:
        """Writes what became of a request."""
        ended = record.ended or record.received
        self._write(json.dumps(_event(record, "ResponseComplete", ended)))


def _event(record: RequestRecord, stage: Stage, at: dt.datetime) -> dict[str, Any]:
    said = reversed(
        record.scope["headers"]
    )  # Of a header that is given again, the first one counts.
    headers = {key: value.decode("latin-1") for key, value in said}
    sources = _sources(headers, record.scope.get("client"))
    found: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": _AUDIT,
        "level": "Metadata",
        "auditID": record.id,
        "stage": stage,
        "requestURI": record.uri,
        "verb": record.method.lower(),
        "user": _user(record.user),
    }
    if record.impersonated is not None:
        found["impersonatedUser"] = _user(record.impersonated)
    if sources:
        found["sourceIPs"] = sources
    if b"user-agent" in headers:
        found["userAgent"] = headers[b"user-agent"]
    asked = record.attributes
    if asked is not None:
        found["verb"] = asked.verb
        if asked.is_resource:
            about = {
                "resource": asked.resource,
                "namespace": asked.namespace,
                "name": asked.name,
                "apiGroup": asked.group,
                "apiVersion": asked.version,
                "subresource": asked.subresource,
            }
            found["objectRef"] = {key: value for key, value in about.items() if value}
    outcome: dict[str, Any] = {"metadata": {}, "code": record.status}
    if record.status >= _FIRST_FAILURE:
        outcome["status"] = "Failure"
        if reason := reason_of(record.status):
            outcome["reason"] = reason
    found["responseStatus"] = outcome
    found["requestReceivedTimestamp"] = _time(record.received)
    found["stageTimestamp"] = _time(at)
    decision = record.scope.get("decision")
    if decision is not None:
        found["annotations"] = {
            "authorization.k8s.io/decision": "allow" if decision.allowed else "forbid",
            "authorization.k8s.io/reason": decision.reason,
        }
    return found


def _sources(headers: Mapping[bytes, str], client: tuple[str, int] | None) -> list[str]:
    """Where a request comes from: the addresses that proxies say, which clients can make up, and last the one that sent it here.

    The rule is that of Kubernetes' audit (`SourceIPs` of `k8s.io/apimachinery/pkg/util/net`).
    """
    found = [*map(_address, headers.get(b"x-forwarded-for", "").split(","))]
    real = _address(headers.get(b"x-real-ip", ""))
    if real not in found:
        found.append(real)
    sources = [each for each in found if each]
    if client and client[0] not in sources[-1:]:
        sources.append(client[0])
    return sources


def _address(text: str) -> str:
    """An address of the internet; empty for what is none."""
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        return ""


def _user(user: User | None) -> dict[str, Any]:
    return {} if user is None else user.to_plain()


def _time(at: dt.datetime) -> str:
    return at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
