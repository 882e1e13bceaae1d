"""Folders of documents are converted part by part: against plain loops, files that cannot be used, and runs that end midway."""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest
from amounts import full
from many_documents import crm, files_below, person  # noqa: F401 - a fixture
from pyarrow import parquet

from trundle.parts import (
    ConversionOptions,
    FolderConversion,
    NoDocumentsError,
    OtherJobError,
    UnusableFileError,
)
from trundle.parts._converting import convert_part
from trundle.project import generated_scheme, load_config, ship
from trundle.workers import Processes

TO = ConversionOptions(to="2015-05-05")


@pytest.fixture
def package(crm):  # noqa: F811 - the fixture
    return ship(load_config(crm / "trundle.yaml"))


@pytest.fixture
def source(tmp_path):
    """A folder with several files, of which one is cut, and documents that cannot be converted."""
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    large = [person(number, level="gold", extra="x" * 50) for number in range(300)]
    large[7] = b"{"
    large[250] = person(250, level="wood")
    (folder / "a.jsonl").write_bytes(b"\n".join(large) + b"\n")
    twice = person(1)[:-1] + b', "id": "another"}'
    many = [
        person(300),
        b"",
        twice,
        b"\xff{}",
        b"[]",
        b'{"id": ' + b"[" * 1_000_000,
        person(301)[:-9],
    ]
    (folder / "below" / "b.ndjson").write_bytes(b"\r\n".join(many))
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "_SUCCESS").write_bytes(b"")
    return folder


def run(source, into, package, conversion=TO, part_size=10_000, workers=None):
    work = FolderConversion(str(source), str(into), conversion, package, part_size)
    return work.run(workers or Processes(1))


def documents(into):
    """All results, in the order of their parts."""
    paths = sorted((into / "documents").iterdir())
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def test_results_are_those_of_a_plain_loop(crm, source, tmp_path, package):  # noqa: F811
    found = run(source, tmp_path / "out", package)
    expected = []
    with generated_scheme(load_config(crm / "trundle.yaml")) as scheme:
        for number in range(301):
            if number not in {7, 250}:
                plain = person(number) if number == 300 else None
                plain = plain or person(number, level="gold", extra="x" * 50)
                expected.append(json.loads(scheme.convert_json(plain, "2015-05-05")))
    assert documents(tmp_path / "out") == expected
    assert expected[0]["level"] == 3
    assert (found.converted, found.refused) == (299, 7)
    assert found.parts > 3


def test_refusals_name_file_line_and_reason(source, tmp_path, package):
    run(source, tmp_path / "out", package)
    lines = (tmp_path / "out" / "refused.jsonl").read_bytes().splitlines()
    found = [json.loads(each) for each in lines]
    places = [(each["file"], each["line"]) for each in found]
    below = [("below/b.ndjson", number) for number in (3, 4, 5, 6, 7)]
    assert places == [("a.jsonl", 8), ("a.jsonl", 251), *below]
    reasons = ["\n".join(each["reasons"]) for each in found]
    expected = ["JSON", "wood", "second time", "UTF-8", "JSON object", "levels", "truncated"]
    for text, reason in zip(expected, reasons, strict=True):
        assert text in reason


@pytest.mark.parametrize("part_size", [full(99), 700, 1 << 30])
def test_parts_of_any_size_have_the_same_documents(source, tmp_path, package, part_size):
    run(source, tmp_path / "out", package)
    other = run(source, tmp_path / "other", package, part_size=part_size)
    assert documents(tmp_path / "other") == documents(tmp_path / "out")
    refused = [(tmp_path / each / "refused.jsonl").read_bytes() for each in ("out", "other")]
    assert refused[0] == refused[1]
    assert other.converted == 299


def test_what_ends_midway_goes_on(source, tmp_path, package):
    whole = tmp_path / "whole"
    run(source, whole, package)

    class Ending(Processes):
        """Ends after some pieces."""

        def results(self, opening, work, pieces):
            yield from super().results(opening, work, pieces[:2])
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(source, out, package, workers=Ending(1))
    assert not (out / "result.json").exists()
    for name in ("documents/.part-000001.jsonl", ".refused.jsonl"):  # of one that was killed
        (out / f"{name}.0123456789abcdef").write_bytes(b"half")
    (out / "documents" / "part-000000.jsonl").unlink()
    seen = []
    work = FolderConversion(str(source), str(out), TO, package, 10_000)
    assert work.before == 1
    work.run(Processes(1), lambda *each: seen.append(each))
    assert seen[0] == ("parts", 1, len(work.parts))
    assert files_below(out) == files_below(whole)
    assert run(source, out, package).before == len(work.parts)


@pytest.mark.parametrize("content", [b"", b'{"job": "', b"\0" * 90])
def test_a_part_whose_manifest_is_damaged_is_done_again(source, tmp_path, package, content):
    """The command refused to go on in the folder, as if it were another job's."""
    out = tmp_path / "out"
    run(source, out, package)
    before = files_below(out)
    (out / "manifests" / "part-000001.json").write_bytes(content)
    found = run(source, out, package)
    assert found.before == found.parts - 1
    assert files_below(out) == before


@pytest.mark.full
def test_two_runs_at_the_same_time_come_to_the_same(source, tmp_path, package):
    out = tmp_path / "out"
    runs = [FolderConversion(str(source), str(out), TO, package, 2000) for _ in range(2)]
    threads = [threading.Thread(target=each.run, args=(Processes(2),)) for each in runs]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    run(source, tmp_path / "whole", package, part_size=2000)
    assert files_below(out) == files_below(tmp_path / "whole")


def test_of_two_jobs_that_begin_at_the_same_time_one_is_refused(source, tmp_path, package):
    out = tmp_path / "out"
    first, same = (FolderConversion(str(source), str(out), TO, package) for _ in range(2))
    other = FolderConversion(str(source), str(out), ConversionOptions(to=None), package)
    first.run(Processes(1))
    before = files_below(out)
    with pytest.raises(OtherJobError, match="other options"):
        other.run(Processes(1))
    assert same.run(Processes(1)).converted == 299
    assert files_below(out) == before


def test_a_run_that_was_killed_at_its_first_write_goes_on(source, tmp_path, package):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".job.json.0123456789abcdef").write_bytes(b'{"half')
    assert run(source, out, package).converted == 299
    assert not list(out.glob(".*"))


def test_a_folder_with_something_else_is_refused(source, tmp_path, package):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_text("mine")
    with pytest.raises(OtherJobError, match=r"an empty folder, found a\.txt"):
        run(source, tmp_path / "out", package)
    with pytest.raises(UnusableFileError, match="apart from the documents"):
        run(source, source / "out", package)


def test_folders_without_documents(tmp_path, package):
    (tmp_path / "in").mkdir()
    with pytest.raises(NoDocumentsError, match="no files"):
        run(tmp_path / "in", tmp_path / "out", package)
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "none", tmp_path / "out", package)
    (tmp_path / "in" / "notes.txt").write_text("")
    with pytest.raises(UnusableFileError, match=r"notes\.txt: expected JSON lines"):
        run(tmp_path / "in", tmp_path / "out", package)
    with pytest.raises(UnusableFileError, match="a folder that fsspec can read"):
        run("nowhere://x", tmp_path / "out", package)
    assert not (tmp_path / "out").exists()


def test_a_single_file_and_another_file_system(tmp_path, package):
    import fsspec

    path = tmp_path / "one.jsonl"
    path.write_bytes(person(1, level="gold") + b"\n{\n")
    run(path, tmp_path / "out", package)
    assert documents(tmp_path / "out")[0]["level"] == 3
    assert json.loads((tmp_path / "out" / "refused.jsonl").read_bytes())["file"] == "one.jsonl"
    memory = fsspec.filesystem("memory")
    memory.pipe("/in/one.jsonl", path.read_bytes())
    for _ in range(2):
        run("memory://in", "memory://out", package)
    data = (tmp_path / "out" / "documents" / "part-000000.jsonl").read_bytes()
    assert memory.cat("/out/documents/part-000000.jsonl") == data
    assert not [each for each in memory.find("/out") if "/." in each]
    memory.rm("/out", recursive=True)


class TestParquet:
    @pytest.fixture
    def rows(self, tmp_path):
        texts = [person(number, level="gold", extra={"a": [1]}).decode() for number in range(50)]
        texts[3] = None
        texts[40] = "{"
        texts[41] = json.dumps(json.loads(texts[41]), indent=2)
        table = pa.table({"id": pa.array(range(50)), "document": pa.array(texts)})
        (tmp_path / "in").mkdir()
        parquet.write_table(table, tmp_path / "in" / "a.parquet", row_group_size=7)
        return tmp_path / "in"

    def test_other_columns_stay_beside_their_documents(self, rows, tmp_path, package):
        found = run(rows, tmp_path / "out", package, part_size=2000)
        assert found.parts > 1
        paths = sorted((tmp_path / "out" / "documents").iterdir())
        table = pa.concat_tables([parquet.read_table(each) for each in paths])
        assert table.schema.field("document").type == pa.string()
        kept = [number for number in range(50) if number not in {3, 40}]
        assert table["id"].to_pylist() == kept
        found = [json.loads(each) for each in table["document"].to_pylist()]
        assert [each["id"] for each in found] == [f"p-{number}" for number in kept]
        assert {each["level"] for each in found} == {3}
        lines = (tmp_path / "out" / "refused.jsonl").read_bytes().splitlines()
        assert [json.loads(each)["line"] for each in lines] == [4, 41]

    def test_a_file_that_cannot_be_used(self, rows, tmp_path, package):
        other = ConversionOptions(to=None, column="body")
        with pytest.raises(UnusableFileError, match="a column body, found id, document"):
            run(rows, tmp_path / "out", package, other)
        numbers = ConversionOptions(to=None, column="id")
        with pytest.raises(UnusableFileError, match="documents in the column id, found int64"):
            run(rows, tmp_path / "out", package, numbers)
        (rows / "b.parquet").write_bytes(b"PAR1 and no more")
        with pytest.raises(UnusableFileError, match="a Parquet file"):
            run(rows, tmp_path / "out", package)
        assert not (tmp_path / "out").exists()


def command(crm, *arguments, **options):  # noqa: F811
    return subprocess.Popen(
        [sys.executable, "-m", "trundle", "-C", str(crm), "convert", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.full
def test_a_full_disk_leaves_whole_parts_only(crm, source, tmp_path, package):  # noqa: F811
    out = tmp_path / "out"
    arguments = (str(source), "--to", "2015-05-05", "--into", str(out), "--part-size", "10000")
    arguments = (*arguments, "--jobs", "1")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

    # Python may leave half a file of bytecode where it cannot write a whole one.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = command(crm, *arguments, preexec_fn=limit, env=environment)
    error = process.communicate()[1]
    assert process.returncode == 1, error
    assert "error: " in error
    assert re.search(r"out/documents/part-\d+\.jsonl: file too large", error.lower()), error
    assert not [each for each in files_below(out) if "/." in each]
    process = command(crm, *arguments)
    assert "refused 7 documents" in process.communicate()[1]
    assert process.returncode == 3
    run(source, tmp_path / "whole", package, TO, 10_000)
    assert files_below(out) == files_below(tmp_path / "whole")


@pytest.fixture
def interruptible():
    """What is started hears an interruption, which programs in the background ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.full
@pytest.mark.usefixtures("interruptible")
def test_an_interruption_ends_the_command_and_the_next_one_goes_on(crm, tmp_path, package):  # noqa: F811
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    lines = [person(number, level="slow") for number in range(800)]
    (source / "a.jsonl").write_bytes(b"\n".join(lines))
    arguments = (str(source), "--to", "2015-05-05", "--into", str(out), "--part-size", "2000")
    process = command(crm, *arguments, "--jobs", "2", start_new_session=True)
    while not list(out.glob("manifests/*.json")):
        assert process.poll() is None
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert error.endswith("interrupted; the same command goes on from there\n")
    process = command(crm, *arguments, "--jobs", "2")
    error = process.communicate()[1]
    assert process.returncode == 0, error
    assert "done before" in error
    run(source, tmp_path / "whole", package, part_size=2000)
    assert files_below(out) == files_below(tmp_path / "whole")


def test_a_run_that_is_overtaken_by_another_one_goes_on(source, tmp_path, package):
    from trundle.parts._running import converting

    work = FolderConversion(str(source), str(tmp_path / "out"), TO, package, 10_000)
    with converting(package, TO, work._source, work._into, work._digest) as converter:
        sweep = work._into.writing

        @contextlib.contextmanager
        def swept(path):
            """Removes a file while it is written, as the end of another run does."""
            with sweep(path) as target:
                yield target
                for each in (tmp_path / "out").rglob(".part-*"):
                    each.unlink()

        work._into.writing = swept
        with pytest.raises(FileNotFoundError):
            convert_part(converter, work.parts[0])
        del work._into.writing
        work.run(Processes(1))
        before = files_below(tmp_path / "out")
        work._into.writing = swept
        manifest = convert_part(converter, work.parts[0])
    assert manifest.converted > 0
    assert files_below(tmp_path / "out") == before


def test_a_run_that_is_overtaken_and_finds_a_damaged_manifest_does_the_part_again(
    source, tmp_path, package
):
    from trundle.parts._running import converting

    work = FolderConversion(str(source), str(tmp_path / "out"), TO, package, 10_000)
    work.run(Processes(1))
    before = files_below(tmp_path / "out")
    (tmp_path / "out" / work.parts[0].manifest).write_bytes(b"{")
    writing = work._into.writing
    with converting(package, TO, work._source, work._into, work._digest) as converter:

        @contextlib.contextmanager
        def swept(path):
            """Removes the first file while it is written, as the end of another run does."""
            work._into.writing = writing
            with writing(path) as target:
                yield target
                for each in (tmp_path / "out").rglob(".part-*"):
                    each.unlink()

        work._into.writing = swept
        assert convert_part(converter, work.parts[0]).converted > 0
    assert files_below(tmp_path / "out") == before


def test_a_run_whose_end_is_overtaken_by_that_of_another_one_goes_on(source, tmp_path, package):
    out = tmp_path / "out"
    run(source, out, package)
    before = files_below(out)
    work = FolderConversion(str(source), str(out), TO, package, 10_000)
    writing = work._into.writing

    @contextlib.contextmanager
    def swept(path):
        with writing(path) as target:
            yield target
            for each in out.glob(f".{path}.*"):
                each.unlink()

    work._into.writing = swept
    assert work.run(Processes(1)).refused == 7
    assert files_below(out) == before
    (out / "result.json").unlink()
    with pytest.raises(FileNotFoundError):
        work.run(Processes(1))


def test_a_part_is_the_same_however_often_it_is_done(source, tmp_path, package):
    from trundle.parts._running import converting

    work = FolderConversion(str(source), str(tmp_path / "out"), TO, package, 10_000)
    work.run(Processes(1))
    before = files_below(tmp_path / "out")
    arguments = (package, TO, work._source, work._into, work._digest)
    with converting(*arguments) as converter:
        for part in reversed(work.parts):
            convert_part(converter, part)
    assert files_below(tmp_path / "out") == before
