"""Resource types, the revisions of their objects, and the leases of servers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")
_NAME = sa.Text().with_variant(
    sa.Text(collation="C"), "postgresql"
)  # Ordered as bytes, as SQLite does.


def upgrade() -> None:
    op.create_table(
        "store_resources",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("api_group", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("resource_version", sa.BigInteger, nullable=False),
        sa.Column("compacted", sa.BigInteger, nullable=False),
        sa.Column("written", sa.Text, nullable=False),
        sa.Column("storage_version", sa.Text, nullable=False),
        sa.UniqueConstraint("api_group", "name"),
    )
    op.create_table(
        "store_revisions",
        sa.Column("resource", sa.Integer, sa.ForeignKey("store_resources.id"), primary_key=True),
        sa.Column("resource_version", sa.BigInteger, primary_key=True),
        sa.Column("namespace", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("change", sa.Text, nullable=False),
        sa.Column("previous", sa.BigInteger),
        sa.Column("replaced", sa.BigInteger),
        sa.Column("uid", sa.Text, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Text, nullable=False),
        sa.Column("deleted", sa.Text),
        sa.Column("written", sa.Text, nullable=False),
        sa.Column("labels", _JSON, nullable=False),
        sa.Column("finalizers", _JSON, nullable=False),
        sa.Column("owners", _JSON, nullable=False),
        sa.Column("storage_version", sa.Text, nullable=False),
        sa.Column("written_with", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index(
        "store_revisions_current",
        "store_revisions",
        ["resource", "namespace", "name"],
        unique=True,
        sqlite_where=sa.text("replaced IS NULL"),
        postgresql_where=sa.text("replaced IS NULL"),
    )
    op.create_index(
        "store_revisions_past",
        "store_revisions",
        ["resource", "namespace", "name"],
        sqlite_where=sa.text("replaced IS NOT NULL"),
        postgresql_where=sa.text("replaced IS NOT NULL"),
    )
    op.create_index(
        "store_revisions_owned",
        "store_revisions",
        ["resource", "namespace", "name"],
        sqlite_where=sa.text("replaced IS NULL AND owners <> '[]'"),
        postgresql_where=sa.text("replaced IS NULL AND owners <> '[]'"),
    )
    op.create_table(
        "store_leases",
        sa.Column("holder", sa.Text, primary_key=True),
        sa.Column("reads", _JSON, nullable=False),
        sa.Column("expires", sa.Text, nullable=False),
    )
