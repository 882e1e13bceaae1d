"""Versions and their order: the names that API versions go by."""

from trundle.version._api_version import ApiVersion, VersionError

__all__ = ["ApiVersion", "VersionError"]
