"""How much one user may ask for: requests in a second, and watches at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trundle._clock import Timer
from trundle.api._status import ApiError
from trundle.api.access import Application, Receive, Scope, Send, refusal

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_USERS = 10_000
_BURST = 2.0
"""For how many seconds a user who was quiet may ask at once."""


@dataclass(frozen=True, slots=True)
class UserLimits:
    """How much one user may ask for.

    Attributes:
        requests: in a second, on average; None for no limit.
        watches: at a time; None for no limit.
    """

    requests: float | None = None
    watches: int | None = None


class Limited:
    """Refuses what is too much, with 429 and when to try again.

    Users are those that the guard found.

    Args:
        application: answers the requests.
        limits: how much one user may ask for.
        timer: measures the time.
    """

    def __init__(
        self, application: Application, limits: UserLimits, timer: Timer | None = None
    ) -> None:
        self._application = application
        self._limits = limits
        self._seconds: Callable[[], float] = (timer or Timer()).seconds
        self._left: dict[str, tuple[float, float]] = {}
        self._watches: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        name = scope["user"].name
        wait = self._wait(name)
        if wait > 0:
            await _too_many(
                f"the user sends more than {self._limits.requests:g} requests in a second", wait
            )(scope, receive, send)
            return
        if scope["attributes"].verb != "watch":
            await self._application(scope, receive, send)
            return
        if self._limits.watches is not None and self._watches.get(name, 0) >= self._limits.watches:
            await _too_many(f"the user has {self._limits.watches} watches already", 1)(
                scope, receive, send
            )
            return
        self._watches[name] = self._watches.get(name, 0) + 1
        try:
            await self._application(scope, receive, send)
        finally:
            self._watches[name] -= 1
            if not self._watches[name]:
                del self._watches[name]

    def _wait(self, name: str) -> float:
        """After how many seconds a user may ask again; 0 where that is now."""
        rate = self._limits.requests
        if rate is None:
            return 0
        now, most = self._seconds(), max(rate * _BURST, 1.0)
        left, since = self._left.pop(name, (most, now))
        left = min(most, left + (now - since) * rate)
        if left < 1:
            self._left[name] = left, now
            return (1 - left) / rate
        self._left[name] = left - 1, now
        while len(self._left) > _MOST_USERS:  # Those who asked last are at the end.
            del self._left[next(iter(self._left))]
        return 0


def _too_many(why: str, wait: float) -> Any:
    seconds = max(1, round(wait + 0.5))
    message = f"Too many requests, please try again later: {why}"
    return refusal(ApiError(429, "TooManyRequests", message, {"retryAfterSeconds": seconds}))
