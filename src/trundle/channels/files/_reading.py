"""Reads the two files of a channel."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec

from trundle.channels._refusals import RefusalCode
from trundle.channels.files._fields import ENTRY_KEYS, TOMBSTONE_KEYS, ChannelFileError, Fields
from trundle.channels.files._model import (
    SCHEMA_VERSION,
    Channel,
    Latest,
    ListedVersion,
    Tombstone,
    newest_first,
)
from trundle.channels.files._rows import Rows
from trundle.channels.files._rules import check_channel, check_latest, contradiction
from trundle.channels.files._writing import BETWEEN, CLOSE, EMPTY, OPEN
from trundle.documents import UnreadableError, parse_exact_values
from trundle.errors import Finding

LONGEST_LATEST = 1024**2
"""The most bytes that a `latest` file may have."""

LONGEST_ALL = 64 * 1024**2
"""The most bytes that an `all` file may have; ten thousand versions have some three million."""

_AS_PUBLISHED = "ask the server's operator for the file that was published"
_HEAD = ("name", "type", "package", "latest")
_STATE = ("schemaVersion", "serial", "updateTime", "expires")
_LATEST_KEYS = (*_HEAD, *_STATE)
_ALL_KEYS = (*_HEAD, "versions", "unpublished", *_STATE)


class ChannelFile(msgspec.Struct, frozen=True):
    """An `all` file that can be used.

    Attributes:
        channel: its content.
        warnings: what is not as it should be, but understood.
    """

    channel: Channel
    warnings: tuple[Finding, ...] = ()


class LatestFile(msgspec.Struct, frozen=True):
    """A `latest` file that can be used; the fields are those of `ChannelFile`."""

    latest: Latest
    warnings: tuple[Finding, ...] = ()


def read_all(
    data: bytes, where: str = "all", *, name: str | None = None, package: str | None = None
) -> ChannelFile:
    """Reads an `all` file.

    Fields that this release does not know are kept. Versions out of order and times in a lax spelling are warnings,
    as are the source's own short entries without a digest.

    Args:
        data: its bytes.
        where: names it in messages.
        name: the expected channel name.
        package: the expected package.

    Raises:
        ChannelFileError: a rule is violated; the error lists everything.
    """
    fields = _open(data, where, LONGEST_ALL, "all", (name, package))
    entries = tuple(_entry(each) for each in fields.objects("versions", required=True))
    tombstones = tuple(_tombstone(each) for each in fields.objects("unpublished"))
    latest = _latest(fields)
    head = _head(fields, _ALL_KEYS)
    fields.refuse_errors()
    version = latest.version if latest else None
    channel = Channel(versions=entries, unpublished=tombstones, latest=version, **head)
    fields.findings.extend(check_channel(channel, where))
    _check_latest_entry(fields, channel, latest)
    _note_short(fields, "versions", entries)
    fields.refuse_errors()
    channel = msgspec.structs.replace(
        channel,
        versions=newest_first(entries),
        unpublished=tuple(sorted(tombstones, key=lambda each: each.version, reverse=True)),
    )
    return ChannelFile(channel, tuple(fields.findings))


def reopen_all(data: bytes, where: str = "all") -> Channel | None:
    """Reads an `all` file that `write_all` wrote before, but its versions only when they are asked for.

    Nothing is checked beyond what is needed for that, so the bytes have to be known for the publisher's own. The
    channel is equal to the one that `read_all` reads.

    Returns:
        The channel; None where the bytes are laid out otherwise.

    Raises:
        ChannelFileError: something that was read violates a rule.
    """
    versions = _cut(data, b'\n "versions": ', 0)
    unpublished = versions and _cut(data, b'\n "unpublished": ', versions[1])
    if versions is None or unpublished is None:
        return None
    (start, end), (second, last) = versions, unpublished
    rest = data[:start] + EMPTY + data[end:second] + EMPTY + data[last:]
    fields = _open(rest, where, LONGEST_ALL, "all", (None, None))
    latest = _latest(fields)
    head = _head(fields, _ALL_KEYS)
    fields.refuse_errors()

    def entry(row: bytes) -> ListedVersion:
        return entry_from_json(row, where)

    def tombstone(row: bytes) -> Tombstone:
        each = _decode(row, where, LONGEST_LATEST)
        found = _tombstone(each)
        each.refuse_errors()
        return found

    return Channel(
        versions=Rows(_rows(data[start:end]), entry),
        unpublished=Rows(_rows(data[second:last]), tombstone),
        latest=latest.version if latest else None,
        **head,
    )


def _cut(data: bytes, key: bytes, after: int) -> tuple[int, int] | None:
    """Where the list of a key begins and ends, behind a place."""
    start = data.find(key, after) + len(key)
    if start < len(key):
        return None
    if data.startswith(EMPTY, start):
        return start, start + len(EMPTY)
    end = data.find(CLOSE, start)
    return (start, end + len(CLOSE)) if data.startswith(OPEN, start) and end >= 0 else None


def _rows(text: bytes) -> list[Any]:
    """The lines of a list as `write_all` writes it."""
    return [] if text == EMPTY else text[len(OPEN) : -len(CLOSE)].split(BETWEEN)


def read_latest(
    data: bytes, where: str = "latest", *, name: str | None = None, package: str | None = None
) -> LatestFile:
    """Reads a `latest` file; arguments and errors are those of `read_all`."""
    fields = _open(data, where, LONGEST_LATEST, "channel", (name, package))
    entry = _latest(fields)
    head = _head(fields, _LATEST_KEYS)
    fields.refuse_errors()
    latest = Latest(latest=entry, **head)
    fields.findings.extend(check_latest(latest, where))
    _note_short(fields, "latest", [entry] if entry else [])
    fields.refuse_errors()
    return LatestFile(latest, tuple(fields.findings))


def entry_from_json(data: bytes, where: str) -> ListedVersion:
    """Reads one version from JSON of what `entry_to_plain` makes.

    Raises:
        ChannelFileError: it cannot be used.
    """
    fields = _decode(data, where, LONGEST_LATEST)
    entry = _entry(fields)
    fields.refuse_errors()
    return entry


def _decode(data: bytes, where: str, longest: int) -> Fields:
    try:
        value = parse_exact_values(data, file=where, largest=longest)
    except UnreadableError as error:
        (found,) = error.findings
        refused = replace(found, code=RefusalCode.INVALID_FILE, advice=_AS_PUBLISHED)
        raise ChannelFileError([refused]) from None
    fields = Fields(value, where, "$", [])
    fields.refuse_errors()
    return fields


def _open(
    data: bytes, where: str, longest: int, kind: str, names: tuple[str | None, str | None]
) -> Fields:
    """The fields of a file, when it is one of the right kind, format, channel and package."""
    fields = _decode(data, where, longest)
    found = fields.integer("schemaVersion", SCHEMA_VERSION)
    if found > SCHEMA_VERSION:
        expected = f"a format that this release knows, at most {SCHEMA_VERSION}"
        advice = "install a newer release of Trundle"
        fields.note("schemaVersion", expected, str(found), advice, code=RefusalCode.NEWER_FORMAT)
        fields.refuse_errors()
    _expect(fields, "type", kind)
    _expect(fields, "name", names[0], RefusalCode.WRONG_CHANNEL)
    _expect(fields, "package", names[1], RefusalCode.WRONG_PACKAGE)
    return fields


def _head(fields: Fields, known: Iterable[str]) -> dict[str, Any]:
    """What both files say of the channel."""
    return {
        "name": fields.text("name"),
        "package": fields.text("package"),
        "schema_version": fields.integer("schemaVersion", SCHEMA_VERSION),
        "serial": fields.integer("serial", 0),
        "update_time": fields.time("updateTime"),
        "expires": fields.time("expires"),
        "extra": fields.unknown(known),
    }


def _expect(
    fields: Fields, key: str, value: str | None, code: RefusalCode = RefusalCode.INVALID_FILE
) -> None:
    found = fields.text(key)
    if found and value is not None and found != value:
        advice = "check the address of the channel; this is another file"
        fields.note(key, repr(value), repr(found), advice, code=code)


def _latest(fields: Fields) -> ListedVersion | None:
    if "latest" not in fields.value:
        advice = "it is read as none; the next publishing puts it right"
        fields.note("latest", "the latest version, or null", "neither", advice, severity="warning")
    latest = fields.object("latest")
    return _entry(latest) if latest else None


def _check_latest_entry(fields: Fields, channel: Channel, latest: ListedVersion | None) -> None:
    """The latest version is in the file twice; both have to say the same of it."""
    different = contradiction(channel.latest_entry, latest) if channel.latest_entry else None
    if different:
        expected, found = different
        advice = "do not use this file; ask its publisher to publish it again"
        code = RefusalCode.INCONSISTENT_FILE
        fields.note("latest", expected, found, advice, code=code)


def _entry(fields: Fields, keys: Iterable[str] = ENTRY_KEYS) -> ListedVersion:
    return ListedVersion(
        version=fields.version("version"),
        id=fields.identifier("id"),
        create_time=fields.moment("createTime"),
        digest=fields.optional_text("digest"),
        tag=fields.optional_text("tag"),
        size=fields.integer("size", -1) if "size" in fields.value else None,
        changes=fields.texts("changes"),
        critical=fields.flag("critical"),
        deprecated=fields.optional_text("deprecated"),
        min_upgrade_from=fields.optional_version("minUpgradeFrom"),
        depends_on=fields.dependencies("dependsOn"),
        override=fields.optional_text("override"),
        extra=fields.unknown(keys),
    )


def _note_short(fields: Fields, key: str, entries: Iterable[ListedVersion]) -> None:
    """Notes entries as the source has them, without a digest; one finding for all."""
    short = [str(each.version) for each in entries if each.digest is None]
    if short:
        expected = "the digest of each version"
        advice = "only 12 of its digits are known, from the id; publish the channel with Trundle"
        more = f" and {len(short) - 1} more" if short[1:] else ""
        fields.note(key, expected, f"none for {short[0]}{more}", advice, severity="warning")


def _tombstone(fields: Fields) -> Tombstone:
    return Tombstone(
        entry=_entry(fields, TOMBSTONE_KEYS),
        unpublish_time=fields.moment("unpublishTime"),
        reason=fields.text("reason"),
    )
