"""What an installation remembers of a package, and what happened to it."""

import datetime as dt
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.channels import format_time
from trundle.channels.decision import Installed
from trundle.channels.policy import Policy, policy_to_plain
from trundle.channels.reading import Subscription
from trundle.packages import Manifest, Release, to_install
from trundle.version import SemVer

EventKind: TypeAlias = Literal["install", "upgrade", "downgrade", "rollback", "follow", "uninstall"]
"""What happened: `follow` is a change of channel that leaves the version as it is."""


class InstalledPackage(msgspec.Struct, frozen=True, kw_only=True):
    """A package that is installed.

    Attributes:
        name: its name.
        subscription: where it comes from, and how its channel is followed. Where it is pinned, how the channel of that repository was followed
            before; without a channel where none was.
        pinned: the reference that it is pinned to; None where a channel is followed.
        version: the version; None where a pinned tag is not one.
        digest: the digest of its artifact.
        since: since when that is installed.
        manifest: what the package says about itself.
    """

    name: str
    subscription: Subscription
    pinned: str | None = None
    version: SemVer | None
    digest: str
    since: dt.datetime
    manifest: Manifest

    @property
    def installed(self) -> Installed:
        """What is installed, as decisions take it."""
        return Installed(self.version, self.digest, self.since, self.release.version)

    @property
    def effective_policy(self) -> Policy:
        """The policy that holds."""
        return self.subscription.policy or Policy()

    @property
    def release(self) -> Release:
        """What is installed, as the resolver takes it."""
        version = self.version or self.manifest.version
        return Release(self.name, version, self.digest, to_install(self.manifest.requirements))

    def to_plain(self) -> dict[str, Any]:
        """The package as plain values, for programs."""
        return {
            "package": self.name,
            "version": str(self.release.version),
            "digest": self.digest,
            "since": format_time(self.since),
            "repository": self.subscription.repository,
            "channel": "" if self.pinned else self.subscription.channel,
            "pinned": self.pinned,
            "resourceTypes": self.manifest.resources,
            "signed": self.pinned is None and self.subscription.signed,
            "policy": policy_to_plain(self.effective_policy),
        }


class PackageEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a package.

    Attributes:
        package: the package.
        at: when.
        action: what.
        before: the version before; empty for none, or where that was no version.
        before_digest: its digest; empty for none.
        after: the version afterwards.
        after_digest: its digest.
        note: why, or what else one should know.
    """

    package: str
    at: dt.datetime
    action: EventKind
    before: str = ""
    before_digest: str = ""
    after: str = ""
    after_digest: str = ""
    note: str = ""

    def to_plain(self) -> dict[str, Any]:
        """The event as plain values, for programs."""
        return {
            "package": self.package,
            "at": format_time(self.at),
            "action": self.action,
            "from": {"version": self.before, "digest": self.before_digest},
            "to": {"version": self.after, "digest": self.after_digest},
            "note": self.note,
        }


class Seen(msgspec.Struct, frozen=True):
    """The newest state of a channel that was accepted.

    Attributes:
        serial: its serial; 0 for none.
        content: the digest of what it said.
    """

    serial: int = 0
    content: str = ""
