"""Reads a channel for a catalog, verified from what was seen of it before; gives its files byte for byte as they are signed."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from trundle._clock import Clock
from trundle.catalog._channel_records import FollowedChannel, SignedFile, with_versions
from trundle.catalog._channel_rows import signed_file
from trundle.channels import RefusalCode, RefusedError, format_time, refusal
from trundle.channels.reading import (
    ChannelSource,
    RepositorySource,
    ServedChannel,
    Subscription,
    open_channel,
    read_channel,
    refusal_of_trust,
    signed_name,
)
from trundle.channels.reading.signatures import (
    TrustError,
    TrustMemory,
    TrustState,
    signed_files,
    trust,
)
from trundle.errors import Code, Finding
from trundle.registry import HttpSettings, Reference

_FILES = ("latest", "all")
_ROOT = re.compile(r"([1-9][0-9]{0,8})\.root\.json")
_LAYOUT = "oci:"
_ADVICE: Mapping[Code, str] = {
    RefusalCode.UNSIGNED_CHANNEL: "ask the publisher to sign it; a catalog follows signed channels only",
    RefusalCode.CLOCK_WENT_BACK: "set this machine's clock; if the time that was seen was wrong, unfollow the channel and follow it again",
}


class ChannelReading(NamedTuple):
    """A channel that was read and verified.

    Attributes:
        package: the package that it releases.
        channel: its name.
        seen: what was seen of it, to go on from the next time.
        verified: when that was.
        expires: the end of its validity period, as text; empty for none.
        files: its files, as they are signed.
    """

    package: str
    channel: str
    seen: bytes
    verified: str
    expires: str
    files: Mapping[str, bytes]


def placed(subscription: Subscription, settings: HttpSettings | None = None) -> Subscription:
    """A subscription that means the same from each folder."""
    source = _opened(subscription, settings)
    if not isinstance(source, RepositorySource):
        return msgspec.structs.replace(subscription, repository="", channel=source.location)
    parsed = Reference.parse(subscription.repository)
    if parsed.registry.startswith(_LAYOUT):
        folder = Path(parsed.registry.removeprefix(_LAYOUT)).absolute()
        parsed = msgspec.structs.replace(parsed, registry=f"{_LAYOUT}{folder}")
    return msgspec.structs.replace(subscription, repository=str(parsed))


def read_first(
    subscription: Subscription, root: bytes, clock: Clock, settings: HttpSettings | None = None
) -> ChannelReading:
    """Reads a channel of which only the publisher's root is known.

    Args:
        subscription: where it is.
        root: the root.
        clock: returns the time.
        settings: times and sizes for servers over HTTP.

    Raises:
        ChannelError: it is refused, or the root is none.
        RegistryError: the place cannot be read.
    """
    try:
        state = trust(root)
    except TrustError as error:
        raise RefusedError(refusal_of_trust(error, "the root")) from None
    found = _read(subscription, state, None, clock, settings)
    return found._replace(files={f"{_number_of(root)}.root.json": root, **found.files})


def read_again(
    subscription: bytes,
    seen: bytes,
    package: str,
    clock: Clock,
    settings: HttpSettings | None = None,
) -> ChannelReading:
    """Reads a channel again; it is refused where it is older than what was seen.

    Args:
        subscription: where it is, and its name, in JSON.
        seen: what was seen of it before.
        package: its package.
        clock: returns the time.
        settings: times and sizes for servers over HTTP.

    Raises:
        ChannelError: it is refused.
        RegistryError: the place cannot be read.
    """
    place = msgspec.json.decode(subscription, type=Subscription)
    state = msgspec.json.decode(seen, type=TrustState)
    return _read(place, state, package, clock, settings)


def verified_again(
    found: FollowedChannel, served: ServedChannel, state: TrustState
) -> FollowedChannel:
    """A channel with what its signed files say, which a client has just verified.

    Args:
        found: what a server says of it; that what stands at its place is refused is known from there alone.
        served: what its signed files say.
        state: what was seen of it by that.
    """
    channel, signed = served.channel, signed_files(state)
    contents = {f"{_number_of(state.root)}.root.json": state.root, **state.metadata}
    files = [signed_file(*each) for each in contents.items()]
    for name in _FILES:
        digest, size = signed[signed_name(channel.package, channel.name, name)]
        files.append(SignedFile(name, f"sha256:{digest}", size))
    return msgspec.structs.replace(
        with_versions(found, channel),
        state="refused" if found.state == "refused" else "valid",
        verified=state.clock or found.verified,
        expires=served.expires,
        files=tuple(sorted(files, key=lambda each: each.name)),
    )


def _read(
    subscription: Subscription,
    state: TrustState,
    package: str | None,
    clock: Clock,
    settings: HttpSettings | None = None,
) -> ChannelReading:
    source = _Recording(_opened(subscription, settings))
    seen = TrustMemory({source.location: state})
    word = subscription.name or None
    try:
        served = read_channel(source, seen, clock=clock, package=package, word=word)
    except RefusedError as error:
        raise RefusedError(*map(_advised, error.refusals)) from error
    channel = served.channel
    after = seen.state(source.location)
    assert after is not None, "it was trusted before"
    files = {**source.roots_until(after.root), **after.metadata}
    signed = signed_files(after)
    for name in _FILES:
        content = source.contents[name]
        digest, _ = signed[signed_name(channel.package, channel.name, name)]
        if hashlib.sha256(content).hexdigest() != digest:
            where, advice = f"{source.location}/{name}", "read it again"
            code = RefusalCode.CONTENT_MISMATCH
            raise RefusedError(refusal(code, where, "what is signed", "other content", advice))
        files[name] = content
    verified = after.clock or clock()
    expires = "" if served.expires is None else format_time(served.expires)
    return ChannelReading(
        channel.package,
        channel.name,
        msgspec.json.encode(after),
        format_time(verified),
        expires,
        files,
    )


def _opened(subscription: Subscription, settings: HttpSettings | None = None) -> ChannelSource:
    place = subscription.repository or None
    return open_channel(subscription.channel, place, settings=settings)


def _advised(refused: Finding) -> Finding:
    """A refusal with advice for a catalog, where its own is for an installation."""
    advice = _ADVICE.get(refused.code)
    return refused if advice is None else replace(refused, advice=advice)


def _number_of(root: bytes) -> int:
    number: int = msgspec.json.decode(root)["signed"]["version"]
    return number


class _Recording:
    """A channel whose files are kept as they were last read."""

    def __init__(self, source: ChannelSource, contents: dict[str, bytes] | None = None) -> None:
        self._source = source
        self.contents = {} if contents is None else contents

    @property
    def location(self) -> str:
        """The full name of the channel."""
        return self._source.location

    def read(self, name: str) -> Iterator[bytes]:
        """Reads a file, and keeps it."""
        pieces = []
        for piece in self._source.read(name):
            pieces.append(piece)
            yield piece
        self.contents[name.rpartition("/")[2]] = b"".join(pieces)

    def renewed(self) -> "_Recording | None":
        """The channel as it is now; None where it is still the same."""
        present = self._source.renewed()
        if present is None or present is self._source:
            return None if present is None else self
        return _Recording(present, self.contents)

    def roots_until(self, root: bytes) -> dict[str, bytes]:
        """The roots that were read and are trusted: those up to the one that is trusted now."""
        last = _number_of(root)
        found = {
            name: content
            for name, content in self.contents.items()
            if (match := _ROOT.fullmatch(name)) and int(match[1]) < last
        }
        return {**found, f"{last}.root.json": root}
