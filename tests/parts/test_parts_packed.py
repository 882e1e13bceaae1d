"""Packed JSON lines: what is in them as in files that are not packed, and what is wrong with them as gzip and zstd say."""

import gzip
import json
import re
import shutil
import subprocess
import tracemalloc

import pyarrow as pa
import pytest
from many_documents import files_below, person

from trundle.parts import ConversionOptions, FolderConversion, UnusableFileError
from trundle.parts._folders import Folder
from trundle.parts._json_lines import Lines
from trundle.parts._packed import Unpacked, require_packed
from trundle.workers import Processes

LINES = [person(0), b"", b"no JSON", *(person(at) for at in range(1, 40)), b"x"]
CONTENT = b"\xef\xbb\xbf" + b"\n".join(LINES)


def zst(content):
    return pa.compress(content, "zstd", asbytes=True)


PACK = {".gz": gzip.compress, ".zst": zst}
SKIPPED = b"\x53\x2a\x4d\x18\x03\x00\x00\x00abc"
"""A frame of zstd without documents."""


def convert(source, package, into, part_size=1 << 20, workers=1):
    conversion = ConversionOptions(to="2015-05-05")
    target = source.parent / into
    found = FolderConversion(str(source), str(target), conversion, package, part_size)
    return found.run(Processes(workers))


def results(folder):
    """All results and refusals of a folder, without the names of its files."""
    listed = b"".join(each.read_bytes() for each in sorted(folder.glob("documents/*.jsonl")))
    refused = (folder / "refused.jsonl").read_text()
    return listed, re.sub(r"\.(gz|zst)\b", "", refused)


@pytest.fixture
def source(tmp_path):
    found = tmp_path / "in"
    found.mkdir()
    return found


@pytest.mark.parametrize("ending", [".jsonl.gz", ".NDJSON.GZ", ".ndjson.zst", ".jsonl.zst"])
@pytest.mark.parametrize("pieces", [1, 3])
def test_packed_lines_come_to_what_the_lines_do(source, package, ending, pieces):
    plain = source.parent / "plain"
    plain.mkdir()
    name, packing = ending.lower().rsplit(".", 1)
    pack = PACK[f".{packing}"]
    size = len(CONTENT) // pieces + 1
    stretches = [CONTENT[at : at + size] for at in range(0, len(CONTENT), size)]
    for each in "ab":
        (plain / f"{each}{name}").write_bytes(CONTENT)
        (source / f"{each}{name}.{packing}").write_bytes(b"".join(map(pack, stretches)))
    expected, found = (convert(each, package, f"out of {each.name}") for each in (plain, source))
    assert (found.converted, found.refused) == (expected.converted, expected.refused) == (80, 4)
    outs = [source.parent / f"out of {each}" for each in ("in", "plain")]
    assert results(outs[0]) == results(outs[1])
    assert convert(source, package, "out of in").before == found.parts


def test_a_packed_file_is_one_part_and_the_same_by_several_processes(source, package):
    (source / "a.jsonl.gz").write_bytes(gzip.compress(CONTENT))
    (source / "b.jsonl").write_bytes(CONTENT)
    (source / "c.jsonl.zst").write_bytes(zst(CONTENT))
    one = convert(source, package, "one", part_size=300)
    assert one.parts == 2 + -(-len(CONTENT) // 300)
    convert(source, package, "two", part_size=300, workers=2)
    assert files_below(source.parent / "one") == files_below(source.parent / "two")


def test_a_single_packed_file_is_converted(source, package):
    path = source / "a.jsonl.gz"
    path.write_bytes(gzip.compress(CONTENT))
    conversion = ConversionOptions(to="2015-05-05")
    FolderConversion(str(path), str(source.parent / "out"), conversion, package).run(Processes(1))
    listed = (source.parent / "out/refused.jsonl").read_text().splitlines()
    found = [(json.loads(each)["file"], json.loads(each)["line"]) for each in listed]
    assert found == [("a.jsonl.gz", 3), ("a.jsonl.gz", 43)]


def unpacked(path):
    """What is in a file, or what is wrong with it."""
    folder = Folder(str(path.parent))
    try:
        require_packed(folder, path.name)
        with folder.open(path.name) as stream:
            file, found = Unpacked(stream, path.name), b""
            while data := file.read(100):
                found += data
    except UnusableFileError as error:
        return None if path.name in str(error) else b"an error that does not name the file"
    return found


def by_program(path):
    """The same by the programs that pack; zcat goes on behind what it does not know, and says so."""
    name = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"needs {name}")
    with path.open("rb") as stream:
        done = subprocess.run([program, "-dc"], stdin=stream, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def damaged(content):
    """A packed file, and what can become of one."""
    yield from (content, content * 2, b"", content + content[:9], content + b"rest", b"\x1f\x8b")
    yield from (content[:at] for at in range(1, len(content), 3))
    for at in {*range(len(content))} - {3}:  # gzip refuses flags that it does not know.
        yield content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :]


@pytest.mark.parametrize("packing", PACK)
def test_a_file_is_damaged_where_the_programs_say_so(tmp_path, packing):
    path = tmp_path / f"a.jsonl{packing}"
    text = b'{"a": 1}\n{"a": 2}\n' * 3
    seen = set()
    content = PACK[packing](text) if packing == ".gz" else zstd_with_checksum(tmp_path, text)
    for each in damaged(content):
        path.write_bytes(each)
        found = unpacked(path)
        assert found == by_program(path), each
        seen.add(found)
    assert {None, text, text * 2} <= seen


def zstd_with_checksum(folder, content):
    """A file that zstd itself packed, with a checksum and frames without documents."""
    program = shutil.which("zstd")
    if program is None:
        pytest.skip("needs zstd")
    done = subprocess.run([program, "-c"], input=content, capture_output=True, check=True)
    return SKIPPED + done.stdout


@pytest.mark.parametrize("packing", PACK)
def test_a_damaged_file_ends_the_command_and_names_the_file(source, package, packing):
    path = source / f"b.jsonl{packing}"
    content = PACK[packing](b"".join(each + b"\n" for each in LINES * 50))
    path.write_bytes(content[:-5])
    (source / "a.jsonl").write_bytes(person(1))
    with pytest.raises(UnusableFileError, match="a whole file of") as caught:
        convert(source, package, "out", part_size=100)
    assert path.name in str(caught.value)
    assert not (source.parent / "out/result.json").exists()
    path.write_bytes(content)
    shutil.rmtree(source.parent / "out")
    assert convert(source, package, "out", part_size=100).converted == 40 * 50 + 1


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x1f", zst(b"{}\n")])
def test_what_is_packed_by_its_name_alone_is_refused_before_the_first_part(
    source, package, content
):
    (source / "a.jsonl.gz").write_bytes(content)
    with pytest.raises(UnusableFileError, match=r"a\.jsonl\.gz: expected a whole file of gzip"):
        convert(source, package, "out")
    assert not (source.parent / "out").exists()


@pytest.mark.parametrize("packing", PACK)
def test_memory_is_bounded_whatever_a_file_comes_to(tmp_path, packing):
    path = tmp_path / f"a.jsonl{packing}"
    piece = PACK[packing]((b'{"a": 1' + b" " * 500 + b"}\n") * (1 << 15))
    path.write_bytes(piece + PACK[packing](b" " * (20 << 20) + b"\n") + piece)
    with path.open("rb") as stream:
        lines = Lines(Unpacked(stream, path.name), 0, 1 << 60, longest=1 << 20)
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        try:
            count = sum(each.data is not None for each in lines)
            most = tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before
        finally:
            tracemalloc.stop()
    assert count == 2 << 15
    assert most < 8 << 20
