"""By which name of a server an environment may reach what it does; not known of earlier ones."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("environments", sa.Column("place", sa.Text, nullable=True))
