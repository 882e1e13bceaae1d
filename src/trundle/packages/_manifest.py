"""Reads the manifest of a package: `app.yaml`, or `manifest.yaml` with the keys of the package language.

Versions and ranges are read as they are spelled, so that `1.10` is not the number 1.1.
"""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from trundle.documents import (
    UnreadableError,
    walk_yaml,
)
from trundle.errors import Finding
from trundle.packages._errors import ManifestError, ManifestMissingError, PackageCode, finding
from trundle.packages._manifest_reader import APP_KEYS, CLASSIC_KEYS, AppReader, ClassicReader
from trundle.packages._model import Manifest

APP_FILE = "app.yaml"
"""The manifest of a package that is released through channels."""

MANIFEST_FILE = "manifest.yaml"
RULES_FILE = "evolution.yaml"
"""The file of a package of classes that says what becomes of objects of the release before."""
"""The manifest of a package in the package language."""

MANIFEST_FILES = (APP_FILE, MANIFEST_FILE)


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a package folder.

    Raises:
        ManifestMissingError: the folder has no manifest.
        ManifestError: it has two, or one that cannot be read or used; the error lists all findings.
    """
    return parse_manifest(*manifest_text(folder))


def manifest_text(folder: Path) -> tuple[bytes, str]:
    """The bytes of a folder's manifest, and the path by which messages call it.

    Raises:
        ManifestMissingError: the folder has no manifest.
        ManifestError: it has two, or one that cannot be read.
    """
    found = [folder / name for name in MANIFEST_FILES if os.path.lexists(folder / name)]
    if not found:
        code, expected = PackageCode.NO_MANIFEST, f"{APP_FILE} or {MANIFEST_FILE}"
        advice = "write one, or name the folder of the package"
        raise ManifestMissingError([finding(code, folder, expected, _instead(folder), advice)])
    if len(found) > 1:
        code, both = PackageCode.TWO_MANIFESTS, f"{APP_FILE} and {MANIFEST_FILE}"
        raise ManifestError([finding(code, folder, "one manifest", both, "remove one of them")])
    if found[0].exists() and not found[0].is_file():
        code, advice = PackageCode.UNREADABLE, "write the manifest there"
        raise ManifestError([finding(code, found[0], "a file", "something else", advice)])
    try:
        return found[0].read_bytes(), str(found[0])
    except OSError as error:
        code, reason = PackageCode.UNREADABLE, str(error.strerror or error)
        advice = "check its permissions"
        raise ManifestError([finding(code, found[0], "a readable file", reason, advice)]) from None


def manifest_keys(folder: Path) -> tuple[str, Mapping[str, str]]:
    """The name of a folder's manifest, and its keys by what they mean.

    Raises:
        ManifestMissingError: the folder has no manifest.
        ManifestError: it has two, or one that cannot be read.
    """
    name = Path(manifest_text(folder)[1]).name
    return name, CLASSIC_KEYS if name == MANIFEST_FILE else APP_KEYS


def parse_manifest(data: bytes, file: str) -> Manifest:
    """Reads the content of a manifest; keys of a `manifest.yaml` that are not known are passed over.

    Args:
        data: the content.
        file: the path by which messages call it; its last part determines which kind of manifest it is.

    Raises:
        ManifestError: the content cannot be used; the error lists all findings.
    """
    return manifest_with_notes(data, file)[0]


def manifest_with_notes(data: bytes, file: str) -> tuple[Manifest, tuple[Finding, ...]]:
    """Reads the content of a manifest as `parse_manifest` does, and notes what was passed over."""
    try:
        walker, roots = walk_yaml(data, file)
    except UnreadableError as error:
        raise ManifestError(error.findings) from None
    classic = PurePosixPath(file.replace("\\", "/")).name == MANIFEST_FILE
    manifest = None
    notes: tuple[Finding, ...] = ()
    if len(roots) == 1:
        reader = (ClassicReader if classic else AppReader)(walker, roots[0])
        manifest, notes = reader.read(), reader.notes
    else:
        found = "several documents" if roots else "an empty file"
        advice = "remove the others" if roots else "write at least the name of the package"
        walker.note(roots[1].line if roots else 1, "one object", found, advice)
    if manifest is None or walker.findings:
        raise ManifestError(walker.findings)
    return manifest, notes


def _instead(folder: Path) -> str:
    """What is there where no manifest is."""
    if folder.is_dir():
        return "neither"
    return "a file" if folder.exists() else "no such folder"
