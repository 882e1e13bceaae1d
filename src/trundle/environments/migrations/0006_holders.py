"""What holds an environment, or was the last to hold it: a lock says only that something does."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "environment_holders",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("environment", sa.Text, primary_key=True),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("since", sa.Text, nullable=False),
    )
