"""Files that are written whole or not at all: what is there afterwards, and what errors name."""

import pytest

from trundle._durable import create_durably, durable_file, write_durably


def in_parts(path, content):
    with durable_file(path) as target:
        target.write(content)


@pytest.mark.parametrize("write", [write_durably, create_durably, in_parts])
def test_errors_name_the_file_that_was_to_be_written(tmp_path, write):
    """They named an unfinished file beside it, which no user knows."""
    missing = tmp_path / "nosuch" / "people.jsonl"
    with pytest.raises(FileNotFoundError) as caught:
        write(missing, b"x")
    assert caught.value.filename == str(missing)
    write(tmp_path / "people.jsonl", b"x")
    assert [each.name for each in tmp_path.iterdir()] == ["people.jsonl"]
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder") as caught:
        write(folder, b"x")
    assert (caught.value.filename, caught.value.filename2) == (str(folder), None)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "people.jsonl"]
