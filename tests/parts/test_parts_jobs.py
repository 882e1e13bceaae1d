"""Jobs: which files are in them, how they are cut, and in what two of them differ."""

import msgspec
import pytest

from trundle.parts import ConversionOptions, NoDocumentsError, UnusableFileError
from trundle.parts._folders import Folder
from trundle.parts._jobs import Input, Job, differing, inputs_of


def job(*inputs, part_size=10, **others):
    values = {
        "source": "in",
        "package": "p",
        "trundle": "1",
        "conversion": ConversionOptions(to="v1"),
    }
    return Job(inputs=inputs, part_size=part_size, **values | others)


def cuts(made):
    return [[(each.path, each.begin, each.end) for each in part] for part in made.parts()]


def test_large_files_are_cut_and_small_ones_are_together():
    made = job(Input("a", 25, ""), Input("b", 3, ""), Input("c", 2, ""), Input("d", 6, ""))
    assert cuts(made) == [
        [("a", 0, 10)],
        [("a", 10, 20)],
        [("a", 20, 25), ("b", 0, 3), ("c", 0, 2)],
        [("d", 0, 6)],
    ]


def test_parts_cover_each_byte_once():
    made = job(*(Input(f"{at}", at * 7 % 40, "") for at in range(30)))
    for each in made.inputs:
        found = [cut for part in made.parts() for cut in part if cut.path == each.path]
        assert [cut.begin for cut in found] == [0, *(cut.end for cut in found)][: len(found)]
        assert (found[-1].end if found else 0) == each.size


def test_row_groups_of_two_files_are_never_together():
    groups = ((5, 2), (6, 3))
    made = job(Input("a", 9, "", groups), Input("b", 9, "", groups), Input("c", 1, ""))
    assert cuts(made) == [[("a", 0, 1), ("a", 1, 2)], [("b", 0, 1), ("b", 1, 2)], [("c", 0, 1)]]
    assert [each.row for each in made.parts()[0]] == [0, 5]


def test_empty_files_have_no_parts():
    assert cuts(job(Input("a", 0, ""))) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"part_size": 11}, "another --part-size"),
        ({"conversion": ConversionOptions(to="v2")}, "other options"),
        ({"package": "q"}, "another generated package"),
        ({"inputs": (Input("a", 2, ""),)}, "files that are new, gone or changed"),
        ({"source": "other"}, "another input"),
        ({"trundle": "2"}, "another version of Trundle"),
    ],
)
def test_what_differs_is_said_and_has_another_digest(change, text):
    before = job(Input("a", 1, ""))
    after = msgspec.structs.replace(before, **change)
    assert differing(before, after) == [text]
    assert before.digest != after.digest


def test_notes_of_other_programs_are_left_out(tmp_path):
    for name in ("b.jsonl", "a/x.ndjson", "_SUCCESS", ".hidden.jsonl", "_temporary/c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = inputs_of(Folder(str(tmp_path)), "document")
    assert [each.path for each in found] == ["a/x.ndjson", "b.jsonl"]


def test_files_of_another_kind_and_none_at_all_are_said(tmp_path):
    with pytest.raises(NoDocumentsError):
        inputs_of(Folder(str(tmp_path)), "document")
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(UnusableFileError, match=r"a\.csv.* move it away"):
        inputs_of(Folder(str(tmp_path)), "document")
    with pytest.raises(UnusableFileError, match=r"a\.csv.* name one, or a folder"):
        inputs_of(Folder(str(tmp_path / "a.csv")), "document")
