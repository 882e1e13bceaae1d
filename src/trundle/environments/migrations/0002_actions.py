"""Actions of environments: what runs in the background, and what it says meanwhile."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    texts = ("action", "by", "state", "created", "begun", "ended", "doing", "error", "result")
    _create(
        "environment_actions",
        sa.Column("number", sa.Integer, primary_key=True),
        *_texts(*texts),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("effects", sa.Integer, nullable=False),
        sa.Column("dry_run", sa.Boolean, nullable=False),
    )
    _create(
        "environment_action_lines",
        sa.Column("action", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        *_texts("at", "line"),
    )


def _create(table: str, *columns: "sa.Column[str] | sa.Column[int] | sa.Column[bool]") -> None:
    """Creates a table whose rows go with their environment."""
    op.create_table(
        table,
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("environment", sa.Text, primary_key=True),
        *columns,
        sa.ForeignKeyConstraint(
            ["tenant", "environment"],
            ["environments.tenant", "environments.name"],
            ondelete="CASCADE",
        ),
    )


def _texts(*names: str) -> "list[sa.Column[str]]":
    return [sa.Column(each, sa.Text, nullable=False) for each in names]
