"""Which draft a deployment took; not known of earlier ones."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("environment_deployments", sa.Column("draft", sa.Text, nullable=True))
