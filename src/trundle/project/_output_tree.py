"""What is in a generated folder: its files, what its manifest says of them, and how it differs from what would be written."""

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from trundle.errors import Finding
from trundle.project._output_places import MANIFEST, Places
from trundle.project.errors import FileCode, OutputError, finding

CACHE = "__pycache__"
"""What the folders of Python's caches are called; they do not count."""

NONE: Mapping[str, str] = MappingProxyType({})
"""No further files."""

_LOOKS = 20
_PAUSE = 0.005


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


def compare_tree(
    root: Path, files: Mapping[str, bytes], *, kept: Mapping[str, str] = NONE
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
    wanted = digests_of(files, kept)
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
        return {name: digest_of(root / name) for name in files_below(root)}
    except OSError as error:
        raise OutputError(root, [unwritable(root, error)]) from error


def digests_of(files: Mapping[str, bytes], kept: Mapping[str, str]) -> dict[str, str]:
    found = {**kept, **{name: _digest(content) for name, content in files.items()}}
    return dict(sorted(found.items()))


def read_manifest(root: Path) -> Manifest | None:
    """What a generated folder says about itself; None where it says nothing that can be read."""
    _await_swap(root)
    try:
        return msgspec.json.decode((root / MANIFEST).read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError, msgspec.MsgspecError):
        return None


def has_manifest(root: Path, manifest: Manifest) -> bool:
    """Whether the manifest in a folder says the same, however it is laid out."""
    found = read_manifest(root)
    return found is not None and found.content == manifest.content


def _await_swap(root: Path) -> None:
    """Waits while another process puts a folder in place: between two renames there is none.

    Where that process is dead it stays so until the next write, and this waits for a tenth of a second.
    """
    places = Places(Path(os.path.realpath(root)))
    for _ in range(_LOOKS):
        if places.root.exists() or not places.backup.exists():
            return
        time.sleep(_PAUSE)


def files_below(root: Path) -> list[str]:
    """The files of a folder in alphabetical order, without the manifest and Python's caches."""
    found = []
    for folder, folders, names in os.walk(root, onerror=_raise_unless_missing):
        folders[:] = [name for name in folders if name != CACHE]
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


def digest_of(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return _digest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):  # Another process has just replaced the folder.
        return None


def unwritable(root: Path, error: OSError) -> Finding:
    place = error.filename if isinstance(error.filename, str) else str(root)
    reason = error.strerror or str(error)
    advice = "check its permissions and the space on the disk; the generated folder is whole"
    expected = "a folder that can be written"
    return finding(FileCode.NOT_WRITABLE, place, expected, reason, advice)
