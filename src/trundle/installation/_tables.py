"""The tables of an installation, as the newest of its migrations leaves them.

What was seen outlives what is installed: a package that is installed again must not go back behind it. So only
holds, approvals and conditions go with their package.
"""

from pathlib import Path

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, Table, Text

from trundle.database import Migrations

MIGRATIONS = Migrations("installation", Path(__file__).parent / "migrations")

_METADATA = MetaData()


def _owner() -> ForeignKey:
    return ForeignKey("packages.name", ondelete="CASCADE")


PACKAGES = Table(
    "packages",
    _METADATA,
    Column("name", Text, primary_key=True),
    Column("repository", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("word", Text, nullable=False),
    Column("pinned", Text),
    Column("signed", Integer, nullable=False),
    Column("policy", Text),
    Column("version", Text),
    Column("release", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("since", Text, nullable=False),
    Column("manifest", LargeBinary, nullable=False),
)
HISTORY = Table(
    "history",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("package", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("from_version", Text),
    Column("from_digest", Text),
    Column("to_version", Text),
    Column("to_digest", Text),
    Column("note", Text, nullable=False),
)
HOLDS = Table(
    "holds",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("package", Text, _owner(), nullable=False),
    Column("version", Text),
    Column("reason", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("until", Text),
    Column("by", Text, nullable=False),
)
APPROVALS = Table(
    "approvals",
    _METADATA,
    Column("package", Text, _owner(), primary_key=True),
    Column("version", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("by", Text, nullable=False),
)
CONDITIONS = Table(
    "conditions",
    _METADATA,
    Column("package", Text, _owner(), primary_key=True),
    Column("type", Text, primary_key=True),
    Column("condition", Text, nullable=False),
)
KNOWN = Table(
    "known",
    _METADATA,
    Column("package", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("digest", Text, nullable=False),
)
CHANNELS = Table(
    "channels",
    _METADATA,
    Column("package", Text, primary_key=True),
    Column("word", Text, primary_key=True),
    Column("serial", Integer, nullable=False),
    Column("content", Text, nullable=False),
)
UNPUBLISHED = Table(
    "unpublished",
    _METADATA,
    Column("package", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("word", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
FACTS = Table(
    "facts",
    _METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
TRUST = Table(
    "trust",
    _METADATA,
    Column("channel", Text, primary_key=True),
    Column("state", LargeBinary, nullable=False),
)
