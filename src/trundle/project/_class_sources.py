"""Whether the sources of a project are packages of classes, which have no schemas."""

from pathlib import Path

from trundle.packages import MANIFEST_FILE, package_folders
from trundle.project.config import Config

_FULL_NAME = b"FullName"


def holds_packages(config: Config) -> bool:
    """Whether the sources of a project are folders with packages of classes in them."""
    paths = [each.path for each in config.sources]
    return bool(paths) and all(each.is_dir() and _has_packages(each) for each in paths)


def _has_packages(folder: Path) -> bool:
    """Whether packages of classes are in a folder; a `manifest.yaml` of something else has no full name."""
    manifests = (each / MANIFEST_FILE for each in package_folders(folder))
    return any(_FULL_NAME in each.read_bytes() for each in manifests)
