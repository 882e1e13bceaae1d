"""Takes versions out of a channel and brings them back; promotes, deprecates, keeps fresh."""

import datetime as dt

import msgspec

from trundle.channels import transitions
from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import Channel, ListedVersion
from trundle.channels.publishing._artifact import PackedArtifact
from trundle.channels.publishing._channel import Committed, Decide, PublishedChannel
from trundle.channels.publishing._content import (
    digest_of_tag,
    is_being_removed,
    remove_version_tag,
)
from trundle.channels.transitions import (
    Deprecate,
    Operation,
    Promote,
    Refresh,
    Restore,
    Unpublish,
    confirmation_needed,
    touches_latest,
)
from trundle.registry import OCI_MANIFEST, Descriptor, NotFoundError, Repository
from trundle.version import SemVer


def unpublish(
    channel: PublishedChannel,
    version: SemVer,
    reason: str,
    *,
    confirmed: bool = False,
    keep_content: bool = False,
    dry_run: bool = False,
) -> Committed:
    """Takes a version out of the channel, and then its tag out of the registry.

    Readers stop seeing it before its content is removed. If this is interrupted, `repair` removes the tag.

    Args:
        channel: the channel.
        version: the version.
        reason: why; shown to users who have it installed.
        confirmed: whether it may be the latest version.
        keep_content: whether its tag stays in the registry.
        dry_run: whether nothing is changed.

    Raises:
        RefusedError: the version is not listed, there is no reason, or it is the latest and that was not confirmed.
        PendingError: it is recorded, but the channel does not show it yet.
        RegistryError: anything else that the registry raises.
    """
    gone: list[ListedVersion] = []

    def decide(before: Channel) -> Operation:
        now = channel.clock()
        transitions.unpublish(before, version, reason, now)
        if touches_latest(before, version) and not confirmed:
            raise RefusedError(confirmation_needed(before, version))
        entry = before.entry(version)
        assert entry is not None
        gone[:] = [entry]
        keep = True if keep_content else None
        return Unpublish(
            version=version, reason=reason, keep_content=keep, at=now, seen=before.serial
        )

    done = _do(channel, decide, dry_run=dry_run)
    if dry_run or keep_content:
        return done
    # In a turn: another publisher may have restored the version by now, and one that is about to needs the turn.
    with channel.ledger.turn(channel.wait) as turn:
        if channel.current(turn.entries).entry(version) is not None:
            return done
        with channel.alone_with_content():
            turn.check()
            notes = remove_version_tag(channel.repository, gone[0])
    return msgspec.structs.replace(done, notes=(*done.notes, *notes))


def restore(
    channel: PublishedChannel,
    version: SemVer,
    *,
    content: PackedArtifact | None = None,
    dry_run: bool = False,
) -> Committed:
    """Brings an unpublished version back, with the same content under the same tag.

    Args:
        channel: the channel.
        version: the version.
        content: the version's content, where the registry does not have it any more.
        dry_run: whether nothing is changed.

    Raises:
        RefusedError: it is not unpublished, its content is gone, or the given content is other.
        PendingError: it is recorded, but the channel does not show it yet.
        RegistryError: anything else that the registry raises.
    """

    def decide(before: Channel) -> Operation:
        now = channel.clock()
        transitions.restore(before, version, now)
        tombstone = before.tombstone(version)
        assert tombstone is not None
        _bring_back(channel, tombstone.entry, content, dry_run=dry_run)
        return Restore(version=version, at=now, seen=before.serial)

    return _do(channel, decide, dry_run=dry_run)


def promote(channel: PublishedChannel, version: SemVer, *, dry_run: bool = False) -> Committed:
    """Makes a listed version the latest; errors are those of `commit`."""

    def decide(before: Channel) -> Operation:
        return Promote(version=version, at=channel.clock(), seen=before.serial)

    return _do(channel, decide, dry_run=dry_run)


def deprecate(
    channel: PublishedChannel, version: SemVer, message: str | None, *, dry_run: bool = False
) -> Committed:
    """Says why a version should no longer be used, or with None takes that back; errors are those of `commit`."""

    def decide(before: Channel) -> Operation:
        at, seen = channel.clock(), before.serial
        return Deprecate(version=version, message=message, at=at, seen=seen)

    return _do(channel, decide, dry_run=dry_run)


def refresh(
    channel: PublishedChannel,
    expires_after: dt.timedelta | None = None,
    *,
    dry_run: bool = False,
) -> Committed:
    """Renews the validity period of a channel: signed anew, or with a new expiry where it has no signatures.

    Raises:
        RefusedError: the channel shows nothing, or its keys are others.
        RegistryError: as the registry raises it.
    """
    if channel.signer and not dry_run:
        return channel.refresh()

    def decide(before: Channel) -> Operation:
        now = channel.clock()
        expires = None if expires_after is None else (now + expires_after).replace(microsecond=0)
        return Refresh(at=now, seen=before.serial, expires=expires)

    return _do(channel, decide, dry_run=dry_run)


def _do(channel: PublishedChannel, decide: Decide, *, dry_run: bool) -> Committed:
    if not dry_run:

        def checked(before: Channel) -> Operation:
            operation = decide(before)
            transitions.apply(before, operation)
            return operation

        return channel.commit(checked)
    before = channel.current()
    done = transitions.apply(before, decide(before))
    return Committed(done.channel, done.notes)


def _bring_back(
    channel: PublishedChannel,
    entry: ListedVersion,
    content: PackedArtifact | None,
    *,
    dry_run: bool,
) -> None:
    """Sees that a version's content and tag are in the registry."""
    repository, digest = channel.repository, entry.digest
    where = f"{repository.location}:{entry.tag_name}"
    if digest is None or (content and content.artifact.digest != digest):
        found = content.artifact.digest if content else "no digest"
        code, advice = RefusalCode.DIGEST_CHANGED, "restore just what was published"
        raise RefusedError(refusal(code, where, f"the content {entry.identity}", found, advice))
    tagged = digest_of_tag(repository, entry.tag_name)
    if tagged not in (None, digest) and not is_being_removed(repository, entry.tag_name):
        code, advice = RefusalCode.TAG_EXISTS, "remove that tag; it is not this version's"
        raise RefusedError(refusal(code, where, f"no tag, or one for {digest}", tagged, advice))
    if not content and not _is_there(repository, digest, dry_run=dry_run):
        code = RefusalCode.CONTENT_MISSING
        advice = "give the package's folder with --content, or copy the content there from a mirror"
        raise RefusedError(refusal(code, where, f"the content {digest}", "none", advice))
    if dry_run:
        return
    if content:
        content.push(repository)
    with channel.alone_with_content():
        try:
            repository.set_tag(entry.tag_name, digest)
        except NotFoundError:
            code, advice = RefusalCode.CONTENT_MISSING, "try again with --content"
            raise RefusedError(
                refusal(code, where, f"the content {digest}", "none", advice)
            ) from None


def _is_there(repository: Repository, digest: str, *, dry_run: bool) -> bool:
    """Whether a manifest is in the registry, once it was brought back if it went with its tag."""
    if not dry_run:
        return repository.restore_manifest(digest)
    blob = Descriptor(media_type=OCI_MANIFEST, digest=digest, size=0)
    return repository.has_manifest(digest) or repository.has_blob(blob)
