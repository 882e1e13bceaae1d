"""Namespaces and events are a project of Trundle itself, and no release of another project drops them."""

import subprocess
from pathlib import Path

import warm
from apis import Client, clubs, serving_clubs

import trundle.api._core as core
from trundle.store import check, dropped

FOLDER = Path(core.__file__).parent


def test_their_generated_package_is_what_trundle_generates():
    command = [*warm.script(always=True), "generate", "--check"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_need_not_know_them(tmp_path):
    with (
        clubs(tmp_path) as installed,
        serving_clubs(installed, tmp_path / "store.db") as (api, store),
    ):
        assert Client(api).call("GET", "/api/v1/namespaces/default")[0] == 200
        assert check(store) == ()
        assert dropped(tmp_path / "store.db", {}) == ()
