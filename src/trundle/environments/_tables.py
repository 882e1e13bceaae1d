"""The tables of environments, as the newest of their migrations leaves them.

They are in the database of the catalog, so that what an environment uses changes together with it. Models are JSON as text, which keeps every number and
the order of keys.
"""

from pathlib import Path

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text

from trundle.database import Migrations

MIGRATIONS = Migrations("environments", Path(__file__).parent / "migrations")

_METADATA = MetaData()


def _of_environment() -> tuple[Column[str], Column[str]]:
    return Column("tenant", Text, primary_key=True), Column("environment", Text, primary_key=True)


ENVIRONMENTS = Table(
    "environments",
    _METADATA,
    Column("tenant", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("root", Text, nullable=False),
    Column("providers", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("run", Integer, nullable=False),
    Column("created", Text, nullable=False),
    Column("deleted", Boolean, nullable=False),
    Column("place", Text),
)
DEPLOYMENTS = Table(
    "environment_deployments",
    _METADATA,
    *_of_environment(),
    Column("number", Integer, primary_key=True),
    Column("action", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("begun", Text, nullable=False),
    Column("ended", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("wanted", Text, nullable=False),
    Column("upgraded", Text, nullable=False),
    Column("uses", Text, nullable=False),
    Column("lock", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("changes", Text, nullable=False),
    Column("draft", Text),
)
DRAFTS = Table(
    "environment_drafts",
    _METADATA,
    *_of_environment(),
    Column("name", Text, primary_key=True),
    Column("base", Integer, nullable=False),
    Column("edition", Integer, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("uses", Text, nullable=False),
    Column("lock", Text, nullable=False),
    Column("model", Text, nullable=False),
)
EFFECTS = Table(
    "environment_effects",
    _METADATA,
    *_of_environment(),
    Column("key", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("record", Text, nullable=False),
)
SECRETS = Table(
    "environment_secrets",
    _METADATA,
    *_of_environment(),
    Column("name", Text, primary_key=True),
    Column("secret", Text, nullable=False),
    Column("of_draft", Boolean),
)
ACTIONS = Table(
    "environment_actions",
    _METADATA,
    *_of_environment(),
    Column("number", Integer, primary_key=True),
    Column("action", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("begun", Text, nullable=False),
    Column("ended", Text, nullable=False),
    Column("doing", Text, nullable=False),
    Column("error", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("effects", Integer, nullable=False),
    Column("dry_run", Boolean, nullable=False),
)
HOLDERS = Table(
    "environment_holders",
    _METADATA,
    *_of_environment(),
    Column("action", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("since", Text, nullable=False),
)
LINES = Table(
    "environment_action_lines",
    _METADATA,
    *_of_environment(),
    Column("action", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("line", Text, nullable=False),
)
