"""Refusals: every reason why a channel is not changed or nothing is installed, each with a code of its own."""

from collections.abc import Iterable, Mapping, Sequence

from trundle.errors import Code, Finding, Kind, Place, TrundleError


class RefusalCode(Code):
    """Why something is refused; a closed list, for people and for scripts.

    `refusal_kind` says what a refusal means for the caller.
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
    NOT_IN_ORDER = "not-in-order"
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
    ACCESS_REFUSED = "access-refused"
    UNKNOWN_OPERATION = "unknown-operation"
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
    PACKAGE_MISSING = "package-missing"
    DEPENDENCY_CONFLICT = "dependency-conflict"
    STILL_STORED = "still-stored"


_KINDS: Mapping[Code, Kind] = {
    RefusalCode.INVALID_CHANNEL_WORD: Kind.USAGE,
    RefusalCode.REASON_MISSING: Kind.USAGE,
    RefusalCode.CONFIRMATION_NEEDED: Kind.REFUSED,
    RefusalCode.INVALID_VERSION: Kind.REFUSED,
    RefusalCode.VERSION_MISMATCH: Kind.REFUSED,
    RefusalCode.NOT_IN_CHANNEL: Kind.REFUSED,
    RefusalCode.VERSION_EXISTS: Kind.EXISTS,
    RefusalCode.VERSION_TAKEN: Kind.EXISTS,
    RefusalCode.VERSION_UNPUBLISHED: Kind.REFUSED,
    RefusalCode.RELEASE_EXISTS: Kind.EXISTS,
    RefusalCode.TAG_EXISTS: Kind.EXISTS,
    RefusalCode.VERSION_NOT_FOUND: Kind.NOT_FOUND,
    RefusalCode.NOT_UNPUBLISHED: Kind.NOT_FOUND,
    RefusalCode.ALREADY_LATEST: Kind.EXISTS,
    RefusalCode.BELOW_LATEST: Kind.REFUSED,
    RefusalCode.CONCURRENT_CHANGE: Kind.CONFLICT,
    RefusalCode.NOT_IN_ORDER: Kind.REFUSED,
    RefusalCode.CHANNEL_NOT_FOUND: Kind.NOT_FOUND,
    RefusalCode.INVALID_FILE: Kind.VERIFICATION,
    RefusalCode.NEWER_FORMAT: Kind.VERIFICATION,
    RefusalCode.INCONSISTENT_FILE: Kind.VERIFICATION,
    RefusalCode.WRONG_PACKAGE: Kind.VERIFICATION,
    RefusalCode.WRONG_CHANNEL: Kind.VERIFICATION,
    RefusalCode.LATEST_NOT_IN_CHANNEL: Kind.VERIFICATION,
    RefusalCode.DIGEST_CHANGED: Kind.VERIFICATION,
    RefusalCode.STALE_METADATA: Kind.VERIFICATION,
    RefusalCode.EXPIRED_METADATA: Kind.VERIFICATION,
    RefusalCode.BAD_SIGNATURE: Kind.VERIFICATION,
    RefusalCode.UNSIGNED_CHANNEL: Kind.VERIFICATION,
    RefusalCode.CLOCK_WENT_BACK: Kind.VERIFICATION,
    RefusalCode.MANIFEST_MISMATCH: Kind.VERIFICATION,
    RefusalCode.CONTENT_MISMATCH: Kind.VERIFICATION,
    RefusalCode.CONTENT_MISSING: Kind.NOT_FOUND,
    RefusalCode.UNREACHABLE: Kind.UNREACHABLE,
    RefusalCode.ACCESS_REFUSED: Kind.UNREACHABLE,
    RefusalCode.UNKNOWN_OPERATION: Kind.VERIFICATION,
    RefusalCode.NO_LATEST: Kind.NOT_FOUND,
    RefusalCode.CHANNEL_BEHIND: Kind.REFUSED,
    RefusalCode.ABOVE_LATEST: Kind.REFUSED,
    RefusalCode.DOWNGRADE: Kind.REFUSED,
    RefusalCode.UPGRADE_PATH: Kind.REFUSED,
    RefusalCode.ALREADY_INSTALLED: Kind.EXISTS,
    RefusalCode.NOT_INSTALLED: Kind.NOT_FOUND,
    RefusalCode.PINNED: Kind.REFUSED,
    RefusalCode.HELD: Kind.REFUSED,
    RefusalCode.PACKAGE_MISSING: Kind.CONFLICT,
    RefusalCode.DEPENDENCY_CONFLICT: Kind.CONFLICT,
    RefusalCode.STILL_STORED: Kind.REFUSED,
}


CLOCK_ADVICE = (
    "set this machine's clock; if the time that was seen was wrong, run `trundle forget clock`"
)
"""What to do about a clock that went back."""


def refusal(code: RefusalCode, where: str, expected: str, found: str, advice: str = "") -> Finding:
    """Why something is not done.

    Args:
        code: the reason.
        where: the thing that is concerned: a channel, a version, a package, a repository.
        expected: what it would take.
        found: what there is instead.
        advice: what to do about it.
    """
    return Finding(code, Place(object=where), expected, found, advice)


def refusal_kind(refusals: Sequence[Finding]) -> Kind:
    """What refusals mean for the caller; the first decides."""
    return _KINDS.get(refusals[0].code, Kind.VERIFICATION)


class ChannelError(TrundleError):
    """Base of all errors of channels, their files and their policies.

    Attributes:
        findings: everything that is wrong; each says where, what was expected, what was found, and what to do.
    """

    kind = Kind.VERIFICATION

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(each.coded for each in self.findings))


class RefusedError(ChannelError):
    """Something that a rule refuses; nothing was changed.

    Attributes:
        kind: what the first refusal means.
        refusals: every rule that refuses it; at least one.
    """

    def __init__(self, *refusals: Finding) -> None:
        self.refusals = refusals
        self.kind = refusal_kind(refusals)
        super().__init__(refusals)

    @property
    def code(self) -> Code:
        """The code of the first refusal."""
        return self.refusals[0].code
