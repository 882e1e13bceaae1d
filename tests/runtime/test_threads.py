"""What `docs/threads-and-processes.md` says about threads and processes, tried in processes of their own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import full
from typer.testing import CliRunner

from trundle.cli._app import app

CRM = Path(__file__).parents[2] / "examples" / "crm"

READ = """
import json, pathlib, sys, threading
import yaml

DOCUMENTS = [
    json.dumps(yaml.load(path.read_text(), Loader=yaml.BaseLoader)).encode()
    for path in sorted(pathlib.Path("documents").iterdir())
    if path.name != "michael.yaml"
]
VERSIONS = ["2019-09-09", "2018-08-08", "2016-06-06", "2011-01-01", None]
"""

THREADS = (
    READ
    + """
sys.setswitchinterval(1e-6)
start = threading.Barrier(12)
shared = []

def work(results):
    start.wait()
    from crm import scheme  # modules are loaded by all threads at once
    for number, document in enumerate(DOCUMENTS):
        if len(shared) <= number:
            shared.append(scheme.to_storage(scheme.decode(document)))
    for document in DOCUMENTS:
        for to in VERSIONS:
            results.append(scheme.convert_json(document, to))
            results.append(scheme.encode(scheme.convert(scheme.decode(document), to)))
    for stored in sorted(shared[: len(DOCUMENTS)], key=scheme.encode):
        before = scheme.encode(stored)
        seen = scheme.read("2013-03-03", stored)
        seen.last_name += "s"
        scheme.put("2013-03-03", seen, stored)
        assert scheme.encode(stored) == before

def guarded(results):
    try:
        work(results)
    except BaseException as error:
        results.append(repr(error))
        raise

found = [[] for _ in range(12)]
threads = [threading.Thread(target=guarded, args=(each,)) for each in found]
for each in threads: each.start()
for each in threads: each.join()
assert len(set(map(tuple, found))) == 1, [each[-1] for each in found]
assert len(found[0]) == len(DOCUMENTS) * len(VERSIONS) * 2
"""
)

PROCESSES = (
    READ
    + """
import multiprocessing

def convert(document):
    from crm import scheme
    return scheme.convert_json(document, "2016-06-06")

if __name__ == "__main__":
    sys.path.insert(0, ".")
    here = [convert(each) for each in DOCUMENTS]
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(convert, DOCUMENTS) == here, method
"""
)

RELEASES = (
    READ
    + """
from crm import scheme as now
from crm_before import scheme as before

assert now is not before
for document in DOCUMENTS:
    stored = before.to_storage(before.decode(document))
    assert before.encode(stored) == now.encode(now.to_storage(now.decode(document)))
    try:
        now.from_storage(stored, "2016-06-06")
    except Exception as error:
        assert "crm_before" in str(error)
    else:
        raise AssertionError("an object of another package was taken")
    there = now.from_storage(before.encode(stored), "2016-06-06")
    assert now.encode(there) == before.encode(before.from_storage(stored, "2016-06-06"))
"""
)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threads") / "crm"
    shutil.copytree(CRM, folder)
    config = folder / "trundle.yaml"
    text = config.read_text()
    for name in ("crm_before", "crm"):
        config.write_text(text.replace("package: crm", f"package: {name}"))
        assert CliRunner().invoke(app, ["-C", str(folder), "generate"]).exit_code == 0
    return folder


@pytest.mark.full
@pytest.mark.parametrize(
    "script", [THREADS, full(PROCESSES), full(RELEASES)], ids=["threads", "processes", "releases"]
)
def test_results_are_the_same_wherever_the_scheme_is_used(project, script):
    path = project / "script.py"
    path.write_text(script)
    found = subprocess.run(
        [sys.executable, path],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stderr
