"""What commands import: nobody waits for what a command does not use."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from amounts import some_of

ROOT = Path(__file__).parents[2]
ROOMS = {each.parent.name for each in (ROOT / "src" / "trundle").glob("*/__init__.py")}
PROGRAM = """
import json, sys
from trundle.__main__ import main
ended = 0
try:
    main()
except SystemExit as end:
    ended = end.code
finally:
    print("\\n" + json.dumps([ended, sorted(sys.modules)]), file=sys.stderr)
"""
ALL_HELP = """
import json, sys
import typer.main
from typer.testing import CliRunner
from trundle.cli._app import app

def names(group, *before):
    for name, command in group.commands.items():
        yield (*before, name)
        if hasattr(command, "commands"):
            yield from names(command, *before, name)

shown = [()] + list(names(typer.main.get_command(app)))
for each in shown:
    assert CliRunner().invoke(app, [*each, "--help"]).exit_code == 0, each
assert len(shown) > 80, shown
print("\\n" + json.dumps([0, sorted(sys.modules)]), file=sys.stderr)
"""
DATABASES = {"alembic.command", "sqlalchemy"}
EXPRESSIONS = {"trundle.engine._engine", "yaql"}
A_SERVER = {"alembic", "psycopg", "sqlalchemy.dialects.postgresql"}
"""What a database in a file has no use for, if it has all its tables."""
GENERATOR = {"trundle.codegen._package", "trundle.codegen._types"}


def imported(arguments, folder, program=PROGRAM):
    """The modules that a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TRUNDLE_STATE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    ended, modules = json.loads(done.stderr.splitlines()[-1])
    assert not ended, done.stderr[-3000:].rpartition("\n[")[0]
    return set(modules)


def rooms(modules):
    return {each.split(".")[1] for each in modules if each.startswith("trundle.")} & ROOMS


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A generated project, a catalog with an environment, a registry, and what is installed from it."""
    folder = tmp_path_factory.mktemp("startup") / "crm"
    left_out = shutil.ignore_patterns("crm", "__pycache__")
    shutil.copytree(ROOT / "examples" / "crm", folder, ignore=left_out)
    (folder / "lib").mkdir()
    (folder / "lib" / "manifest.yaml").write_text(
        "Format: '1.0'\nType: Library\nFullName: acme.lib\nVersion: 1.0.0\n"
    )
    for arguments in (
        ("generate",),
        ("catalog", "upload", "lib"),
        ("env", "create", "prod"),
        ("publish", "lib", "--to", "oci:registry//acme/lib", "--channel", "stable"),
        ("install", "oci:registry//acme/lib", "--unsigned"),
    ):
        subprocess.run(
            [*warm.script(), *arguments],
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TRUNDLE_STATE": ""},
            capture_output=True,
            check=True,
        )
    return folder


def test_the_version_is_shown_without_any_command(tmp_path):
    modules = imported(["--version"], tmp_path)
    assert rooms(modules) == {"cli", "errors"}
    public = {each for each in modules if each.startswith("trundle.cli.") and "._" not in each}
    assert public == set()


@pytest.mark.full
def test_no_help_imports_a_room(tmp_path):
    assert rooms(imported([], tmp_path, ALL_HELP)) == {"cli", "errors"}


@pytest.mark.parametrize(
    ("command", "unused_rooms", "unused"),
    some_of(
        [
            (
                "schema",
                {"engine", "runtime", "verify", "workers"},
                DATABASES | EXPRESSIONS | GENERATOR,
            ),
            ("check", {"catalog", "engine", "verify"}, DATABASES | EXPRESSIONS | GENERATOR),
            (
                "lock --dry-run",
                {"catalog", "engine", "verify"},
                DATABASES | EXPRESSIONS | GENERATOR,
            ),
            (
                "generate --check",
                {"catalog", "engine", "verify"},
                DATABASES | EXPRESSIONS | GENERATOR,
            ),
            (
                "convert documents/daisy.yaml --to storage",
                {"engine", "packages", "report", "verify", "workers"},
                DATABASES | EXPRESSIONS | GENERATOR | {"trundle.schema.readers._read"},
            ),
            (
                "diff 2011-01-01 2019-09-09",
                {"catalog", "engine", "verify"},
                DATABASES | EXPRESSIONS | GENERATOR,
            ),
            ("package check lib", {"catalog", "verify"}, DATABASES | EXPRESSIONS | GENERATOR),
            (
                "search oci:registry",
                {"catalog", "engine", "installation", "project"},
                DATABASES | EXPRESSIONS | {"yaml"},
            ),
            ("status", {"catalog", "engine", "project"}, EXPRESSIONS | A_SERVER),
            ("list", {"catalog", "engine", "project"}, EXPRESSIONS | A_SERVER),
            (
                "catalog list",
                {"codegen", "evolution", "forms", "project", "runtime"},
                EXPRESSIONS | A_SERVER,
            ),
            (
                "env list",
                {"codegen", "evolution", "forms", "models", "project", "runtime"},
                EXPRESSIONS | A_SERVER,
            ),
        ],
        4,
    ),
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_command_imports_nothing_that_it_does_not_use(place, command, unused_rooms, unused):
    modules = imported(command.split(), place)
    assert unused_rooms <= ROOMS
    assert rooms(modules) & unused_rooms == set()
    assert modules & unused == set()


@pytest.mark.full
def test_what_is_never_imported_is_there(place):
    program = "import json, sys, importlib\nfor each in sys.argv[1:]: importlib.import_module(each)"
    names = sorted(
        DATABASES | EXPRESSIONS | A_SERVER | GENERATOR | {"trundle.schema.readers._read"}
    )
    subprocess.run([sys.executable, "-c", program, *names], cwd=place, check=True)
