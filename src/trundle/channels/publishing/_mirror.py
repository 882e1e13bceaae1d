"""Copies a package's repository with its channels, so that readers of the copy see just what the source showed."""

from collections.abc import Callable, Iterator

import msgspec

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files import Channel, ListedVersion, belongs, is_channel_word, read_all
from trundle.channels.publishing._content import digest_of_tag, remove_version_tag
from trundle.channels.reading import RepositorySource, channel_tag
from trundle.registry import NotFoundError, Progress, Repository, copy, version_of
from trundle.version import SemVer, VersionError

_PREFIX = "channel."
_LOOKS = 5


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

    def to_plain(self) -> dict[str, list[str]]:
        """The result as plain values, for programs."""
        return {name: list(getattr(self, name)) for name in self.__struct_fields__}


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
    can be published to. The tag of a version that no channel lists stays there, too: its publishing is not done yet.

    Where the source changes meanwhile it is looked at again. So of several mirrors at once, the last one to set a
    channel finds whatever is newer.

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
    done = Mirrored((), ())
    for look in range(1, _LOOKS + 1):
        run = _Mirroring(source, target, progress, on_tag, dry_run=dry_run)
        try:
            done = _joined(done, run.run())
        except (NotFoundError, RefusedError):
            if look == _LOOKS or not run.is_overtaken():
                raise
        else:
            if dry_run or not run.is_overtaken():
                break
    return done


class _Mirroring:
    """One look at the source, and what it leads to."""

    def __init__(
        self,
        source: Repository,
        target: Repository,
        progress: Progress | None,
        on_tag: Callable[[str], None] | None,
        *,
        dry_run: bool,
    ) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._on_tag = on_tag
        self._dry_run = dry_run
        tags = source.tags()
        words = [each.removeprefix(_PREFIX) for each in tags if _is_channel(each)]
        self._heads = {channel_tag(word): RepositorySource(source, word) for word in words}
        self._tags = [each for each in tags if each not in self._heads]

    def run(self) -> Mirrored:
        """Copies what is not there yet."""
        source, target = self._source, self._target
        for tag, each in self._heads.items():
            _check_not_older(each, target, tag.removeprefix(_PREFIX))
        channels = [_channel_of(each) for each in self._heads.values()]
        wanted = {
            tag: digest_of_tag(source, tag)
            for tag in self._tags
            if not any(_is_unlisted(tag, channel) for channel in channels)
        }
        for channel in channels:
            for entry in channel.versions:
                if entry.digest is not None:
                    wanted[entry.tag_name] = entry.digest
        there = {tag: digest_of_tag(target, tag) for tag in target.tags()}
        _check_fixed(wanted, there, target)
        wanted |= {tag: each.manifest.descriptor.digest for tag, each in self._heads.items()}
        copied, unchanged = [], []
        for tag, digest in wanted.items():
            if digest is None:
                continue  # It went away while this looked.
            if there.get(tag) == digest:
                unchanged.append(tag)
                continue
            if self._on_tag:
                self._on_tag(tag)
            if not self._dry_run:
                copy(source, target, digest, tag=tag, progress=self._progress)
            copied.append(tag)
        removed, notes = _remove_unpublished(
            channels, set(wanted), target, there, dry_run=self._dry_run
        )
        return Mirrored(tuple(copied), tuple(unchanged), tuple(removed), tuple(notes))

    def is_overtaken(self) -> bool:
        """Whether a channel of the source has changed since."""
        return any(each.renewed() is not None for each in self._heads.values())


def _joined(before: Mirrored, after: Mirrored) -> Mirrored:
    copied = tuple(dict.fromkeys((*before.copied, *after.copied)))
    return Mirrored(
        copied,
        tuple(each for each in after.unchanged if each not in copied),
        tuple(dict.fromkeys((*before.removed, *after.removed))),
        after.notes,
    )


def _is_unlisted(tag: str, channel: Channel) -> bool:
    """Whether a tag is that of a version which belongs to a channel, and which the channel has never listed."""
    try:
        version = SemVer.parse(version_of(tag))
    except VersionError:
        return False
    listed = channel.entry(version) or channel.tombstone(version)
    return belongs(version, channel.name) and listed is None


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


def _gone(channels: list[Channel]) -> Iterator[ListedVersion]:
    for channel in channels:
        yield from (each.entry for each in channel.unpublished)
