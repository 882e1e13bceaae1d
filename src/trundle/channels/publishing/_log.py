"""What happened to a channel, in the order in which it counts."""

import datetime as dt

import msgspec

from trundle.channels.files import Channel, read_all
from trundle.channels.publishing._records import read_record
from trundle.channels.serving import RepositorySource, channel_tag, ledger_name
from trundle.channels.transitions import (
    Deprecate,
    Operation,
    Promote,
    Publish,
    Restore,
    Unpublish,
    fold,
    kind_of,
)
from trundle.registry import Ledger, Repository
from trundle.version import SemVer


class Event(msgspec.Struct, frozen=True):
    """One thing that happened to a channel.

    Attributes:
        at: when it was asked for.
        kind: `publish`, `unpublish`, `restore`, `promote`, `deprecate` or `refresh`.
        version: the version; None for a refresh.
        digest: the version's digest, where it was published.
        changes: what is new in the version, where it was published.
        critical: whether the version mends something that should not wait.
        text: the reason or the message.
        refused: why it did not count; empty where it did.
    """

    at: dt.datetime
    kind: str
    version: SemVer | None = None
    digest: str | None = None
    changes: tuple[str, ...] = ()
    critical: bool = False
    text: str = ""
    refused: str = ""


def events(repository: Repository, word: str) -> tuple[Event, ...]:
    """What happened to a channel, the newest last.

    Where the operations are not at hand, as in a mirror, what the channel's own list tells is given.

    Raises:
        RefusedError: there is no such channel.
        ChannelError: what is recorded cannot be understood.
        RegistryError: the registry cannot be read.
    """
    source = RepositorySource(repository, word)
    content = b"".join(source.read("all"))
    channel = read_all(content, f"{source.location}/all").channel
    ledger = Ledger(repository, ledger_name(word), head=channel_tag(word))
    entries = ledger.entries()
    if not entries:
        return _events_of(channel)
    operations = [
        read_record(each.payload, f"{source.location}: {each.id}").operation for each in entries
    ]
    folded = fold(Channel(name=word, package=channel.package), operations)
    return tuple(
        _event(each.operation, "; ".join(str(why) for why in each.refusals))
        for each in folded.outcomes
    )


def _event(operation: Operation, refused: str) -> Event:
    event = Event(operation.at, kind_of(operation), refused=refused)
    match operation:
        case Publish(entry=entry):
            return msgspec.structs.replace(
                event,
                version=entry.version,
                digest=entry.digest,
                changes=entry.changes,
                critical=entry.critical,
            )
        case Unpublish(version=version, reason=reason):
            return msgspec.structs.replace(event, version=version, text=reason)
        case Deprecate(version=version, message=message):
            return msgspec.structs.replace(event, version=version, text=message or "taken back")
        case Restore(version=version) | Promote(version=version):
            return msgspec.structs.replace(event, version=version)
    return event


def _events_of(channel: Channel) -> tuple[Event, ...]:
    found = [
        Event(
            entry.create_time,
            "publish",
            entry.version,
            entry.digest,
            entry.changes,
            entry.critical,
        )
        for entry in (*channel.versions, *(each.entry for each in channel.unpublished))
    ]
    found += [
        Event(each.unpublish_time, "unpublish", each.version, text=each.reason)
        for each in channel.unpublished
    ]
    return tuple(sorted(found, key=lambda each: (each.at, each.version)))
