import functools
import shutil
import textwrap
from pathlib import Path

import pytest
import typer.testing
from database_fixtures import on_server, server, template  # noqa: F401 - fixtures
from typer.testing import CliRunner

from trundle.cli._app import app

# Else each run reads the parameters of all commands anew.
typer.testing._get_command = functools.cache(typer.testing._get_command)

OLD = """\
title: Person
type: object
properties:
  id: {type: string}
  alphaKey: {type: string}
  level: {type: string}
required: [id]
"""
NEW = """\
title: Person
type: object
properties:
  id: {type: string}
  level: {type: integer}
  sortKey: {type: string}
required: [id]
"""
CONFIG = """\
package: crm
sources: [schemas]
changes:
  2014-04-04:
    Person:
      rename: {alphaKey: sortKey}
"""


class CommandLine:
    """Runs commands in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def run(self, *arguments: str, stdin: str | None = None):
        return CliRunner().invoke(app, list(arguments), input=stdin)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "200")
    return CommandLine(tmp_path)


@pytest.fixture
def line(empty):
    """A project with two versions."""
    _write_project(empty)
    return empty


def _write_project(line):
    line.write("schemas/2014-04-04.yaml", OLD)
    line.write("schemas/2015-05-05.yaml", NEW)
    line.write("trundle.yaml", CONFIG)


@pytest.fixture(scope="session")
def generated_project(tmp_path_factory):
    """The folder of a project whose package is generated; not to be changed."""
    made = CommandLine(tmp_path_factory.mktemp("generated"))
    _write_project(made)
    assert made.run("-C", str(made.folder), "generate").exit_code == 0
    return made.folder


@pytest.fixture
def generated(empty, generated_project):
    """A project with two versions whose package is generated."""
    shutil.copytree(generated_project, empty.folder, dirs_exist_ok=True)
    return empty
