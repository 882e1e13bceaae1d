"""Why something signed is not trusted."""

from typing import Literal, TypeAlias

from trundle.errors import Kind, TrundleError, expectation

Reason: TypeAlias = Literal[
    "busy",
    "clock",
    "endless",
    "expired",
    "incomplete",
    "malformed",
    "mismatch",
    "missing",
    "rollback",
    "signature",
]


class TrustError(TrundleError):
    """A channel's metadata or file cannot be trusted; nothing was taken from it.

    Attributes:
        reason: `busy` (another client holds the channel's state), `clock` (this machine's clock went back), `endless` (more bytes than signed or allowed),
            `expired`, `incomplete` (a signed file is not there), `malformed`, `mismatch` (not the bytes that were signed,
            or not signed at all), `missing` (no root, or nothing published), `rollback` (older than what was seen), or
            `signature` (too few good signatures).
        expected: what would be trusted.
        found: what there is instead.
        advice: what to do about it; empty where the reason says enough.
    """

    kind = Kind.VERIFICATION

    def __init__(
        self,
        reason: Reason,
        found: str,
        *,
        expected: str = "a channel to be trusted",
        advice: str = "",
    ) -> None:
        self.reason: Reason = reason
        self.expected = expected
        self.found = found
        self.advice = advice
        super().__init__(expectation(expected, found, advice))
