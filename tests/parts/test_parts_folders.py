"""Folders: what is in them, and that files are whole or absent, on this machine and elsewhere."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trundle.parts._errors import UnusableFileError
from trundle.parts._folders import Folder, overlaps


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    if request.param == "local":
        return Folder(str(tmp_path / "folder"))
    found = Folder(f"memory://{tmp_path}/folder")
    assert found.local is None
    return found


def write(folder, path, content):
    with folder.writing(path) as target:
        target.write(content)


def test_what_is_written_is_found_and_read(folder):
    write(folder, "b/c.txt", b"second")
    write(folder, "a.txt", b"first")
    assert [(each.path, each.size) for each in folder.files()] == [("a.txt", 5), ("b/c.txt", 6)]
    assert folder.read("b/c.txt") == b"second"
    assert folder.read("none") is None
    with folder.open("a.txt") as stream:
        assert stream.read() == b"first"


def test_a_file_whose_writing_fails_stays_as_it_was(folder):
    write(folder, "a.txt", b"first")

    def fail():
        with folder.writing("a.txt") as target:
            target.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [each.path for each in folder.files()] == ["a.txt"]
    assert folder.read("a.txt") == b"first"


def test_a_file_can_stand_for_a_folder(folder):
    write(folder, "a.txt", b"first")
    file = Folder(folder.full("a.txt") if folder.local else f"memory://{folder.full('a.txt')}")
    assert file.is_file()
    assert [each.path for each in file.files()] == [""]
    assert file.read("") == b"first"


def test_a_folder_that_is_not_there_is_said(folder):
    with pytest.raises(FileNotFoundError):
        folder.files()


def test_a_file_that_changes_has_another_mark(folder):
    write(folder, "a.txt", b"first")
    before = folder.look("a.txt")
    write(folder, "a.txt", b"other")
    assert folder.look("a.txt").mark != before.mark


def test_of_several_that_create_a_file_one_succeeds(folder):
    def create(number):
        try:
            folder.create("a.txt", b"%d" % number)
        except FileExistsError:
            return None
        return b"%d" % number

    with ThreadPoolExecutor(8) as threads:
        (written,) = filter(None, threads.map(create, range(8)))
    assert [each.path for each in folder.files()] == ["a.txt"]
    assert folder.read("a.txt") == written


def test_a_file_is_created_where_there_are_no_hard_links(tmp_path, monkeypatch):
    def fail(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", fail)
    folder = Folder(str(tmp_path))
    folder.create("a.txt", b"first")
    with pytest.raises(FileExistsError):
        folder.create("a.txt", b"other")
    assert [(each.path, each.size) for each in folder.files()] == [("a.txt", 5)]


def test_a_file_takes_the_place_of_another_where_the_file_system_replaces_none(monkeypatch):
    folder = Folder("memory://replacing-none")
    move = folder._fs.mv

    def never_over(one, other):
        if folder._fs.exists(other):
            raise OSError("Failure")
        move(one, other)

    monkeypatch.setattr(folder._fs, "mv", never_over)
    for content in (b"first", b"other"):
        write(folder, "a.txt", content)
        assert folder.read("a.txt") == content
    assert [each.path for each in folder.files()] == ["a.txt"]


def test_it_can_be_sent_to_another_process(folder):
    write(folder, "a.txt", b"first")
    assert pickle.loads(pickle.dumps(folder)).read("a.txt") == b"first"


def test_a_file_system_that_fsspec_does_not_know_is_said():
    with pytest.raises(UnusableFileError, match="nonesuch"):
        Folder("nonesuch://bucket/folder")


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("a", "a", True),
        ("a", "a/b", True),
        ("a/b", "a", True),
        ("a", "ab", False),
        ("a/b", "a/c", False),
    ],
)
def test_folders_that_are_in_each_other_are_found(tmp_path, one, other, together):
    first, second = Folder(str(tmp_path / one)), Folder(str(tmp_path / other))
    assert overlaps(first, second) == together
    assert not overlaps(first, Folder("memory://" + second.full("")))
