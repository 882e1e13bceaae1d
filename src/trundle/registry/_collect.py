"""Finds and removes what no tag of an image layout leads to."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from trundle._durable import sync_folder
from trundle._locking import try_lock
from trundle.registry._interface import Repository
from trundle.registry._layout_index import LayoutIndex
from trundle.registry._model import MANIFEST_TYPES, Descriptor
from trundle.registry._referrers import fallback_tag
from trundle.registry.errors import (
    DigestMismatchError,
    InvalidManifestError,
    NotFoundError,
    TooLargeError,
)


class Garbage(msgspec.Struct, frozen=True):
    """What a collection removed, or would remove.

    Attributes:
        digests: the blobs and manifests, in alphabetical order.
        unfinished: files that interrupted processes left.
        size: bytes of both.
    """

    digests: tuple[str, ...]
    unfinished: tuple[str, ...]
    size: int

    @property
    def removed(self) -> tuple[str, ...]:
        """The digests of what was removed, and then the names of files that had broken off."""
        return (*self.digests, *self.unfinished)

    def to_plain(self) -> dict[str, Any]:
        """What was removed as plain values, for programs."""
        return {"removed": list(self.removed), "bytes": self.size}


def collect(
    repository: Repository,
    blobs: Path,
    staging: Path,
    index: LayoutIndex,
    before: float,
    save: Callable[[], None] | None,
) -> Garbage:
    """Removes what is older than a time and not needed; the caller holds the lock of the layout.

    Args:
        repository: the layout.
        blobs: its folder of blobs.
        staging: its folder of unfinished files.
        index: its tags; those of lists of referrers whose subject is gone are removed.
        before: the time, as `time.time` returns it.
        save: writes the index; without it nothing is removed.
    """
    live, lists = _reachable(repository, index)
    for tag, found in lists.items():
        if all(_is_older(blobs / each.digest[7:], before) for each in found):
            index.remove_tag(tag)
        else:
            live.update(each.digest for each in found)
    dead = [
        path
        for path in sorted(blobs.iterdir())
        if f"sha256:{path.name}" not in live and _is_older(path, before)
    ]
    with _abandoned(staging, before) as unfinished:
        size = sum(path.stat().st_size for path in (*dead, *unfinished))
        if save is not None:
            save()
            for path in (*dead, *unfinished):
                path.unlink(missing_ok=True)
            sync_folder(blobs)
    return Garbage(
        tuple(f"sha256:{path.name}" for path in dead),
        tuple(path.name for path in unfinished),
        size,
    )


def renew(repository: Repository, blobs: Path, root: Descriptor) -> None:
    """Begins the grace of an artifact anew; of one that is damaged, as far as it can be read.

    Args:
        repository: the layout.
        blobs: its folder of blobs.
        root: the artifact's manifest.
    """
    live: set[str] = set()
    with contextlib.suppress(DigestMismatchError, InvalidManifestError, TooLargeError):
        _mark(repository, root, live)
    for digest in live:
        with contextlib.suppress(FileNotFoundError):
            os.utime(blobs / digest[7:])


@contextlib.contextmanager
def _abandoned(staging: Path, before: float) -> Iterator[list[Path]]:
    """The unfinished files older than a time that no process is writing; within, none begins to."""
    with contextlib.ExitStack() as held:
        found = []
        for path in sorted(staging.iterdir()):
            if not _is_older(path, before):
                continue
            with contextlib.suppress(FileNotFoundError):
                file = held.enter_context(path.open("rb"))
                if try_lock(file.fileno()):
                    found.append(path)
        yield found


def _reachable(
    repository: Repository, index: LayoutIndex
) -> tuple[set[str], dict[str, list[Descriptor]]]:
    """The digests that tags lead to, and the lists of referrers whose subject is not among them."""
    roots = index.roots()
    lists = {
        tag: found for tag, found in roots.items() if tag is not None and tag.startswith("sha256-")
    }
    live: set[str] = set()
    for tag, found in roots.items():
        if tag not in lists:
            for each in found:
                _mark(repository, each, live)
    grown = True
    while grown:
        wanted = [tag for tag in map(fallback_tag, sorted(live)) if tag in lists]
        grown = bool(wanted)
        for tag in wanted:
            for each in lists.pop(tag):
                _mark(repository, each, live)
    return live, lists


def _mark(repository: Repository, root: Descriptor, live: set[str]) -> None:
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if each.digest in live:
            continue
        live.add(each.digest)
        if each.media_type not in MANIFEST_TYPES:
            continue
        try:
            document = repository.get_manifest(each.digest).document
        except NotFoundError:
            continue  # Its tag is broken already; nothing of it is left to keep.
        live.update(blob.digest for blob in document.blobs())
        waiting.extend(document.children())


def _is_older(path: Path, time: float) -> bool:
    try:
        return path.is_file() and path.stat().st_mtime < time
    except FileNotFoundError:  # An unfinished file that has just got its name.
        return False
