"""The versions that environments use."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "catalog_environments",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("environment", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.ForeignKeyConstraint(
            ["owner", "name", "version"],
            ["catalog_packages.tenant", "catalog_packages.name", "catalog_packages.version"],
            ondelete="CASCADE",
        ),
    )
    op.create_index("catalog_environments_by_version", "catalog_environments", ["name", "version"])
