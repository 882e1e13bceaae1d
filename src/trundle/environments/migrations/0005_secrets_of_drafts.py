"""Which secrets came with a draft: answers to forms, whose names are made of that of a package, eight random digits, a step and a field.

A person can give a name of that form, too: one is only taken for an answer where the catalog has the package, and the digits are no date.
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_OF_FORM = re.compile(r"(.+)-(?![0-9]{8})[0-9a-f]{8}\.[^.]+\..+")
_PACKAGES = "catalog_packages"


def upgrade() -> None:
    op.add_column("environment_secrets", sa.Column("of_draft", sa.Boolean, nullable=True))
    columns = ("tenant", "environment", "name", "of_draft")
    kept = sa.table("environment_secrets", *map(sa.column, columns))
    connection = op.get_bind()
    packages: set[str] = set()
    if sa.inspect(connection).has_table(_PACKAGES):
        rows = connection.execute(sa.text(f"SELECT name FROM {_PACKAGES}"))  # noqa: S608 - a constant
        packages = {name for (name,) in rows}
    for tenant, environment, name in connection.execute(sa.select(*list(kept.c)[:3])).all():
        found = _OF_FORM.fullmatch(name)
        if found is not None and found[1] in packages:
            of = (kept.c.tenant == tenant, kept.c.environment == environment, kept.c.name == name)
            connection.execute(sa.update(kept).where(*of).values(of_draft=sa.true()))
