"""The channels that tenants follow, and their files as they are signed."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "catalog_channels",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("package", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("subscription", sa.LargeBinary, nullable=False),
        sa.Column("seen", sa.LargeBinary, nullable=False),
        sa.Column("verified", sa.Text, nullable=False),
        sa.Column("expires", sa.Text, nullable=False),
        sa.Column("checked", sa.Text, nullable=False),
        sa.Column("trouble", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "catalog_channel_files",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("package", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "package", "channel"],
            ["catalog_channels.tenant", "catalog_channels.package", "catalog_channels.name"],
            ondelete="CASCADE",
        ),
    )
