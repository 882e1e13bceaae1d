"""The classes of the package that carries a project, as far as hooks may use them."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trundle.packages import APP_FILE, MANIFEST_FILE, PackageFormat, read_manifest

_CLASSES = "Classes"


class PackagedClasses(msgspec.Struct, frozen=True):
    """The classes of a package, without anything else of it.

    Attributes:
        name: the package.
        classes: the file of each class, relative to `Classes`.
        files: the text of its files, and of a manifest that says nothing but the classes: so hooks depend neither on a version nor on other packages.
        paths: where they were read.
    """

    name: str
    classes: Mapping[str, str]
    files: Mapping[str, str]
    paths: tuple[Path, ...]

    def text(self, class_name: str) -> str:
        """The text of the file that has a class; nothing for one that is not there."""
        return self.files.get(f"{_CLASSES}/{self.classes.get(class_name)}", "")


def package_around(folder: Path) -> Path | None:
    """The folder of the package that carries a project; None where no manifest is in its folder or above."""
    for each in (folder, *folder.resolve().parents):
        if any((each / name).is_file() for name in (MANIFEST_FILE, APP_FILE)):
            return each
    return None


def packaged_classes(folder: Path) -> PackagedClasses:
    """The classes of the package in a folder.

    Raises:
        PackageError: its manifest cannot be used.
        OSError: a file cannot be read.
        UnicodeDecodeError: one is no text.
    """
    manifest = read_manifest(folder)
    classes = {each.name: each.file for each in manifest.classes}
    said = {
        "Format": str(manifest.format or PackageFormat()),
        "Type": "Library",
        "FullName": manifest.name,
        "Version": "0.0.0",
        "Classes": classes,
    }
    files = {MANIFEST_FILE: json.dumps(said, indent=1) + "\n"}
    paths = []
    for name in sorted(set(classes.values())):
        path = folder / _CLASSES / name
        files[f"{_CLASSES}/{name}"] = path.read_bytes().decode()
        paths.append(path)
    manifests = [folder / each for each in (MANIFEST_FILE, APP_FILE) if (folder / each).is_file()]
    return PackagedClasses(manifest.name, classes, files, (*manifests, *paths))
