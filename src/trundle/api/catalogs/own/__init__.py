"""The packages of a catalog as a project: its schemas are the OpenAPI of `/v1/` and `/v2/`, its generated package is `offered`."""

from pathlib import Path

from trundle.api.catalogs.own.offered import scheme

__all__ = ["PACKAGE", "SCHEMAS", "scheme"]

PACKAGE = "Package"
"""What the scheme calls a package."""
SCHEMAS = Path(__file__).parent / "schemas"
