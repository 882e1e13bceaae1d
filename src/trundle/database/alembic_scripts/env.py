"""What Alembic runs to migrate: the connection and the version table come from the caller."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=attributes["version_table"],
    render_as_batch=True,  # SQLite changes columns by copying the table.
)
with context.begin_transaction():
    context.run_migrations()
