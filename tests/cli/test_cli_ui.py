"""`trundle ui`: for a project, schemas, packages of classes and an installation, and what it refuses."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from published_releases import Releases
from served import Served
from test_extras import command, run
from typer.testing import CliRunner

from trundle.cli._app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEMA = "title: Database\ntype: object\nproperties:\n  size: {type: integer}\n"


@pytest.fixture
def schemas(tmp_path):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "2024-01-01.yaml").write_text(SCHEMA)
    return tmp_path


def refused(*arguments):
    found = CliRunner().invoke(app, ["ui", *map(str, arguments)])
    return found.exit_code, found.output


def test_a_folder_with_schemas_is_shown_until_a_signal(schemas):
    server = Served(schemas, "--schemas", "schemas", command="ui")
    try:
        assert "Database" in server.ask("GET", "/ui/versions").ok()
        assert server.ask("GET", "/ui").headers["location"] == "/ui/versions"
        assert server.ask("GET", "/apis").status == 404
        assert server.stop() == 143
    finally:
        server.kill()


@pytest.mark.full
@pytest.mark.parametrize(
    ("folders", "shown"),
    [
        (["crm/schemas"], "Person"),
        (["shop/packages/web", "shop/packages/db"], "acme.Web"),
        (["crm"], "10 versions"),
    ],
)
def test_folders_may_have_a_project_schemas_or_a_package_and_what_it_requires(
    tmp_path, folders, shown
):
    server = Served(tmp_path, *(EXAMPLES / each for each in folders), command="ui")
    try:
        assert shown in server.ask("GET", "/ui/versions").ok()
    finally:
        server.kill()


def test_what_cannot_be_shown_is_said(tmp_path, schemas):
    assert refused(tmp_path / "none") == (
        5,
        f"error: {tmp_path / 'none'}: expected a folder, found no such file\n",
    )
    code, output = refused("--installed", tmp_path)
    assert (code, "no folder and no schemas with it" in output) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, output = refused("--schemas", schemas / "schemas", "--port", port)
    assert (code, f"127.0.0.1:{port}: expected an address to listen on" in output) == (1, True)


@pytest.mark.full
def test_trouble_of_a_server_that_listens_is_not_called_one_of_its_address(schemas):
    command = f'"{sys.executable}" -m trundle ui --schemas "{schemas / "schemas"}" --port 0 -o json'
    found = subprocess.run(
        ["sh", "-c", f"exec {command} >/dev/full"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (
        1,
        "error: standard output: No space left on device\n",
    )


@pytest.mark.full
def test_what_is_installed_is_shown(tmp_path):
    releases = Releases(tmp_path)
    releases.release("1.0.0", {"v1.yaml": SCHEMA, "v2.yaml": SCHEMA})
    releases.install()
    server = Served(tmp_path, "--installed", "--state", "state", command="ui")
    try:
        assert "2 versions, the newest v2" in server.ask("GET", "/ui/versions").ok()
    finally:
        server.kill()


@pytest.mark.full
def test_without_its_extra_it_says_what_to_install(schemas):
    found = run(command("ui", "--schemas", "schemas"), "cli", folder=schemas)
    assert (found.returncode, "trundle[ui]" in found.stderr) == (1, True)
