"""What an installation remembers: brought over from earlier releases, and read where it cannot be written."""

import contextlib
import datetime as dt
import os
import sqlite3
import subprocess
from pathlib import Path

import postgres
import psycopg
import pytest
import sites
import warm
from amounts import full
from sites import Site
from sqlalchemy import inspect

from trundle.database import DamagedError, open_database
from trundle.installation import Installation, StateError, _tables, foresee, install, upgrade
from trundle.installation._install import Install

FIRST, SECOND = (
    (Path(sites.__file__).parent / "earlier_state.sql").read_text().split("-- Format 2\n")
)
CRM = "acme/crm"


def earlier(site, number):
    """Turns the state of a site into what an earlier release would have left of it."""
    from trundle.channels.reading.signatures import trust_key

    new = site.state / "new.db"
    (site.state / "state.db").rename(new)
    steps = (FIRST, SECOND)[:number]
    with contextlib.closing(sqlite3.connect(site.state / "state.db")) as old, old:
        for step in steps:
            old.executescript(step)
        old.execute(f"PRAGMA user_version = {number}")
        old.execute("ATTACH ? AS new", [str(new)])
        names = [
            "packages",
            "history",
            "known",
            "channels",
            "facts",
            "holds",
            "approvals",
            "conditions",
        ]
        for name in [*names, *(["unpublished"] if number > 1 else [])]:
            old.execute(f"INSERT INTO main.{name} SELECT * FROM new.{name}")
        states = old.execute("SELECT channel, state FROM new.trust").fetchall()
        old.commit()
    old.close()
    new.unlink()
    folder = site.state / "trust"
    folder.mkdir(exist_ok=True)
    for key, state in states:
        (folder / f"{key}.json").write_bytes(state)
        (folder / f"{key}.json.lock").touch()
    assert all(key.partition("-")[0] for key, _ in states)
    assert trust_key("a/b") != trust_key("a-b")
    return folder, dict(states)


@pytest.fixture
def signed(tmp_path):
    site = Site(tmp_path, signed=True)
    site.publish("1.0.0")
    site.publish("1.0.1")
    site.install()
    return site


@pytest.fixture
def current(tmp_path):
    """A site of the present time, as commands see it."""
    site = Site(tmp_path, signed=True, clock=sites.Clock(dt.datetime.now(dt.UTC)))
    site.publish("1.0.0")
    site.install()
    return site


@pytest.mark.parametrize("number", [1, 2])
def test_what_an_earlier_release_left_is_taken_over(signed, number):
    before = signed.snapshot()
    folder, states = earlier(signed, number)
    assert states
    assert signed.snapshot() == before
    with signed.installation() as installation:
        assert {key: installation.memory.trust(key) for key in states} == states
        signed.publish("1.0.2")
        assert [each.after for each in upgrade(installation).events] == ["1.0.2"]
    assert not list(folder.iterdir())


def test_an_earlier_release_refuses_what_this_one_wrote(signed):
    with contextlib.closing(sqlite3.connect(signed.state / "state.db")) as connection, connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] > 2
    connection.close()


def test_the_old_files_stay_until_the_import_is_durable(signed, monkeypatch):
    folder, states = earlier(signed, 2)
    kept = sorted(each.name for each in folder.glob("*.json"))

    def failing(*_):
        raise RuntimeError("dies")

    with monkeypatch.context() as patched:
        patched.setattr("trundle.installation._state.Memory.put_trust", failing)
        with pytest.raises(RuntimeError, match="dies"):
            signed.installation()
    assert sorted(each.name for each in folder.glob("*.json")) == kept
    with signed.installation() as installation:
        assert set(installation.memory.trusted()) == set(states)


def test_a_damaged_file_is_named_and_nothing_is_imported(signed):
    folder, _ = earlier(signed, 2)
    damaged = folder / "zzz.json"
    damaged.write_text("{")
    with pytest.raises(StateError, match=r"zzz\.json.*install the package again with --root"):
        signed.installation()
    damaged.unlink()
    with signed.installation() as installation:
        assert installation.memory.trusted()


def test_what_the_database_has_of_a_channel_is_newer_than_a_file(signed):
    with signed.installation() as installation:
        (key,) = installation.memory.trusted()
        state = installation.memory.trust(key)
    folder = signed.state / "trust"
    folder.mkdir()
    (folder / f"{key}.json").write_text('{"root": "eA=="}')
    with signed.installation() as installation:
        assert installation.memory.trust(key) == state


def test_a_dry_run_of_an_installation_trusts_nothing(tmp_path):
    site = Site(tmp_path, signed=True)
    site.publish("1.0.0")
    wanted = Install(reference=site.reference(), root=site.root)
    with site.installation() as installation:
        result = install(installation, wanted, dry_run=True)
        assert [each.after for each in result.events] == ["1.0.0"]
        assert installation.memory.trusted() == ()
        assert installation.packages() == ()


@pytest.mark.full
def test_the_tables_are_those_of_the_migrations(tmp_path):
    with postgres.server() as server:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE state")
        for url in (tmp_path / "state.db", f"{server}/state"):
            with open_database(url) as database:
                database.migrate(_tables.MIGRATIONS)
                with database.reading() as connection:
                    found = inspect(connection)
                    tables = set(found.get_table_names()) - {"installation_version"}
                    assert tables == set(_tables.PACKAGES.metadata.tables)
                    for name, table in _tables.PACKAGES.metadata.tables.items():
                        columns = {
                            each["name"]: each["nullable"] for each in found.get_columns(name)
                        }
                        assert columns == {each.name: each.nullable for each in table.columns}
                        keys = found.get_pk_constraint(name)["constrained_columns"]
                        assert keys == [each.name for each in table.primary_key]


def test_an_emptied_database_is_no_empty_installation(current):
    database = current.state / "state.db"
    for beside in ("state.db-wal", "state.db-shm"):
        (current.state / beside).unlink(missing_ok=True)
    database.write_bytes(b"")
    for looking in (False, True):
        with pytest.raises(DamagedError, match="an empty file; restore it from a backup"):
            current.installation(looking=looking)
    assert database.read_bytes() == b""
    with Installation(current.state.parent / "new", clock=current.clock) as installation:
        assert installation.packages() == ()


class TestReadOnly:
    @pytest.mark.full
    @pytest.mark.parametrize("number", [full(0), 2], ids=["new", "earlier"])
    def test_commands_that_only_look_work_on_a_state_that_cannot_be_written(self, current, number):
        if number:
            earlier(current, number)
        content = (current.state / "state.db").read_bytes()
        folders = [
            current.state,
            *(each for each in current.state.rglob("*") if not each.is_symlink()),
        ]
        modes = {each: each.stat().st_mode for each in folders}
        for each in folders:
            each.chmod(modes[each] & ~0o222)
        try:
            for command, code in (
                (["list"], 0),
                (["history"], 0),
                (["status"], 0),
                (["plan"], 0),
                (["upgrade", "--check"], 0),
                (["upgrade", "--dry-run"], 0),
            ):
                done = _bound([*command, "--state", str(current.state)])
                assert done.returncode == code, (command, done.stderr)
                assert ("cannot be written" in done.stderr) is (
                    command[0] not in {"list", "history"}
                )
                assert CRM in done.stdout + done.stderr
            for command in (
                ["tidy"],
                ["forget", "clock"],
                ["forget", "channel", CRM],
                ["hold", CRM, "--reason", "audit"],
                ["uninstall", CRM],
            ):
                done = _bound([*command, "--dry-run", "--state", str(current.state)])
                assert done.returncode == 0, (command, done.stderr)
                assert "would have" in done.stderr + done.stdout, command
            done = _bound(["upgrade", "--state", str(current.state)])
            assert done.returncode == 1
            assert "Traceback" not in done.stderr
        finally:
            for each in folders:
                each.chmod(modes[each])
        assert (current.state / "state.db").read_bytes() == content

    def test_a_state_that_can_be_written_is_not_copied(self, signed):
        with signed.installation(looking=True) as installation:
            assert not installation.memory.is_copy
            assert foresee(installation)[0].plan.refusals == ()


def _bound(arguments):
    """Runs the command so that permissions bind it; root is bound by them without two capabilities."""
    under = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    command = warm.script(under=under if os.geteuid() == 0 else ())
    return subprocess.run([*command, *arguments], check=False, capture_output=True, text=True)
