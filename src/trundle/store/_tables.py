"""The tables of a store, as the newest of its migrations leaves them.

A revision is the state of an object after one write. What is current has no `replaced`; a deletion is a revision that is
replaced by itself. See `_rows.py` for what is read from them.
"""

from pathlib import Path

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from trundle.database import Migrations

MIGRATIONS = Migrations("store", Path(__file__).parent / "migrations")

_METADATA = MetaData()
_JSON = JSON().with_variant(JSONB(), "postgresql")

RESOURCES = Table(
    "store_resources",
    _METADATA,
    Column("id", Integer, primary_key=True),
    Column("api_group", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("resource_version", BigInteger, nullable=False),
    Column("compacted", BigInteger, nullable=False),
    Column("written", Text, nullable=False),
    Column("storage_version", Text, nullable=False),
)
REVISIONS = Table(
    "store_revisions",
    _METADATA,
    Column("resource", Integer, primary_key=True),
    Column("resource_version", BigInteger, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("change", Text, nullable=False),
    Column("previous", BigInteger),
    Column("replaced", BigInteger),
    Column("uid", Text, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("created", Text, nullable=False),
    Column("deleted", Text),
    Column("written", Text, nullable=False),
    Column("labels", _JSON, nullable=False),
    Column("finalizers", _JSON, nullable=False),
    Column("owners", _JSON, nullable=False),
    Column("storage_version", Text, nullable=False),
    Column("written_with", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
LEASES = Table(
    "store_leases",
    _METADATA,
    Column("holder", Text, primary_key=True),
    Column("reads", _JSON, nullable=False),
    Column("expires", Text, nullable=False),
)
WORK = Table(
    "store_work",
    _METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("task", Text, nullable=False),
    Column("began", Text, nullable=False),
    Column("noted", Text, nullable=False),
    Column("is_running", Boolean, nullable=False),
    Column("is_to_stop", Boolean, nullable=False),
    Column("progress", _JSON, nullable=False),
)
ORIGIN = Table(
    "store_origin",
    _METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("origin", Text, nullable=False),
)
