"""The packages, channels and environments of a catalog as a project: its schemas are the OpenAPI of `/v1/` and `/v2/`, its generated package is `offered`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trundle.api._asked import NEWEST, Version
from trundle.api.catalogs.own.offered import scheme

__all__ = ["CHANNEL", "PACKAGE", "SCHEMAS", "scheme", "shown"]

CHANNEL = "Channel"
"""What the scheme calls a channel."""
PACKAGE = "Package"
"""What the scheme calls a package."""
SCHEMAS = Path(__file__).parent / "schemas"


def shown(kind: str, said: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """A document of a version of the API.

    Args:
        kind: what it is of.
        said: what it says in the newest version.
        version: the version that it is shown in.
    """
    newest = {"apiVersion": NEWEST, "kind": kind, **said}
    if version == NEWEST:
        return newest
    found: dict[str, Any] = scheme.convert(newest, to=version)
    return found
