"""What is done with a store in the background, so that it is known after a restart."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "store_work",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("began", sa.Text, nullable=False),
        sa.Column("noted", sa.Text, nullable=False),
        sa.Column("is_running", sa.Boolean, nullable=False),
        sa.Column("is_to_stop", sa.Boolean, nullable=False),
        sa.Column("progress", _JSON, nullable=False),
    )
