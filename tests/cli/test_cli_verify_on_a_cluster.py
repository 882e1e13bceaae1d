"""What is verified on a Dask cluster comes to the same proofs, also for packages that are nowhere on disk."""

import json
import shutil
import subprocess
import sys

import dask_clusters
import pytest
from hooked_people import TOTAL, people
from many_documents import crm  # noqa: F401 - a fixture
from site_pages import to_folder


def verified(folder, *options):
    command = [sys.executable, "-m", "trundle", "-C", str(folder), "verify", "--seed", "7"]
    command += ["--examples", "3", "-o", "json", *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 3, done.stderr  # The hook knows three words only.
    found = json.loads(done.stdout)
    return {key: value for key, value in found.items() if key != "seconds"}


@pytest.mark.full
def test_workers_of_a_cluster_prove_what_processes_prove(crm, tmp_path):  # noqa: F811 - the fixture
    stale = tmp_path / "stale"
    shutil.copytree(crm, stale)
    (stale / "crm" / "__init__.py").unlink()
    with dask_clusters.running(tmp_path) as cluster:
        found = verified(crm, "--scheduler", cluster.address)
        temporary = verified(stale, "--scheduler", cluster.address)
    assert "crm_hooks:Levels" in str(found)
    assert found == verified(crm, "--jobs", "1")
    assert temporary == verified(stale, "--jobs", "1")


LOOPING = "- {While: $value != null, Do: [{$x: 1}]}"


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "found"),
    [("Return: str($value)", None), (LOOPING, "0.5 seconds")],
    ids=["well", "looping"],
)
def test_hooks_of_packages_run_within_limits_on_the_workers_of_a_cluster(tmp_path, body, found):
    for each in people(TOTAL.replace("Return: str($value)", body)):
        to_folder(each, tmp_path / "p" / str(each.version))
    with dask_clusters.running(tmp_path) as cluster:
        there = verified_hooks(tmp_path, found, "--scheduler", cluster.address)
        assert [each.poll() for each in cluster.workers] == [None, None], "no limit ends a worker"
    here = verified_hooks(tmp_path, found, "--jobs", "1")
    if found is None:  # What else is found within half a second is not the same on a busy machine.
        assert there == here


def verified_hooks(folder, found, *options):
    """What is proved of a class with hooks of its package; all that is found has a text."""
    command = [sys.executable, "-m", "trundle", "verify", str(folder / "p"), "-o", "json"]
    command += ["--resource", "p.Person", "--seed", "7", "--examples", "2"]
    command += ["--time-limit", "60" if found is None else "0.5", *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == (0 if found is None else 3), done.stderr
    run = json.loads(done.stdout)
    (person,) = run["resources"]
    assert person["held"]["law 8"] > 0 or found
    assert bool(person["findings"]) is (found is not None)
    assert all(found in each["found"] for each in person["findings"]), person["findings"]
    return {key: value for key, value in run.items() if key != "seconds"}
