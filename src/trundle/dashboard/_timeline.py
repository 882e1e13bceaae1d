"""A channel as a timeline: what was published, what was unpublished, which version is the latest and which is installed."""

import datetime as dt
from collections.abc import Iterator
from typing import Literal, NamedTuple

from trundle.channels.decision import Installed
from trundle.channels.files import Channel, ListedVersion
from trundle.version import SemVer

_MOST = 100
"""How many moments are shown."""


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
    entry: ListedVersion
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
        expires: the end of the validity of the channel; None for none.
    """

    moments: tuple[Moment, ...]
    earlier: int
    latest: SemVer | None
    expires: dt.datetime | None


def timeline_of(channel: Channel, installed: Installed | None) -> Timeline:
    """A channel as it is now."""
    every = sorted(_moments(channel, installed), key=lambda each: each.at, reverse=True)
    earlier = max(0, len(every) - _MOST)
    return Timeline(tuple(every[:_MOST]), earlier, channel.latest, channel.expires)


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
