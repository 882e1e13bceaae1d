"""Migrations: numbered scripts of Alembic for each room, all or nothing."""

import subprocess
import sys

import pytest
import warm
from sqlalchemy import inspect

from trundle.database import (
    Migrations,
    NewerSchemaError,
    OlderSchemaError,
    open_database,
)

SCRIPT = '''"""A step."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = {before!r}


def upgrade():
    {step}
'''


def script(folder, number, step):
    folder.mkdir(exist_ok=True)
    revision = f"{number:04}"
    before = f"{number - 1:04}" if number > 1 else None
    text = SCRIPT.format(revision=revision, before=before, step=step)
    (folder / f"{revision}_step.py").write_text(text)


def table(name):
    return f'op.create_table("{name}", sa.Column("id", sa.Integer, primary_key=True))'


@pytest.fixture
def things(tmp_path):
    script(tmp_path / "things 100%", 1, table("things"))
    return Migrations("things", tmp_path / "things 100%")


def tables(database):
    with database.reading() as connection:
        return set(inspect(connection).get_table_names())


def revision(database, migrations):
    with database.reading() as connection:
        return migrations.revision(connection)


def later(migrations, step):
    script(migrations.folder, 2, step)
    return Migrations(migrations.name, migrations.folder)


def test_each_room_has_its_own_tables_and_version(database, things, tmp_path):
    script(tmp_path / "others", 1, table("others"))
    others = Migrations("others", tmp_path / "others")
    database.migrate(things)
    assert tables(database) == {"things", "things_version"}
    database.migrate(others)
    database.migrate(things)
    assert tables(database) == {"things", "things_version", "others", "others_version"}
    assert (revision(database, things), revision(database, others)) == ("0001", "0001")


def test_only_what_is_missing_is_run(database, things):
    database.migrate(things)
    newer = later(things, 'op.add_column("things", sa.Column("name", sa.Text))')
    database.migrate(newer)
    with database.reading() as connection:
        assert [each["name"] for each in inspect(connection).get_columns("things")] == [
            "id",
            "name",
        ]
    assert revision(database, newer) == "0002"


def test_a_migration_that_fails_leaves_everything_as_before(database, things):
    database.migrate(things)
    newer = later(things, f'{table("half")}; raise LookupError("no")')
    with pytest.raises(LookupError):
        database.migrate(newer)
    assert tables(database) == {"things", "things_version"}
    assert revision(database, things) == "0001"


def test_tables_of_a_later_release_are_refused(database, url, things):
    newer = later(things, table("more"))
    database.migrate(newer)
    (things.folder / "0002_step.py").unlink()
    for read_only in (False, True):
        known = Migrations("things", things.folder)
        with (
            open_database(url, read_only=read_only) as again,
            pytest.raises(NewerSchemaError, match="newer release"),
        ):
            again.migrate(known)


def test_a_file_for_reading_is_migrated_in_memory(in_file, things):
    with open_database(in_file) as database:
        database.migrate(things)
    newer = later(things, table("more"))
    with open_database(in_file, read_only=True) as database:
        database.migrate(newer)
        assert "more" in tables(database)
    with open_database(in_file) as database:
        assert "more" not in tables(database)


def test_a_server_for_reading_is_not_migrated(on_server, things):
    with (
        open_database(on_server, read_only=True) as database,
        pytest.raises(OlderSchemaError, match="run a command once"),
    ):
        database.migrate(things)


@pytest.mark.full
def test_several_processes_may_migrate_at_once(url, things, tmp_path):
    program = tmp_path / "migrating.py"
    program.write_text(
        "import sys; from pathlib import Path\n"
        "from trundle.database import Migrations, open_database\n"
        "with open_database(sys.argv[1]) as database:\n"
        "    database.migrate(Migrations('things', Path(sys.argv[2])))\n"
    )
    command = [*warm.script(program), url, str(things.folder)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [each.communicate()[1] for each in running] == [""] * 3
    with open_database(url) as database:
        assert tables(database) == {"things", "things_version"}


@pytest.mark.full
def test_alembic_is_imported_only_to_migrate(in_file, things):
    with open_database(in_file) as database:
        database.migrate(things)
    program = (
        "import sys; from pathlib import Path\n"
        "from trundle.database import Migrations, open_database\n"
        "with open_database(sys.argv[1]) as database:\n"
        "    database.migrate(Migrations('things', Path(sys.argv[2])))\n"
        "sys.exit('alembic' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program, in_file, str(things.folder)]
    assert subprocess.run(command, check=False).returncode == 0
