"""Jobs run: results equal those of the scheme, are there once, and what stands in the way is said."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from many_documents import files_below, person

from trundle.parts import (
    ChangedError,
    ConversionOptions,
    FolderConversion,
    NoDocumentsError,
    OtherJobError,
    UnusableFileError,
)
from trundle.project import shipped_scheme
from trundle.workers import Processes

NEWER = ConversionOptions(to="2015-05-05")
HERE = Processes(1)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path


def write(folder, name, *lines):
    (folder / "in" / name).write_bytes(b"".join(each + b"\n" for each in lines))


def work(folder, package, into="out", conversion=NEWER, part_size=1 << 20):
    return FolderConversion(str(folder / "in"), str(folder / into), conversion, package, part_size)


def lines(folder, into="out"):
    paths = sorted((folder / into / "documents").glob("*.jsonl"))
    return [line for path in paths for line in path.read_bytes().splitlines()]


def refusals(folder, into="out"):
    path = folder / into / "refused.jsonl"
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


def test_results_are_those_of_the_scheme_in_the_order_of_the_input(folder, package):
    write(folder, "b.jsonl", *(person(number) for number in range(50, 70)))
    write(folder, "a.jsonl", *(person(number) for number in range(50)))
    found = work(folder, package, part_size=500).run(HERE)
    assert (found.converted, found.refused, found.before) == (70, 0, 0)
    assert found.parts > 10
    with shipped_scheme(package) as scheme:
        expected = [scheme.convert(person(number), "2015-05-05") for number in range(70)]
    assert [json.loads(each) for each in lines(folder)] == expected
    assert json.loads(lines(folder)[0])["sortKey"] == "k0"


def test_several_processes_come_to_the_same_files_byte_for_byte(folder, package):
    bad = b'{"half'
    write(folder, "a.jsonl", *(bad if at % 7 == 3 else person(at) for at in range(200)))
    one = work(folder, package, "one", part_size=700).run(HERE)
    two = work(folder, package, "two", part_size=700).run(Processes(2))
    assert (one.converted, one.refused) == (two.converted, two.refused) == (171, 29)
    assert files_below(folder / "one") == files_below(folder / "two")


def test_a_second_run_changes_nothing(folder, package):
    write(folder, "a.jsonl", *(person(at) for at in range(20)), b"x")
    work(folder, package, part_size=300).run(HERE)
    before = files_below(folder / "out")
    again = work(folder, package, part_size=300)
    assert again.is_done
    found = again.run(HERE)
    assert found.before == found.parts
    assert (found.converted, found.refused) == (20, 1)
    assert files_below(folder / "out") == before


def test_a_run_that_failed_goes_on_with_what_is_left(folder, package):
    write(folder, "a.jsonl", *(person(at) for at in range(40)))
    seen = []

    def fail(_what, done, _total):
        seen.append(done)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(folder, package, part_size=300).run(HERE, fail)
    again = work(folder, package, part_size=300)
    assert again.before == 3
    again.run(HERE)
    work(folder, package, "whole", part_size=300).run(HERE)
    assert files_below(folder / "out") == files_below(folder / "whole")


@pytest.mark.parametrize(
    "lost", ["documents/part-000001.jsonl", "manifests/part-000001.refused.jsonl", "refused.jsonl"]
)
def test_files_that_were_removed_are_made_again(folder, package, lost):
    write(folder, "a.jsonl", *(b"x" if at % 3 == 0 else person(at) for at in range(30)))
    work(folder, package, part_size=400).run(HERE)
    before = files_below(folder / "out")
    (folder / "out" / lost).unlink()
    work(folder, package, part_size=400).run(HERE)
    assert files_below(folder / "out") == before


LEVELS = ("slow", "gold", "gold", "gold")
KILLED = """
import sys
from trundle.parts import FolderConversion, ConversionOptions
from trundle.project import ShippedPackage
from trundle.workers import Processes
import msgspec
if __name__ == "__main__":
    package = msgspec.msgpack.decode(open(sys.argv[3], "rb").read(), type=ShippedPackage)
    work = FolderConversion(sys.argv[1], sys.argv[2], ConversionOptions(to="2015-05-05"), package, 2000)
    print("ready", flush=True)
    work.run(Processes(int(sys.argv[4])))
    print("done", flush=True)
"""


@pytest.mark.full
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_goes_on_and_nothing_is_there_twice(folder, package, jobs):
    write(
        folder,
        "a.jsonl",
        *(b"x" if at % 50 == 0 else person(at, level=LEVELS[at % 4]) for at in range(2000)),
    )
    work(folder, package, "whole", part_size=2000).run(HERE)
    shipped = folder / "package"
    shipped.write_bytes(msgspec.msgpack.encode(package))
    script = folder / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, str(script), *(str(folder / each) for each in ("in", "out"))]
    kills = 0
    for parts in (1, 9, 30):
        process = subprocess.Popen([*command, str(shipped), str(jobs)], stdout=subprocess.PIPE)
        process.stdout.readline()
        limit = time.monotonic() + 60
        while time.monotonic() < limit and process.poll() is None:
            if len(list((folder / "out").glob("manifests/part-??????.json"))) >= parts:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.001)
        kills += process.wait() == -signal.SIGKILL
        process.stdout.close()
    assert kills > 1
    work(folder, package, part_size=2000).run(HERE)
    assert visible(folder / "out") == files_below(folder / "whole")


def visible(folder: Path):
    """What is in a folder, without files that a killed process did not finish."""
    return {name: data for name, data in files_below(folder).items() if "/." not in f"/{name}"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"part_size": 1000}, "another --part-size"),
        ({"conversion": ConversionOptions(to="2014-04-04")}, "other options"),
        ({"conversion": ConversionOptions(to="2015-05-05", missing=True)}, "other options"),
    ],
)
def test_another_job_in_the_same_folder_is_refused(folder, package, change, text):
    write(folder, "a.jsonl", person(1))
    work(folder, package).run(HERE)
    before = files_below(folder / "out")
    with pytest.raises(OtherJobError, match=text):
        work(folder, package, **change)
    assert files_below(folder / "out") == before


def test_input_that_changed_since_is_refused(folder, package):
    write(folder, "a.jsonl", person(1))
    begun = work(folder, package)
    write(folder, "a.jsonl", person(1), person(2))
    with pytest.raises(ChangedError, match=r"a\.jsonl"):
        begun.run(HERE)
    assert lines(folder) == []
    with pytest.raises(OtherJobError, match="changed"):
        work(folder, package)


def test_a_folder_with_other_files_or_the_input_itself_is_refused(folder, package):
    write(folder, "a.jsonl", person(1))
    (folder / "out").mkdir()
    (folder / "out/mine.txt").write_text("x")
    with pytest.raises(OtherJobError, match=r"mine\.txt"):
        work(folder, package)
    with pytest.raises(UnusableFileError):
        work(folder, package, "in/out")


@pytest.mark.parametrize("content", ["{", '{"job": "other"}', '["x"]', "\x00"])
def test_a_damaged_note_of_the_job_is_refused(folder, package, content):
    write(folder, "a.jsonl", person(1))
    work(folder, package).run(HERE)
    (folder / "out/job.json").write_text(content)
    with pytest.raises(OtherJobError):
        work(folder, package)


def test_a_part_of_another_job_is_refused(folder, package):
    write(folder, "a.jsonl", person(1))
    work(folder, package).run(HERE)
    manifest = folder / "out/manifests/part-000000.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "job": "other"}))
    with pytest.raises(OtherJobError, match="another job"):
        work(folder, package)


def test_what_is_no_document_is_refused_with_its_line_and_the_others_are_converted(folder, package):
    hostile = [
        b"no JSON",
        b"[]",
        b"null",
        b'{"apiVersion": "2014-04-04", "kind": "Person"}',
        b'{"apiVersion": "1999-01-01", "kind": "Person", "id": "a"}',
        b'{"apiVersion": "2014-04-04", "kind": "Nobody", "id": "a"}',
        person(1)[:-1] + b', "id": "twice"}',
        person(1).replace(b"p-1", b"\xff\xfe"),
        b"[" * 3000,
        b"\xef\xbb\xbf" + person(1),
        person(1, alphaKey=[1]),
        person(1, unknown=True),
        b'{"half',
    ]
    write(folder, "a.jsonl", person(0), b"", *hostile[:-1], person(2))
    with (folder / "in/a.jsonl").open("ab") as target:
        target.write(hostile[-1])
    for size in (1 << 20, 64):
        into = f"out-{size}"
        found = work(folder, package, into, part_size=size).run(HERE)
        assert (found.converted, found.refused) == (2, len(hostile))
        assert [json.loads(each)["id"] for each in lines(folder, into)] == ["p-0", "p-2"]
        numbers = [each["line"] for each in refusals(folder, into)]
        assert numbers == [*range(3, 3 + len(hostile) - 1), 3 + len(hostile)]
        assert all(each["file"] == "a.jsonl" and each["reasons"] for each in refusals(folder, into))


def test_empty_files_give_no_parts_and_no_files_are_an_error(folder, package):
    with pytest.raises(NoDocumentsError):
        work(folder, package)
    write(folder, "a.jsonl")
    found = work(folder, package).run(HERE)
    assert (found.parts, found.converted, found.refused) == (0, 0, 0)


def test_a_plan_writes_nothing(folder, package):
    write(folder, "a.jsonl", *(person(at) for at in range(20)))
    assert work(folder, package, part_size=300).plan().parts > 2
    assert not (folder / "out").exists()


def test_a_single_file_and_another_file_system_can_be_the_input(folder, package):
    write(folder, "a.jsonl", person(1), b"x")
    conversion = FolderConversion(
        str(folder / "in/a.jsonl"), f"memory://{folder}/out", NEWER, package
    )
    assert conversion.run(HERE).converted == 1
    again = FolderConversion(str(folder / "in/a.jsonl"), f"memory://{folder}/out", NEWER, package)
    assert again.is_done
