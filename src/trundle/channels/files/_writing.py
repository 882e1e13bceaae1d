"""Writes the two files of a channel: equal bytes for equal content, one version on a line."""

from typing import Any

import msgspec

from trundle.channels._times import format_time
from trundle.channels.files._model import Channel, Entry, Extra, Latest, Tombstone, latest_of


def write_all(channel: Channel) -> bytes:
    """Writes a channel's `all` file; `read_all` reads the same channel again."""
    latest = channel.latest_entry
    head = _head(channel, "all", latest)
    lists = (
        f' "versions": {_rows(entry_to_plain(each) for each in channel.versions)}',
        f' "unpublished": {_rows(_tombstone_to_plain(each) for each in channel.unpublished)}',
    )
    return _file([*head, *lists, *_state(channel)])


def write_latest(channel: Channel) -> bytes:
    """Writes a channel's `latest` file."""
    latest = latest_of(channel)
    return _file([*_head(latest, "channel", latest.latest), *_state(latest)])


def entry_to_plain(entry: Entry) -> dict[str, Any]:
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
    return plain | _raw(entry.extra)


def _tombstone_to_plain(tombstone: Tombstone) -> dict[str, Any]:
    return entry_to_plain(tombstone.entry) | {
        "unpublishTime": format_time(tombstone.unpublish_time),
        "reason": tombstone.reason,
    }


def _head(file: Channel | Latest, kind: str, latest: Entry | None) -> list[str]:
    plain = None if latest is None else entry_to_plain(latest)
    values = {"name": file.name, "type": kind, "package": file.package, "latest": plain}
    return [_line(key, value) for key, value in values.items()]


def _state(file: Channel | Latest) -> list[str]:
    state: dict[str, Any] = {"schemaVersion": file.schema_version, "serial": file.serial}
    if file.update_time is not None:
        state["updateTime"] = format_time(file.update_time)
    if file.expires is not None:
        state["expires"] = format_time(file.expires)
    return [_line(key, value) for key, value in (state | _raw(file.extra)).items()]


def _raw(extra: Extra) -> dict[str, Any]:
    return {key: msgspec.Raw(text.encode()) for key, text in extra}


def _line(key: str, value: Any) -> str:
    return f" {_json(key)}: {_json(value)}"


def _rows(values: Any) -> str:
    rows = ",\n".join(f"  {_json(each)}" for each in values)
    return f"[\n{rows}\n ]" if rows else "[]"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _file(lines: list[str]) -> bytes:
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
