"""Which secrets came with a draft: answers to forms, which have names that no person gives."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_OF_FORM = re.compile(r".+-[0-9a-f]{8}\.[^.]+\..+")


def upgrade() -> None:
    op.add_column("environment_secrets", sa.Column("of_draft", sa.Boolean, nullable=True))
    columns = ("tenant", "environment", "name", "of_draft")
    kept = sa.table("environment_secrets", *map(sa.column, columns))
    connection = op.get_bind()
    for tenant, environment, name in connection.execute(sa.select(*list(kept.c)[:3])).all():
        if _OF_FORM.fullmatch(name):
            of = (kept.c.tenant == tenant, kept.c.environment == environment, kept.c.name == name)
            connection.execute(sa.update(kept).where(*of).values(of_draft=sa.true()))
