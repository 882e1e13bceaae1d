"""What keeps a folder from being written: files that Trundle did not write, and names that are no files in it."""

import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from trundle.errors import Finding
from trundle.project._output_places import MANIFEST
from trundle.project._output_tree import (
    CACHE,
    Manifest,
    compare_tree,
    digest_of,
    files_below,
    read_manifest,
)
from trundle.project.errors import FileCode, OutputError, finding


def check_names(root: Path, files: Collection[str]) -> None:
    """Refuses paths that would leave the folder or are in each other's way."""
    for name in files:
        path = PurePosixPath(name)
        sane = str(path) == name and not path.is_absolute() and ".." not in path.parts
        inside = any(str(parent) in files for parent in path.parents)
        if not sane or inside or name in (".", MANIFEST) or CACHE in path.parts:
            expected, advice = "the relative path of a file to write", "choose another name"
            why = finding(FileCode.BAD_NAME, root, expected, repr(name), advice)
            raise OutputError(root, [why])


def objections(root: Path, manifest: Manifest, *, force: bool) -> list[Finding]:
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
    for name in files_below(root):
        if name not in old.files:
            found = "a file that Trundle did not write"
            advice = "move it out of the generated folder"
        elif digest_of(root / name) != old.files[name]:
            found = "an edit by hand"
            advice = "move the change into a hook or the schemas, and undo it here"
        else:
            continue
        advice = f"{advice}, or use --force to lose it"
        place, expected = root / name, "only generated content"
        findings.append(finding(FileCode.NOT_OURS, place, expected, found, advice))
    return findings
