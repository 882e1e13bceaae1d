"""The tables that releases up to 0.1 kept by hand, as formats 1 and 2 of the file; made where they do not exist.

A migration takes nothing from `_tables.py`, which describes the newest tables: it makes the same tables for ever.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_LATER_THAN_BY_HAND = 3  # Releases that know only formats 1 and 2 refuse the file from now on.


def upgrade() -> None:
    connection = op.get_bind()
    tables = set(sa.inspect(connection).get_table_names())
    if "packages" not in tables:
        _create_installed()
        _create_seen()
    if "unpublished" not in tables:
        op.create_table(
            "unpublished",
            sa.Column("package", sa.Text, primary_key=True),
            sa.Column("version", sa.Text, primary_key=True),
            sa.Column("word", sa.Text, nullable=False),
            sa.Column("reason", sa.Text, nullable=False),
        )
    if connection.dialect.name == "sqlite":
        op.execute(f"PRAGMA user_version = {_LATER_THAN_BY_HAND}")


def _create_installed() -> None:
    """Creates the tables of what is installed, and of what goes with it."""
    op.create_table(
        "packages",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("word", sa.Text, nullable=False),
        sa.Column("pinned", sa.Text),
        sa.Column("signed", sa.Integer, nullable=False),
        sa.Column("policy", sa.Text),
        sa.Column("version", sa.Text),
        sa.Column("release", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("since", sa.Text, nullable=False),
        sa.Column("manifest", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "history",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("package", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("from_version", sa.Text),
        sa.Column("from_digest", sa.Text),
        sa.Column("to_version", sa.Text),
        sa.Column("to_digest", sa.Text),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("history_of_package", "history", ["package", "id"])
    op.create_table(
        "holds",
        sa.Column("id", sa.Integer, primary_key=True),
        _package(primary_key=False),
        sa.Column("version", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("until", sa.Text),
        sa.Column("by", sa.Text, nullable=False),
    )
    op.create_table(
        "approvals",
        _package(),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
    )
    op.create_table(
        "conditions",
        _package(),
        sa.Column("type", sa.Text, primary_key=True),
        sa.Column("condition", sa.Text, nullable=False),
    )


def _create_seen() -> None:
    """Creates the tables of what was seen of channels, and of facts about the installation."""
    op.create_table(
        "known",
        sa.Column("package", sa.Text, primary_key=True),
        sa.Column("version", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
    )
    op.create_table(
        "channels",
        sa.Column("package", sa.Text, primary_key=True),
        sa.Column("word", sa.Text, primary_key=True),
        sa.Column("serial", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_table(
        "facts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def _package(*, primary_key: bool = True) -> sa.Column[str]:
    """The column of a row that goes with its package."""
    owner = sa.ForeignKey("packages.name", ondelete="CASCADE")
    return sa.Column("package", sa.Text, owner, primary_key=primary_key, nullable=False)
