"""Finishes or undoes what an interrupted publisher left behind, and restores what was moved in the registry.

All is done in the publisher's turn, so what looks like the rest of a dead publisher is not the work of a living one.
"""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from trundle.channels.artifacts import is_package
from trundle.channels.files import ListedVersion, belongs
from trundle.channels.publishing._channel import PublishedChannel
from trundle.channels.publishing._content import (
    content_damage,
    content_delivered_otherwise,
    digest_of_tag,
    remove_version_tag,
)
from trundle.channels.transitions import Folded, Unpublish
from trundle.errors import expectation
from trundle.registry import (
    NotFoundError,
    RegistryRefusedError,
    Repository,
    version_of,
)
from trundle.version import SemVer, VersionError

Kind: TypeAlias = Literal[
    "damaged-head",
    "head",
    "orphan-tag",
    "unpublished-tag",
    "missing-tag",
    "moved-tag",
    "damaged-content",
    "ignored",
    "unknown",
]


class Repair(msgspec.Struct, frozen=True):
    """Something that was wrong with a channel.

    Attributes:
        kind: `damaged-head` (what the channel shows is gone, damaged or older than what was seen), `head` (the
            channel did not show all that was recorded), `orphan-tag` (a version's content without an
            entry), `unpublished-tag` (an unpublished version's tag was left), `missing-tag` and `moved-tag` (a listed
            version's tag is gone or names something else), `damaged-content` (a
            listed version's content is gone or damaged),
            `ignored` (an entry of the ledger that the publisher never signed, or a tag beside its entries that is
            none), `unknown` (something in the ledger
            that this release cannot read; until it is gone or readable the channel cannot be changed).
        what: says it in full.
        done: what was done about it, or would be; empty where a person has to do something.
    """

    kind: Kind
    what: str
    done: str = ""

    def to_plain(self) -> dict[str, str]:
        """What was wrong as plain values, for programs."""
        return {"kind": self.kind, "what": self.what, "done": self.done}


def repair(
    channel: PublishedChannel, *, dry_run: bool = False, read_content: bool = False
) -> tuple[Repair, ...]:
    """Finds what is wrong with a channel in its repository, and puts right what can be.

    Args:
        channel: the channel.
        dry_run: whether nothing is changed.
        read_content: whether all content that a registry over HTTP has is downloaded and compared with its digest; other
            publishers do not wait for that. Content in a folder is always read.

    Returns:
        What was wrong; nothing for a sound channel.

    Raises:
        RegistryRefusedError: there is no channel, or it is not to be trusted.
        RegistryError: as the registry raises it.
    """
    unknown = channel.unknown()
    if unknown:
        return tuple(Repair("unknown", each) for each in unknown)
    repairs: list[Repair] = []
    with channel.ledger.turn(channel.wait) as turn:
        damage = channel.damage(turn.entries)
        if damage:
            done = "the channel is rebuilt from its ledger"
            repairs.append(Repair("damaged-head", damage, done))
            if dry_run:
                return tuple(repairs)
            channel.rebuild(turn)
        if not channel.is_shown():
            what = f"{channel.location} does not show all operations that are recorded"
            repairs.append(Repair("head", what, "the channel shows them now"))
            if not dry_run:
                channel.show_all(turn)
        folded = channel.folded(turn.entries)
        repairs += [
            Repair("ignored", f"{each}; another tool may have written to the registry")
            for each in (*channel.ignored, *_foreign(channel))
        ]
        with channel.alone_with_content():
            work = _Repairing(channel.repository, channel.word, folded, dry_run=dry_run)
            for each in work.run():
                turn.check()
                repairs.append(each)
    if read_content:
        repairs += _read_content(channel)
    return tuple(repairs)


def _read_content(channel: PublishedChannel) -> Iterator[Repair]:
    """The versions whose content has its length, and is not what it was."""
    repository = channel.repository
    for entry in channel.current().versions:
        if entry.digest is None:
            continue
        damage = "; ".join(content_delivered_otherwise(repository, entry.digest))
        # Meanwhile, another publisher may have unpublished it, or published the same content again.
        if damage and channel.current().entry(entry.version) == entry:
            yield _damaged_content(repository, entry, damage)


def _damaged_content(repository: Repository, entry: ListedVersion, damage: str) -> Repair:
    where = f"{repository.location}:{entry.tag_name}"
    advice = "publish the package again with --skip-existing, which restores it, or unpublish it"
    return Repair("damaged-content", f"{where}: {damage}; {advice}")


def _foreign(channel: PublishedChannel) -> Iterator[str]:
    """What is wrong with each tag beside the ledger that is none of its own."""
    for tag in channel.ledger.tags.foreign():
        where = f"{channel.repository.location}:{tag}"
        found = expectation("a tag of the ledger's entries", "another", "it does not count")
        yield f"{where}: {found}"


class _Repairing:
    def __init__(self, repository: Repository, word: str, folded: Folded, *, dry_run: bool) -> None:
        self._repository = repository
        self._word = word
        self._channel = folded.channel
        self._kept = {
            each.operation.version
            for each in folded.outcomes
            if isinstance(each.operation, Unpublish) and each.operation.keep_content
        }
        self._dry_run = dry_run

    def run(self) -> Iterator[Repair]:
        tags = set(self._repository.tags())
        for entry in self._channel.versions:
            yield from self._listed(entry, tags)
        for tombstone in self._channel.unpublished:
            if tombstone.entry.tag_name in tags and tombstone.version not in self._kept:
                yield from self._unpublished(tombstone.entry)
        known = {each.tag_name for each in self._channel.versions}
        known |= {each.entry.tag_name for each in self._channel.unpublished}
        for tag in sorted(tags - known):
            if self._is_orphan(tag):
                yield self._orphan(tag)

    def _listed(self, entry: ListedVersion, tags: set[str]) -> Iterator[Repair]:
        if entry.digest is None:
            return
        where = f"{self._repository.location}:{entry.tag_name}"
        tagged = digest_of_tag(self._repository, entry.tag_name) if entry.tag_name in tags else None
        damage = "; ".join(content_damage(self._repository, entry.digest))
        if damage:
            yield _damaged_content(self._repository, entry, damage)
        if tagged == entry.digest or not self._repository.has_manifest(entry.digest):
            return
        if not self._dry_run:
            self._repository.set_tag(entry.tag_name, entry.digest)
        kind: Kind = "missing-tag" if tagged is None else "moved-tag"
        what = expectation(f"a tag for {entry.digest}", tagged or "none")
        yield Repair(kind, f"{where}: {what}", "the tag names it again")

    def _unpublished(self, entry: ListedVersion) -> Iterator[Repair]:
        wrong = expectation("no tag of an unpublished version", "one")
        what = f"{self._repository.location}:{entry.tag_name}: {wrong}"
        if self._dry_run:
            yield Repair("unpublished-tag", what, "the tag is removed")
            return
        left = remove_version_tag(self._repository, entry)
        yield Repair(
            "unpublished-tag", "; ".join((what, *left)), "" if left else "the tag is removed"
        )

    def _is_orphan(self, tag: str) -> bool:
        """Whether a tag is that of a version of this channel, on a package."""
        try:
            if not belongs(SemVer.parse(version_of(tag)), self._word):
                return False
            document = self._repository.get_manifest(tag).document
        except (VersionError, NotFoundError):
            return False
        return is_package(document)

    def _orphan(self, tag: str) -> Repair:
        names = digest_of_tag(self._repository, tag)
        found = f"none for what the tag names, {names}"
        wrong = expectation(f"an entry in the channel {self._word}", found)
        what = f"{self._repository.location}:{tag}: {wrong}"
        if not self._dry_run:
            try:
                self._repository.remove_tag(tag)
            except RegistryRefusedError as error:
                return Repair("orphan-tag", f"{what}; {error}")
        return Repair("orphan-tag", what, "the tag is removed; publish the package again")
