"""Looks at the channel of a package, and decides what is to be done; nothing that is installed changes."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trundle.channels import ChannelError, RefusalCode, RefusedError, format_time, refusal
from trundle.channels.decision import Request, State, UpgradePlan, decide
from trundle.channels.files import Channel, ChannelFileError
from trundle.channels.policy import Policy
from trundle.channels.reading import Subscription, has_signatures, open_channel, read_channel
from trundle.errors import Finding
from trundle.installation._records import Seen
from trundle.installation._state import Memory, content_of
from trundle.registry import (
    DigestMismatchError,
    HttpSettings,
    InvalidManifestError,
    MissingExtraError,
    NotFoundError,
    Reference,
    RegistryError,
    TooLargeError,
    UnauthorisedError,
)

if TYPE_CHECKING:
    from trundle.channels.reading.signatures import TrustStore
    from trundle.installation._trust import TrustTable

_LAYOUT = "oci:"

SOON = dt.timedelta(days=1)
"""How long before a channel expires its users are warned."""

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


class Outlook(msgspec.Struct, frozen=True):
    """What is known of a package after a look at its channel.

    Attributes:
        plan: what was decided.
        state: what it was decided from.
        channel: the channel; None where it could not be read, or is not followed.
        location: the full name of the channel; empty where there is none.
        warnings: what is not as it should be, but understood.
    """

    plan: UpgradePlan
    state: State
    channel: Channel | None = None
    location: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def accepted(self) -> Channel | None:
        """The channel, where it is accepted."""
        return self.channel if {e.code for e in self.plan.refusals} <= _ACCEPTED else None


class Read(msgspec.Struct, frozen=True):
    """A channel that was read.

    Attributes:
        channel: what it holds.
        location: its full name.
        warnings: what is not as it should be, but understood.
        expires: the end of its validity period; None for none.
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
        state: what the installation remembers.
        clock: returns the time.
        trust: what was seen of signed channels; what the installation remembers of them where None.
        settings: times and sizes for servers over HTTP.
    """

    def __init__(
        self,
        state: Memory,
        clock: Callable[[], dt.datetime],
        trust: "TrustStore | None" = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self._state = state
        self._clock = clock
        self._trust = trust
        self._settings = settings

    def read(self, follow: Subscription, package: str | None = None) -> "Read":
        """Reads a channel.

        Args:
            follow: where it is, and how it is verified.
            package: the expected package; the package in the channel's files where None.

        Raises:
            RefusedError: it cannot be read or is not accepted; the code says why.
        """
        try:
            source = open_channel(follow.channel, follow.repository, settings=self._settings)
            served = read_channel(
                source,
                self.trust_store() if follow.signed else None,
                clock=self._clock,
                package=package,
                word=follow.name or None,
                unsigned=not follow.signed,
            )
        except (ChannelError, RegistryError) as error:
            raise RefusedError(*refusals_of(error)) from error
        warnings = tuple(str(each) for each in served.warnings)
        return Read(served.channel, source.location, warnings, served.expires)

    def has_signatures(self, follow: Subscription) -> bool:
        """Whether there are signatures at a channel; they are not verified.

        Raises:
            RefusedError: it cannot be read.
        """
        try:
            source = open_channel(follow.channel, follow.repository, settings=self._settings)
            return has_signatures(source)
        except RegistryError as error:
            raise RefusedError(*refusals_of(error)) from error

    def location(self, channel: str, repository: str) -> str:
        """The full name of a channel.

        Raises:
            RefusedError: it is not there.
        """
        try:
            return open_channel(channel, repository, settings=self._settings).location
        except RegistryError as error:
            raise RefusedError(*refusals_of(error)) from error

    def trust_store(self) -> "TrustStore":
        """What was seen of signed channels."""
        return self._trust or self.trust_table()

    def trust_table(self) -> "TrustTable":
        """What the installation remembers of signed channels."""
        from trundle.installation._trust import TrustTable  # noqa: PLC0415 - needs an extra

        return TrustTable(self._state)


def absolute(reference: Reference) -> Reference:
    """A reference that means the same in every folder."""
    if not reference.registry.startswith(_LAYOUT):
        return reference
    folder = Path(reference.registry.removeprefix(_LAYOUT)).absolute()
    return msgspec.structs.replace(reference, registry=f"{_LAYOUT}{folder}")


def judge(
    channel: Channel, seen: Seen, state: State, policy: Policy, now: dt.datetime, request: Request
) -> UpgradePlan:
    """Decides what is to be done, after the channel was compared with what was seen of it before."""
    plan = decide(channel, state, policy, now, request)
    same = channel.serial and channel.serial == seen.serial
    if not same or content_of(channel) == seen.content:
        return plan
    where = f"{channel.package} in the channel {channel.name}"
    expected = f"what was seen with serial {seen.serial} before"
    advice = "do not use this channel; ask its publisher"
    code = RefusalCode.INCONSISTENT_FILE
    why = refusal(code, where, expected, "other content with the same serial", advice)
    refused = UpgradePlan(package=plan.package, at=plan.at, installed=plan.installed)
    return msgspec.structs.replace(refused, refusals=(*plan.refusals, why))


def refusals_of(error: Exception) -> tuple[Finding, ...]:
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
            return (refusal(code, error.where, error.expected, error.found, error.advice),)
    raise error


def _code(error: RegistryError) -> RefusalCode:
    match error:
        case DigestMismatchError() | TooLargeError():
            return RefusalCode.CONTENT_MISMATCH
        case InvalidManifestError():
            return RefusalCode.INVALID_FILE
        case NotFoundError():
            return RefusalCode.CONTENT_MISSING
        case UnauthorisedError():
            return RefusalCode.ACCESS_REFUSED
    return RefusalCode.UNREACHABLE
