"""The classes of the package that carries a project, as far as hooks may use them."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from trundle.packages import APP_FILE, MANIFEST_FILE, PackageFormat, manifest_keys, read_manifest

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

    @property
    def texts(self) -> dict[str, str]:
        """The text of the file of each class."""
        return {name: self.files[f"{_CLASSES}/{file}"] for name, file in self.classes.items()}


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
    kind, keys = manifest_keys(folder)
    said = {
        keys["name"]: manifest.name,
        keys["version"]: "0.0.0",
        keys["format"]: str(manifest.format or PackageFormat()),
        keys["classes"]: classes,
    }
    files = {kind: json.dumps(said, indent=1) + "\n"}
    paths = []
    for name in sorted(set(classes.values())):
        path = folder / _CLASSES / name
        files[f"{_CLASSES}/{name}"] = path.read_bytes().decode()
        paths.append(path)
    return PackagedClasses(manifest.name, classes, files, (folder / kind, *paths))
