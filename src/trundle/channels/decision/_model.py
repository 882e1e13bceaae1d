"""The inputs of a decision, and its result."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.channels._times import format_time
from trundle.channels.files import ListedVersion
from trundle.channels.policy import Wait
from trundle.errors import Finding
from trundle.packages import ResourceChange
from trundle.version import Level, SemVer


class Installed(msgspec.Struct, frozen=True):
    """What is installed.

    Attributes:
        version: the version; None where a pinned tag is not one.
        digest: the digest of its content.
        since: when it was installed.
        manifest_version: the version in its manifest, for people; None where that is not known.
    """

    version: SemVer | None
    digest: str
    since: dt.datetime | None = None
    manifest_version: SemVer | None = None

    @property
    def shown_version(self) -> str:
        """The version, else the one in the manifest; may be empty."""
        return str(self.version or self.manifest_version or "")


class Approval(msgspec.Struct, frozen=True):
    """The approval of one version with one content.

    Attributes:
        version: the version.
        digest: the digest of the content that was approved.
        at: when.
        by: who; may be empty.
    """

    version: SemVer
    digest: str
    at: dt.datetime
    by: str = ""


class Hold(msgspec.Struct, frozen=True):
    """A hold: nothing is to change, or one version is not to be installed.

    Attributes:
        reason: why.
        at: since when.
        version: the version that is not to be installed; None for all.
        until: when it ends by itself; None for never.
        by: who; may be empty.
    """

    reason: str
    at: dt.datetime
    version: SemVer | None = None
    until: dt.datetime | None = None
    by: str = ""

    @property
    def why(self) -> str:
        """The reason on one line, for messages."""
        return " ".join(self.reason.split())


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What an installation knows of a package.

    Attributes:
        package: the package.
        channel: the name of the channel that it follows.
        pinned: the reference that it is pinned to; no channel is followed then.
        installed: what is installed; None before the first time.
        known: the digest of every version that was ever installed or seen here.
        seen_serial: the highest serial of the channel that was ever accepted here.
        clock_floor: the latest time that was ever seen here.
        approvals: what was approved.
        holds: what is held.
    """

    package: str
    channel: str = ""
    pinned: str | None = None
    installed: Installed | None = None
    known: Mapping[SemVer, str] = {}
    seen_serial: int = 0
    clock_floor: dt.datetime | None = None
    approvals: tuple[Approval, ...] = ()
    holds: tuple[Hold, ...] = ()


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks for beyond what the policy does by itself.

    Attributes:
        to: only this version. It counts as an approval, and is installed where the policy says never; it waits for
            cooldown, windows and exclusions like any other.
        now: wait for neither cooldown nor window. Exclusions and holds still count.
        allow_downgrade: `to` may be below what is installed; without `to`, a channel that is behind is followed.
        at: decide as of this time, to see what would happen. Signatures and the like are judged as of now.
    """

    to: SemVer | None = None
    now: bool = False
    allow_downgrade: bool = False
    at: dt.datetime | None = None


class Block(StrEnum):
    """Why a version is not taken, however long one waits."""

    NEVER = "never"
    APPROVAL = "approval"
    OTHER_DIGEST_APPROVED = "other-digest-approved"
    HOLD = "hold"
    UPGRADE_PATH = "upgrade-path"
    NO_WINDOW = "no-window"
    DEPENDENCY = "dependency"
    STORED = "still-stored"


class Ready(msgspec.Struct, frozen=True):
    """A version that may be installed now."""

    entry: ListedVersion
    level: Level | None


class Scheduled(msgspec.Struct, frozen=True):
    """A version that waits.

    Attributes:
        entry: the version.
        level: how far the upgrade goes; None where nothing is installed.
        not_before: when it may be installed, if nothing changes.
        waits_for: what it waits for now.
        message: the same in words.
    """

    entry: ListedVersion
    level: Level | None
    not_before: dt.datetime
    waits_for: tuple[Wait, ...]
    message: str


class Blocked(msgspec.Struct, frozen=True):
    """A version that is not installed until a user acts.

    Attributes:
        entry: the version.
        level: how far the upgrade goes; None where nothing is installed.
        reason: why it is not taken.
        message: the same in words, with what to do.
    """

    entry: ListedVersion
    level: Level | None
    reason: Block
    message: str

    @property
    def awaits_approval(self) -> bool:
        """Whether an approval would let it in."""
        return self.reason in _AWAITS_APPROVAL


Verdict: TypeAlias = Ready | Scheduled | Blocked
"""What becomes of one version."""

_AWAITS_APPROVAL = frozenset((Block.APPROVAL, Block.OTHER_DIGEST_APPROVED))

PlanAction: TypeAlias = Literal["none", "install", "upgrade", "downgrade"]


class Bringing(msgspec.Struct, frozen=True):
    """What a version changes about the resource types that are installed."""

    version: SemVer
    resources: tuple[ResourceChange, ...]


class UpgradePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done now, what later, and what not.

    Attributes:
        package: the package.
        at: the time that it was decided for.
        action: what is to be done now.
        installed: what is installed.
        latest: the latest version of the channel; None where there is none, or the channel is not accepted.
        ready: the versions that may be installed now, best first; those after the first are for a resolver whose
            dependencies do not admit it.
        scheduled: the versions above the target that wait, newest first.
        blocked: the versions above the target that are blocked, newest first.
        announced: the newest version of a higher major number, where it is not the target.
        news: the versions between what is installed and the highest version in this plan, newest first.
        bringing: what the version to go to next, now or later, changes about resource types; None where nothing, or where
            that was not looked up.
        refusals: why nothing is done at all; then everything else is empty.
        notes: what else one should know.
    """

    package: str
    at: dt.datetime
    action: PlanAction = "none"
    installed: Installed | None = None
    latest: ListedVersion | None = None
    ready: tuple[Ready, ...] = ()
    scheduled: tuple[Scheduled, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    announced: ListedVersion | None = None
    news: tuple[ListedVersion, ...] = ()
    bringing: Bringing | None = None
    refusals: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> ListedVersion | None:
        """The version to be installed now."""
        return self.ready[0].entry if self.ready else None

    @property
    def next_version(self) -> ListedVersion | None:
        """The version to go to next: now, else when its time has come, else after what blocks it."""
        waiting = [each.entry for each in self.scheduled] + [each.entry for each in self.blocked]
        return self.target or (waiting[0] if waiting else self.announced)

    @property
    def next_change(self) -> dt.datetime | None:
        """When the first of the scheduled versions may be installed; there is no need to look before."""
        return min((each.not_before for each in self.scheduled), default=None)

    @property
    def update_available(self) -> bool:
        """Whether there is a version to go to: now, later, or after an approval."""
        awaited = any(each.awaits_approval for each in self.blocked)
        return bool(self.ready or self.scheduled or awaited)

    def to_plain(self) -> dict[str, Any]:
        """The plan as plain values, for programs."""
        target = self.target
        return {
            "package": self.package,
            "at": format_time(self.at),
            "action": self.action,
            "installed": self.installed.shown_version if self.installed else "",
            "latest": str(self.latest.version) if self.latest else "",
            "target": {"version": str(target.version), "digest": target.identity}
            if target
            else None,
            "scheduled": [
                {
                    "version": str(each.entry.version),
                    "digest": each.entry.identity,
                    "level": each.level,
                    "notBefore": format_time(each.not_before),
                    "message": each.message,
                }
                for each in self.scheduled
            ],
            "blocked": [
                {
                    "version": str(each.entry.version),
                    "digest": each.entry.identity,
                    "level": each.level,
                    "reason": str(each.reason),
                    "message": each.message,
                }
                for each in self.blocked
            ],
            "announced": str(self.announced.version) if self.announced else "",
            "changes": [
                {
                    "version": str(each.version),
                    "critical": each.critical,
                    "changes": list(each.changes),
                }
                for each in self.news
            ],
            "resourceTypes": self._bringing_to_plain(),
            "nextChange": format_time(self.next_change) if self.next_change else None,
            "refusals": [each.to_plain() for each in self.refusals],
            "notes": list(self.notes),
        }

    def _bringing_to_plain(self) -> dict[str, Any] | None:
        if self.bringing is None:
            return None
        changes = [msgspec.to_builtins(each) for each in self.bringing.resources]
        return {"version": str(self.bringing.version), "changes": changes}

    def news_to_plain(self) -> dict[str, Any]:
        """What is newer than what is installed, as plain values, for programs."""
        return {
            "package": self.package,
            "installed": self.installed.shown_version if self.installed else "",
            "latest": str(self.latest.version) if self.latest else "",
            "target": str(self.target.version) if self.target else "",
            "critical": any(each.critical for each in self.news),
            "changes": [
                {"version": str(each.version), "changes": list(each.changes)} for each in self.news
            ],
            "refusals": [each.to_plain() for each in self.refusals],
        }
