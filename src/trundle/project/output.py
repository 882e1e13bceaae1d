"""Writes a generated folder as a whole, so that an interruption leaves the old one or the new one.

A write goes through these steps, under a lock that only one process holds:

1. The new tree is staged in a sibling folder and flushed to disk. The generated folder is untouched.
2. The generated folder is renamed to a backup, and the staged one takes its place.
3. The backup is renamed to trash, and the trash is removed.

Each step is one rename, so whatever a dead process left behind shows how far it came: a backup without a
generated folder is the old tree, and goes back; a staged tree or trash is of no use, and is removed. Every
write begins with this recovery, and a failing one ends with it.

A manifest in the folder lists what was written, and what it was made from. What is not as listed was made by
hand, and is not overwritten. Files that need not be written anew are taken over as they are.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from trundle._durable import sync_folder
from trundle.project._lock import locked
from trundle.project._output_objections import check_names, objections
from trundle.project._output_places import MANIFEST, Places
from trundle.project._output_tree import (
    NONE,
    Manifest,
    compare_tree,
    digests_of,
    has_manifest,
    unwritable,
)
from trundle.project.errors import (
    FileCode,
    OutputBusyError,
    OutputError,
    OutputRefusedError,
    finding,
)

_NOTE = "Written by trundle generate, which replaces these files. Do not edit them."


class TreeChange(msgspec.Struct, frozen=True):
    """What a write did; every file is named relative to the folder, in alphabetical order.

    Attributes:
        written: files that are new or have new content.
        removed: files that are gone.
        unchanged: files that stayed as they were.
    """

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


def _ignore(_step: str) -> None:
    """Does nothing at a checkpoint."""


def write_tree(
    root: Path,
    files: Mapping[str, bytes],
    *,
    marker: str,
    kept: Mapping[str, str] = NONE,
    made: Any = None,
    force: bool = False,
    wait: float = 10.0,
    checkpoint: Callable[[str], None] = _ignore,
) -> TreeChange:
    """Makes a generated folder hold just the given files.

    If the write fails or is interrupted at any moment, the folder is whole: as before, or as after. Files
    whose content stays keep their modification times; if all do, nothing is touched.

    Args:
        root: the folder; it and its parents are made where they do not exist.
        files: content by relative path, with `/` between its parts.
        marker: says whose folder this is; a folder with another marker is not replaced.
        kept: further files, which stay as they are, with the SHA-256 that each has.
        made: what the files were made from, for the manifest; msgspec must be able to encode it.
        force: replace files edited by hand and remove files of others in a folder that is Trundle's. A
            folder that is not Trundle's is never replaced.
        wait: seconds to wait for another process that is writing the folder.
        checkpoint: called with the name of each step before it is done, to show progress. An exception
            that it raises ends the write like any other failure.

    Raises:
        OutputRefusedError: the folder holds files that Trundle did not write.
        OutputBusyError: another process is still writing the folder, or has just written other files.
        OutputError: the folder cannot be written, as on a full disk.
    """
    check_names(root, {*files, *kept})
    root = Path(os.path.realpath(root))
    digests = digests_of(files, kept)
    manifest = Manifest(_NOTE, marker, digests, made)
    places = Places(root)
    try:
        if not places.left_over() and has_manifest(root, manifest):
            comparison = compare_tree(root, files, kept=kept)
            if comparison.same:
                return TreeChange(unchanged=tuple(digests))
        root.parent.mkdir(parents=True, exist_ok=True)
        with locked(root, places.lock, wait):
            places.recover()
            try:
                return _replace(places, files, manifest, checkpoint, force=force)
            finally:
                places.recover()
    except OSError as error:
        raise OutputError(root, [unwritable(root, error)]) from error


def _replace(
    places: Places,
    files: Mapping[str, bytes],
    manifest: Manifest,
    checkpoint: Callable[[str], None],
    *,
    force: bool,
) -> TreeChange:
    root = places.root
    checkpoint("compare")
    findings = objections(root, manifest, force=force)
    if findings:
        raise OutputRefusedError(root, findings)
    kept = {name: digest for name, digest in manifest.files.items() if name not in files}
    comparison = compare_tree(root, files, kept=kept)
    if comparison.same and has_manifest(root, manifest):
        return TreeChange(unchanged=tuple(manifest.files))
    written = {*comparison.missing, *comparison.changed}
    if not written <= files.keys():
        code, found = FileCode.BUSY, "other files than a moment ago"
        why = finding(code, root, "to write the folder alone", found, "try again")
        raise OutputBusyError(root, [why])
    _stage(places, files, written, manifest, checkpoint)
    places.swap(checkpoint)
    return TreeChange(
        written=tuple(sorted(written)),
        removed=comparison.extra,
        unchanged=tuple(name for name in manifest.files if name not in written),
    )


def _stage(
    places: Places,
    files: Mapping[str, bytes],
    written: set[str],
    manifest: Manifest,
    checkpoint: Callable[[str], None],
) -> None:
    """Writes the new tree beside the old one, and waits until it is on disk."""
    places.staged.mkdir()
    if places.root.exists():
        shutil.copymode(places.root, places.staged)
    folders = {places.staged}
    for name in manifest.files:
        checkpoint(f"stage {name}")
        path = places.staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.update(path.parents[: len(PurePosixPath(name).parts) - 1])
        if name in written:
            _write_file(path, files[name])
        elif not _adopt(places.root / name, path):
            _write_file(path, files[name] if name in files else (places.root / name).read_bytes())
    _write_file(places.staged / MANIFEST, manifest.content)
    for folder in folders:
        sync_folder(folder)


def _adopt(old: Path, new: Path) -> bool:
    """Takes an unchanged file over with its times; false where the file system has no hard links."""
    try:
        new.hardlink_to(old)
    except OSError:
        return False
    return True


def _write_file(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
