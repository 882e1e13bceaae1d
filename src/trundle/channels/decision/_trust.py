"""Whether a channel is accepted; each reason against it is a refusal of its own."""

import datetime as dt
from collections.abc import Iterator

from trundle.channels._refusals import CLOCK_ADVICE, RefusalCode, refusal
from trundle.channels._times import CLOCK_TOLERANCE, add, format_time
from trundle.channels.decision._model import Request, State
from trundle.channels.files import Channel, ListedVersion, check_channel
from trundle.errors import Finding, errors_among


def check_trust(
    channel: Channel, state: State, now: dt.datetime, request: Request
) -> tuple[Finding, ...]:
    """Every reason not to act on a channel.

    Signatures have been verified before; what is judged here holds for signed and unsigned channels.
    """
    refusals = [
        *_addressee(channel, state),
        *errors_among(check_channel(channel, _where(channel))),
        *_time(channel, state, now),
        *_known_digests(channel, state),
    ]
    return tuple(refusals or _position(channel, state, request))


def _where(channel: Channel) -> str:
    return f"{channel.package} in the channel {channel.name}"


def _addressee(channel: Channel, state: State) -> Iterator[Finding]:
    advice = "check the address of the channel"
    if channel.package != state.package:
        expected, found = f"the package {state.package}", channel.package
        yield refusal(RefusalCode.WRONG_PACKAGE, _where(channel), expected, found, advice)
    if channel.name != state.channel:
        expected, found = f"the channel {state.channel}", channel.name
        yield refusal(RefusalCode.WRONG_CHANNEL, _where(channel), expected, found, advice)


def _time(channel: Channel, state: State, now: dt.datetime) -> Iterator[Finding]:
    where = _where(channel)
    if channel.serial < state.seen_serial:
        expected = f"serial {state.seen_serial} or a higher one, as seen before"
        advice = "look for a server or a cache that serves an old state"
        found, code = str(channel.serial), RefusalCode.STALE_METADATA
        yield refusal(code, where, expected, found, advice)
    if channel.expires is not None and channel.expires <= now:
        expected = f"a channel that is still valid at {format_time(now)}"
        advice = "ask the publisher to refresh the channel, and check this machine's clock"
        found, code = (
            f"one that expired at {format_time(channel.expires)}",
            RefusalCode.EXPIRED_METADATA,
        )
        yield refusal(code, where, expected, found, advice)
    floor = state.clock_floor
    if floor is not None and add(now, CLOCK_TOLERANCE) < floor:
        expected = f"a time not before {format_time(floor)}, which was seen before"
        found, code = format_time(now), RefusalCode.CLOCK_WENT_BACK
        yield refusal(code, where, expected, found, CLOCK_ADVICE)


def _known_digests(channel: Channel, state: State) -> Iterator[Finding]:
    known = dict(state.known)
    if state.installed and state.installed.version is not None:
        known[state.installed.version] = state.installed.digest
    for version in sorted(known):
        tombstone = channel.tombstone(version)
        entries: tuple[ListedVersion | None, ...] = (
            channel.entry(version),
            tombstone.entry if tombstone else None,
        )
        for entry in entries:
            if entry and not entry.is_same_content(known[version]):
                where = f"{channel.package} {version} in the channel {channel.name}"
                expected = f"{known[version]}, as known here"
                advice = "do not install it; ask the publisher why a published version has changed"
                code = RefusalCode.DIGEST_CHANGED
                yield refusal(code, where, expected, entry.identity, advice)


def _position(channel: Channel, state: State, request: Request) -> Iterator[Finding]:
    """Whether the channel is behind, or has nothing to begin with."""
    version = state.installed.version if state.installed else None
    if state.installed is None and channel.latest is None and request.to is None:
        advice = "ask the publisher to promote a version, or name one with --to"
        code = RefusalCode.NO_LATEST
        yield refusal(code, _where(channel), "a latest version to install", "none", advice)
    if version is None or channel.latest is None or channel.latest >= version:
        return
    if not request.allow_downgrade and request.to is None:
        withdrawn = channel.tombstone(version)
        why = f" ({version} was unpublished: {withdrawn.why})" if withdrawn else ""
        expected = f"a latest version of at least {version}, which is installed{why}"
        advice = "wait for a newer version, or use --allow-downgrade to follow the channel down"
        code = RefusalCode.CHANNEL_BEHIND
        yield refusal(code, _where(channel), expected, str(channel.latest), advice)
