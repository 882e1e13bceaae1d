"""Reads a channel as a whole: verified where it is signed, parsed, and its two files compared with each other."""

import datetime as dt
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from trundle.channels._refusals import CLOCK_ADVICE, RefusalCode, RefusedError, refusal
from trundle.channels._times import format_time
from trundle.channels.files import (
    Channel,
    Latest,
    LatestFile,
    check_pair,
    entry_to_plain,
    read_all,
    read_latest,
)
from trundle.channels.reading._names import signed_name
from trundle.channels.reading._sources import ChannelSource, read_whole
from trundle.errors import Finding, Place, errors_among
from trundle.registry import NotFoundError

if TYPE_CHECKING:
    from trundle.channels.reading.signatures import TrustError, TrustStore

_PAUSES = (0.0, 0.1, 0.4)
"""Seconds between two looks at static files; an export takes less to write them."""
_BY_MIXING = frozenset({RefusalCode.INCONSISTENT_FILE, RefusalCode.CONTENT_MISMATCH})
"""The refusals of files of two states."""
_BY_CHANGE = _BY_MIXING | {RefusalCode.CONTENT_MISSING, RefusalCode.STALE_METADATA}
_FILES = ("latest", "all")
SourceT = TypeVar("SourceT", bound=ChannelSource)
T = TypeVar("T")


class ServedChannel(msgspec.Struct, frozen=True):
    """A channel as it was read.

    Attributes:
        channel: the content of its `all` file.
        latest: the content of its `latest` file.
        signed: whether its signatures were verified.
        warnings: what is not as it should be, but understood.
        expires: the end of the validity period of all of it; None for none.
    """

    channel: Channel
    latest: Latest
    signed: bool
    warnings: tuple[Finding, ...] = ()
    expires: dt.datetime | None = None

    def to_plain(self) -> dict[str, Any]:
        """The channel as plain values, for programs."""
        channel = self.channel
        return {
            "package": channel.package,
            "channel": channel.name,
            "latest": None if channel.latest is None else str(channel.latest),
            "versions": [entry_to_plain(each) for each in channel.versions],
            "unpublished": [
                entry_to_plain(each.entry)
                | {"unpublishTime": format_time(each.unpublish_time), "reason": each.reason}
                for each in channel.unpublished
            ],
            "serial": channel.serial,
            "expires": None if channel.expires is None else format_time(channel.expires),
            "verified": self.signed,
        }


def read_channel(
    source: ChannelSource,
    trust: "TrustStore | None" = None,
    *,
    clock: Callable[[], dt.datetime],
    package: str | None = None,
    word: str | None = None,
    unsigned: bool = False,
) -> ServedChannel:
    """Reads a channel and verifies it.

    A channel may change while it is read: see `reading_again`.

    Args:
        source: where it is.
        trust: what was seen of channels before; it is brought up to date. It must know the channel's root, by
            `source.location`.
        clock: returns the time.
        package: the expected package; the package in the channel's files where None.
        word: the expected channel name; the name in the channel's files where None.
        unsigned: whether to accept an unsigned channel; then `trust` is not used.

    Raises:
        RefusedError: there is no channel, it is not signed (and that was not allowed), it is badly signed, or its
            files contradict each other. The code says which.
        ChannelFileError: a file violates a rule.
        RegistryError: the place cannot be read.
    """

    def read(present: ChannelSource) -> ServedChannel:
        return _read(present, None if unsigned else trust, clock, package, word, unsigned)

    return reading_again(source, read)


def reading_again(source: SourceT, read: "Callable[[SourceT], T]") -> "T":
    """Reads a channel, and reads it again where it may have been refused for changing meanwhile.

    - Static files are no snapshot: two of them may not belong together while an export writes them.
    - A state in a repository is one, but another client may see the next state first. Then this one is older than what
      was seen, or its files are removed as garbage.

    Args:
        source: the channel.
        read: reads it.

    Raises:
        RefusedError: it is refused as it is, or each time.
        NotFoundError: a file of its present state is gone.
    """
    for pause in _PAUSES:
        mixed = False
        try:
            return read(source)
        except (NotFoundError, RefusedError) as error:
            refused = error
        if isinstance(refused, RefusedError):
            if refused.code not in _BY_CHANGE:
                raise refused
            mixed = refused.code in _BY_MIXING
        present = cast("SourceT | None", source.renewed())
        if present is None or (present is source and not mixed):
            raise refused
        if present is source:
            time.sleep(pause)
        source = present
    return read(source)


def _read(
    source: ChannelSource,
    trust: "TrustStore | None",
    clock: Callable[[], dt.datetime],
    package: str | None,
    word: str | None,
    unsigned: bool,  # noqa: FBT001 - passed on
) -> ServedChannel:
    where = source.location
    if trust is None and not unsigned:
        advice = "give the channel's root, or accept an unsigned channel"
        code = RefusalCode.UNSIGNED_CHANNEL
        raise RefusedError(refusal(code, where, "a root to trust", "none", advice))
    files = _unverified(source) if trust is None else _verified(source, trust, clock, package, word)
    latest = read_latest(files["latest"], f"{where}/latest", name=word, package=package)
    if "all" not in files:
        return _latest_alone(latest, where)
    everything = read_all(files["all"], f"{where}/all", name=word, package=package)
    findings = check_pair(latest.latest, everything.channel, f"{where}/latest")
    errors = errors_among(findings)
    if errors:
        raise RefusedError(*errors)
    warnings = (*latest.warnings, *everything.warnings)
    channel = everything.channel
    ends = [channel.expires, None if trust is None else trust.valid_until(where)]
    expires = min((each for each in ends if each), default=None)
    return ServedChannel(channel, latest.latest, trust is not None, warnings, expires)


def _latest_alone(file: LatestFile, where: str) -> ServedChannel:
    """A channel of which only `latest` is hosted, which is all that installing the latest version takes."""
    latest = file.latest
    channel = Channel(
        name=latest.name,
        package=latest.package,
        latest=latest.latest.version if latest.latest else None,
        versions=(latest.latest,) if latest.latest else (),
        schema_version=latest.schema_version,
        serial=latest.serial,
        update_time=latest.update_time,
        expires=latest.expires,
        extra=latest.extra,
    )
    note = Finding(
        RefusalCode.INCONSISTENT_FILE,
        Place(f"{where}/all"),
        "the list of all versions",
        "none",
        "only the latest version can be installed from this channel",
        "warning",
    )
    return ServedChannel(channel, latest, False, (*file.warnings, note), latest.expires)


def has_signatures(source: ChannelSource) -> bool:
    """Whether there are signatures at a channel; they are not verified.

    Raises:
        RegistryError: the place cannot be read.
    """
    return read_whole(source, "timestamp.json") is not None


def _unverified(source: ChannelSource) -> Mapping[str, bytes]:
    """The files that are there; `latest` always is."""
    files = {}
    for name in _FILES:
        content = read_whole(source, name)
        if content is not None:
            files[name] = content
    if "latest" not in files:
        raise RefusedError(_missing(source.location, "latest"))
    return files


def _verified(
    source: ChannelSource,
    trust: "TrustStore",
    clock: Callable[[], dt.datetime],
    package: str | None,
    word: str | None,
) -> Mapping[str, bytes]:
    from trundle.channels.reading.signatures import TrustError  # noqa: PLC0415 - needs an extra

    where = source.location
    _check_signed(source)
    if package is None or word is None:
        # The names in the file are accepted once the file is signed under exactly these names.
        claim = read_latest(_unverified(source)["latest"], f"{where}/latest").latest
        package, word = package or claim.package, word or claim.name
    names = {name: signed_name(package, word, name) for name in _FILES}
    try:
        files = trust.verify(where, source.read, list(names.values()), clock=clock)
    except TrustError as error:
        raise RefusedError(refusal_of_trust(error, where)) from error
    return {name: files[signed] for name, signed in names.items()}


def _check_signed(source: ChannelSource) -> None:
    if not has_signatures(source):
        if read_whole(source, "latest") is None:
            raise RefusedError(_missing(source.location, "latest"))
        advice = "ask the publisher to sign it, or accept an unsigned channel with --unsigned"
        code = RefusalCode.UNSIGNED_CHANNEL
        found = "no signatures"
        raise RefusedError(refusal(code, source.location, "a signed channel", found, advice))


def _missing(where: str, name: str) -> Finding:
    advice = "check the address of the channel"
    return refusal(
        RefusalCode.CHANNEL_NOT_FOUND, where, f"a channel with the file {name}", "none", advice
    )


_CODES = {
    "busy": RefusalCode.CONCURRENT_CHANGE,
    "clock": RefusalCode.CLOCK_WENT_BACK,
    "endless": RefusalCode.CONTENT_MISMATCH,
    "expired": RefusalCode.EXPIRED_METADATA,
    "incomplete": RefusalCode.CONTENT_MISSING,
    "malformed": RefusalCode.BAD_SIGNATURE,
    "mismatch": RefusalCode.CONTENT_MISMATCH,
    "missing": RefusalCode.UNSIGNED_CHANNEL,
    "rollback": RefusalCode.STALE_METADATA,
    "signature": RefusalCode.BAD_SIGNATURE,
}
_ADVICE = {
    "busy": "try again",
    "clock": CLOCK_ADVICE,
    "expired": "ask the publisher to refresh the channel, and check this machine's clock",
    "incomplete": "ask the server's operator for all files of the channel",
    "missing": "give the publisher's root with --root, or ask the publisher to sign the channel",
    "rollback": "look for a server or a cache that serves an old state",
}


def refusal_of_trust(error: "TrustError", where: str) -> Finding:
    """The refusal that a doubt about a channel's signatures leads to."""
    otherwise = _ADVICE.get(error.reason, "do not use this channel; ask its publisher")
    advice = error.advice or otherwise
    return refusal(_CODES[error.reason], where, error.expected, error.found, advice)
