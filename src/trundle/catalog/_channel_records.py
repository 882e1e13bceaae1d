"""A channel that a tenant follows, as it was last read and verified."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.channels import Channel, ListedVersion, Tombstone, entry_to_plain, format_time

ChannelState: TypeAlias = Literal["valid", "expired", "refused"]
"""How far a channel is to be trusted: as it is signed; no longer, for its age; not at all, for what stands at its place."""


class ChannelRelease(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A version in a channel, with what the channel says of it.

    Attributes:
        version: the version.
        id: the first 12 digits of its digest.
        create_time: when it was published.
        digest: the digest of its artifact.
        tag: its tag in the registry.
        size: how many bytes the artifact has.
        changes: what is new in it.
        critical: whether it is an urgent fix.
        deprecated: why it should no longer be used.
        min_upgrade_from: the lowest version that can be upgraded to it.
        depends_on: the packages that it needs, and the accepted versions of each.
        override: why it was published although rules were against it.
    """

    version: str
    id: str = ""
    create_time: str = ""
    digest: str = ""
    tag: str = ""
    size: int = 0
    changes: tuple[str, ...] = ()
    critical: bool = False
    deprecated: str = ""
    min_upgrade_from: str = ""
    depends_on: Mapping[str, str] = {}
    override: str = ""


class WithdrawnRelease(
    ChannelRelease, frozen=True, kw_only=True, omit_defaults=True, rename="camel"
):
    """A version that was in a channel, and never comes back with other content.

    Attributes:
        unpublish_time: when it was taken out.
        reason: why.
    """

    unpublish_time: str = ""
    reason: str = ""


class SignedFile(msgspec.Struct, frozen=True):
    """A file of a channel, kept byte for byte as it is signed.

    Attributes:
        name: its name, such as `all` or `timestamp.json`.
        digest: its digest.
        size: how many bytes it has.
    """

    name: str
    digest: str
    size: int


class ChannelProblem(msgspec.Struct, frozen=True):
    """Why a channel could not be read the last time, or why it is refused since its place last answered.

    Attributes:
        code: for programs.
        message: for people.
    """

    code: str
    message: str


class FollowedChannel(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"
):
    """A channel that a tenant follows; what it says was verified when it was read.

    Attributes:
        package: the package that it releases.
        channel: its name, such as `stable`.
        tenant: whose it is.
        public: whether all tenants see it.
        state: how far it is to be trusted at this moment.
        problem: why it is refused or expired at its place, or could not be read the last time; None where it could.
        verified: when what it says was verified.
        checked: when it was last tried to read.
        expires: the end of the validity period of what it says; None for none.
        serial: grows with every change.
        latest: the version that installations follow; None where there is none.
        versions: what can be installed, the newest first; None in lists.
        unpublished: what no longer can, the newest first; None in lists.
        files: what is kept as it is signed.
        source: where it is; empty where a server does not say it.
    """

    package: str
    channel: str
    tenant: str
    public: bool
    state: ChannelState
    verified: dt.datetime
    checked: dt.datetime
    serial: int
    problem: ChannelProblem | None = None
    expires: dt.datetime | None = None
    latest: ChannelRelease | None = None
    versions: tuple[ChannelRelease, ...] | None = None
    unpublished: tuple[WithdrawnRelease, ...] | None = None
    files: tuple[SignedFile, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        return f"{self.package} {self.channel}"

    def to_plain(self) -> dict[str, Any]:
        """The channel as plain values, for programs."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


def with_versions(found: FollowedChannel, channel: Channel) -> FollowedChannel:
    """A channel with what its files say: its versions, which is the latest of them, and its serial."""
    latest = channel.latest_entry
    return msgspec.structs.replace(
        found,
        serial=channel.serial,
        latest=None if latest is None else release_of(latest),
        versions=tuple(map(release_of, channel.versions)),
        unpublished=tuple(map(_withdrawn, channel.unpublished)),
    )


def release_of(entry: ListedVersion) -> ChannelRelease:
    """A version with what a channel says of it, without what this release does not know."""
    return msgspec.convert(entry_to_plain(entry), ChannelRelease)


def _withdrawn(gone: Tombstone) -> WithdrawnRelease:
    plain = entry_to_plain(gone.entry)
    plain |= {"unpublishTime": format_time(gone.unpublish_time), "reason": gone.reason}
    return msgspec.convert(plain, WithdrawnRelease)


class FoundChannels(msgspec.Struct, frozen=True):
    """What a search for channels finds.

    Attributes:
        number: how many channels there are.
        channels: the first of them, by package and name, without their versions.
    """

    number: int
    channels: tuple[FollowedChannel, ...]


def is_found(text: str, package: str, name: str) -> bool:
    """Whether a channel has a text in its package or name, in any letter case."""
    return text.casefold() in f"{package} {name}".casefold()
