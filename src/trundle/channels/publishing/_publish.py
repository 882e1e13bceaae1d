"""Publishes a version of a package.

The order of the writes, so that a channel reads whenever a publisher dies:

1. the content's blobs and its manifest, by their digests: not visible yet;
2. in the publisher's turn, when no rule refuses it: the version's tag. A tag without an entry is repaired away, or
   taken up by the next publishing of the same content;
3. the operation, in the ledger: from here on it is not lost;
4. the channel's new head.
"""

import datetime as dt
from pathlib import Path

import msgspec

from trundle.channels import transitions
from trundle.channels._refusals import RefusalCode, RefusedError
from trundle.channels.artifacts import Artifact
from trundle.channels.files import LONGEST_TAG, STABLE, Channel, ListedVersion
from trundle.channels.publishing._artifact import PackedArtifact, packed
from trundle.channels.publishing._channel import PublishedChannel
from trundle.channels.publishing._content import (
    content_damage,
    digest_of_tag,
    restore_content,
    set_version_tag,
)
from trundle.channels.publishing._released import is_released
from trundle.channels.transitions import Operation, Publish, new_entry, version_to_publish
from trundle.registry import Progress
from trundle.version import SemVer


class PublishRequest(msgspec.Struct, frozen=True):
    """What is to be published, and how.

    Attributes:
        folder: the folder of the package.
        suffix: what the release adds to the version in the manifest, such as `-beta.1+123`.
        critical: whether it is an urgent fix, also where the manifest does not say so.
        skip_existing: whether it is all right that the same content is published already.
        dry_run: whether everything is checked, and nothing written.
        expires_after: the validity period of the channel's files from now on; None leaves it as it is.
    """

    folder: Path
    suffix: str = ""
    critical: bool = False
    skip_existing: bool = False
    dry_run: bool = False
    expires_after: dt.timedelta | None = None


class Published(msgspec.Struct, frozen=True):
    """The result of publishing.

    Attributes:
        entry: the version as the channel lists it.
        channel: the channel afterwards; as it would be for a dry run.
        existed: whether it was published already, so that nothing changed.
        files: how many files are packed.
        notes: what the publisher should know.
    """

    entry: ListedVersion
    channel: Channel
    existed: bool
    files: int
    notes: tuple[str, ...] = ()


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
    with packed(release.folder) as package:
        version = version_to_publish(package.artifact.package.version, channel.word, release.suffix)
        entry = _entry(package.artifact, version, channel.clock(), critical=release.critical)
        publishing = _Publishing(channel, package, entry, release)
        channel.check_keys()
        try:
            if release.dry_run:
                publishing.decide(channel.current())
                after = transitions.apply(channel.current(), publishing.operation)
                notes = (*package.notes, *after.notes)
                return Published(entry, after.channel, False, package.files, notes)
            publishing.check_first()
            package.push(channel.repository, progress)
            done = channel.commit(publishing.decide)
        except RefusedError as error:
            return publishing.existing(error)
        listed = done.channel.entry(version) or entry
        notes = (*package.notes, *done.notes)
        return Published(listed, done.channel, False, package.files, notes)


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
        self.operation: Operation

    def check_first(self) -> None:
        """Refuses what can be refused before anything is pushed."""
        self._check(self._channel.current())

    def decide(self, channel: Channel) -> Operation:
        """The operation, after the version's tag was set."""
        self._check(channel)
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
        self.operation = Publish(entry=entry, at=now, seen=seen, expires=expires)
        return self.operation

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
        if not any(content_damage(repository, self._package.artifact.digest)):
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

    def _check(self, channel: Channel) -> None:
        """Makes sure that no rule refuses the version."""
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


def _entry(
    artifact: Artifact, version: SemVer, now: dt.datetime, *, critical: bool
) -> ListedVersion:
    return new_entry(
        artifact.package, version, artifact.digest, artifact.size, now, critical=critical
    )
