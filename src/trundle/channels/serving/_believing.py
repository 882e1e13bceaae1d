"""Reads a channel as a whole: verified where it is signed, parsed, and its two files held against each other."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from trundle.channels._findings import Finding, errors_among
from trundle.channels._refusals import CLOCK_ADVICE, Refusal, RefusalCode, RefusedError
from trundle.channels.files import Channel, Latest, check_pair, read_all, read_latest
from trundle.channels.serving._names import signed_name
from trundle.channels.serving._sources import ChannelSource, read_whole

if TYPE_CHECKING:
    from trundle.channels.trust import TrustError, TrustStore

_ATTEMPTS = 3
_FILES = ("latest", "all")


class ServedChannel(msgspec.Struct, frozen=True):
    """A channel as it was read.

    Attributes:
        channel: the content of its `all` file.
        latest: the content of its `latest` file.
        signed: whether its signatures were verified.
        warnings: what is not as it should be, but understood.
        expires: until when all of it is to be believed; None where nothing says.
    """

    channel: Channel
    latest: Latest
    signed: bool
    warnings: tuple[Finding, ...] = ()
    expires: dt.datetime | None = None


def read_channel(
    source: ChannelSource,
    trust: "TrustStore | None" = None,
    *,
    clock: Callable[[], dt.datetime],
    package: str | None = None,
    word: str | None = None,
    unsigned: bool = False,
) -> ServedChannel:
    """Reads a channel that can be believed.

    Static files are no snapshot: where the two of them do not belong together they are read again.

    Args:
        source: where it is.
        trust: what was seen of channels before; it is brought up to date. It must know the channel's root, by
            `source.location`.
        clock: tells the time.
        package: the package that the channel ought to be of; what the channel says where None.
        word: the word that the channel ought to have; what the channel says where None.
        unsigned: whether the channel is believed without any signature; then `trust` is not asked.

    Raises:
        RefusedError: there is no channel, it is not signed (and that was not allowed), it is badly signed, or its
            files contradict each other. The code says which.
        ChannelFileError: a file violates a rule.
        RegistryError: the place cannot be read.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return _read(source, None if unsigned else trust, clock, package, word, unsigned)
        except RefusedError as error:
            again = {RefusalCode.INCONSISTENT_FILE, RefusalCode.CONTENT_MISMATCH}
            if error.code not in again or attempt == _ATTEMPTS:
                raise


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
        advice = "give the channel's root, or say that it may be unsigned"
        code = RefusalCode.UNSIGNED_CHANNEL
        raise RefusedError(Refusal(code, where, "a root to trust", "none", advice))
    files = _unverified(source) if trust is None else _verified(source, trust, clock, package, word)
    latest = read_latest(files["latest"], f"{where}/latest", name=word, package=package)
    everything = read_all(files["all"], f"{where}/all", name=word, package=package)
    findings = check_pair(latest.latest, everything.channel, f"{where}/latest")
    errors = errors_among(findings)
    if errors:
        raise RefusedError(*(each.refusal for each in errors))
    warnings = (*latest.warnings, *everything.warnings)
    channel = everything.channel
    ends = [channel.expires, None if trust is None else trust.valid_until(where)]
    expires = min((each for each in ends if each), default=None)
    return ServedChannel(channel, latest.latest, trust is not None, warnings, expires)


def has_signatures(source: ChannelSource) -> bool:
    """Whether there are signatures at a channel; they are not verified.

    Raises:
        RegistryError: the place cannot be read.
    """
    return read_whole(source, "timestamp.json") is not None


def _unverified(source: ChannelSource) -> Mapping[str, bytes]:
    files = {}
    for name in _FILES:
        content = read_whole(source, name)
        if content is None:
            raise RefusedError(_missing(source.location, name))
        files[name] = content
    return files


def _verified(
    source: ChannelSource,
    trust: "TrustStore",
    clock: Callable[[], dt.datetime],
    package: str | None,
    word: str | None,
) -> Mapping[str, bytes]:
    from trundle.channels.trust import TrustError  # noqa: PLC0415 - needs an extra

    where = source.location
    _check_signed(source)
    if package is None or word is None:
        # What the file says of itself is believed once it turns out to be signed under just that name.
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
        advice = "ask the publisher to sign it, or say with --unsigned that it need not be signed"
        code = RefusalCode.UNSIGNED_CHANNEL
        found = "no signatures"
        raise RefusedError(Refusal(code, source.location, "a signed channel", found, advice))


def _missing(where: str, name: str) -> Refusal:
    advice = "check the address of the channel"
    return Refusal(
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
    "incomplete": "ask whoever serves the channel for all of its files",
    "missing": "give the publisher's root with --root, or ask the publisher to sign the channel",
    "rollback": "look for a server or a cache that serves an old state",
}


def refusal_of_trust(error: "TrustError", where: str) -> Refusal:
    """The refusal that a doubt about a channel's signatures leads to."""
    otherwise = _ADVICE.get(error.reason, "do not use this channel; ask its publisher")
    advice = error.advice or otherwise
    return Refusal(_CODES[error.reason], where, error.expected, error.found, advice)
