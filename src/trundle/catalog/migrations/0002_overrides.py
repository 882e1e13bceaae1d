"""Why a version was stored in spite of its review."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    column = sa.Column("override", sa.Text, nullable=False, server_default="")
    op.add_column("catalog_packages", column)
