"""docs/release-an-application.md while its commands are killed: each kill in a fresh copy of the world, which comes to what it would have come to."""

import contextlib
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import guides
import pytest
import warm
from killed_commands import LONG, Commands
from rolling_story import has_kubectl
from typer.testing import CliRunner

from trundle.cli._app import app

GUIDE = (guides.ROOT / "docs" / "release-an-application.md").read_text(encoding="utf-8")
GROUP = "hosting.example.com"
KINDS = ("databases", "sites")
WRITING = re.compile(
    r"trundle (publish|install|upgrade|approve|rollback|unhold|catalog upload"
    r"|env (create|add|edit|deploy|upgrade|rollback)) "
)
SERVED = re.compile(r"trundle env (deploy|upgrade|rollback) ")
COMMANDS = [
    each.line
    for each in guides.read_guide(GUIDE)
    if isinstance(each, guides.Command) and WRITING.search(each.line)
]
PARTS = len(COMMANDS) if LONG else 1

LOOKS = (
    "env show web --catalog catalog.db",
    "env show web --model --catalog catalog.db",
    "env history web --catalog catalog.db",
    "history --state state",
    "status --state state",
    "catalog list --catalog catalog.db",
    *(f"channel show oci:registry//acme/{each} --channel stable" for each in ("database", "web")),
)
_CHANGING = re.compile(
    r"[0-9a-f]{32}|(?<=acme\.Web-)[0-9a-f]{8}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"
)
"""Ids and times."""


class Step(NamedTuple):
    """A command of the guide that writes.

    Attributes:
        line: the command.
        before: a copy of the folder before it.
        after: what there is after it.
    """

    line: str
    before: Path
    after: dict[str, object]


class World:
    """The folder of the guide."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def seen(self, *, served: bool) -> dict[str, object]:
        """All that there is, as clients and operators see it."""
        found: dict[str, object] = {each: self._shown(each) for each in LOOKS}
        if served:
            found |= {kind: self._objects(kind) for kind in KINDS}
        return found

    def _shown(self, look: str) -> object:
        """What a command shows, but for ids and times; and but for runs that were interrupted."""
        with contextlib.chdir(self.folder):
            done = CliRunner().invoke(app, [*look.split(), "-o", "json"])
        if done.exit_code:
            return done.stderr
        known: dict[str, str] = {}
        text = _CHANGING.sub(
            lambda each: "" if "T" in each[0] else known.setdefault(each[0], f"id {len(known)}"),
            done.stdout,
        )
        shown = json.loads(text)
        if look.startswith("env history"):
            assert "failed" not in {each["outcome"] for each in shown}
            return [
                (each["action"], each["uses"]) for each in shown if each["outcome"] == "succeeded"
            ]
        if isinstance(shown, dict):
            shown.pop("deployment", None)  # Runs that were interrupted have numbers, too.
        return shown

    def _objects(self, kind: str) -> object:
        """The objects that the server has of a kind, as kubectl gets them, without what differs from run to run."""
        path = f"/apis/{GROUP}/v1/namespaces/default/{kind}"
        done = subprocess.run(
            ["kubectl", "--kubeconfig", "kubeconfig", "get", "--raw", path],
            cwd=self.folder, capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        items = json.loads(done.stdout)["items"]
        return {each.pop("metadata")["name"]: each for each in items}

    @contextlib.contextmanager
    def serving(self):
        """Serves what the folder has at the address that it knows."""
        (port,) = re.findall(r"127\.0\.0\.1:(\d+)", (self.folder / "kubeconfig").read_text())
        log = self.folder / "served.log"
        with log.open("w") as file:
            server = subprocess.Popen(
                [warm.client(warm.TRUNDLE), "-C", "hosting", "serve", "--port", port, "--quiet"],
                cwd=self.folder, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            while "serving on" not in log.read_text():
                assert server.poll() is None, log.read_text()
                time.sleep(0.01)
            yield
        finally:
            server.terminate()
            server.wait()


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """The commands of the guide that write, as they run without being killed."""
    folder = tmp_path_factory.mktemp("application").resolve()
    world = World(folder / "world")
    world.folder.mkdir()
    commands = Commands(world.folder)
    found = []

    def run(line, inside, *, warmed):
        if not WRITING.search(line):
            return commands.run(line, inside, warmed=warmed)
        before = folder / f"before-{len(found)}"
        shutil.copytree(world.folder, before, symlinks=True)
        printed = commands.run(line, inside, warmed=warmed)
        found.append(Step(line, before, world.seen(served=bool(SERVED.search(line)))))
        return printed

    for command, real in guides.run_guide(GUIDE, world.folder, run=run):
        assert guides.fits(command.output, real), f"$ {command.line}\n{real}"
    return found


@pytest.mark.full
@pytest.mark.skipif(not has_kubectl(), reason="needs kubectl")
@pytest.mark.parametrize("part", range(PARTS))
def test_what_was_killed_comes_to_its_end_where_it_is_run_again(steps, part):
    """Commands are killed before each write with `LONG=1`, and else before some, others for each command."""
    numbers = range(part, len(steps), PARTS)
    deaths = 0
    for number in numbers:
        each = 1 if LONG else 6 if "trundle env" in steps[number].line else 20
        deaths += killed(steps[number], number * 7 % each, each)
    assert LONG or deaths > len(numbers)


def killed(step, write, each):
    """Kills a command before a write, and each n-th after that, each time in a fresh copy of the world; how often."""
    world = World(step.before.with_name("world"))
    served = bool(SERVED.search(step.line))
    deaths, died = 0, True
    while died:
        shutil.rmtree(world.folder)
        shutil.copytree(step.before, world.folder, symlinks=True)
        commands = Commands(world.folder)
        with world.serving() if served else contextlib.nullcontext():
            died = commands.dying(step.line, write) is None
            if died and world.seen(served=served) != step.after:
                commands.printed(step.line, world.folder, warmed=True)
            assert world.seen(served=served) == step.after, (step.line, write)
        deaths += died
        write += each
    return deaths
