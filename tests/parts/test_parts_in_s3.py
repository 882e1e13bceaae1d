"""Folders in S3, behind s3fs and a server in a process of its own: results are those of folders of this machine."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch

import pyarrow as pa
import pyarrow.parquet
import pytest
from many_documents import crm, files_below, person  # noqa: F401 - crm is a fixture
from s3_stores import s3_store

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def store():
    with s3_store() as found:
        yield found


def command(store, crm, source, into, *options):  # noqa: F811
    called = [sys.executable, "-m", "trundle", "-C", str(crm), "convert", str(source)]
    given = [*called, "--to", "2015-05-05", "--into", str(into), *options, "--jobs", "2"]
    return subprocess.Popen(
        given, env=store.environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def converted(*given):
    """The exit code of a conversion, and what it said."""
    process = command(*given)
    error = process.communicate(timeout=300)[1]
    return process.returncode, error


def results(files):
    """What a job wrote, but for its manifests: they have the names of the inputs, which differ."""
    return {name: text for name, text in files.items() if not name.endswith(".json")}


def as_lines(documents):
    return b"".join(each + b"\n" for each in documents)


def as_parquet(documents):
    rows = {"id": list(range(len(documents))), "document": [each.decode() for each in documents]}
    target = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(rows), target, row_group_size=50)
    return target.getvalue()


@pytest.mark.parametrize(("ending", "written"), [("jsonl", as_lines), ("parquet", as_parquet)])
def test_results_are_those_of_folders_byte_for_byte(store, crm, tmp_path, ending, written):  # noqa: F811
    documents = [person(at) if at % 9 else b'{"half' for at in range(400)]
    content = written(documents)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"a.{ending}").write_bytes(content)
    store.put(f"{ending}/in/a.{ending}", content)
    size = "--part-size", "4K"
    code, error = converted(store, crm, tmp_path / "in", tmp_path / "out", *size)
    assert code == 3, error  # Some are refused.
    where = f"s3://{store.bucket}/{ending}"
    code, error = converted(store, crm, f"{where}/in", f"{where}/out", *size)
    assert code == 3, error
    expected = results(files_below(tmp_path / "out"))
    assert len(expected) > 5
    assert results(store.objects(f"{ending}/out")) == expected
    code, error = converted(store, crm, f"{where}/in", tmp_path / "back", *size)
    assert code == 3, error
    assert results(files_below(tmp_path / "back")) == expected


def test_a_run_that_was_killed_goes_on_in_the_next_one(store, crm, tmp_path):  # noqa: F811
    documents = [person(at, level="slow") for at in range(600)]
    store.put("killed/in/a.jsonl", as_lines(documents))
    where = f"s3://{store.bucket}/killed"
    given = store, crm, f"{where}/in", f"{where}/out", "--part-size", "4K"
    process = command(*given)
    while not any(fnmatch(each, "manifests/part-*.json") for each in store.names("killed/out")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    code, error = converted(*given)
    assert (code, "done before" in error) == (0, True), error
    found = store.objects("killed/out")
    assert [each for each in found if "/." in each] == []
    lines = [
        json.loads(line)
        for name in sorted(found)
        if name.startswith("documents/")
        for line in found[name].splitlines()
    ]
    assert [each["id"] for each in lines] == [f"p-{at}" for at in range(600)]


def test_a_server_that_is_not_there_is_said(store, crm, tmp_path):  # noqa: F811
    store.put("away/in/a.jsonl", person(1))
    gone = type(store)("http://127.0.0.1:9")
    code, error = converted(gone, crm, f"s3://{store.bucket}/away/in", tmp_path / "out")
    assert code == 7, error
    assert f"s3://{store.bucket}/away/in" in error
    assert "Traceback" not in error
