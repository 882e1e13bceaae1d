"""The commands of `trundle store`: what they print, change and refuse, and how they end."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest
import warm

from trundle.project import generated_scheme, load_config
from trundle.store import Key, ServerLease, Store

FIRST = """\
title: Person
type: object
properties:
  id: {type: string}
  team: {type: string}
required: [id]
"""
SECOND = """\
title: Person
type: object
properties:
  id: {type: string}
  group: {type: string}
  note: {type: string}
required: [id]
"""
RENAME = "package: people\nsources: [schemas]\nchanges:\n  2018-08-08:\n    Person:\n      rename: {team: group}\n"


OF_A_GROUP = """\
openapi: 3.0.0
info: {{title: Accounts, version: {version}}}
paths: {{}}
components:
  schemas:
    Account:
      type: object
      properties: {{metadata: {{type: object}}, {name}: {{type: string}}}}
      x-kubernetes-group-version-kind: [{{group: {group}, kind: Account, version: {version}}}]
"""


def test_namesakes_of_several_groups_are_each_readable(empty):
    """They were taken for one resource type, which is stored in the newest version of both."""
    for group, version in (("mail", "v1"), ("shop", "v2")):
        text = OF_A_GROUP.format(group=f"{group}.example.org", version=version, name=group)
        empty.write(f"schemas/{group}.yaml", text)
    groups = "groups: {mail: mail.example.org, shop: shop.example.org}"
    empty.write("trundle.yaml", f"package: accounts\n{groups}\nsources: [schemas]\n")
    assert empty.run("generate").exit_code == 0
    with Using(empty) as store:
        for group, version in (("mail", "v1"), ("shop", "v2")):
            head = {"apiVersion": f"{group}.example.org/{version}", "kind": "Account"}
            document = {**head, "metadata": {"name": "a"}, group: "x"}
            key = Key(f"{group}.example.org/Account", "default", "a")
            store.create(key, json.dumps(document).encode())
    result = empty.run("check", "--store", "store.db")
    assert result.exit_code == 0, result.output


@pytest.fixture
def line(empty):
    """A project that stores its first version, with three objects."""
    empty.write("schemas/2018-08-08.yaml", FIRST)
    empty.write("trundle.yaml", "package: people\nsources: [schemas]\n")
    for command in ("generate", "lock"):
        assert empty.run(command).exit_code == 0
    with Using(empty) as store:
        for name in ("ada", "bea", "cleo"):
            text = f'{{"apiVersion":"2018-08-08","kind":"Person","id":"{name}","team":"x"}}'
            store.create(Key("Person", "default", name), text.encode())
    return empty


class Using:
    """The store of a project."""

    def __init__(self, line):
        self.line = line

    def __enter__(self):
        self.scheme = generated_scheme(load_config(self.line.folder / "trundle.yaml"))
        self.store = Store(self.line.folder / "store.db", self.scheme.__enter__())
        return self.store

    def __exit__(self, *error):
        self.store.close()
        self.scheme.__exit__(*error)


def upgrade(line):
    """The next release, which stores its second version."""
    line.write("schemas/2020-02-02.yaml", SECOND)
    line.write("trundle.yaml", RENAME)
    for command in ("generate", "lock"):
        assert line.run(command).exit_code == 0


def ok(line, *arguments):
    result = line.run("store", *arguments)
    assert result.exit_code == 0, result.output
    return result


def data(line, *arguments):
    return json.loads(ok(line, *arguments, "-o", "json").stdout)


def spoil(line, name):
    from sqlalchemy import text

    with Using(line) as store, store.database.writing() as connection:
        statement = text("UPDATE store_revisions SET data = :data WHERE name = :name")
        connection.execute(statement, {"data": b"{}", "name": name})


def test_the_status_shows_versions_and_servers(line):
    upgrade(line)
    with Using(line) as store:
        lease = ServerLease(store, "server-1")
        text = ok(line, "status").stdout
        lease.end()
    rows = [each.split() for each in text.splitlines()]
    assert rows[0] == ["RESOURCE", "STORED", "IN", "OBJECTS", "EARLIER", "BYTES", "NOTE"]
    assert rows[1][:4] == ["Person", "2018-08-08", "3", "0"]
    assert rows[1][5:] == ["to", "be", "2020-02-02"]
    assert rows[4][0] == "server-1"
    (found,) = data(line, "status")["resources"]
    assert (found["resourceVersion"], found["versions"][0]["objects"]) == (4, 3)


@pytest.mark.full
def test_rolling_says_before_what_it_does(line):
    upgrade(line)
    before = ok(line, "status").stdout
    looked = ok(line, "roll", "--dry-run", "--verify")
    assert looked.stdout.splitlines()[1].split() == ["Person", "2018-08-08", "2020-02-02", "3"]
    assert "Person would be stored in 2020-02-02 from now on; it was 2018-08-08" in looked.stderr
    assert "would roll 3 revisions" in looked.stderr
    assert ok(line, "status").stdout == before
    done = data(line, "roll", "--verify", "--rate", "1000")
    assert done["resources"][0]["rolled"] == {"2018-08-08": 3}
    assert ok(line, "roll").stderr == "rolled no revisions\n"
    with Using(line) as store:
        found = store.get(Key("Person", "default", "ada"))
        assert json.loads(found.data)["group"] == "x"


@pytest.mark.full
def test_rolling_names_what_cannot_be_converted(line):
    upgrade(line)
    spoil(line, "bea")
    for options in (("--dry-run",), ()):
        result = line.run("store", "roll", *options)
        assert result.exit_code == 3
        assert (
            "error: Person default/bea at resource version 3: expected an object that can be"
            in result.stdout
        )
        assert "[object-not-convertible]" in result.stdout
        assert "roll 2 revisions" in result.stderr or "rolled 2 revisions" in result.stderr
    result = line.run("store", "check")
    assert (result.exit_code, result.stdout.count("error:")) == (3, 1), result.output
    assert "Person default/bea" in result.stdout
    assert line.run("store", "check", "-o", "json").exit_code == 3


def test_rolling_waits_for_servers_that_cannot_read_it(line):
    with Using(line) as store:
        ServerLease(store, "old-1")
    upgrade(line)
    result = ok(line, "roll")
    assert (
        "warning: Person is stored in 2018-08-08 until these servers end, which cannot read 2020-02-02: old-1"
        in result.stderr
    )
    assert "rolled no revisions" in result.stderr


def test_a_version_that_is_still_stored_cannot_be_dropped(line):
    upgrade(line)
    assert line.run("check", "--store", "store.db").exit_code == 0
    (line.folder / "schemas" / "2018-08-08.yaml").unlink()
    (line.folder / "trundle.lock").unlink()
    line.write("trundle.yaml", "package: people\nsources: [schemas]\n")
    assert line.run("generate").exit_code == 0
    result = line.run("check", "--store", "store.db")
    assert result.exit_code == 3
    assert (
        "Person: expected Person to be stored in 2020-02-02, found 3 objects in 2018-08-08"
        in result.stdout
    )
    assert "[storage-version-still-stored]" in result.stdout
    assert line.run("check").exit_code == 0
    result = line.run("store", "check")
    assert result.exit_code == 3
    assert "[storage-version-still-stored]" in result.stdout


def test_objects_of_an_api_group_that_the_project_left_are_warned_about(line):
    """A server over them had no objects, and said nothing."""
    assert line.run("store", "export", "--to", "people.jsonl").exit_code == 0
    assert "warning" not in line.run("store", "import", "people.jsonl").stderr
    sources = "sources: [{path: schemas, group: people.example.org}]"
    line.write("trundle.yaml", f"package: people\n{sources}\n")
    assert line.run("generate").exit_code == 0
    assert line.run("store", "import", "people.jsonl").stderr.startswith(
        "warning: store.db: Person: expected a resource type of the project such as people.example.org/Person, "
        "found none, so that 3 objects of it cannot be seen; "
    )


def test_an_export_is_imported_elsewhere(line):
    result = line.run("store", "export", "--to", "people.jsonl")
    assert (result.exit_code, result.stderr) == (0, "exported 3 objects\n")
    lines = (line.folder / "people.jsonl").read_text().splitlines()
    assert json.loads(lines[1])["document"]["id"] == "ada"
    assert line.run("store", "export", "--to", "people.jsonl").exit_code == 4
    assert data(line, "export", "--to", "again.jsonl") == {"exported": 3, "file": "again.jsonl"}
    assert (line.folder / "again.jsonl").read_text().splitlines() == lines
    both = line.run("store", "export", "-o", "json")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "expected --to with it" in both.stderr
    printed = ok(line, "export")
    assert (printed.stdout.splitlines(), printed.stderr) == (lines, "exported 3 objects\n")
    assert (
        line.run("store", "import", "people.jsonl", "--store", "new.db", "--dry-run").exit_code == 5
    )
    result = ok(line, "import", "people.jsonl", "--database", "new.db")
    assert result.stderr == "imported 3 objects\n"
    assert data(line, "import", "people.jsonl", "--store", "new.db") == {
        "stored": 0,
        "there": 3,
        "dryRun": False,
    }
    line.write("people.jsonl", "\n".join(lines[:-1]) + "\n")
    result = line.run("store", "import", "people.jsonl", "--store", "other.db")
    assert result.exit_code == 3
    assert "people.jsonl:4: expected a last line" in result.stderr
    assert line.run("store", "import", "nothing.jsonl").exit_code == 5


def test_compaction_forgets_what_it_is_told_to(line):
    with Using(line) as store:
        store.delete(Key("Person", "default", "ada"))
    assert "0" in ok(line, "compact", "--most", "0", "--dry-run").stdout
    (found,) = data(line, "compact", "--most", "0")["resources"]
    assert (found["resourceVersion"], found["removed"]) == (5, 2)
    assert ok(line, "compact", "--older-than", "0").stdout.split()[-3:] == ["5", "5", "0"]


def test_a_store_that_was_put_back_goes_on_far_away(line):
    before = data(line, "status")["resources"]
    planned = data(line, "compact", "--restored", "--dry-run")["resources"]
    assert data(line, "status")["resources"] == before
    done = data(line, "compact", "--restored")["resources"]
    now = data(line, "status")["resources"]
    assert [each["resourceVersion"] for each in now] == [each["resourceVersion"] for each in done]
    assert all(each["resourceVersion"] == each["compacted"] for each in now)
    assert [each["removed"] for each in planned] == [0] * len(now)
    was = {each["resource"]: each["resourceVersion"] for each in before}
    # Also what nothing was stored of, such as events, of which clients may know something from after the copy.
    assert {"Event", "Lease", "Namespace", *was} <= {each["resource"] for each in now}
    assert all(each["resourceVersion"] >= was.get(each["resource"], 1) + 10**9 for each in now)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("compact", "--restored", "--most", "0"), 2, "--restored: expected no --most, found one"),
        (
            ("status", "--store", "nothing.db"),
            5,
            "nothing.db: expected a store, found no such file",
        ),
        (("status", "--store", "sqlite:///no.db"), 5, "no.db: expected a store"),
        (("status", "--store", "mysql://host/x"), 2, "postgresql://"),
        (("status", "--store", "postgresql://127.0.0.1:1/x"), 7, "server of PostgreSQL"),
        (("status", "--store", "trundle.yaml"), 1, "database"),
        (("roll", "--rate", "0"), 2, "--rate"),
        (("compact", "--older-than", "-1"), 2, "--older-than"),
        (("compact", "--older-than", "1e300"), 2, "number of minutes"),
    ],
)
def test_what_cannot_be_done_is_said(line, arguments, code, message):
    result = line.run("store", *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (line.folder / "nothing.db").exists()


@pytest.mark.full
def test_the_command_goes_on_after_being_killed(line):
    """`trundle store roll` is killed while it rolls; the next run rolls the rest."""
    with Using(line) as store:
        for at in range(300):
            text = f'{{"apiVersion":"2018-08-08","kind":"Person","id":"{at}","team":"x"}}'
            store.create(Key("Person", "default", f"p{at}"), text.encode())
    upgrade(line)
    command = [*warm.script(), "store", "roll", "--rate", "20"]
    process = subprocess.Popen(command, cwd=line.folder, env=os.environ, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    left = 303
    while left == 303 and time.monotonic() < deadline:
        left = stored_in(line).get("2018-08-08", 0)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert 0 < left < 303
    result = ok(line, "roll", "--verify")
    assert "rolled no" not in result.stderr
    assert stored_in(line) == {"2020-02-02": 303}


def stored_in(line):
    (found,) = data(line, "status")["resources"]
    return {each["version"]: each["objects"] for each in found["versions"]}


@pytest.mark.full
def test_what_would_be_lost_without_a_version_is_reported_before_it_goes(line):
    line.write("schemas/2019-09-09.yaml", SECOND)
    line.write("trundle.yaml", RENAME)
    aged = FIRST.replace("required", "  age: {type: integer}\nrequired")
    line.write("schemas/2018-08-08.yaml", aged)
    assert line.run("generate").exit_code == 0
    with Using(line) as store:
        text = '{"apiVersion":"2018-08-08","kind":"Person","id":"dot","team":"x","age":36}'
        store.create(Key("Person", "default", "dot"), text.encode())
    done = line.run("store", "check", "--without", "2018-08-08")
    assert done.exit_code == 3
    rows = [each.split() for each in done.stdout.splitlines()]
    assert ["Person", "2018-08-08", "4", "0", "0"] in rows
    assert ["Person", "$.age", "1", "36", "in", "Person", "default/dot"] in rows
    assert "run `trundle store roll` before 2018-08-08 leaves the project" in done.stderr
    plain = json.loads(line.run("store", "check", "--without", "2018-08-08", "-o", "json").stdout)
    assert plain[0]["stored"] == {"objects": 4, "earlier": 0, "written": True}
    assert plain[0]["lost"][0]["objects"] == 1
    assert line.run("store", "check", "--without", "1999-01-01").exit_code == 5


def many(line, number=700):
    """Stores more objects than one part of a roll has, and moves the storage version up."""
    with Using(line) as store:
        for at in range(number):
            text = f'{{"apiVersion":"2018-08-08","kind":"Person","id":"{at}","team":"t{at}"}}'
            store.create(Key("Person", "default", f"n{at}"), text.encode())
    line.write("schemas/2019-09-09.yaml", SECOND)
    line.write("trundle.yaml", RENAME)
    for command in ("generate", "lock"):
        assert line.run(command).exit_code == 0


def shown(line):
    """What the new version shows of each object."""
    with Using(line) as store:
        return {
            each.key.name: (
                each.storage_version,
                each.resource_version,
                json.loads(store.shown(each, "2019-09-09"))["group"],
            )
            for each in store.stream("Person")
        }


@pytest.mark.full
def test_several_processes_roll_every_object_once(line):
    many(line)
    numbers = {name: number for name, (_, number, _) in shown(line).items()}
    command = [warm.TRUNDLE, "store", "roll", "--workers", "3", "--verify", "-o", "json"]
    done = subprocess.run(command, cwd=line.folder, capture_output=True, text=True, check=True)
    (rolled,) = json.loads(done.stdout)["resources"]
    assert rolled["rolled"] == {"2018-08-08": 703}
    after = shown(line)
    assert {version for version, _, _ in after.values()} == {"2019-09-09"}
    assert {name: number for name, (_, number, _) in after.items()} == numbers
    assert {name: group for name, (_, _, group) in after.items()} == {
        name: "x" if name in {"ada", "bea", "cleo"} else f"t{name[1:]}" for name in numbers
    }
    again = subprocess.run(command, cwd=line.folder, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["resources"][0]["rolled"] == {}


@pytest.mark.full
def test_a_dry_run_in_several_processes_writes_nothing(line):
    many(line)
    before = (line.folder / "store.db").read_bytes()
    command = [warm.TRUNDLE, "store", "roll", "--workers", "2", "--dry-run"]
    done = subprocess.run(command, cwd=line.folder, capture_output=True, text=True, check=True)
    assert "would roll 703 revisions" in done.stderr
    assert (line.folder / "store.db").read_bytes() == before


@pytest.mark.full
def test_processes_that_are_killed_leave_the_rest_to_the_next_run(line):
    many(line)
    command = [warm.TRUNDLE, "store", "roll", "--workers", "2", "--rate", "30"]
    running = subprocess.Popen(command, cwd=line.folder, stderr=subprocess.DEVNULL)
    path = line.folder / "store.db"

    def rolled():
        with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection:
            query = "SELECT count(*) FROM store_revisions WHERE storage_version = '2019-09-09'"
            return connection.execute(query).fetchone()[0]

    deadline = time.monotonic() + 60
    while not rolled():
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.kill()
    running.wait()
    there = rolled()
    assert 0 < there < 703
    line.run("store", "roll", "--workers", "2")
    assert rolled() == 703
    assert set(shown(line)) == {*(f"n{at}" for at in range(700)), "ada", "bea", "cleo"}


@pytest.mark.full
def test_an_object_that_cannot_be_converted_is_named_by_the_worker_that_met_it(line):
    many(line)
    with contextlib.closing(sqlite3.connect(line.folder / "store.db")) as connection, connection:
        connection.execute("UPDATE store_revisions SET data = X'6e6f' WHERE name IN ('n7', 'n650')")
    done = line.run("store", "roll", "--workers", "2")
    assert done.exit_code == 3
    assert [x.split()[1:3] for x in done.output.splitlines() if "default/n" in x] == [
        ["Person", "default/n7"],
        ["Person", "default/n650"],
    ]
    assert "rolled 701 revisions" in done.stderr


@pytest.mark.full
def test_several_processes_find_what_one_finds(line):
    many(line)
    with contextlib.closing(sqlite3.connect(line.folder / "store.db")) as connection, connection:
        connection.execute("UPDATE store_revisions SET data = X'6e6f' WHERE name IN ('n7', 'n650')")
    alone = line.run("store", "check", "-o", "json")
    several = line.run("store", "check", "-o", "json", "--workers", "2")
    assert (alone.exit_code, several.exit_code) == (3, 3)
    assert len(json.loads(alone.stdout)) == 2
    assert several.stdout == alone.stdout


def test_a_refused_import_makes_no_store(line):
    ok(line, "export", "--to", "all.jsonl")
    whole = line.folder.joinpath("all.jsonl").read_text()
    line.write("cut.jsonl", whole.rpartition("{")[0])
    refused = line.run("store", "import", "cut.jsonl", "--store", "other.db")
    assert refused.exit_code == 3
    assert "the file was cut off" in refused.output
    assert not line.folder.joinpath("other.db").exists()
    assert "imported 3 objects" in ok(line, "import", "all.jsonl", "--store", "other.db").output


def test_an_empty_file_is_no_store(line):
    line.write("copy.db", "")
    commands = ("status", "check", "export", "roll", "compact", "import copy.db")
    for command in (*(f"store {each}" for each in commands), "serve --port 0"):
        result = line.run(*command.split(), "--store", "copy.db")
        assert (result.exit_code, result.stdout) == (1, ""), command
        assert "expected a store, found an empty file; restore it from a backup" in result.stderr
    assert line.folder.joinpath("copy.db").read_bytes() == b""


def test_commands_that_only_read_a_store_do_so_where_nothing_can_be_written(line):
    folder = line.folder / "copy"
    folder.mkdir()
    shutil.copy(line.folder / "store.db", folder)
    before = folder.joinpath("store.db").read_bytes()
    expected = [ok(line, *each).stdout for each in (("status",), ("export",), ("check",))]
    folder.joinpath("store.db").chmod(0o444)
    folder.chmod(0o555)
    under = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    command = warm.script(under=under if os.geteuid() == 0 else ())
    try:
        for name, printed in zip(("status", "export", "check"), expected, strict=True):
            arguments = [*command, "store", name, "--store", "copy/store.db"]
            done = subprocess.run(arguments, check=False, capture_output=True, text=True)
            assert (done.returncode, done.stdout) == (0, printed), done.stderr
        arguments = [*command, "store", "check", "--store", "copy/store.db", "--workers", "2"]
        subprocess.run(arguments, check=True, capture_output=True)
        assert [each.name for each in folder.iterdir()] == ["store.db"]
    finally:
        folder.chmod(0o755)
    assert folder.joinpath("store.db").read_bytes() == before
