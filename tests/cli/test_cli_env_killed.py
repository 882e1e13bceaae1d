"""The installed command is killed again and again while it deploys: folder and database come to what they would have come to."""

import contextlib
import os
import random
import signal
import subprocess
import time

import pytest
from amounts import full
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures
from kept import TENANT, Kept, adding
from talking import COMMAND

MODELS = [
    {f"document-{at}": at for at in range(40)},
    {f"document-{at}": at * 2 for at in range(20, 60)},
    {"last": None},
]


def wanting(documents):
    return lambda model: adding({**model, "applications": []}, "web", documents)


def started(kept):
    command = [COMMAND, "env", "deploy", "shop", "--tenant", TENANT, "--draft", "me"]
    environment = {**os.environ, "NO_COLOR": "1"}
    place = ["--catalog", kept.url, "--folder", str(kept.folder)]
    return subprocess.Popen(
        [*command, *place],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def seen(kept):
    """The files that are there, and when they were written."""
    found = set()
    for each in kept.folder.glob("*.yaml"):
        with contextlib.suppress(FileNotFoundError):  # It is being removed.
            found.add((each.name, each.stat().st_mtime_ns))
    return found


def killed(kept, number):
    """Deploys, and kills that once so many files have changed; whether it was still running."""
    before = seen(kept)
    running = started(kept)
    while running.poll() is None and len(seen(kept) ^ before) < number:
        time.sleep(0.001)
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
    output, _ = running.communicate()
    assert running.returncode in (0, -signal.SIGKILL), output
    return running.returncode != 0


def deployed(kept):
    output, _ = (running := started(kept)).communicate()
    assert running.returncode == 0, output
    return output


def state(kept):
    effects = kept.environments.effects("shop", tenant=TENANT)
    model = kept.model()
    return kept.files(), [each.to_plain() for each in effects], model["applications"]


@pytest.mark.full
@pytest.mark.parametrize("kills", [1, full(8)])
def test_kills_change_no_result(url, tmp_path, kills):  # noqa: F811 - the fixture
    chance = random.Random(f"{kills}")
    calm = Kept(f"sqlite:///{tmp_path / 'calm.db'}", tmp_path / "calm")
    kept = Kept(url, tmp_path / "deployed")
    died = 0
    for each in (calm, kept):
        each.create()
    for documents in MODELS:
        calm.edit(wanting(documents))
        calm.deploy()
        kept.edit(wanting(documents))
        for _ in range(kills):
            died += killed(kept, chance.randrange(1, 30))
        deployed(kept)
        assert state(kept) == state(calm)
        outcomes = [each.outcome for each in kept.history()]
        assert outcomes[-1] == "succeeded"
        assert set(outcomes) <= {"succeeded", "interrupted"}
    assert died  # How many are killed in time, the speed of the machine decides.
    assert not list(kept.folder.glob(".trundle-*"))
    for each in (calm, kept):
        each.catalog.close()
