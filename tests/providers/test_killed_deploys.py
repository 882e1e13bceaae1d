"""A deploy that is killed at any write goes on in the next one, and comes to what it would have come to."""

import json
import subprocess
import sys
from pathlib import Path

import dying_deploys
import pytest

PROGRAM = Path(dying_deploys.__file__)


@pytest.mark.full
def test_a_kill_at_any_write_changes_no_result(tmp_path):
    command = [sys.executable, PROGRAM, tmp_path, "0", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(each) for each in done.stdout.splitlines()]
    assert len(lines) > 200
    assert [each for each in lines if each] == []


@pytest.mark.full
def test_what_the_deploys_come_to(tmp_path):
    world = dying_deploys.World(tmp_path)
    (tmp_path / "run").mkdir()
    first, second, third = dying_deploys.MODELS
    world.deploy(first)
    assert world.content() == {
        "out/etc": None,
        "out/etc/motd": "Hello\n",
        "out/etc/rc": "x" * 3000,
        "out/gone": None,
        "out/gone/soon.yaml": "x:\n  - 1\n",
        "out/same.yaml": "{}\n",
        "out/web.yaml": "replicas: 1\n",
        "run/made-init": "first\n",
        "run/made-leaves": "y",
    }
    would = world.deploy(second, dry_run=True)
    assert world.deploy(second) == would
    assert world.content() == {
        "out/etc": None,
        "out/etc/motd": "Hello again, hush\n",
        "out/new.yaml": "null\n",
        "out/same.yaml": "{}\n",
        "out/web.yaml": "replicas: 2\n",
        "run/made-init": "second\n",
    }
    assert "hush" not in (tmp_path / "journal").read_text()
    assert [each.key for each in world.deploy(third)] == [
        "folder/new.yaml",
        "process/init",
        "folder/etc/motd",
        "folder/same.yaml",
        "folder/web.yaml",
    ]
    assert world.content() == {}
