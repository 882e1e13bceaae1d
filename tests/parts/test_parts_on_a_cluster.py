"""Folders are converted on a Dask cluster whose workers, scheduler and client are killed: the results are those of one process, byte for byte."""

import random
import signal
import subprocess
import sys
import time

import dask_clusters
import pytest
from many_documents import crm, files_below, person  # noqa: F401 - a fixture

SEEDS = (1,)


def command(crm, source, out, *options):  # noqa: F811
    arguments = ("--to", "storage", "--into", str(out), "--part-size", "4000", *options)
    return subprocess.Popen(
        [sys.executable, "-m", "trundle", "-C", str(crm), "convert", str(source), *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process, code):
    error = process.communicate(timeout=600)[1]
    assert process.returncode == code, error
    return error


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "ab":
        lines = [
            person(f"{name}{number}", level="slow" if number % 2 else "gold")
            for number in range(800)
        ]
        lines[100] = b"{"
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines))
    return folder


@pytest.mark.full
def test_workers_of_a_cluster_write_what_one_process_writes(crm, source, tmp_path):  # noqa: F811
    """The workers know the project by what is sent to them alone."""
    with dask_clusters.running(tmp_path) as cluster:
        ended(command(crm, source, tmp_path / "out", "--scheduler", cluster.address), 3)
    ended(command(crm, source, tmp_path / "whole", "--jobs", "1"), 3)
    assert files_below(tmp_path / "out") == files_below(tmp_path / "whole")


@pytest.mark.full
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_killed_nothing_is_lost_and_nothing_is_there_twice(crm, source, tmp_path, seed):  # noqa: F811
    chance, out = random.Random(seed), tmp_path / "out"
    victims = ["worker", "client", "scheduler"]
    chance.shuffle(victims)
    killed = []
    with dask_clusters.running(tmp_path) as cluster:
        for victim in [*victims, None]:
            process = command(crm, source, out, "--scheduler", cluster.address)
            before = len(list(out.glob("manifests/*.json")))
            while victim and process.poll() is None and _done(out) < before + 2:
                time.sleep(0.02)
            time.sleep(chance.uniform(0, 0.3))
            if victim and process.poll() is None:
                killed.append(victim)
                at_hand = {"client": process, "scheduler": cluster.scheduler}
                at_hand.get(victim, cluster.workers[0]).send_signal(signal.SIGKILL)
            error = process.communicate(timeout=600)[1]
            assert process.returncode in {3, 7, -9}, error
            assert "distributed" not in error  # The command's own error says what happened.
            cluster.start()
    assert killed == victims
    assert process.returncode == 3
    ended(command(crm, source, tmp_path / "whole", "--jobs", "2"), 3)
    assert files_below(out) == files_below(tmp_path / "whole")


def _done(out):
    return len(list(out.glob("manifests/part-??????.json")))
