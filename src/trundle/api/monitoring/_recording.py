"""Looks at each request once, for all who keep records of requests."""

import datetime as dt
import random
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from starlette.requests import ClientDisconnect

from trundle._clock import Clock, now
from trundle.api.access import Application, Attributes, Receive, Scope, Send, User

Stage: TypeAlias = Literal["ResponseStarted", "ResponseComplete"]
_REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed"}


def _drawn_id() -> str:
    """A UUID of version 4. It names a request and protects nothing, so it takes no call of the system."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


@dataclass
class RequestRecord:
    """A request, and what became of it so far.

    Attributes:
        id: names the request in logs; clients find it in the header `Audit-Id`.
        received: when it came.
        scope: what ASGI says of it; also what the guard found out.
        status: the status of HTTP; 0 before the answer starts.
        ended: when the answer was sent; None before that.
        size: how many bytes the answer has so far.
    """

    received: dt.datetime
    scope: Scope
    id: str = field(default_factory=_drawn_id)
    status: int = 0
    ended: dt.datetime | None = None
    size: int = 0

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return str(self.scope["method"])

    @property
    def uri(self) -> str:
        """The path with its parameters."""
        query = self.scope["query_string"].decode("latin-1")
        path = self.scope.get("raw_path", b"").decode("latin-1") or self.scope["path"]
        return f"{path}?{query}" if query else str(path)

    @property
    def user(self) -> User | None:
        """Who sent it; None where the credentials are not known."""
        return self.scope.get("requester") or self.scope.get("user")

    @property
    def impersonated(self) -> User | None:
        """The user that it was made as, where that is another one."""
        return self.scope.get("impersonated")

    @property
    def attributes(self) -> Attributes | None:
        """What it does."""
        return self.scope.get("attributes")

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        return ((self.ended or self.received) - self.received).total_seconds()


class Keeper(Protocol):
    """Keeps records of requests."""

    def started(self, record: RequestRecord) -> None:
        """The answer to a request starts."""

    def completed(self, record: RequestRecord) -> None:
        """A request was answered, or its client is gone."""


class Recorder:
    """Gives each request to those who keep records.

    Args:
        application: answers the requests.
        keepers: keep the records.
        clock: gives the time.
    """

    def __init__(
        self, application: Application, keepers: Sequence[Keeper], clock: Clock = now
    ) -> None:
        self._application = application
        self._keepers = keepers
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        record = RequestRecord(self._clock(), scope)

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                message["headers"] = [*message["headers"], (b"audit-id", record.id.encode())]
                for each in self._keepers:
                    each.started(record)
            else:
                record.size += len(message.get("body", b""))
            await send(message)

        try:
            await self._application(scope, receive, sending)
        except ClientDisconnect:
            pass  # The client is gone, or does not read.
        finally:
            record.ended = self._clock()
            for each in self._keepers:
                each.completed(record)


def reason_of(status: int) -> str:
    """Kubernetes' word for a status; empty for others."""
    return _REASONS.get(status, "")
