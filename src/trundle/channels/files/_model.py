"""What a channel holds: its versions, its tombstones, which version is the latest, and who may be in it."""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels.files._rows import Rows
from trundle.packages import Requirement
from trundle.version import SemVer

SCHEMA_VERSION = 1
"""The format of channel files that is written; files of a later one are refused."""

ID_LENGTH = 12
"""How many digits of its digest a version has as its id."""

LONGEST_TAG = 128
"""The most characters that a tag may have in a registry."""

STABLE = "stable"
"""The channel of versions that have neither pre-release nor build."""

_WORD = re.compile(r"[a-z][a-z0-9]*")
_RESERVED = ("latest", "all")
_ALGORITHM = "sha256:"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

Extra: TypeAlias = tuple[tuple[str, str], ...]
"""Fields of later versions of the format: key and JSON text, in alphabetical order."""


class ListedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version in a channel: what is needed to decide about it without fetching it.

    All but the deprecation was settled when the version was published. What else the package says about itself
    is in its manifest only.

    Attributes:
        version: the version.
        id: the first 12 digits of the digest.
        create_time: when it was published.
        digest: `sha256:` and 64 digits; None in files of tools that write only an id.
        tag: the tag in the registry; None in the same files.
        size: how many bytes the artifact has; None in the same files.
        changes: what is new in it.
        critical: whether it is an urgent fix.
        deprecated: why it should no longer be used; None for most.
        min_upgrade_from: the lowest version that can be upgraded to it; None for all.
        depends_on: the packages that it needs, in alphabetical order.
        override: why it was published although rules were against it; None for most.
        extra: fields that this release of Trundle does not know; they are kept.
    """

    version: SemVer
    id: str
    create_time: dt.datetime
    digest: str | None = None
    tag: str | None = None
    size: int | None = None
    changes: tuple[str, ...] = ()
    critical: bool = False
    deprecated: str | None = None
    min_upgrade_from: SemVer | None = None
    depends_on: tuple[Requirement, ...] = ()
    override: str | None = None
    extra: Extra = ()

    @property
    def identity(self) -> str:
        """What content this is: the digest, or the id where there is nothing better."""
        return self.digest or self.id

    @property
    def tag_name(self) -> str:
        """The tag in the registry."""
        return self.tag or tag_of(self.version)

    @property
    def deprecation(self) -> str:
        """Why it should no longer be used, on one line for messages; empty for most."""
        return " ".join((self.deprecated or "").split())

    @property
    def overriding(self) -> str:
        """Why it was published against rules, on one line for messages; empty for most."""
        return " ".join((self.override or "").split())

    def is_same_content(self, other: str) -> bool:
        """Whether a digest or an id names this version's content, as far as the two show it."""
        if self.digest and other.startswith(_ALGORITHM):
            return self.digest == other
        return self.id == other.removeprefix(_ALGORITHM)[:ID_LENGTH]


class Tombstone(msgspec.Struct, frozen=True):
    """A version that was in the channel and must never come back with other content.

    Attributes:
        entry: what was published; restoring brings just this back.
        unpublish_time: when it was taken out.
        reason: why.
    """

    entry: ListedVersion
    unpublish_time: dt.datetime
    reason: str

    @property
    def why(self) -> str:
        """The reason on one line, for messages: its author must not add lines to what others print."""
        return " ".join(self.reason.split())

    @property
    def version(self) -> SemVer:
        """The version."""
        return self.entry.version


class Channel(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A named stream of releases of one package: the content of both its files.

    Attributes:
        name: the channel name.
        package: the package that it releases.
        latest: the version that installations follow; None after that was unpublished.
        versions: what can be installed, newest first.
        unpublished: what no longer can, newest first.
        schema_version: the format of the files.
        serial: grows with every change.
        update_time: when it was last changed.
        expires: the end of its validity period; None for none.
        extra: fields that this release of Trundle does not know; they are kept.
    """

    name: str
    package: str
    latest: SemVer | None = None
    versions: Sequence[ListedVersion] = ()
    unpublished: Sequence[Tombstone] = ()
    schema_version: int = SCHEMA_VERSION
    serial: int = 0
    update_time: dt.datetime | None = None
    expires: dt.datetime | None = None
    extra: Extra = ()

    @cached_property
    def _entries(self) -> dict[SemVer, ListedVersion]:
        return {each.version: each for each in self.versions}

    @cached_property
    def _tombstones(self) -> dict[SemVer, Tombstone]:
        return {each.version: each for each in self.unpublished}

    def entry(self, version: SemVer | None) -> ListedVersion | None:
        """The entry of a version; None if it is not listed."""
        if version is None:
            return None
        rows = self.versions
        return rows.find(version) if isinstance(rows, Rows) else self._entries.get(version)

    def tombstone(self, version: SemVer) -> Tombstone | None:
        """The tombstone of a version; None if it was not unpublished."""
        rows = self.unpublished
        return rows.find(version) if isinstance(rows, Rows) else self._tombstones.get(version)

    def entry_with(self, digest: str) -> ListedVersion | None:
        """The entry of the version with some content; None if none is listed."""
        return next((each for each in self.versions if each.is_same_content(digest)), None)

    def tombstone_with(self, digest: str) -> Tombstone | None:
        """The tombstone of the version with some content; None if none was unpublished."""
        found = (each for each in self.unpublished if each.entry.is_same_content(digest))
        return next(found, None)

    @property
    def latest_entry(self) -> ListedVersion | None:
        """The entry of the latest version."""
        return self.entry(self.latest)

    @property
    def highest(self) -> SemVer | None:
        """The highest version that was ever listed; None where none was."""
        tops = (
            rows[:1] if isinstance(rows, Rows) else rows
            for rows in (self.versions, self.unpublished)
        )
        return max((each.version for top in tops for each in top), default=None)


class Latest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a channel's `latest` file; the fields are those of `Channel`."""

    name: str
    package: str
    latest: ListedVersion | None = None
    schema_version: int = SCHEMA_VERSION
    serial: int = 0
    update_time: dt.datetime | None = None
    expires: dt.datetime | None = None
    extra: Extra = ()


def is_channel_word(word: str) -> bool:
    """Whether a text is a channel name: `[a-z][a-z0-9]*`, but not `latest` or `all`."""
    return _WORD.fullmatch(word) is not None and word not in _RESERVED


def check_channel_word(word: str) -> str:
    """A text, where it is a channel name.

    Raises:
        RefusedError: it cannot.
    """
    if is_channel_word(word):
        return word
    expected = "a channel name: lower-case letters and digits, starting with a letter"
    advice = (
        f"choose another name; {' and '.join(_RESERVED)} are reserved for the files of a channel"
    )
    code = RefusalCode.INVALID_CHANNEL_WORD
    raise RefusedError(refusal(code, "the channel", expected, repr(word), advice))


def belongs(version: SemVer, word: str) -> bool:
    """Whether a version may be in a channel.

    `stable` has the versions with neither pre-release nor build, every other channel those whose first
    pre-release identifier is its name: `1.2.3-beta.1` and `1.2.3-beta+123` belong to `beta`.
    """
    if word == STABLE:
        return not version.prerelease and not version.build
    return version.prerelease[:1] == (word,)


def membership(word: str) -> str:
    """What versions a channel has, in the words of a message."""
    if word == STABLE:
        return f"a version without pre-release and build in the channel {STABLE}"
    return f"a version X.Y.Z-{word}, with or without more after it, in the channel {word}"


def is_digest(text: str) -> bool:
    """Whether a text is a digest: `sha256:` and 64 lower-case hexadecimal digits."""
    return _DIGEST.fullmatch(text) is not None


def id_of(digest: str) -> str:
    """The id of content: the first 12 digits of its digest."""
    return digest.removeprefix(_ALGORITHM)[:ID_LENGTH]


def tag_of(version: SemVer) -> str:
    """The tag of a version in a registry: `+` is not allowed there and written `_`, which no version has."""
    return str(version).replace("+", "_")


def newest_first(entries: Iterable[ListedVersion]) -> tuple[ListedVersion, ...]:
    """Entries in the order of a file."""
    return tuple(sorted(entries, key=lambda each: each.version, reverse=True))


def latest_of(channel: Channel) -> Latest:
    """What the channel's `latest` file says."""
    return Latest(
        name=channel.name,
        package=channel.package,
        latest=channel.latest_entry,
        schema_version=channel.schema_version,
        serial=channel.serial,
        update_time=channel.update_time,
        expires=channel.expires,
        extra=channel.extra,
    )
