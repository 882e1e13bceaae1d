"""Transactions, locks and errors, on SQLite and on a real server of PostgreSQL alike."""

import contextlib
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import postgres
import psycopg
import pytest
import serving
import warm
from sqlalchemy import (
    JSON,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError

from trundle.database import (
    BusyError,
    DamagedError,
    DatabaseError,
    InvalidUrlError,
    UnreachableError,
    UnwritableError,
    file_content,
    open_database,
    upsert,
)

TABLES = MetaData()
COUNTS = Table(
    "counts",
    TABLES,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
)
BLOBS = Table(
    "blobs", TABLES, Column("id", Integer, primary_key=True), Column("content", LargeBinary)
)


@pytest.fixture
def tables(database):
    with database.writing() as connection:
        TABLES.create_all(connection)
    return database


def values(database):
    with database.reading() as connection:
        return dict(map(tuple, connection.execute(select(COUNTS))))


def fill(database, count):
    with database.writing() as connection:
        for _ in range(count):
            connection.execute(insert(BLOBS), {"content": os.urandom(50_000)})


def read_blobs(path):
    with open_database(path) as database, database.reading() as connection:
        return connection.execute(select(BLOBS)).all()


@pytest.fixture
def small_space(on_server):
    """A tablespace on a disk of two megabytes."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    with tempfile.TemporaryDirectory(prefix="trundle-full-") as name:
        Path(name).chmod(0o755)
        disk = Path(name, "disk")
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("a small disk cannot be mounted here")
        try:
            space = disk / "space"
            space.mkdir()
            shutil.chown(space, "postgres", "postgres")
            with psycopg.connect(on_server, autocommit=True) as connection:
                connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
                yield "small"
                connection.execute("DROP TABLESPACE small")
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)


class TestTransactions:
    def test_what_was_written_is_there_for_the_next_who_opens_it(self, tables, url):
        with tables.writing() as connection:
            connection.execute(
                insert(COUNTS), [{"name": "a", "value": 1}, {"name": "b", "value": 2}]
            )
        with open_database(url) as again:
            assert values(again) == {"a": 1, "b": 2}

    def test_a_block_that_raises_changes_nothing(self, tables):
        with pytest.raises(LookupError), tables.writing() as connection:  # noqa: PT012
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            raise LookupError
        assert values(tables) == {}

    def test_a_reader_sees_one_state_beside_a_writer(self, tables, url):
        with open_database(url) as other, tables.reading() as reader:
            count = select(func.count()).select_from(COUNTS)
            assert reader.execute(count).scalar_one() == 0
            with other.writing() as connection:
                connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            assert reader.execute(count).scalar_one() == 0
        assert values(tables) == {"a": 1}

    def test_a_reader_cannot_write(self, tables):
        with pytest.raises(UnwritableError), tables.reading() as connection:
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
        assert values(tables) == {}

    def test_compare_and_swap_counts_the_rows_that_it_changed(self, tables):
        with tables.writing() as connection:
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            swap = update(COUNTS).where(COUNTS.c.name == "a", COUNTS.c.value == 1).values(value=2)
            assert connection.execute(swap).rowcount == 1
            assert connection.execute(swap).rowcount == 0

    def test_a_key_that_exists_is_left_to_the_room(self, tables):
        for expected in (None, IntegrityError):
            try:
                with tables.writing() as connection:
                    connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            except IntegrityError:
                assert expected
        assert values(tables) == {"a": 1}

    def test_a_mistake_in_a_statement_is_no_error_of_the_database(self, tables):
        with pytest.raises((OperationalError, ProgrammingError)), tables.reading() as connection:
            connection.exec_driver_sql("SELECT x FROM nowhere")

    def test_upsert_replaces_rows_with_the_same_key(self, tables):
        with tables.writing() as connection:
            upsert(connection, COUNTS, [{"name": "a", "value": 1}, {"name": "b", "value": 1}])
            upsert(connection, COUNTS, [{"name": "b", "value": 2}, {"name": "c", "value": 3}])
            upsert(connection, COUNTS, [])
        assert values(tables) == {"a": 1, "b": 2, "c": 3}

    def test_a_database_for_reading_is_not_written(self, tables, url):
        with open_database(url, read_only=True) as reader:
            assert values(reader) == {}
            with pytest.raises(UnwritableError, match="opened for reading"), reader.writing():
                pass


class TestLocks:
    def test_writers_with_the_same_lock_come_one_after_the_other(self, tables, url):
        with tables.writing() as connection:
            connection.execute(insert(COUNTS), {"name": "a", "value": 0})

        def count():
            with open_database(url) as own:
                for _ in range(5):
                    with own.writing() as connection:
                        own.lock(connection, "counting")
                        now = connection.execute(select(COUNTS.c.value)).scalar_one()
                        connection.execute(update(COUNTS).values(value=now + 1))

        threads = [threading.Thread(target=count) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert values(tables) == {"a": 15}

    def test_a_lock_that_is_not_freed_is_an_error(self, tables, url):
        with open_database(url, wait=0.1) as other, tables.writing() as connection:
            tables.lock(connection, "a")
            with pytest.raises(BusyError, match="try again"), other.writing() as second:
                other.lock(second, "a")

    def test_locks_of_other_names_do_not_wait_on_a_server(self, on_server):
        with (
            open_database(on_server, wait=0.1) as one,
            open_database(on_server, wait=0.1) as other,
            one.writing() as first,
            other.writing() as second,
        ):
            one.lock(first, "a")
            other.lock(second, "b")

    def test_only_a_writer_locks(self, tables):
        with pytest.raises(ValueError, match="writing"), tables.reading() as connection:
            tables.lock(connection, "a")


class TestDeath:
    WRITER = """
import sys
from sqlalchemy import text
from trundle.database import open_database
with open_database(sys.argv[1]) as database:
    for number in range(1, 100_000):
        with database.writing() as connection:
            connection.execute(text("INSERT INTO counts VALUES (:name, 1)"), {"name": f"{number}a"})
            connection.execute(text("INSERT INTO counts VALUES (:name, 1)"), {"name": f"{number}b"})
        print(number, flush=True)
"""

    @pytest.mark.full
    def test_a_killed_writer_loses_nothing_that_was_committed_and_leaves_no_half(
        self, tables, url, tmp_path
    ):
        program = tmp_path / "writing.py"
        program.write_text(self.WRITER)
        for _ in range(3):
            with tables.writing() as connection:
                connection.execute(COUNTS.delete())
            writer = subprocess.Popen(
                [*warm.script(program), url], stdout=subprocess.PIPE, text=True
            )
            confirmed = [int(writer.stdout.readline()) for _ in range(10)]
            writer.send_signal(signal.SIGKILL)
            confirmed += map(int, writer.stdout.read().split())
            writer.wait()
            writer.stdout.close()
            found = values(tables)
            assert {f"{each}{part}" for each in confirmed for part in "ab"} <= found.keys()
            assert {name[:-1] for name in found if name[-1] == "a"} == {
                name[:-1] for name in found if name[-1] == "b"
            }

    def test_a_connection_that_the_server_ended_is_replaced(self, on_server):
        with open_database(on_server) as database:
            with database.reading() as connection:
                backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            _end_backend(on_server, backend)
            with database.reading() as connection:
                assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1

    def test_a_connection_that_is_lost_in_a_transaction_is_an_error(self, on_server):
        with (  # noqa: PT012 - what fails is the end of the block, too
            open_database(on_server) as database,
            pytest.raises(UnreachableError),
            database.writing() as connection,
        ):
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            _end_backend(on_server, backend)
            connection.exec_driver_sql("SELECT 1")


def _end_backend(url, backend):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])


class TestTrouble:
    def test_a_file_that_is_no_database(self, tmp_path):
        path = tmp_path / "notes.db"
        path.write_text("not a database, but long enough to be looked at\n" * 100)
        for read_only in (False, True):
            with pytest.raises(DamagedError, match="restore it"):
                open_database(path, read_only=read_only)
        assert path.read_text().startswith("not a database")

    def test_a_half_written_file(self, tmp_path):
        path = tmp_path / "test.db"
        with open_database(path) as database, database.writing() as connection:
            TABLES.create_all(connection)
            connection.execute(insert(BLOBS), [{"content": os.urandom(5000)} for _ in range(50)])
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(DamagedError, match="restore it"):
            read_blobs(path)

    def test_a_folder_that_is_missing(self, tmp_path):
        with pytest.raises(UnwritableError, match="folder"):
            open_database(tmp_path / "nowhere" / "test.db")

    def test_nothing_to_read_is_an_empty_database(self, tmp_path):
        path = tmp_path / "test.db"
        with open_database(path, read_only=True) as database, database.reading() as connection:
            assert connection.exec_driver_sql("SELECT * FROM sqlite_master").all() == []
        assert not (tmp_path / "test.db").exists()

    def test_nothing_is_written_to_a_file_that_is_gone_or_replaced(self, tmp_path, monkeypatch):
        """What was written was acknowledged, and not found again."""
        path, aside = tmp_path / "test.db", tmp_path / "aside.db"
        monkeypatch.chdir(tmp_path)
        with open_database(Path("test.db")) as database:
            with database.writing() as connection:
                TABLES.create_all(connection)
            monkeypatch.chdir(tmp_path.parent)

            def write():
                with database.writing() as connection:
                    connection.execute(insert(COUNTS), {"name": "a", "value": 1})

            path.rename(aside)
            with pytest.raises(UnwritableError, match="found no such file any more"):
                write()
            shutil.copy(aside, path)
            with pytest.raises(UnwritableError, match="found another one in its place"):
                write()
            assert values(database) == {}
            aside.rename(path)
            write()
            assert values(database) == {"a": 1}

    def test_a_full_disk_keeps_what_was_stored(self, tmp_path):
        path = tmp_path / "test.db"
        with open_database(path) as database, database.writing() as connection:
            TABLES.create_all(connection)
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
            code = 1
            try:
                with open_database(path) as database:
                    fill(database, 100)
            except UnwritableError as error:
                code = 42 if "make room" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
        with open_database(path) as database:
            assert values(database) == {"a": 1}
        assert read_blobs(path) == []

    def test_a_full_page_count_is_a_full_disk(self, tmp_path):
        with open_database(tmp_path / "test.db") as database:
            with database.writing() as connection:
                TABLES.create_all(connection)
                connection.exec_driver_sql("PRAGMA max_page_count = 10")
            with pytest.raises(UnwritableError, match="make room"):
                fill(database, 1)

    def test_a_full_disk_of_a_server_keeps_what_was_stored(self, on_server, small_space):
        with open_database(on_server) as database:
            with database.writing() as connection:
                connection.exec_driver_sql(f"SET default_tablespace = {small_space}")
                TABLES.create_all(connection)
                connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            with pytest.raises(UnwritableError, match="make room"):
                fill(database, 100)
            assert values(database) == {"a": 1}
            with database.writing() as connection:
                TABLES.drop_all(connection)

    def test_a_server_that_does_not_answer(self):
        began = time.monotonic()
        with (
            serving.refusing() as address,
            pytest.raises(UnreachableError, match="check that the server runs") as raised,
        ):
            open_database(f"postgresql://ali:secret@{address}/things")
        assert "secret" not in str(raised.value)
        assert time.monotonic() - began < 60

    def test_a_wrong_password_and_a_database_that_is_missing(self, server):
        for wrong in (
            server.replace("open%20sesame", "hunter2") + "/postgres",
            f"{server}/nothing",
        ):
            with pytest.raises(UnreachableError, match="correct user, password and") as raised:
                open_database(wrong)
            assert "hunter2" not in str(raised.value)
            assert "sesame" not in str(raised.value)

    def test_a_server_that_lets_no_more_connections_in(self, server):
        role = "CREATE ROLE single LOGIN PASSWORD 'secret' CONNECTION LIMIT 1"
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(role)
        url = f"{server.replace('trundle:open%20sesame', 'single:secret')}/postgres"
        with (
            open_database(url) as database,
            database.reading(),
            pytest.raises(UnreachableError, match="too many connections for role") as raised,
        ):
            open_database(url)
        assert "check that the server runs" not in str(raised.value)

    def test_a_database_that_takes_no_writes_takes_none_after_a_read(self, server, on_server):
        with open_database(on_server) as database:
            with database.writing() as connection:
                TABLES.create_all(connection)
            with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                name = on_server.rpartition("/")[2]
                connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with open_database(on_server) as database:  # It reads first.
            with (
                pytest.raises(UnwritableError, match="default_transaction_read_only` off"),
                database.writing() as connection,
            ):
                connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            assert values(database) == {}

    @pytest.mark.parametrize("ignored", ["", "options"])
    def test_a_pooler_that_drops_settings_is_named(self, server, on_server, tmp_path, ignored):
        with pooler(server, tmp_path, ignored) as address:
            name = on_server.rpartition("/")[2]
            with pytest.raises(UnreachableError, match="connect to the server itself"):
                open_database(f"postgresql://trundle@{address}/{name}")

    @pytest.mark.parametrize(
        "url",
        ["", "things.db", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "postgresql://host"],
    )
    def test_a_url_of_no_database_that_is_known(self, url):
        with pytest.raises(InvalidUrlError, match="sqlite:///FILE"):
            open_database(url)

    @pytest.mark.full
    def test_a_user_who_can_only_look_leaves_nothing_beside_a_file(self, tmp_path):
        """SQLite made a log that belonged to that user, and the owner could not write any more."""
        path = tmp_path / "folder" / "test.db"
        path.parent.mkdir()
        with open_database(path) as database, database.writing() as connection:
            TABLES.create_all(connection)
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
        path.chmod(0o444)
        path.parent.chmod(0o777)
        done = _without_privileges(
            "import sys; from pathlib import Path\n"
            "from trundle.database import UnwritableError, open_database\n"
            "path = Path(sys.argv[1])\n"
            "try:\n"
            "    open_database(path)\n"
            "except UnwritableError as error:\n"
            "    print(error.found)\n"
            "with open_database(path, read_only=True) as database:\n"
            "    with database.reading() as connection:\n"
            "        print(connection.exec_driver_sql('SELECT * FROM counts').all())\n"
            "print(*sorted(each.name for each in path.parent.iterdir()))\n",
            path,
        )
        assert done.stderr == ""
        assert done.stdout.splitlines() == ["one that it cannot", "[('a', 1)]", "test.db"]
        path.chmod(0o644)
        with open_database(path) as database, database.writing() as connection:
            connection.execute(insert(COUNTS), {"name": "b", "value": 1})

    @pytest.mark.full
    def test_a_user_who_can_only_look_sees_the_log_of_a_file_that_a_link_leads_to(self, tmp_path):
        """SQLite has its log beside the file itself; what was only there was left out without a word."""
        path, link = tmp_path / "folder" / "test.db", tmp_path / "link.db"
        path.parent.mkdir()
        link.symlink_to(path)
        with open_database(path) as database:
            with database.writing() as connection:
                TABLES.create_all(connection)
                connection.execute(insert(COUNTS), {"name": "a", "value": 1})
            path.chmod(0o444)
            done = _without_privileges(
                "import sys; from pathlib import Path\n"
                "from trundle.database import open_database\n"
                "with open_database(Path(sys.argv[1]), read_only=True) as database:\n"
                "    with database.reading() as connection:\n"
                "        print(connection.exec_driver_sql('SELECT * FROM counts').all())\n",
                link,
            )
        assert (done.stdout, done.stderr) == ("[('a', 1)]\n", "")

    @pytest.mark.full
    def test_a_user_who_can_only_look_sees_no_half_of_a_transaction(self, tmp_path):
        """File systems without shared memory have a journal, which puts back what a writer that was killed left in the file."""
        path = tmp_path / "test.db"
        half = (
            "import os, sqlite3, sys\n"
            "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "connection.execute('PRAGMA cache_size = 5')\n"
            "connection.execute('CREATE TABLE texts (text)')\n"
            "connection.executemany('INSERT INTO texts VALUES (?)', [('a' * 500,)] * 200)\n"
            "connection.execute('BEGIN')\n"
            "connection.execute('UPDATE texts SET text = ?', ('b' * 500,))\n"
            "os._exit(0)\n"
        )
        subprocess.run([sys.executable, "-c", half, path], check=True)
        assert (tmp_path / "test.db-journal").exists()
        path.chmod(0o444)
        done = _without_privileges(
            "import sys; from pathlib import Path\n"
            "from trundle.database import UnwritableError, open_database\n"
            "try:\n"
            "    open_database(Path(sys.argv[1]), read_only=True)\n"
            "except UnwritableError as error:\n"
            "    print(error.found)\n",
            path,
        )
        assert (done.stdout, done.stderr) == ("test.db-journal\n", "")

    @pytest.mark.full
    def test_a_folder_that_cannot_be_written(self, tmp_path):
        path = tmp_path / "folder" / "test.db"
        path.parent.mkdir()
        with open_database(path) as database, database.writing() as connection:
            TABLES.create_all(connection)
            connection.execute(insert(COUNTS), {"name": "a", "value": 1})
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            done = _without_privileges(
                "import sys; from pathlib import Path\n"
                "from trundle.database import UnwritableError, open_database\n"
                "with open_database(Path(sys.argv[1]), read_only=True) as database:\n"
                "    with database.reading() as connection:\n"
                "        print(connection.exec_driver_sql('SELECT * FROM counts').all())\n"
                "try:\n"
                "    with open_database(Path(sys.argv[1])) as database:\n"
                "        with database.writing() as connection:\n"
                "            connection.exec_driver_sql('DELETE FROM counts')\n"
                "except UnwritableError as error:\n"
                "    print(error.advice)\n",
                path,
            )
        finally:
            path.parent.chmod(0o755)
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            "[('a', 1)]",
            "give the file and its folder the permissions, or use another folder",
        ]


@contextlib.contextmanager
def pooler(server, folder, ignored):
    """A running pgbouncer before a server; gives its `host:port`."""
    program = serving.program("pgbouncer")
    host, number = server.rpartition("@")[2], serving.free_port()
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n* = host=127.0.0.1 port={host.rpartition(':')[2]} user=trundle password='{postgres.PASSWORD}'\n"
        f"[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port={number}\nauth_type=any\npool_mode=transaction\n"
        f"unix_socket_dir=\nignore_startup_parameters={ignored}\n"
    )
    folder.chmod(0o755)
    with (folder / "log").open("wb") as log:
        user = ["-u", "postgres"] if os.geteuid() == 0 else []
        process = subprocess.Popen([program, *user, config], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 30
        while b"process up" not in (folder / "log").read_bytes():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield f"127.0.0.1:{number}"
    finally:
        process.terminate()
        process.wait(30)


def _without_privileges(program, *arguments):
    """Runs a program that permissions bind; root is bound by them without two capabilities."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *command]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("read_only", [False, True])
def test_an_error_of_the_driver_shows_no_parameters(database, url, read_only):
    with database.writing():
        pass
    asked = select(bindparam("value", "hush", type_=Text)).select_from(Table("none", MetaData()))
    with (
        open_database(url, read_only=read_only) as opened,
        pytest.raises((OperationalError, ProgrammingError)) as caught,
        opened.reading() as connection,
    ):
        connection.execute(asked)
    assert "none" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_every_error_is_one_of_this_room():
    for kind in (BusyError, DamagedError, InvalidUrlError, UnreachableError, UnwritableError):
        assert issubclass(kind, DatabaseError)


def test_commands_that_need_no_database_do_not_import_one():
    program = "import sys, trundle.cli._app; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


NOTES = Table(
    "notes",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("content", JSON),
    Column("at", Text),
)
NOTE = select(NOTES).where(NOTES.c.id == bindparam("wanted"))


def test_a_first_row_is_what_a_transaction_reads(tables):
    rows = [
        {"id": 1, "content": {"a": [1, None]}, "at": "é"},
        {"id": 2, "content": None, "at": None},
    ]
    with tables.writing() as connection:
        connection.execute(insert(NOTES), rows)
        assert tables.first(NOTE, {"wanted": 1}) is None, "it is not committed"
    for wanted in (1, 2, 1):
        with tables.reading() as connection:
            expected = connection.execute(NOTE, {"wanted": wanted}).one()
        assert list(tables.first(NOTE, {"wanted": wanted})) == list(expected)
    assert tables.first(NOTE, {"wanted": 3}) is None


def test_a_first_row_that_cannot_be_read_is_an_error_that_leaves_no_connection_busy(database):
    for _ in range(20):
        with pytest.raises(
            (DatabaseError, OperationalError, ProgrammingError, sqlite3.OperationalError)
        ):
            database.first(NOTE, {"wanted": 1})
    with database.writing() as connection:
        TABLES.create_all(connection)
    assert database.first(NOTE, {"wanted": 1}) is None


def test_a_first_row_of_a_damaged_file_is_explained(tmp_path):
    path = tmp_path / "damaged.db"
    with open_database(path) as database:
        with database.writing() as connection:
            TABLES.create_all(connection)
        database.first(NOTE, {"wanted": 1})
        database.close()
        path.write_bytes(b"no database " * 1000)
        path.with_name("damaged.db-wal").unlink(missing_ok=True)
        with pytest.raises(DamagedError):
            database.first(NOTE, {"wanted": 1})


def test_the_content_of_a_file_is_a_database_and_its_digest_is_that_of_what_is_in_it(tmp_path):
    file, copy = tmp_path / "one.db", tmp_path / "two.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
        connection.execute("INSERT INTO things VALUES ('a'), ('b')")
        connection.commit()
        content, digest = file_content(file)
        connection.execute("DELETE FROM things WHERE name = 'b'")
        connection.commit()
        assert file_content(file)[1] != digest
        connection.execute("INSERT INTO things VALUES ('b')")
        connection.commit()
        connection.execute("VACUUM")
        assert file_content(file)[1] == digest
    copy.write_bytes(content)
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT name FROM things").fetchall() == [("a",), ("b",)]
    copy.write_bytes(b"no database" * 100)
    with pytest.raises(DamagedError):
        file_content(copy)


@pytest.mark.full
def test_what_a_server_refuses_is_said_once(on_server):
    """The driver printed a line of its own beside the error, where many rows were written: as of a full disk while a store is rolled."""
    code = (
        "import sys\n"
        "from sqlalchemy import text\n"
        "from trundle.database import open_database\n"
        "with open_database(sys.argv[1]) as database:\n"
        "    try:\n"
        "        with database.writing() as connection:\n"
        "            connection.execute(text('CREATE TABLE t (a TEXT NOT NULL)'))\n"
        "            rows = [{'a': None}] * 500\n"
        "            connection.execute(text('INSERT INTO t VALUES (:a)'), rows)\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, on_server], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("IntegrityError\n", "")
