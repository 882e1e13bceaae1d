"""Environments with their deployments, drafts, effects and secrets."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "environments",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        *_texts("root", "providers"),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("run", sa.Integer, nullable=False),
        *_texts("created"),
        sa.Column("deleted", sa.Boolean, nullable=False),
    )
    deployment = ("action", "by", "begun", "ended", "outcome", "error")
    models = ("wanted", "upgraded", "uses", "lock", "model", "changes")
    number = sa.Column("number", sa.Integer, primary_key=True)
    _create("environment_deployments", number, *_texts(*deployment, *models))
    _create(
        "environment_drafts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("base", sa.Integer, nullable=False),
        sa.Column("edition", sa.Integer, nullable=False),
        *_texts("by", "at", "uses", "lock", "model"),
    )
    _create(
        "environment_effects",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        *_texts("record"),
    )
    name = sa.Column("name", sa.Text, primary_key=True)
    _create("environment_secrets", name, *_texts("secret"))


def _create(table: str, *columns: "sa.Column[str] | sa.Column[int]") -> None:
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
