"""How many objects are stored in which storage version, counted without reading the objects."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_index(
        "store_revisions_stored",
        "store_revisions",
        [
            "resource",
            "storage_version",
            "replaced",
        ],  # The last for SQLite, which would read rows to see that there is none.
        sqlite_where=sa.text("replaced IS NULL"),
        postgresql_where=sa.text("replaced IS NULL"),
    )
