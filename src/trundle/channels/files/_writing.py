"""Writes the two files of a channel: equal bytes for equal content, one version on a line."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from trundle.channels._times import format_time
from trundle.channels.files._model import (
    Channel,
    Extra,
    Latest,
    ListedVersion,
    Tombstone,
    latest_of,
)
from trundle.channels.files._rows import Rows, Versioned

OPEN, ROW, BETWEEN, CLOSE, EMPTY = b"[\n", b"  ", b",\n", b"\n ]", b"[]"
"""How a list is written: one item on a line. JSON has no line breaks within text, so that the lines can be found again."""

T = TypeVar("T", bound=Versioned)


def write_all(channel: Channel) -> bytes:
    """Writes a channel's `all` file; `read_all` reads the same channel again."""
    latest = channel.latest_entry
    head = _head(channel, "all", latest)
    lists = (
        *_list(b' "versions": ', channel.versions, entry_to_plain),
        *_list(b' "unpublished": ', channel.unpublished, _tombstone_to_plain),
    )
    return _file([*head, *lists, *_state(channel)])


def write_latest(channel: Channel) -> bytes:
    """Writes a channel's `latest` file."""
    latest = latest_of(channel)
    return _file([*_head(latest, "channel", latest.latest), *_state(latest)])


def entry_to_plain(entry: ListedVersion) -> dict[str, Any]:
    """A version as plain data for JSON; what is absent is left out."""
    plain: dict[str, Any] = {
        "version": str(entry.version),
        "id": entry.id,
        "createTime": format_time(entry.create_time),
    }
    if entry.digest is not None:
        plain["digest"] = entry.digest
    if entry.tag is not None:
        plain["tag"] = entry.tag
    if entry.size is not None:
        plain["size"] = entry.size
    if entry.changes:
        plain["changes"] = entry.changes
    if entry.critical:
        plain["critical"] = True
    if entry.deprecated is not None:
        plain["deprecated"] = entry.deprecated
    if entry.min_upgrade_from is not None:
        plain["minUpgradeFrom"] = str(entry.min_upgrade_from)
    if entry.depends_on:
        plain["dependsOn"] = {each.name: str(each.range) for each in entry.depends_on}
    if entry.override is not None:
        plain["override"] = entry.override
    return plain | _raw(entry.extra)


def _tombstone_to_plain(tombstone: Tombstone) -> dict[str, Any]:
    return entry_to_plain(tombstone.entry) | {
        "unpublishTime": format_time(tombstone.unpublish_time),
        "reason": tombstone.reason,
    }


def _head(file: Channel | Latest, kind: str, latest: ListedVersion | None) -> list[bytes]:
    plain = None if latest is None else entry_to_plain(latest)
    values = {"name": file.name, "type": kind, "package": file.package, "latest": plain}
    return [_line(key, value) for key, value in values.items()]


def _state(file: Channel | Latest) -> list[bytes]:
    state: dict[str, Any] = {"schemaVersion": file.schema_version, "serial": file.serial}
    if file.update_time is not None:
        state["updateTime"] = format_time(file.update_time)
    if file.expires is not None:
        state["expires"] = format_time(file.expires)
    return [_line(key, value) for key, value in (state | _raw(file.extra)).items()]


def _raw(extra: Extra) -> dict[str, Any]:
    return {key: msgspec.Raw(text.encode()) for key, text in extra}


def _line(key: str, value: Any) -> bytes:
    return b" %b: %b" % (_json(key), _json(value))


def _list(key: bytes, items: Sequence[T], plain: Callable[[T], dict[str, Any]]) -> list[bytes]:
    """The lines of a list, the first with its key; `BETWEEN` stands between them, as between those of the file."""

    def write(item: T) -> bytes:
        return ROW + _json(plain(item))

    lines = items.lines(write) if isinstance(items, Rows) else [write(each) for each in items]
    if not lines:
        return [key + EMPTY]
    lines[0] = key + OPEN + lines[0]
    lines[-1] += CLOSE
    return lines


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _file(lines: list[bytes]) -> bytes:
    """A file of these lines; joined once, as there may be ten thousand."""
    return BETWEEN.join([b"{\n" + lines[0], *lines[1:-1], lines[-1] + b"\n}\n"])
