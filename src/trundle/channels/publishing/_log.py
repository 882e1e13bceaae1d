"""What happened to a channel, in the order in which it counts."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import msgspec

from trundle.channels._refusals import ChannelError, RefusalCode, RefusedError, refusal
from trundle.channels._times import format_time
from trundle.channels.files import Channel
from trundle.channels.publishing._records import RecordedOperation, read_names, read_record
from trundle.channels.reading import (
    OPERATIONS,
    RepositorySource,
    channel_tag,
    has_signatures,
    ledger_name,
    read_channel,
    read_whole,
    reading_again,
    refusal_of_trust,
    signed_name,
)
from trundle.channels.reading.signatures import TrustError, TrustStore
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

_NOT_SIGNED = "the channel does not show it; its publisher has not signed it, or not yet"


class ChannelEvent(msgspec.Struct, frozen=True):
    """One thing that happened to a channel.

    Attributes:
        at: when it was asked for.
        kind: `publish`, `unpublish`, `restore`, `promote`, `deprecate` or `refresh`.
        version: the version; None for a refresh.
        digest: the version's digest, where it was published.
        changes: what is new in the version, where it was published.
        critical: whether the version is an urgent fix.
        text: the reason or the message.
        override: why a version was published against rules.
        refused: why it did not count; empty where it did.
    """

    at: dt.datetime
    kind: str
    version: SemVer | None = None
    digest: str | None = None
    changes: tuple[str, ...] = ()
    critical: bool = False
    text: str = ""
    override: str = ""
    refused: str = ""

    def to_plain(self) -> dict[str, Any]:
        """What happened as plain values, for programs; what does not apply is left out."""
        data = {
            "at": format_time(self.at),
            "kind": self.kind,
            "version": None if self.version is None else str(self.version),
            "digest": self.digest,
            "changes": list(self.changes),
            "critical": self.critical,
            "text": self.text,
            "override": self.override,
            "refused": self.refused,
        }
        return {key: value for key, value in data.items() if value or key in {"at", "kind"}}


def events(
    repository: Repository,
    word: str,
    *,
    clock: Callable[[], dt.datetime],
    trust: TrustStore | None = None,
) -> tuple[ChannelEvent, ...]:
    """What happened to a channel, the newest last.

    In a signed channel only what its publisher signed counts. Where the operations are not at hand, as in a mirror,
    what the channel's own list says is given.

    Args:
        repository: the repository of the package.
        word: the channel.
        clock: returns the time.
        trust: what was seen of channels, with the root of this one, by which it is verified; None to accept what the
            registry says.

    Raises:
        RefusedError: there is no such channel, or it is not to be trusted.
        ChannelError: what is recorded cannot be understood.
        RegistryError: the registry cannot be read.
    """

    def read(source: RepositorySource) -> tuple[Channel, frozenset[str] | None]:
        served = read_channel(source, trust, clock=clock, word=word, unsigned=trust is None)
        return served.channel, _signed_operations(source, served.channel, trust, clock)

    channel, signed = reading_again(RepositorySource(repository, word), read)
    where = f"{repository.location}:{channel_tag(word)}"
    ledger = Ledger(repository, ledger_name(word), head=channel_tag(word))
    entries = ledger.entries()
    if not entries:
        return _events_of(channel)
    records: list[RecordedOperation] = []
    for each in entries:
        try:
            records.append(read_record(each.payload, f"{where}: {each.id}"))
        except ChannelError:
            if signed is None:
                raise  # In a signed channel it does not count; `repair` reports it.
    counted = [each.operation for each in records if signed is None or each.id in signed]
    folded = fold(Channel(name=word, package=channel.package), counted)
    found = [
        _event(each.operation, "; ".join(str(why) for why in each.refusals))
        for each in folded.outcomes
    ]
    found += [
        _event(each.operation, _NOT_SIGNED)
        for each in records
        if signed is not None and each.id not in signed
    ]
    return tuple(found)


def _signed_operations(
    source: RepositorySource,
    channel: Channel,
    trust: TrustStore | None,
    clock: Callable[[], dt.datetime],
) -> frozenset[str] | None:
    """The names of the operations that a channel shows by its publisher's signature; None for an unsigned one."""
    if not has_signatures(source):
        return None
    if trust is None:
        content = read_whole(source, OPERATIONS)
    else:
        name = signed_name(channel.package, channel.name, OPERATIONS)
        try:
            content = trust.verify(source.location, source.read, [name], clock=clock)[name]
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, source.location)) from error
    try:
        return read_names(content or b"")
    except ValueError as error:
        found = f"something else: {error}"
        advice = "see what `repair` says"
        code = RefusalCode.INVALID_FILE
        where = f"{source.location}/{OPERATIONS}"
        raise RefusedError(refusal(code, where, "names of operations", found, advice)) from None


def _event(operation: Operation, refused: str) -> ChannelEvent:
    event = ChannelEvent(operation.at, kind_of(operation), refused=refused)
    match operation:
        case Publish(entry=entry):
            return msgspec.structs.replace(
                event,
                version=entry.version,
                digest=entry.digest,
                changes=entry.changes,
                critical=entry.critical,
                override=entry.override or "",
            )
        case Unpublish(version=version, reason=reason):
            return msgspec.structs.replace(event, version=version, text=reason)
        case Deprecate(version=version, message=message):
            return msgspec.structs.replace(event, version=version, text=message or "taken back")
        case Restore(version=version) | Promote(version=version):
            return msgspec.structs.replace(event, version=version)
    return event


def _events_of(channel: Channel) -> tuple[ChannelEvent, ...]:
    found = [
        ChannelEvent(
            entry.create_time,
            "publish",
            entry.version,
            entry.digest,
            entry.changes,
            entry.critical,
            override=entry.override or "",
        )
        for entry in (*channel.versions, *(each.entry for each in channel.unpublished))
    ]
    found += [
        ChannelEvent(each.unpublish_time, "unpublish", each.version, text=each.reason)
        for each in channel.unpublished
    ]
    return tuple(sorted(found, key=lambda each: (each.at, each.version)))
