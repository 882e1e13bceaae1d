"""Channels with many versions, made at once: as a ledger has them that was compacted."""

import json
import sys
from pathlib import Path

import msgspec

from trundle.channels import Publish, new_entry, operation_to_json
from trundle.channels.publishing import PublishRequest, publish
from trundle.packages import Manifest
from trundle.registry import DirectoryRepository, LedgerEntry
from trundle.version import SemVer

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from publishing_support import WORD, channel_of, now, package

__all__ = ["PACKAGE", "WORD", "filled", "now", "package"]

PACKAGE = "acme/db"
_REF_NAME = "org.opencontainers.image.ref.name"


def filled(repository: DirectoryRepository, folder: Path, count: int) -> None:
    """Makes a channel with so many versions."""
    channel = channel_of(repository)
    publish(channel, PublishRequest(package(folder / "first", "0.0.1")))
    view = channel.ledger.tags.view()
    entries = list(view.entries)
    for number in range(count - 1):
        version = SemVer(1, number // 100, number % 100)
        manifest = Manifest(name=PACKAGE, version=version)
        entry = new_entry(manifest, version, f"sha256:{number + 1:064x}", 1000, now())
        payload = operation_to_json(Publish(entry=entry, at=now(), seen=number + 1))
        entries.append(LedgerEntry(number + 2, f"{number:016x}", payload))
    whole = msgspec.structs.replace(view, entries=tuple(entries))
    channel.ledger.tags.compact(whole, lambda: None)
    channel_of(repository).settle()
    _tag_all(repository, [each.tag_name for each in channel.current().versions])


def _tag_all(repository: DirectoryRepository, tags: list[str]) -> None:
    """Sets the tags of versions that have none, all at once."""
    path = repository.folder / "index.json"
    index = json.loads(path.read_text())
    first = index["manifests"][0]
    known = {each.get("annotations", {}).get(_REF_NAME) for each in index["manifests"]}
    for tag in tags:
        if tag not in known:
            index["manifests"].append({**first, "annotations": {_REF_NAME: tag}})
    path.write_text(json.dumps(index))
