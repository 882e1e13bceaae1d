"""Why something signed is not trusted."""

from typing import Literal, TypeAlias

Reason: TypeAlias = Literal[
    "busy",
    "clock",
    "endless",
    "expired",
    "malformed",
    "mismatch",
    "missing",
    "rollback",
    "signature",
]


class TrustError(Exception):
    """A channel's metadata or file cannot be trusted; nothing was taken from it.

    Attributes:
        reason: `busy` (another client holds the channel's state), `clock` (this machine's clock went back), `endless` (more bytes than signed or allowed),
            `expired`, `malformed`, `mismatch` (not the bytes that were signed, or not signed at all),
            `missing`, `rollback` (older than what was seen), or `signature` (too few good signatures).
    """

    def __init__(self, reason: Reason, what: str) -> None:
        self.reason: Reason = reason
        super().__init__(what)
