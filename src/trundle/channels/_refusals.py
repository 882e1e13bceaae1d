"""Refusals: every reason why a channel is not changed or nothing is installed, each with a code of its own."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec


class RefusalCode(StrEnum):
    """Why something is refused; a closed list, for people and for scripts.

    Codes stay as they are once they are released. `exit_code` says how a command ends.
    """

    # What is asked for
    INVALID_CHANNEL_WORD = "invalid-channel-word"
    REASON_MISSING = "reason-missing"
    CONFIRMATION_NEEDED = "confirmation-needed"
    # Publishing
    INVALID_VERSION = "invalid-version"
    VERSION_MISMATCH = "version-mismatch"
    NOT_IN_CHANNEL = "not-in-channel"
    VERSION_EXISTS = "version-exists"
    VERSION_TAKEN = "version-taken"
    VERSION_UNPUBLISHED = "version-unpublished"
    RELEASE_EXISTS = "release-exists"
    TAG_EXISTS = "tag-exists"
    VERSION_NOT_FOUND = "version-not-found"
    NOT_UNPUBLISHED = "not-unpublished"
    ALREADY_LATEST = "already-latest"
    BELOW_LATEST = "below-latest"
    CONCURRENT_CHANGE = "concurrent-change"
    # What a channel serves
    CHANNEL_NOT_FOUND = "channel-not-found"
    INVALID_FILE = "invalid-file"
    NEWER_FORMAT = "newer-format"
    INCONSISTENT_FILE = "inconsistent-file"
    WRONG_PACKAGE = "wrong-package"
    WRONG_CHANNEL = "wrong-channel"
    LATEST_NOT_IN_CHANNEL = "latest-not-in-channel"
    DIGEST_CHANGED = "digest-changed"
    STALE_METADATA = "stale-metadata"
    EXPIRED_METADATA = "expired-metadata"
    BAD_SIGNATURE = "bad-signature"
    UNSIGNED_CHANNEL = "unsigned-channel"
    CLOCK_WENT_BACK = "clock-went-back"
    MANIFEST_MISMATCH = "manifest-mismatch"
    CONTENT_MISMATCH = "content-mismatch"
    CONTENT_MISSING = "content-missing"
    UNREACHABLE = "unreachable"
    # Installing
    NO_LATEST = "no-latest"
    CHANNEL_BEHIND = "channel-behind"
    ABOVE_LATEST = "above-latest"
    DOWNGRADE = "downgrade"
    UPGRADE_PATH = "upgrade-path"
    ALREADY_INSTALLED = "already-installed"
    NOT_INSTALLED = "not-installed"
    PINNED = "pinned"
    HELD = "held"
    DEPENDENCY_CONFLICT = "dependency-conflict"

    @property
    def exit_code(self) -> int:
        """How a command ends that is refused for this reason."""
        return _EXIT_CODES[self]


_USAGE, _REFUSED, _EXISTS, _NOT_FOUND, _UNVERIFIED, _UNREACHABLE, _CONFLICT = range(2, 9)
_EXIT_CODES: dict[RefusalCode, int] = {
    RefusalCode.INVALID_CHANNEL_WORD: _USAGE,
    RefusalCode.REASON_MISSING: _USAGE,
    RefusalCode.CONFIRMATION_NEEDED: _REFUSED,
    RefusalCode.INVALID_VERSION: _REFUSED,
    RefusalCode.VERSION_MISMATCH: _REFUSED,
    RefusalCode.NOT_IN_CHANNEL: _REFUSED,
    RefusalCode.VERSION_EXISTS: _EXISTS,
    RefusalCode.VERSION_TAKEN: _EXISTS,
    RefusalCode.VERSION_UNPUBLISHED: _REFUSED,
    RefusalCode.RELEASE_EXISTS: _EXISTS,
    RefusalCode.TAG_EXISTS: _EXISTS,
    RefusalCode.VERSION_NOT_FOUND: _NOT_FOUND,
    RefusalCode.NOT_UNPUBLISHED: _NOT_FOUND,
    RefusalCode.ALREADY_LATEST: _EXISTS,
    RefusalCode.BELOW_LATEST: _REFUSED,
    RefusalCode.CONCURRENT_CHANGE: _CONFLICT,
    RefusalCode.CHANNEL_NOT_FOUND: _NOT_FOUND,
    RefusalCode.INVALID_FILE: _UNVERIFIED,
    RefusalCode.NEWER_FORMAT: _UNVERIFIED,
    RefusalCode.INCONSISTENT_FILE: _UNVERIFIED,
    RefusalCode.WRONG_PACKAGE: _UNVERIFIED,
    RefusalCode.WRONG_CHANNEL: _UNVERIFIED,
    RefusalCode.LATEST_NOT_IN_CHANNEL: _UNVERIFIED,
    RefusalCode.DIGEST_CHANGED: _UNVERIFIED,
    RefusalCode.STALE_METADATA: _UNVERIFIED,
    RefusalCode.EXPIRED_METADATA: _UNVERIFIED,
    RefusalCode.BAD_SIGNATURE: _UNVERIFIED,
    RefusalCode.UNSIGNED_CHANNEL: _UNVERIFIED,
    RefusalCode.CLOCK_WENT_BACK: _UNVERIFIED,
    RefusalCode.MANIFEST_MISMATCH: _UNVERIFIED,
    RefusalCode.CONTENT_MISMATCH: _UNVERIFIED,
    RefusalCode.CONTENT_MISSING: _NOT_FOUND,
    RefusalCode.UNREACHABLE: _UNREACHABLE,
    RefusalCode.NO_LATEST: _NOT_FOUND,
    RefusalCode.CHANNEL_BEHIND: _REFUSED,
    RefusalCode.ABOVE_LATEST: _REFUSED,
    RefusalCode.DOWNGRADE: _REFUSED,
    RefusalCode.UPGRADE_PATH: _REFUSED,
    RefusalCode.ALREADY_INSTALLED: _EXISTS,
    RefusalCode.NOT_INSTALLED: _NOT_FOUND,
    RefusalCode.PINNED: _REFUSED,
    RefusalCode.HELD: _REFUSED,
    RefusalCode.DEPENDENCY_CONFLICT: _CONFLICT,
}


CLOCK_ADVICE = (
    "set this machine's clock; if the time that was seen was wrong, run `trundle forget clock`"
)
"""What to do about a clock that went back."""


class Refusal(msgspec.Struct, frozen=True):
    """Why something is not done.

    Attributes:
        code: the rule that refuses it.
        where: what it is about: a channel, a version, or a place in a file.
        expected: what would be accepted.
        found: what there is instead.
        advice: what to do about it.
    """

    code: RefusalCode
    where: str
    expected: str
    found: str
    advice: str

    def __str__(self) -> str:
        text = f"{self.where}: expected {self.expected}, found {self.found}; {self.advice}"
        return f"{text} [{self.code}]"


class ChannelError(Exception):
    """Base of all errors of channels, their files and their policies.

    Attributes:
        findings: everything that is wrong; each says where, what was expected, what was found, and what to do.
    """

    def __init__(self, findings: Iterable[object]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(each) for each in self.findings))


class RefusedError(ChannelError):
    """Something that a rule refuses; nothing was changed.

    Attributes:
        refusals: every rule that refuses it; at least one.
    """

    def __init__(self, *refusals: Refusal) -> None:
        self.refusals = refusals
        super().__init__(refusals)

    @property
    def code(self) -> RefusalCode:
        """The code of the first refusal, which decides how a command ends."""
        return self.refusals[0].code
