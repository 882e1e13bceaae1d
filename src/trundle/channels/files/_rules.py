"""The rules that the content of a channel keeps, whatever tool wrote it."""

from collections.abc import Iterator

from trundle.channels._refusals import RefusalCode
from trundle.channels._times import format_time
from trundle.channels.files._model import (
    LONGEST_TAG,
    Channel,
    Latest,
    ListedVersion,
    belongs,
    id_of,
    is_channel_word,
    is_digest,
    membership,
    tag_of,
)
from trundle.errors import Finding, Place, Severity
from trundle.version import SemVer

_DO_NOT_USE = "do not use this file; ask its publisher to publish it again"


def check_channel(channel: Channel, where: str = "channel") -> tuple[Finding, ...]:
    """Everything about a channel that is against the rules, in the order of its file.

    Args:
        channel: the channel, its versions in the order in which they are written.
        where: names the file; places are JSON paths below it.
    """
    return tuple(_Check(where).channel(channel))


def check_latest(latest: Latest, where: str = "latest") -> tuple[Finding, ...]:
    """Everything about the content of a `latest` file that is against the rules."""
    return tuple(_Check(where).latest(latest))


def check_pair(latest: Latest, channel: Channel, where: str = "latest") -> tuple[Finding, ...]:
    """How the two files of a channel contradict each other; none where they were written together.

    Files of different serials were read while the channel changed. That is no fault of theirs, but they cannot be
    used together either.
    """
    findings = []
    code = RefusalCode.INCONSISTENT_FILE
    pairs: tuple[tuple[str, object, object], ...] = (
        ("name", channel.name, latest.name),
        ("package", channel.package, latest.package),
        ("serial", channel.serial, latest.serial),
    )
    for key, expected, found in pairs:
        if expected != found:
            text = f"{expected!r} as in the list of all versions"
            advice = "read both files again"
            place = Place(where, path=f"$.{key}")
            findings.append(Finding(code, place, text, repr(found), advice))
    different = contradiction(channel.latest_entry, latest.latest)
    if different and not findings:
        place = Place(where, path="$.latest")
        findings.append(Finding(code, place, *different, _DO_NOT_USE))
    return tuple(findings)


def contradiction(
    listed: ListedVersion | None, latest: ListedVersion | None
) -> tuple[str, str] | None:
    """What the list says of the latest version, and what else stands for it; nothing where they agree."""
    if listed is None or latest is None:
        if listed is latest:
            return None
        return (
            f"version {listed.version}, as the list says"
            if listed
            else "no version, as the list says",
            f"version {latest.version}" if latest else "none",
        )
    pairs = (
        ("version", listed.version, latest.version),
        ("id", listed.id, latest.id),
        ("digest", listed.digest, latest.digest),
        ("tag", listed.tag, latest.tag),
        ("size", listed.size, latest.size),
        ("createTime", format_time(listed.create_time), format_time(latest.create_time)),
    )
    for key, ours, theirs in pairs:
        if ours != theirs and ours is not None and theirs is not None:
            return (f"the {key} {ours} of version {listed.version}, as the list says", str(theirs))
    return None


class _Check:
    """The rules, applied to one file."""

    def __init__(self, file: str) -> None:
        self.file = file

    def channel(self, channel: Channel) -> Iterator[Finding]:
        yield from self.head(channel)
        yield from self.latest_is_listed(channel)
        seen: dict[SemVer, ListedVersion] = {}
        for index, entry in enumerate(channel.versions):
            at = f"$.versions[{index}]"
            yield from self.entry(entry, channel.name, at)
            yield from self.once(entry, seen, at)
            above = channel.versions[index - 1] if index else None
            if above and above.version < entry.version:
                yield self.order(at, above.version, entry.version)
        gone: dict[SemVer, ListedVersion] = {}
        for index, tombstone in enumerate(channel.unpublished):
            at = f"$.unpublished[{index}]"
            yield from self.entry(tombstone.entry, channel.name, at)
            yield from self.once(tombstone.entry, gone, at)
            if tombstone.version in seen:
                expected = f"version {tombstone.version} either listed or unpublished"
                yield self.note(f"{at}.version", expected, "both", _DO_NOT_USE)
            above = channel.unpublished[index - 1].entry if index else None
            if above and above.version < tombstone.version:
                yield self.order(at, above.version, tombstone.version)

    def latest(self, latest: Latest) -> Iterator[Finding]:
        yield from self.head(latest)
        if latest.latest:
            yield from self.entry(latest.latest, latest.name, "$.latest", is_latest=True)

    def head(self, file: Channel | Latest) -> Iterator[Finding]:
        if not is_channel_word(file.name):
            expected = "a channel name: lower-case letters and digits, not latest or all"
            yield self.note("$.name", expected, repr(file.name), _DO_NOT_USE)

    def latest_is_listed(self, channel: Channel) -> Iterator[Finding]:
        version = channel.latest
        if version is None:
            return
        if not belongs(version, channel.name):
            code = RefusalCode.LATEST_NOT_IN_CHANNEL
            advice = "ask the publisher to publish a version that fits"
            yield self.note(
                "$.latest.version", membership(channel.name), f"{version}", advice, code=code
            )
        if channel.entry(version) is None:
            found = f"{version}, which is not listed"
            if channel.tombstone(version):
                found = f"{version}, which is unpublished"
            code = RefusalCode.INCONSISTENT_FILE
            expected = "one of the listed versions"
            yield self.note("$.latest.version", expected, found, _DO_NOT_USE, code=code)

    def entry(
        self, entry: ListedVersion, word: str, at: str, *, is_latest: bool = False
    ) -> Iterator[Finding]:
        version = entry.version
        if is_channel_word(word) and not belongs(version, word):
            code = RefusalCode.LATEST_NOT_IN_CHANNEL if is_latest else RefusalCode.INVALID_FILE
            advice = "ask the publisher to take it out of this channel"
            yield self.note(f"{at}.version", membership(word), f"{version}", advice, code=code)
        if entry.digest is not None and not is_digest(entry.digest):
            expected = "sha256: and 64 hexadecimal digits"
            yield self.note(f"{at}.digest", expected, repr(entry.digest), _DO_NOT_USE)
        elif entry.digest is not None and entry.id != id_of(entry.digest):
            expected = f"{id_of(entry.digest)}, the first 12 digits of the digest"
            yield self.note(f"{at}.id", expected, repr(entry.id), _DO_NOT_USE)
        tag = tag_of(version)
        if entry.tag is not None and entry.tag != tag:
            yield self.note(
                f"{at}.tag", f"the version's own tag {tag}", repr(entry.tag), _DO_NOT_USE
            )
        if len(tag) > LONGEST_TAG:
            expected = f"a version of at most {LONGEST_TAG} characters"
            yield self.note(f"{at}.version", expected, f"{len(tag)} characters", _DO_NOT_USE)
        if entry.min_upgrade_from and entry.min_upgrade_from > version:
            expected = f"a version of at most {version}"
            found = str(entry.min_upgrade_from)
            yield self.note(f"{at}.minUpgradeFrom", expected, found, _DO_NOT_USE)

    def once(
        self, entry: ListedVersion, seen: dict[SemVer, ListedVersion], at: str
    ) -> Iterator[Finding]:
        other = seen.setdefault(entry.version, entry)
        if other is entry:
            return
        if other.is_same_content(entry.identity):
            expected = f"version {entry.version} once"
            yield self.note(f"{at}.version", expected, "it a second time", _DO_NOT_USE)
        else:
            expected = f"one digest for version {entry.version}, {other.identity}"
            yield self.note(at, expected, f"another one, {entry.identity}", _DO_NOT_USE)

    def order(self, at: str, above: SemVer, version: SemVer) -> Finding:
        expected = "versions from the newest to the oldest"
        found = f"{version} after {above}"
        advice = "the order has no meaning here; the next publishing puts it right"
        return self.note(f"{at}.version", expected, found, advice, severity="warning")

    def note(
        self,
        at: str,
        expected: str,
        found: str,
        advice: str,
        *,
        severity: Severity = "error",
        code: RefusalCode = RefusalCode.INVALID_FILE,
    ) -> Finding:
        return Finding(code, Place(self.file, path=at), expected, found, advice, severity)
