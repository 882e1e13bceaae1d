"""Looks at the channel of a package, and decides what is to be done; nothing that is installed changes."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trundle.channels._refusals import ChannelError, Refusal, RefusalCode, RefusedError
from trundle.channels._times import format_time
from trundle.channels.decision import Plan, Request, State, decide
from trundle.channels.files import Channel, ChannelFileError
from trundle.channels.installing._memory import content_of
from trundle.channels.installing._records import Seen
from trundle.channels.policy import Policy
from trundle.channels.serving import open_channel, read_channel
from trundle.registry import (
    DigestMismatchError,
    InvalidManifestError,
    MissingExtraError,
    NotFoundError,
    Reference,
    RegistryError,
    TooLargeError,
)

if TYPE_CHECKING:
    from trundle.channels.trust import TrustStore

_LAYOUT = "oci:"

SOON = dt.timedelta(days=1)
"""How long before a channel expires whoever follows it is told."""

_ACCEPTED = frozenset(
    {
        RefusalCode.NO_LATEST,
        RefusalCode.CHANNEL_BEHIND,
        RefusalCode.ABOVE_LATEST,
        RefusalCode.DOWNGRADE,
        RefusalCode.UPGRADE_PATH,
        RefusalCode.HELD,
        RefusalCode.ALREADY_INSTALLED,
        RefusalCode.VERSION_NOT_FOUND,
        RefusalCode.VERSION_UNPUBLISHED,
    }
)
"""Refusals that say nothing against the channel itself."""


class Follow(msgspec.Struct, frozen=True):
    """Where a channel is, and how it is believed.

    Attributes:
        repository: the reference of the package's repository.
        channel: the channel's word, URL or folder.
        package: the package; None where the channel says.
        word: the channel's word; None where the channel says.
        signed: whether its signatures are verified.
    """

    repository: str
    channel: str
    package: str | None = None
    word: str | None = None
    signed: bool = True


class Outlook(msgspec.Struct, frozen=True):
    """What is known of a package after a look at its channel.

    Attributes:
        plan: what was decided.
        state: what it was decided from.
        channel: the channel; None where it could not be read, or is not followed.
        location: the full name of the channel; empty where there is none.
        warnings: what is not as it should be, but understood.
    """

    plan: Plan
    state: State
    channel: Channel | None = None
    location: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> Channel | None:
        """The channel, where nothing speaks against believing it."""
        return self.channel if {e.code for e in self.plan.refusals} <= _ACCEPTED else None


class Read(msgspec.Struct, frozen=True):
    """A channel that was read.

    Attributes:
        channel: what it holds.
        location: its full name.
        warnings: what is not as it should be, but understood.
        expires: until when it is to be believed; None where nothing says.
    """

    channel: Channel
    location: str
    warnings: tuple[str, ...]
    expires: dt.datetime | None

    def notes(self, now: dt.datetime) -> tuple[str, ...]:
        """What one should know beforehand."""
        if self.expires is None or self.expires - now > SOON:
            return ()
        where = f"the channel {self.channel.name} expires at {format_time(self.expires)}"
        return (f"{where}, and nothing is upgraded then; its publisher has to refresh it",)


class Reader:
    """Reads channels for one installation.

    Args:
        trust: the folder in which is kept what was seen of signed channels.
        clock: tells the time.
    """

    def __init__(self, trust: Path, clock: Callable[[], dt.datetime]) -> None:
        self._folder = trust
        self._clock = clock

    def read(self, follow: Follow) -> "Read":
        """Reads a channel.

        Raises:
            RefusedError: it cannot be read or believed; the code says why.
        """
        try:
            source = open_channel(follow.channel, follow.repository)
            served = read_channel(
                source,
                self.trust_store() if follow.signed else None,
                clock=self._clock,
                package=follow.package,
                word=follow.word,
                unsigned=not follow.signed,
            )
        except (ChannelError, RegistryError) as error:
            raise RefusedError(*refusals_of(error)) from error
        warnings = tuple(str(each) for each in served.warnings)
        return Read(served.channel, source.location, warnings, served.expires)

    def location(self, channel: str, repository: str) -> str:
        """The full name of a channel.

        Raises:
            RefusedError: it is not there.
        """
        try:
            return open_channel(channel, repository).location
        except RegistryError as error:
            raise RefusedError(*refusals_of(error)) from error

    def trust_store(self) -> "TrustStore":
        """What was seen of signed channels."""
        from trundle.channels.trust import TrustStore  # noqa: PLC0415 - needs an extra

        return TrustStore(self._folder)


def absolute(reference: Reference) -> Reference:
    """A reference that means the same in every folder."""
    if not reference.registry.startswith(_LAYOUT):
        return reference
    folder = Path(reference.registry.removeprefix(_LAYOUT)).absolute()
    return msgspec.structs.replace(reference, registry=f"{_LAYOUT}{folder}")


def judge(
    channel: Channel, seen: Seen, state: State, policy: Policy, now: dt.datetime, request: Request
) -> Plan:
    """Decides what is to be done, after the channel was held against what was seen of it before."""
    plan = decide(channel, state, policy, now, request)
    same = channel.serial and channel.serial == seen.serial
    if not same or content_of(channel) == seen.content:
        return plan
    where = f"{channel.package} in the channel {channel.name}"
    expected = f"what was seen with serial {seen.serial} before"
    advice = "do not use this channel; ask its publisher"
    code = RefusalCode.INCONSISTENT_FILE
    refusal = Refusal(code, where, expected, "other content with the same serial", advice)
    refused = Plan(package=plan.package, at=plan.at, installed=plan.installed)
    return msgspec.structs.replace(refused, refusals=(*plan.refusals, refusal))


def refusals_of(error: Exception) -> tuple[Refusal, ...]:
    """The refusals that an error leads to which came up while a channel was read.

    Raises:
        Exception: the error itself, where it says nothing about the channel.
    """
    match error:
        case RefusedError() | ChannelFileError():
            return error.refusals
        case MissingExtraError():
            raise error
        case RegistryError():
            code = _code(error)
            return (Refusal(code, error.where, error.expected, error.found, error.advice),)
    raise error


def _code(error: RegistryError) -> RefusalCode:
    match error:
        case DigestMismatchError() | TooLargeError():
            return RefusalCode.CONTENT_MISMATCH
        case InvalidManifestError():
            return RefusalCode.INVALID_FILE
        case NotFoundError():
            return RefusalCode.CONTENT_MISSING
    return RefusalCode.UNREACHABLE
