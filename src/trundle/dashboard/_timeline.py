"""A channel as a timeline: what was published, what was unpublished, which version is the latest and which is installed."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from trundle.channels.decision import Installed
from trundle.channels.files import Channel
from trundle.version import SemVer

_MOST = 100
"""How many moments are shown."""


class Release(Protocol):
    """What a timeline shows of a version."""

    @property
    def version(self) -> SemVer | str:
        """The version."""

    @property
    def changes(self) -> Sequence[str]:
        """What is new in it."""

    @property
    def critical(self) -> bool:
        """Whether it is an urgent fix."""

    @property
    def deprecation(self) -> str:
        """Why it should no longer be used, on one line; empty for most."""


class Moment(NamedTuple):
    """Something that happened to a channel.

    Attributes:
        at: when.
        what: what.
        entry: the version.
        why: the reason of an unpublication.
        is_latest: whether it is the latest version now.
        is_installed: whether it is installed.
        is_gone: whether it was unpublished later.
    """

    at: dt.datetime
    what: Literal["published", "unpublished"]
    entry: Release
    why: str = ""
    is_latest: bool = False
    is_installed: bool = False
    is_gone: bool = False


class Timeline(NamedTuple):
    """What happened to a channel.

    Attributes:
        moments: the newest, in descending order of their times.
        earlier: how many there were before them.
        latest: the version that installations follow; None for none.
        expires: the end of the validity of the channel; None for none, or where it stands elsewhere.
    """

    moments: tuple[Moment, ...]
    earlier: int
    latest: SemVer | str | None
    expires: dt.datetime | None


def timeline_of(channel: Channel, installed: Installed | None) -> Timeline:
    """A channel as it is now, beside what is installed of its package."""
    return ordered(_moments(channel, installed), channel.latest, channel.expires)


def ordered(
    moments: Iterable[Moment], latest: SemVer | str | None, expires: dt.datetime | None = None
) -> Timeline:
    """What happened to a channel, the newest first."""
    every = sorted(moments, key=lambda each: each.at, reverse=True)
    earlier = max(0, len(every) - _MOST)
    return Timeline(tuple(every[:_MOST]), earlier, latest, expires)


def _moments(channel: Channel, installed: Installed | None) -> Iterator[Moment]:
    digest = installed.digest if installed is not None else ""
    for each in channel.versions:
        yield Moment(
            each.create_time,
            "published",
            each,
            is_latest=each.version == channel.latest,
            is_installed=bool(digest) and each.is_same_content(digest),
        )
    for gone in channel.unpublished:
        here = bool(digest) and gone.entry.is_same_content(digest)
        published = gone.entry.create_time
        yield Moment(published, "published", gone.entry, is_installed=here, is_gone=True)
        yield Moment(gone.unpublish_time, "unpublished", gone.entry, gone.why, is_installed=here)
