"""What is verified on a Dask cluster comes to the same proofs, also for packages that are nowhere on disk."""

import json
import shutil
import subprocess
import sys

import dask_clusters
import pytest
from many_documents import crm  # noqa: F401 - a fixture


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
