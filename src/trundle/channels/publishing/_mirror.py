"""Copies a package's repository with its channels, so that readers of the copy see just what the source showed."""

from collections.abc import Callable, Iterator

import msgspec

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import Channel, Entry, is_channel_word, read_all
from trundle.channels.publishing._content import digest_of_tag, remove_version_tag
from trundle.channels.reading import RepositorySource, channel_tag
from trundle.registry import Progress, Repository, copy, version_of
from trundle.version import SemVer, VersionError

_PREFIX = "channel."


class Mirrored(msgspec.Struct, frozen=True):
    """The result of mirroring.

    Attributes:
        copied: the tags that were set at the target, in the order in which they were.
        unchanged: the tags that were there already.
        removed: the tags of versions that were unpublished since.
        notes: what the caller should know.
    """

    copied: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def mirror(
    source: Repository,
    target: Repository,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    on_tag: Callable[[str], None] | None = None,
) -> Mirrored:
    """Copies all versions, and then all channels with their signatures; digests stay what they are.

    The states of the channels are read first and set last, so the target's channels never name what is not there.
    What is there already is not moved again. The operations behind the channels stay at the source, which alone
    can be published to.

    Args:
        source: the repository that is copied.
        target: where to; a folder or a registry.
        dry_run: whether nothing is changed.
        progress: called with the number of bytes after each piece of a blob.
        on_tag: called with each tag before it is copied.

    Raises:
        RefusedError: a version's tag has other content at the target, or a channel is newer there.
        RegistryError: as the registries raise it.
    """
    tags = source.tags()
    words = [each.removeprefix(_PREFIX) for each in tags if _is_channel(each)]
    sources = {word: RepositorySource(source, word) for word in words}
    heads = {channel_tag(word): each for word, each in sources.items()}
    channels = [_channel_of(each) for each in sources.values()]
    for word, each in sources.items():
        _check_not_older(each, target, word)
    wanted = {tag: digest_of_tag(source, tag) for tag in tags if tag not in heads}
    for channel in channels:
        for entry in channel.versions:
            if entry.digest is not None:
                wanted[entry.tag_name] = entry.digest
    there = {tag: digest_of_tag(target, tag) for tag in target.tags()}
    _check_fixed(wanted, there, target)
    wanted |= {tag: each.manifest.descriptor.digest for tag, each in heads.items()}
    copied, unchanged = [], []
    for tag, digest in wanted.items():
        if digest is None:
            continue  # It went away while this looked.
        if there.get(tag) == digest:
            unchanged.append(tag)
            continue
        if on_tag:
            on_tag(tag)
        if not dry_run:
            copy(source, target, digest, tag=tag, progress=progress)
        copied.append(tag)
    removed, notes = _remove_unpublished(channels, set(wanted), target, there, dry_run=dry_run)
    return Mirrored(tuple(copied), tuple(unchanged), tuple(removed), tuple(notes))


def _is_channel(tag: str) -> bool:
    return tag.startswith(_PREFIX) and is_channel_word(tag.removeprefix(_PREFIX))


def _channel_of(source: RepositorySource) -> Channel:
    return read_all(b"".join(source.read("all")), f"{source.location}/all").channel


def _check_not_older(source: RepositorySource, target: Repository, word: str) -> None:
    """Refuses to take a channel at the target back to an older state."""
    if digest_of_tag(target, channel_tag(word)) is None:
        return
    there = RepositorySource(target, word)
    ours, theirs = _channel_of(source), _channel_of(there)
    code = RefusalCode.WRONG_PACKAGE
    found = f"{theirs.package}, serial {theirs.serial}"
    expected = f"{ours.package}, serial {ours.serial} or less"
    if ours.package == theirs.package:
        if theirs.serial <= ours.serial:
            return
        code = RefusalCode.STALE_METADATA
    advice = "mirror from the repository that is published to"
    raise RefusedError(refusal(code, there.location, expected, found, advice))


def _check_fixed(
    wanted: dict[str, str | None], there: dict[str, str | None], target: Repository
) -> None:
    """Refuses to move the tag of a version."""
    refusals = [
        refusal(
            RefusalCode.TAG_EXISTS,
            f"{target.location}:{tag}",
            f"no tag, or one for {digest}",
            f"one for {there[tag]}",
            "choose another target, or remove that tag; the tag of a version never moves",
        )
        for tag, digest in wanted.items()
        if digest and there.get(tag) not in (None, digest) and _is_version(tag)
    ]
    if refusals:
        raise RefusedError(*refusals)


def _is_version(tag: str) -> bool:
    try:
        SemVer.parse(version_of(tag))
    except VersionError:
        return False
    return True


def _remove_unpublished(
    channels: list[Channel],
    wanted: set[str],
    target: Repository,
    there: dict[str, str | None],
    *,
    dry_run: bool,
) -> tuple[list[str], list[str]]:
    removed: list[str] = []
    notes: list[str] = []
    for entry in _gone(channels):
        if entry.tag_name in wanted or there.get(entry.tag_name) != entry.digest:
            continue
        left = () if dry_run else remove_version_tag(target, entry)
        notes += left
        if not left:
            removed.append(entry.tag_name)
    return removed, notes


def _gone(channels: list[Channel]) -> Iterator[Entry]:
    for channel in channels:
        yield from (each.entry for each in channel.unpublished)
