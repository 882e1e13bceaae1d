"""Packages: their manifests, their archives, and how their requirements are met.

`read_manifest` and `parse_manifest` read what a package says about itself, `pack` and `unpack` turn its folder into an archive
and back, a `Package` has both manifest and files, and `resolve` chooses the releases that belong together.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.packages._bundled import BUNDLED, to_install
    from trundle.packages._candidates import Candidates, Unusable
    from trundle.packages._change_codes import ChangeCode, judged, major, minor
    from trundle.packages._changes import (
        Bump,
        Level,
        ReleaseChange,
        ResourceChange,
        bump_of,
        next_version,
        resource_changes,
    )
    from trundle.packages._conflict import Clash, Conflict, Side
    from trundle.packages._errors import (
        FolderExistsError,
        ManifestError,
        ManifestMissingError,
        PackageCode,
        PackageError,
        PackError,
        UnpackError,
    )
    from trundle.packages._files import IGNORE_FILE, PackageFile, PackageTree, package_files
    from trundle.packages._limits import ArchiveLimits
    from trundle.packages._lock import Lock, Release, lock_of
    from trundle.packages._manifest import (
        APP_FILE,
        MANIFEST_FILE,
        RULES_FILE,
        manifest_keys,
        parse_manifest,
        read_manifest,
    )
    from trundle.packages._model import (
        CORE_LIBRARY,
        ClassFile,
        Manifest,
        PackageFormat,
        PackageMeta,
        Requirement,
        ResourceVersions,
        manifest_from_json,
        manifest_to_json,
    )
    from trundle.packages._pack import ARCHIVE_MEDIA_TYPE, Packed, digest_of, pack
    from trundle.packages._package import Package
    from trundle.packages._resolve import Refused, Resolution, resolve
    from trundle.packages._tree import DEVELOPMENT, ReleaseTree, package_folders, release_tree
    from trundle.packages._unpack import unpack

__all__ = [
    "APP_FILE",
    "ARCHIVE_MEDIA_TYPE",
    "BUNDLED",
    "CORE_LIBRARY",
    "DEVELOPMENT",
    "IGNORE_FILE",
    "MANIFEST_FILE",
    "RULES_FILE",
    "ArchiveLimits",
    "Bump",
    "Candidates",
    "ChangeCode",
    "Clash",
    "ClassFile",
    "Conflict",
    "FolderExistsError",
    "Level",
    "Lock",
    "Manifest",
    "ManifestError",
    "ManifestMissingError",
    "PackError",
    "Package",
    "PackageCode",
    "PackageError",
    "PackageFile",
    "PackageFormat",
    "PackageMeta",
    "PackageTree",
    "Packed",
    "Refused",
    "Release",
    "ReleaseChange",
    "ReleaseTree",
    "Requirement",
    "Resolution",
    "ResourceChange",
    "ResourceVersions",
    "Side",
    "UnpackError",
    "Unusable",
    "bump_of",
    "digest_of",
    "judged",
    "lock_of",
    "major",
    "manifest_from_json",
    "manifest_keys",
    "manifest_to_json",
    "minor",
    "next_version",
    "pack",
    "package_files",
    "package_folders",
    "parse_manifest",
    "read_manifest",
    "release_tree",
    "resolve",
    "resource_changes",
    "to_install",
    "unpack",
]

on_demand(__name__)
