"""Parquet files: documents in a column, beside the other columns of their rows."""

import json

import pyarrow as pa
import pytest
from many_documents import files_below, person
from pyarrow import parquet

from trundle.parts import ConversionOptions, FolderConversion, UnusableFileError
from trundle.workers import Processes

HERE = Processes(1)


@pytest.fixture
def source(tmp_path):
    found = tmp_path / "in"
    found.mkdir()
    return found


def write(path, documents, kind=None, column="document", **others):
    kind = kind or pa.string()
    values = [
        each if each is None or pa.types.is_binary(kind) else each.decode() for each in documents
    ]
    table = pa.table({"at": list(range(len(documents))), column: pa.array(values, kind), **others})
    parquet.write_table(table, path, row_group_size=4)


def convert(source, package, into="out", workers=HERE, part_size=1, **options):
    conversion = ConversionOptions(to="2015-05-05", **options)
    target = source.parent / into
    return FolderConversion(str(source), str(target), conversion, package, part_size).run(workers)


def rows(folder):
    tables = [parquet.read_table(each) for each in sorted(folder.glob("documents/*.parquet"))]
    return [row for table in tables for row in table.to_pylist()], tables[0].schema


TEXTS = pa.string(), pa.large_string(), pa.string_view()
BYTES = pa.binary(), pa.large_binary(), pa.binary_view()


@pytest.mark.parametrize("kind", [*TEXTS, *BYTES], ids=str)
def test_rows_keep_their_other_columns_and_types(source, package, kind):
    documents = [person(at) for at in range(10)]
    values = documents if kind in BYTES else [each.decode() for each in documents]
    table = pa.table({"at": list(range(10)), "document": pa.array(values, kind)})
    parquet.write_table(table, source / "a.parquet", row_group_size=4)
    assert convert(source, package).parts == 3
    found, schema = rows(source.parent / "out")
    assert schema == table.schema
    assert [each["at"] for each in found] == list(range(10))
    assert [json.loads(each["document"])["sortKey"] for each in found] == [
        f"k{at}" for at in range(10)
    ]


INDICES = pa.int8(), pa.uint16(), pa.int32(), pa.int64()


@pytest.mark.parametrize("kind", [*TEXTS[:2], *BYTES[:2]], ids=str)  # pyarrow writes no others
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_documents_in_a_dictionary_are_read_and_written_as_such(source, package, kind, index):
    words = [person(at % 5) for at in range(9)]
    texts = [*words, b"x", person(3)]
    known = sorted(set(texts))
    values = pa.array([each if kind in BYTES else each.decode() for each in known], kind)
    numbers = pa.array([*(known.index(each) for each in texts), None], index)
    column = pa.DictionaryArray.from_arrays(numbers, values, ordered=index == pa.int8())
    table = pa.table({"at": list(range(12)), "document": column})
    parquet.write_table(table, source / "a.parquet", row_group_size=4)
    plain = table.set_column(1, "document", pa.array([*(each.decode() for each in texts), None]))
    (source.parent / "plain").mkdir()
    parquet.write_table(plain, source.parent / "plain/a.parquet", row_group_size=4)
    found = convert(source, package, part_size=1 << 20)
    assert (found.parts, found.converted, found.refused) == (1, 10, 2)
    convert(source.parent / "plain", package, "expected", part_size=1 << 20)
    (out,), schema = source.parent.glob("out/documents/*"), rows(source.parent / "out")[1]
    assert (
        schema.field("document").type == parquet.read_table(source / "a.parquet")["document"].type
    )
    made = parquet.read_table(out)["document"]
    if pa.types.is_dictionary(made.type):
        made = [
            made.chunk(0).dictionary[each].as_py()
            for chunk in made.chunks
            for each in chunk.indices.to_pylist()
        ]
    (expected,) = source.parent.glob("expected/documents/*")
    texts = [each if isinstance(each, str) else each.decode() for each in made]
    assert texts == parquet.read_table(expected)["document"].to_pylist()
    assert (source.parent / "out/refused.jsonl").read_bytes() == (
        source.parent / "expected/refused.jsonl"
    ).read_bytes()


def test_rows_that_are_refused_are_counted_in_their_file(source, package):
    write(source / "a.parquet", [person(0), None, b"x", person(3), person(4), b"", person(6)])
    found = convert(source, package)
    assert (found.converted, found.refused) == (4, 3)
    listed = [
        json.loads(each) for each in (source.parent / "out/refused.jsonl").read_text().splitlines()
    ]
    assert [(each["file"], each["line"]) for each in listed] == [
        ("a.parquet", 2),
        ("a.parquet", 3),
        ("a.parquet", 6),
    ]
    assert [each["at"] for each in rows(source.parent / "out")[0]] == [0, 3, 4, 6]


def test_columns_of_any_type_stay_beside_rows_that_are_refused(source, package):
    others = {
        "text": pa.array(["a", "b", None, "d", "e"], pa.string_view()),
        "word": pa.array(["x", "y", "x", None, "y"]).dictionary_encode(),
        "nested": pa.array([{"a": [each]} for each in range(5)]),
        "map": pa.array([[("k", each)] for each in range(5)], pa.map_(pa.string(), pa.int64())),
        "nothing": pa.nulls(5),
    }
    documents = [person(0), b"x", person(2), person(3), b"y"]
    write(source / "a.parquet", documents, **others)
    found = convert(source, package)
    assert (found.converted, found.refused) == (3, 2)
    before = parquet.read_table(source / "a.parquet").to_pylist()
    after, _ = rows(source.parent / "out")
    for each in (*before, *after):
        del each["document"]
    assert after == [before[at] for at in (0, 2, 3)]


@pytest.mark.full
def test_several_processes_come_to_the_same_files_byte_for_byte(source, package):
    write(source / "a.parquet", [person(at) for at in range(20)])
    (source / "b.jsonl").write_bytes(person(1) + b"\n")
    convert(source, package, "one")
    convert(source, package, "two", Processes(2))
    assert files_below(source.parent / "one") == files_below(source.parent / "two")


def test_files_with_other_columns_are_apart(source, package):
    write(source / "a.parquet", [person(1)])
    write(source / "b.parquet", [person(2)], more=["x"])
    found = convert(source, package, part_size=1 << 20)
    assert (found.parts, found.converted) == (2, 2)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"x": ["a"]}, "a column document"),
        ({"document": [1]}, "int64"),
        ({"document": [{"a": 1}]}, "struct"),
        (b"no Parquet", "Parquet"),
        (b"", "Parquet"),
    ],
)
def test_files_without_documents_are_said(source, package, content, text):
    path = source / "a.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        parquet.write_table(pa.table(content), path)
    with pytest.raises(UnusableFileError, match=text) as caught:
        convert(source, package)
    assert "a.parquet" in str(caught.value)
    assert not (source.parent / "out").exists()


def test_a_file_that_is_damaged_within_is_said(source, package):
    path = source / "a.parquet"
    write(path, [person(at) for at in range(10)])
    content = bytearray(path.read_bytes())
    content[4:80] = b"\xff" * 76
    path.write_bytes(content)
    with pytest.raises(UnusableFileError, match=r"a\.parquet"):
        convert(source, package)


def test_the_column_can_be_named(source, package):
    write(source / "a.parquet", [person(1)], column="body")
    assert convert(source, package, column="body").converted == 1
