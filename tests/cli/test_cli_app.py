import os
import subprocess
import sys

import pytest
import typer

from trundle import __version__
from trundle.cli._app import app


@pytest.mark.full
def test_help_lists_every_command(empty):
    result = empty.run("--help")
    assert result.exit_code == 0
    for command in (
        "init", "generate", "check", "lock", "convert", "diff", "stats", "suggest", "map",
        "explain", "schema",
    ):  # fmt: skip
        assert command in result.stdout
        assert empty.run(command, "--help").exit_code == 0


def test_the_version_is_shown(empty):
    assert empty.run("--version").stdout == f"trundle {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["check", "--nonsense"], ["convert", "x.yaml"], ["check", "-o", "svg"]],
)
def test_wrong_usage_ends_with_2(line, arguments):
    assert line.run(*arguments).exit_code == 2


def test_a_project_elsewhere_is_named_by_folder_or_file(line, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert line.run("map").exit_code == 5
    assert line.run("-C", str(line.folder), "map").exit_code == 0
    assert line.run("--project", str(line.folder / "trundle.yaml"), "map").exit_code == 0


def test_the_project_may_be_named_after_the_command(line, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    folder = str(line.folder)
    for named in (["-C", folder], ["--project", folder], [f"--project={folder}"]):
        assert line.run("map", *named).exit_code == 0
    assert line.run("map", "-C").exit_code == 2


def test_the_command_runs_as_a_module(empty):
    result = subprocess.run(
        [sys.executable, "-m", "trundle", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"trundle {__version__}\n"


def test_an_interrupt_while_the_command_is_imported_shows_no_traceback():
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'trundle.cli._app':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from trundle.__main__ import main\n"
        "main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (130, "")


def test_help_groups_the_commands(empty):
    shown = empty.run("--help").stdout
    places = [shown.index(each) for each in ("Schemas", "Packages and channels", "Installation")]
    assert places == sorted(places)
    assert places[0] < shown.index("explain") < places[1] < shown.index("keys") < places[2]


@pytest.mark.full
def test_help_imports_no_room(empty):
    code = (
        "import sys; sys.argv = ['trundle', '--help']\n"
        "from trundle.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "rooms = ('project', 'schema', 'evolution', 'codegen', 'report', 'runtime',"
        " 'engine', 'catalog', 'packages', 'models', 'pages')\n"
        "print([name for name in rooms if f'trundle.{name}' in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stderr.strip() == "[]"


@pytest.mark.full
@pytest.mark.parametrize("error", ["AssertionError", "EOFError"])
def test_a_bug_is_reported_without_a_traceback(line, error):
    """Of an EOFError, as files of Python raise that were cut off, there was `Aborted.` alone."""
    code = (
        "import sys, trundle.report\n"
        f"def broken(*_): raise {error}('why')\n"
        "trundle.report.version_map = broken\n"
        "from trundle.cli import main\n"
        "sys.argv = ['trundle', 'map']\n"
        "main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "error: unexpected " in result.stderr
    assert f"{error}: why" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_may_be_closed(line, streams):
    shell = f'"{sys.executable}" -m trundle map {streams}'
    result = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["map", "--version", "--help"])
def test_output_that_cannot_be_written_is_no_bug(line, command, unbuffered):
    shell = f'"{sys.executable}" -m trundle {command} >/dev/full'
    result = subprocess.run(
        ["sh", "-c", shell],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    assert (result.returncode, result.stderr) == (
        1,
        "error: standard output: No space left on device\n",
    )


def test_every_command_prints_for_programs():
    def commands(command, *names):
        if isinstance(command, typer.core.TyperGroup):
            for name, inner in command.commands.items():
                yield from commands(inner, *names, name)
        else:
            yield " ".join(names), {spelling for each in command.params for spelling in each.opts}

    found = dict(commands(typer.main.get_command(app)))
    assert {"map", "store export", "channel show", "serve"} <= found.keys()
    assert [name for name, options in found.items() if "-o" not in options] == []


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_written_in_part_is_an_error(tmp_path, unbuffered):
    """A disk that becomes full takes a part of a write; Python takes that for all of it where it buffers nothing."""
    shell = f'ulimit -f 4; "{sys.executable}" -m trundle schema >schema.json'
    variables = {"PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        ["sh", "-c", shell],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **variables},
    )
    assert 0 < (tmp_path / "schema.json").stat().st_size <= 4096
    assert (result.returncode, result.stderr) == (1, "error: standard output: File too large\n")


def test_a_user_without_a_folder_can_convert_and_has_to_name_a_state(line, monkeypatch):
    """As in a container that runs under a number without a name and without `HOME`."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert line.run("map").exit_code == 0
    listed = line.run("catalog", "list", "--catalog", str(line.folder / "c.db"))
    assert (listed.exit_code, listed.stdout) == (0, "")
    named = line.run("catalog", "list", "--catalog", "~none/c.db")
    assert (named.exit_code, "~none/c.db: no package" in named.stderr) == (0, True)
