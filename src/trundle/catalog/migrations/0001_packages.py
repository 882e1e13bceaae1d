"""The packages of tenants, what they require, and their contents."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "catalog_contents",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("archive", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "catalog_packages",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("digest", sa.Text, sa.ForeignKey("catalog_contents.digest"), nullable=False),
        sa.Column("manifest", sa.LargeBinary, nullable=False),
        sa.Column("files", sa.LargeBinary, nullable=False),
    )
    op.create_index("catalog_packages_by_name", "catalog_packages", ["name"])
    op.create_index("catalog_packages_by_digest", "catalog_packages", ["digest"])
    op.create_table(
        "catalog_requirements",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("required", sa.Text, primary_key=True),
        sa.Column("range", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "name", "version"],
            ["catalog_packages.tenant", "catalog_packages.name", "catalog_packages.version"],
            ondelete="CASCADE",
        ),
    )
    op.create_index("catalog_requirements_by_required", "catalog_requirements", ["required"])
