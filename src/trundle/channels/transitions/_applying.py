"""Applies operations to a channel: each gives a new channel, or is refused by a rule.

The rules, beside those of membership:

- A version is published once. Once unpublished it can only be restored, with the same content.
- What is published becomes the latest when it is above the latest. Where there is no latest, it has to be above
  everything that was ever listed; else the latest stays none until a version is promoted.
- Unpublishing the latest leaves none; nothing falls back by itself. Restoring goes by the rule of publishing.
- The latest is never promoted backwards; the version above has to be unpublished first.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, assert_never

import msgspec

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels._times import format_time
from trundle.channels.files import (
    LONGEST_TAG,
    Channel,
    ListedVersion,
    Rows,
    Tombstone,
    Versioned,
    belongs,
    membership,
    tag_of,
)
from trundle.channels.transitions._operations import (
    Deprecate,
    Operation,
    Promote,
    Publish,
    Refresh,
    Restore,
    Unpublish,
)
from trundle.version import SemVer

T = TypeVar("T", bound=Versioned)


class Transition(msgspec.Struct, frozen=True):
    """What an operation makes of a channel.

    Attributes:
        channel: the channel afterwards.
        notes: what the caller should know; may be empty.
    """

    channel: Channel
    notes: tuple[str, ...] = ()


def apply(channel: Channel, operation: Operation) -> Transition:
    """Applies one operation; the channel's serial grows by one.

    Raises:
        RefusedError: a rule refuses it.
    """
    draft = Draft(channel)
    notes = draft.apply(operation)
    return Transition(draft.channel(), notes)


class Draft:
    """A channel while operations are applied to it; each takes the same time, however many versions there are."""

    def __init__(self, channel: Channel) -> None:
        self._base = channel
        self._word = channel.name
        self._latest = channel.latest
        self._listed = _Changes(channel.entry)
        self._gone = _Changes(channel.tombstone)
        self._highest = channel.highest
        self._update_time = channel.update_time
        self._expires = channel.expires
        self._steps = 0

    def channel(self) -> Channel:
        """The channel as it is by now."""
        return msgspec.structs.replace(
            self._base,
            latest=self._latest,
            versions=self._listed.applied(self._base.versions),
            unpublished=self._gone.applied(self._base.unpublished),
            serial=self._base.serial + self._steps,
            update_time=self._update_time,
            expires=self._expires,
        )

    def count(self) -> None:
        """Lets the serial grow for an operation that is refused, as it does for one that is applied."""
        self._steps += 1

    def apply(self, operation: Operation) -> tuple[str, ...]:
        """Applies an operation.

        Returns:
            What the caller should know.

        Raises:
            RefusedError: a rule refuses it; nothing has changed.
        """
        notes = self._change(operation)
        self._steps += 1
        self._update_time = max(operation.at, self._update_time or operation.at)
        self._expires = operation.expires or self._expires
        return notes

    def _change(self, operation: Operation) -> tuple[str, ...]:
        match operation:
            case Publish():
                return self._publish(operation.entry)
            case Unpublish():
                return self._unpublish(operation.version, operation.reason, operation.at)
            case Restore():
                return self._restore(operation.version)
            case Promote():
                return self._promote(operation.version)
            case Deprecate():
                return self._deprecate(operation.version, operation.message)
            case Refresh():
                return ()
            case never:
                assert_never(never)

    def _publish(self, entry: ListedVersion) -> tuple[str, ...]:
        version = entry.version
        self._check_fits(version)
        self._check_new(entry)
        self._listed.put(version, entry)
        return self._offer(version)

    def _unpublish(self, version: SemVer, reason: str, at: dt.datetime) -> tuple[str, ...]:
        entry = self._find(version)
        if not reason.strip():
            found = "nothing"
            advice = "give a reason for the withdrawal; users who have it installed see the reason"
            raise self._refused(RefusalCode.REASON_MISSING, version, "a reason", found, advice)
        self._listed.put(version, None)
        self._gone.put(version, Tombstone(entry, at, reason))
        if version != self._latest:
            return ()
        self._latest = None
        advice = f"publish a version above {self._highest}, or promote one that is listed"
        return (f"{version} was the latest version of the channel, which has none now; {advice}",)

    def _restore(self, version: SemVer) -> tuple[str, ...]:
        tombstone = self._gone.get(version)
        if tombstone is None:
            listed = self._listed.get(version) is not None
            found = "one that is listed" if listed else "one that was never published"
            advice = "there is nothing to restore" if listed else "publish it"
            code = RefusalCode.NOT_UNPUBLISHED
            raise self._refused(code, version, "an unpublished version", found, advice)
        self._gone.put(version, None)
        self._listed.put(version, tombstone.entry)
        return self._offer(version)

    def _promote(self, version: SemVer) -> tuple[str, ...]:
        self._find(version)
        if version == self._latest:
            code = RefusalCode.ALREADY_LATEST
            raise self._refused(code, version, "another version", "the latest", "nothing is to do")
        if self._latest and version < self._latest:
            expected = f"a version above the latest, {self._latest}"
            advice = f"unpublish {self._latest} first; installations never go back by themselves"
            code = RefusalCode.BELOW_LATEST
            raise self._refused(code, version, expected, f"{version}", advice)
        self._latest = version
        if self._highest and version < self._highest:
            text = f"{self._highest} was listed before; installations with a version above {version} stay there"
            return (text,)
        return ()

    def _deprecate(self, version: SemVer, message: str | None) -> tuple[str, ...]:
        entry = self._find(version)
        if message is not None and not message.strip():
            advice = "name a replacement in the message"
            code = RefusalCode.REASON_MISSING
            raise self._refused(code, version, "a message", "nothing", advice)
        self._listed.put(version, msgspec.structs.replace(entry, deprecated=message))
        return ()

    def _offer(self, version: SemVer) -> tuple[str, ...]:
        """Makes a version that has just been listed the latest, if it is above what it has to be above."""
        bar = self._latest or self._highest
        self._highest = max(version, self._highest or version)
        if bar is None or version > bar or (self._latest is None and version == bar):
            self._latest = version
            return ()
        if self._latest is None:
            text = f"the channel has no latest version and {version} is below {bar}, which was listed before"
            return (f"{text}; `promote` makes it the latest",)
        return (f"{version} joins the list below the latest version {self._latest}",)

    def _check_fits(self, version: SemVer) -> None:
        if not belongs(version, self._word):
            expected = membership(self._word)
            advice = "choose the channel of this version, or the suffix of this channel"
            code = RefusalCode.NOT_IN_CHANNEL
            raise self._refused(code, version, expected, f"{version}", advice)
        if len(tag_of(version)) > LONGEST_TAG:
            expected = (
                f"a version of at most {LONGEST_TAG} characters, which is what a tag can have"
            )
            found = f"{len(tag_of(version))} characters"
            code = RefusalCode.INVALID_VERSION
            raise self._refused(code, version, expected, found, "choose a shorter suffix")

    def _check_new(self, entry: ListedVersion) -> None:
        version = entry.version
        listed = self._listed.get(version)
        advice = "publish a higher version; a published one never changes"
        if listed is not None:
            same = listed.is_same_content(entry.identity)
            code = RefusalCode.VERSION_EXISTS if same else RefusalCode.VERSION_TAKEN
            found = (
                "it with the same content" if same else f"it with other content, {listed.identity}"
            )
            raise self._refused(code, version, "a version that is not yet published", found, advice)
        tombstone = self._gone.get(version)
        if tombstone is not None:
            at = format_time(tombstone.unpublish_time)
            found = f"one that was unpublished at {at}: {tombstone.why}"
            code = RefusalCode.VERSION_UNPUBLISHED
            expected = "a version that was never published"
            advice = f"{advice}; undoing the unpublishing brings the same content back"
            raise self._refused(code, version, expected, found, advice)

    def _find(self, version: SemVer) -> ListedVersion:
        entry = self._listed.get(version)
        if entry is not None:
            return entry
        tombstone = self._gone.get(version)
        if tombstone is None:
            code, found = RefusalCode.VERSION_NOT_FOUND, "one that was never published"
            advice = "look at the log of the channel for its versions"
        else:
            code = RefusalCode.VERSION_UNPUBLISHED
            found = f"one that is unpublished: {tombstone.why}"
            advice = "undo the unpublishing first, if that is what you want"
        raise self._refused(code, version, "a listed version", found, advice)

    def _refused(
        self, code: RefusalCode, version: SemVer, expected: str, found: str, advice: str
    ) -> RefusedError:
        where = f"{self._base.package} {version} in the channel {self._word}"
        return RefusedError(refusal(code, where, expected, found, advice))


class _Changes(Generic[T]):
    """What becomes of single versions of a list, while the list itself stays as it is.

    Args:
        base: what the list says of a version; None where it does not have it.
    """

    def __init__(self, base: Callable[[SemVer], T | None]) -> None:
        self._base = base
        self._changes: dict[SemVer, T | None] = {}

    def get(self, version: SemVer) -> T | None:
        """What stands for a version by now."""
        if version in self._changes:
            return self._changes[version]
        return self._base(version)

    def put(self, version: SemVer, item: T | None) -> None:
        """Replaces what stands for a version, or with None removes it."""
        self._changes[version] = item

    def applied(self, items: Sequence[T]) -> Sequence[T]:
        """The list with all changes, newest first."""
        if isinstance(items, Rows):
            return items.changed(self._changes)
        after = {each.version: each for each in items} | self._changes
        kept = {version: each for version, each in after.items() if each is not None}
        return tuple(kept[each] for each in sorted(kept, reverse=True))
