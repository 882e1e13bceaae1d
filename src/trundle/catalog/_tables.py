"""The tables of a catalog, as the newest of its migrations leaves them.

The content of a package is kept once, by its digest, however many tenants have it. It stays when the last version that
has it is deleted, since engines may still read it in their snapshots; `Catalog.tidy` removes it.
"""

from pathlib import Path

from sqlalchemy import Boolean, Column, Integer, LargeBinary, MetaData, Table, Text

from trundle.database import Migrations

MIGRATIONS = Migrations("catalog", Path(__file__).parent / "migrations")
LOCK = "catalog"
"""Keeps those apart who change what others decide by."""

_METADATA = MetaData()

CONTENTS = Table(
    "catalog_contents",
    _METADATA,
    Column("digest", Text, primary_key=True),
    Column("archive", LargeBinary, nullable=False),
)
PACKAGES = Table(
    "catalog_packages",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("public", Boolean, nullable=False),
    Column("digest", Text, nullable=False),
    Column("manifest", LargeBinary, nullable=False),
    Column("files", LargeBinary, nullable=False),
    Column("override", Text, nullable=False),
)
ENVIRONMENTS = Table(
    "catalog_environments",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("environment", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("version", Text, primary_key=True),
)
REQUIREMENTS = Table(
    "catalog_requirements",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("required", Text, primary_key=True),
    Column("range", Text, nullable=False),
)
CHANNELS = Table(
    "catalog_channels",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("package", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("public", Boolean, nullable=False),
    Column("subscription", LargeBinary, nullable=False),
    Column("seen", LargeBinary, nullable=False),
    Column("verified", Text, nullable=False),
    Column("expires", Text, nullable=False),
    Column("checked", Text, nullable=False),
    Column("trouble", LargeBinary, nullable=False),
)
CHANNEL_FILES = Table(
    "catalog_channel_files",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("package", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
