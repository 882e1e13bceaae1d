"""Versions, their order and their ranges: what API versions and packages go by."""

from trundle.version._api_version import ApiVersion, own_spelling
from trundle.version._errors import VersionError, VersionSyntaxError
from trundle.version._range import ANY, VersionRange
from trundle.version._semver import Level, SemVer, ZeroMajor, change_level, version_before

__all__ = [
    "ANY",
    "ApiVersion",
    "Level",
    "SemVer",
    "VersionError",
    "VersionRange",
    "VersionSyntaxError",
    "ZeroMajor",
    "change_level",
    "own_spelling",
    "version_before",
]
