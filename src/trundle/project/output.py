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

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import msgspec

from trundle._durable import sync_folder
from trundle.errors import Finding
from trundle.project._lock import locked
from trundle.project.errors import (
    FileCode,
    OutputBusyError,
    OutputError,
    OutputRefusedError,
    finding,
)

MANIFEST = ".trundle-generated.json"
"""The file in a generated folder that lists what Trundle wrote there."""

_CACHE = "__pycache__"
_LOOKS = 20
_PAUSE = 0.005
_NONE: Mapping[str, str] = MappingProxyType({})
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


class TreeComparison(msgspec.Struct, frozen=True):
    """How a folder differs from what would be generated.

    Attributes:
        missing: files that would be written and do not exist.
        changed: files that exist with other content.
        extra: files that exist and would not be written.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the folder is just what would be generated."""
        return not (self.missing or self.changed or self.extra)


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a generated folder says about itself.

    Attributes:
        note: what it is, for people.
        marker: whose folder it is.
        files: the SHA-256 of each file.
        made: what the files were made from.
    """

    note: str
    marker: str
    files: dict[str, str]
    made: Any = None

    @property
    def content(self) -> bytes:
        """The manifest as it is written."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def _ignore(_step: str) -> None:
    """Does nothing at a checkpoint."""


def write_tree(
    root: Path,
    files: Mapping[str, bytes],
    *,
    marker: str,
    kept: Mapping[str, str] = _NONE,
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
    _check_names(root, {*files, *kept})
    root = Path(os.path.realpath(root))
    digests = _digests(files, kept)
    manifest = Manifest(_NOTE, marker, digests, made)
    places = _Places(root)
    try:
        if not places.left_over() and _has_manifest(root, manifest):
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
        raise OutputError(root, [_explain(root, error)]) from error


def compare_tree(
    root: Path, files: Mapping[str, bytes], *, kept: Mapping[str, str] = _NONE
) -> TreeComparison:
    """Compares a folder with the files that would be generated, and changes nothing.

    Args:
        root: the folder.
        files: content by relative path.
        kept: further files, with the SHA-256 of each.

    Raises:
        OutputError: the folder cannot be read.
    """
    present = digests_below(root)
    wanted = _digests(files, kept)
    return TreeComparison(
        missing=tuple(sorted(wanted.keys() - present.keys())),
        changed=tuple(
            name for name, digest in wanted.items() if present.get(name, digest) != digest
        ),
        extra=tuple(sorted(present.keys() - wanted.keys())),
    )


def digests_below(root: Path) -> Mapping[str, str | None]:
    """The SHA-256 of each file in a folder, without the manifest; None for what is no plain file.

    Raises:
        OutputError: the folder cannot be read.
    """
    _await_swap(root)
    try:
        return {name: _digest_of(root / name) for name in _files_below(root)}
    except OSError as error:
        raise OutputError(root, [_explain(root, error)]) from error


def _digests(files: Mapping[str, bytes], kept: Mapping[str, str]) -> dict[str, str]:
    found = {**kept, **{name: _digest(content) for name, content in files.items()}}
    return dict(sorted(found.items()))


class _Places:
    """The generated folder and the siblings that exist only while it is written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.staged = root.with_name(f".{root.name}.trundle-new")
        self.backup = root.with_name(f".{root.name}.trundle-old")
        self.trash = root.with_name(f".{root.name}.trundle-trash")
        self.lock = root.with_name(f".{root.name}.trundle-lock")

    def left_over(self) -> bool:
        """Whether an interrupted write left something to recover."""
        return any(each.exists() for each in (self.staged, self.backup, self.trash, self.lock))

    def recover(self) -> None:
        """Completes or undoes a write that was interrupted anywhere."""
        _remove(self.trash)
        if self.backup.exists():
            if (self.root / MANIFEST).exists():
                self.backup.rename(self.trash)
                _remove(self.trash)
            elif not self.root.exists() or not any(self.root.iterdir()):
                self.backup.rename(self.root)
        _remove(self.staged)

    def swap(self, checkpoint: Callable[[str], None]) -> None:
        """Puts the staged tree in the place of the generated folder."""
        checkpoint("set aside")
        if self.root.exists():
            self.root.rename(self.backup)
        checkpoint("put in place")
        self.staged.rename(self.root)
        checkpoint("clean up")
        sync_folder(self.root.parent)


def _replace(
    places: _Places,
    files: Mapping[str, bytes],
    manifest: Manifest,
    checkpoint: Callable[[str], None],
    *,
    force: bool,
) -> TreeChange:
    root = places.root
    checkpoint("compare")
    findings = _objections(root, manifest, force=force)
    if findings:
        raise OutputRefusedError(root, findings)
    kept = {name: digest for name, digest in manifest.files.items() if name not in files}
    comparison = compare_tree(root, files, kept=kept)
    if comparison.same and _has_manifest(root, manifest):
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
    places: _Places,
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


def _objections(root: Path, manifest: Manifest, *, force: bool) -> list[Finding]:
    """What is in a folder that Trundle did not write; everything that `force` does not allow."""
    if not os.path.lexists(root):
        return []
    if not root.is_dir():
        advice = "move it away, or choose another output"
        return [finding(FileCode.NOT_OURS, root, "a folder", "a file", advice)]
    old = read_manifest(root)
    if old is None:
        comparison = compare_tree(root, {}, kept=manifest.files)
        strange = comparison.changed + comparison.extra
        return _unlisted(root, strange, force=force) if strange else []
    if old.marker != manifest.marker:
        expected, found = f"a folder of {manifest.marker!r}", f"one of {old.marker!r}"
        advice = "move it away, or choose another output or package"
        return [finding(FileCode.NOT_OURS, root, expected, found, advice)]
    return [] if force else _edits(root, old)


def _unlisted(root: Path, strange: tuple[str, ...], *, force: bool) -> list[Finding]:
    """The finding for a folder with content but without a manifest that can be read."""
    if (root / MANIFEST).exists():
        if force:
            return []
        advice = "restore it, or use --force to write the folder anew"
        expected, found = "a list of generated files", "a damaged one"
        return [finding(FileCode.NOT_OURS, root / MANIFEST, expected, found, advice)]
    listing = ", ".join(strange[:3]) + (", ..." if strange[3:] else "")
    advice = "move the folder away, restore that file, or choose another output or package"
    expected = f"a folder that Trundle generated (with {MANIFEST})"
    return [finding(FileCode.NOT_OURS, root, expected, listing, advice)]


def _edits(root: Path, old: Manifest) -> list[Finding]:
    """The files of a generated folder that are not as they were written."""
    findings = []
    for name in _files_below(root):
        if name not in old.files:
            found = "a file that Trundle did not write"
            advice = "move it out of the generated folder"
        elif _digest_of(root / name) != old.files[name]:
            found = "an edit by hand"
            advice = "move the change into a hook or the schemas, and undo it here"
        else:
            continue
        advice = f"{advice}, or use --force to lose it"
        place, expected = root / name, "only generated content"
        findings.append(finding(FileCode.NOT_OURS, place, expected, found, advice))
    return findings


def _check_names(root: Path, files: Collection[str]) -> None:
    """Refuses paths that would leave the folder or are in each other's way."""
    for name in files:
        path = PurePosixPath(name)
        sane = str(path) == name and not path.is_absolute() and ".." not in path.parts
        inside = any(str(parent) in files for parent in path.parents)
        if not sane or inside or name in (".", MANIFEST) or _CACHE in path.parts:
            expected, advice = "the relative path of a file to write", "choose another name"
            why = finding(FileCode.BAD_NAME, root, expected, repr(name), advice)
            raise OutputError(root, [why])


def read_manifest(root: Path) -> Manifest | None:
    """What a generated folder says about itself; None where it says nothing that can be read."""
    _await_swap(root)
    try:
        return msgspec.json.decode((root / MANIFEST).read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


def _has_manifest(root: Path, manifest: Manifest) -> bool:
    """Whether the manifest in a folder says the same, however it is laid out."""
    found = read_manifest(root)
    return found is not None and found.content == manifest.content


def _await_swap(root: Path) -> None:
    """Waits while another process puts a folder in place: between two renames there is none.

    Where that process is dead it stays so until the next write, and this waits for a tenth of a second.
    """
    places = _Places(Path(os.path.realpath(root)))
    for _ in range(_LOOKS):
        if places.root.exists() or not places.backup.exists():
            return
        time.sleep(_PAUSE)


def _files_below(root: Path) -> list[str]:
    """The files of a folder in alphabetical order, without the manifest and Python's caches."""
    found = []
    for folder, folders, names in os.walk(root, onerror=_raise_unless_missing):
        folders[:] = [name for name in folders if name != _CACHE]
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        inside = Path(os.path.relpath(folder, root)).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        found += [f"{prefix}{name}" for name in (*names, *links)]
    return sorted(name for name in found if name != MANIFEST)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return _digest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):  # Another process has just replaced the folder.
        return None


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


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _explain(root: Path, error: OSError) -> Finding:
    place = error.filename if isinstance(error.filename, str) else str(root)
    reason = error.strerror or str(error)
    advice = "check its permissions and the space on the disk; the generated folder is whole"
    expected = "a folder that can be written"
    return finding(FileCode.NOT_WRITABLE, place, expected, reason, advice)
