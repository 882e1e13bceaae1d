"""What was seen of signed channels, which was in a folder of files before."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "trust",
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
