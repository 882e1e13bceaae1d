"""Publishes a version of a package.

The order of the writes, so that a channel reads whenever a publisher dies:

1. the content's blobs and its manifest, by their digests: not visible yet;
2. in the publisher's turn, when no rule refuses it: the version's tag. A tag without an entry is repaired away, or
   taken up by the next publishing of the same content;
3. the operation, in the ledger: from here on it is not lost;
4. the channel's new head.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from trundle.channels import transitions
from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.artifacts import Artifact
from trundle.channels.files import LONGEST_TAG, STABLE, Channel, ListedVersion
from trundle.channels.publishing._artifact import PackedArtifact, packed
from trundle.channels.publishing._channel import PublishedChannel
from trundle.channels.publishing._content import (
    digest_of_tag,
    is_damaged,
    restore_content,
    set_version_tag,
)
from trundle.channels.publishing._released import is_released
from trundle.channels.reading import channel_tag, offered
from trundle.channels.transitions import (
    Operation,
    Publish,
    base_of,
    new_entry,
    version_to_publish,
)
from trundle.errors import Finding, errors_among
from trundle.registry import Progress, Reference
from trundle.version import SemVer

Review: TypeAlias = Callable[[ListedVersion | None], Iterable[Finding]]
"""Returns what is wrong with a package, given the release that it follows; None where there is none."""


class PublishRequest(msgspec.Struct, frozen=True):
    """What is to be published, and how.

    Attributes:
        folder: the folder of the package.
        suffix: what the release adds to the version in the manifest, such as `-beta.1+123`.
        critical: whether it is an urgent fix, also where the manifest does not say so.
        skip_existing: whether it is all right that the same content is published already.
        dry_run: whether everything is checked, and nothing written.
        resources: the API versions that its projects bring, by resource type.
        storage: the storage versions that these can read, by resource type.
        review: what else is looked at before; errors among its findings refuse the release. None for nothing.
        override: the reason why the release is published in spite of them; empty where it is not.
        expires_after: the validity period of the channel's files from now on; None leaves it as it is.
    """

    folder: Path
    suffix: str = ""
    critical: bool = False
    skip_existing: bool = False
    dry_run: bool = False
    resources: Mapping[str, Iterable[str]] = {}
    storage: Mapping[str, Iterable[str]] = {}
    review: Review | None = None
    override: str = ""
    expires_after: dt.timedelta | None = None


class Published(msgspec.Struct, frozen=True):
    """The result of publishing.

    Attributes:
        entry: the version as the channel lists it.
        channel: the channel afterwards; as it would be for a dry run.
        existed: whether it was published already, so that nothing changed.
        files: how many files are packed.
        notes: what the publisher should know.
        overridden: what the review had against it, where a reason was given to publish it all the same.
    """

    entry: ListedVersion
    channel: Channel
    existed: bool
    files: int
    notes: tuple[str, ...] = ()
    overridden: tuple[Finding, ...] = ()


def publish(
    channel: PublishedChannel, release: PublishRequest, *, progress: Progress | None = None
) -> Published:
    """Packs a package, pushes it, and lets the channel list it.

    Raises:
        RefusedError: a rule refuses it; the error lists every rule that does. The channel is as it was.
        KeyFileError: a key cannot be read; nothing was pushed.
        PackageError: the folder cannot be packed.
        PendingError: it is recorded and will not get lost, but the channel does not show it yet.
        RegistryError: anything else that the registry raises.
    """
    with packed(release.folder, resources=release.resources, storage=release.storage) as package:
        version = version_to_publish(package.artifact.package.version, channel.word, release.suffix)
        entry = _entry(package.artifact, version, channel.clock(), critical=release.critical)
        publishing = _Publishing(channel, package, entry, release)
        channel.check_keys()
        try:
            before = channel.current()
            publishing.review(before)
            if release.dry_run:
                operation = publishing.decide(before)
                after = transitions.apply(before, operation)
                return publishing.result(after.channel, after.notes)
            publishing.check(before)  # What can be refused is, before anything is pushed.
            package.push(channel.repository, progress)
            done = channel.commit(publishing.decide)
        except RefusedError as error:
            return publishing.existing(error)
        return publishing.result(done.channel, done.notes)


class _Publishing:
    def __init__(
        self,
        channel: PublishedChannel,
        package: PackedArtifact,
        entry: ListedVersion,
        release: PublishRequest,
    ) -> None:
        self._channel = channel
        self._package = package
        self._entry = entry
        self._release = release
        self._base: ListedVersion | None = None
        self._against: tuple[Finding, ...] = ()
        self._is_first = False

    def review(self, channel: Channel) -> None:
        """Finds what is against the release besides the rules of channels; nothing where it is published already."""
        version, review = self._entry.version, self._release.review
        if review is None or channel.entry(version) is not None:
            return
        self._base = base_of(channel, version)
        self._against = errors_among(review(self._base))
        if self._against and self._release.override:
            self._entry = msgspec.structs.replace(self._entry, override=self._release.override)

    def result(self, channel: Channel, notes: tuple[str, ...]) -> Published:
        """The result for a version that is published now."""
        notes = (*self._package.notes, *notes)
        if self._is_first and not self._has_name_of(channel.package):
            location = self._channel.repository.location
            notes = (*notes, f"{location} is not named after the package {channel.package}")
        if self._release.override and not self._against:
            notes = (*notes, "there was nothing to override; the reason is not recorded")
        entry = channel.entry(self._entry.version) or self._entry
        return Published(entry, channel, False, self._package.files, notes, self._against)

    def decide(self, channel: Channel) -> Operation:
        """The operation, after the version's tag was set."""
        self.check(channel)
        if not self._release.dry_run:
            with self._channel.alone_with_content():
                # Only publishers of this version set its tag, and of these it is this one's turn.
                set_version_tag(
                    self._channel.repository, self._package.artifact, self._entry.tag_name
                )
        now = self._channel.clock()
        after = self._release.expires_after
        expires = None if after is None else (now + after).replace(microsecond=0)
        entry, seen = self._entry, channel.serial
        return Publish(entry=entry, at=now, seen=seen, expires=expires)

    def existing(self, error: RefusedError) -> Published:
        """The result for a version that is published again with the same content.

        Raises:
            RefusedError: it is not, or that is not all right.
        """
        if [each.code for each in error.refusals] != [RefusalCode.VERSION_EXISTS]:
            raise error
        finished = not self._release.dry_run and self._channel.settle()
        if not self._release.skip_existing and not finished:
            raise error
        channel = self._channel.current()
        listed = channel.entry(self._entry.version) or self._entry
        text = "finished a publishing that had broken off" if finished else "published already"
        if self._restored():
            text += "; its content was damaged in the registry and is restored"
        note = f"{self._entry.version}: {text}"
        return Published(listed, channel, not finished, self._package.files, (note,))

    def _restored(self) -> bool:
        """Whether content of the version was missing or damaged; it is stored again."""
        repository = self._channel.repository
        if self._release.dry_run:
            return False
        if not is_damaged(repository, self._package.artifact.digest):
            return False
        # In a turn: another publisher may have unpublished the version by now, whose content then is gone for good.
        with self._channel.ledger.turn(self._channel.wait) as turn:
            if self._channel.current(turn.entries).entry(self._entry.version) is None:
                return False
            with self._channel.alone_with_content():
                if not restore_content(repository, self._package):
                    return False
                turn.check()
                set_version_tag(repository, self._package.artifact, self._entry.tag_name)
        return True

    def check(self, channel: Channel) -> None:
        """Makes sure that nothing refuses the version."""
        listed = channel.entry(self._entry.version) is not None
        self._is_first = not (channel.versions or channel.unpublished)
        if self._is_first:
            self._check_package(channel.package)
        against = () if listed else tuple(self._objections(channel))
        try:
            self._check_rules(channel)
        except RefusedError as error:
            raise RefusedError(*error.refusals, *against) from None
        if against:
            raise RefusedError(*against)

    def _objections(self, channel: Channel) -> Iterator[Finding]:
        """What the review has against the version."""
        if self._release.review is None:
            return
        where = f"{channel.package} {self._entry.version} in the channel {channel.name}"
        base = base_of(channel, self._entry.version)
        if _identity(base) != _identity(self._base):
            expected = f"to follow {self._base.version}" if self._base else "the first release"
            found = f"{base.version}, which was published meanwhile" if base else "none any more"
            advice = "publish again, so that it is compared with that"
            yield refusal(RefusalCode.CONCURRENT_CHANGE, where, expected, found, advice)
        if self._against and not self._release.override:
            found = "1 error" if len(self._against) == 1 else f"{len(self._against)} errors"
            advice = "correct them; or publish in spite of them with --override REASON"
            yield refusal(RefusalCode.NOT_IN_ORDER, where, "a package in order", found, advice)
            yield from self._against

    def _check_package(self, package: str) -> None:
        """Refuses a repository whose other channels are of another package: tags of versions are of all channels."""
        repository = self._channel.repository
        for latest in offered(repository):
            if latest.package != package:
                where = f"{repository.location}:{channel_tag(latest.name)}"
                expected, advice = f"the package {package}", "publish it to its own repository"
                code = RefusalCode.WRONG_PACKAGE
                raise RefusedError(refusal(code, where, expected, latest.package, advice))

    def _has_name_of(self, package: str) -> bool:
        """Whether the repository ends with the last part of a package's name; one in a folder may have no name."""
        name = Reference.parse(self._channel.repository.location).repository
        last = re.split(r"[./]", package)[-1]
        return not name or f"-{_spelled(name)}".endswith(f"-{_spelled(last)}")

    def _check_rules(self, channel: Channel) -> None:
        """Makes sure that no rule of channels refuses the version."""
        repository, tag = self._channel.repository, self._entry.tag_name
        tagged = digest_of_tag(repository, tag) if len(tag) <= LONGEST_TAG else None
        release = self._entry.version.release
        late = self._channel.word != STABLE and is_released(repository, release)
        transitions.publish(
            channel,
            self._entry,
            self._channel.clock(),
            manifest=self._package.artifact.package.version,
            released=(release,) if late else (),
            tagged=tagged,
        )


def _identity(entry: ListedVersion | None) -> tuple[SemVer, str] | None:
    return None if entry is None else (entry.version, entry.identity)


def _spelled(name: str) -> str:
    """A name as far as names of repositories can spell those of packages."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _entry(
    artifact: Artifact, version: SemVer, now: dt.datetime, *, critical: bool
) -> ListedVersion:
    return new_entry(
        artifact.package, version, artifact.digest, artifact.size, now, critical=critical
    )
