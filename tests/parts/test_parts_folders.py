"""Folders: what is in them, and that files are whole or absent, on this machine and elsewhere."""

import contextlib
import http.server
import pickle
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from trundle.parts._errors import UnreachableFolderError, UnusableFileError
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


def test_a_folder_below_that_cannot_be_listed_is_an_error(folder, monkeypatch):
    """Its documents would be missing in the result, and nothing would say so."""
    write(folder, "a.txt", b"first")
    write(folder, "below/b.txt", b"second")
    list_ = folder._fs.ls

    def fail(path, **options):
        if path.endswith("below"):
            raise PermissionError(13, "Permission denied", path)
        return list_(path, **options)

    monkeypatch.setattr(folder._fs, "ls", fail)
    with pytest.raises(PermissionError, match=r"Permission denied: .*below"):
        folder.files()
    monkeypatch.undo()
    assert [each.path for each in folder.files()] == ["a.txt", "below/b.txt"]


def test_a_file_that_changes_has_another_mark(folder):
    write(folder, "a.txt", b"first")
    before = folder.look("a.txt")
    write(folder, "a.txt", b"other")
    assert folder.look("a.txt").mark != before.mark


class RememberingFileSystem(MemoryFileSystem):
    """Remembers what it listed until it is to forget it, as that of S3; each instance by itself, as in processes."""

    protocol = "remembering"
    cachable = False

    def ls(self, path, detail=True, **options):
        if path not in self.dircache:
            self.dircache[path] = super().ls(path, detail=True, **options)
        found = self.dircache[path]
        return found if detail else [each["name"] for each in found]

    def info(self, path, **options):
        path = self._strip_protocol(path)
        for each in self.dircache.get(self._parent(path), [{"name": path}]):
            if each["name"] == path:
                return super().info(path, **options)
        raise FileNotFoundError(path)

    def cat_file(self, path, start=None, end=None, **options):
        self.info(path)
        return super().cat_file(path, start, end, **options)

    def invalidate_cache(self, path=None):
        self.dircache.clear()


def test_what_other_processes_write_is_found_after_a_list(request):
    fsspec.register_implementation("remembering", RememberingFileSystem, clobber=True)
    one, other = (Folder(f"remembering:///{request.node.name}") for _ in range(2))
    write(one, "a.txt", b"first")
    assert [each.path for each in one.files()] == ["a.txt"]
    write(other, "b.txt", b"second")
    assert one.read("b.txt") == b"second"
    assert [each.path for each in one.files()] == ["a.txt", "b.txt"]
    write(other, "c.txt", b"third")
    with one.open("c.txt") as stream:
        assert stream.read() == b"third"
    other.remove("a.txt")
    assert [each.path for each in one.files()] == ["b.txt", "c.txt"]


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


class ConnectTimeoutError(Exception):
    """An error of a library, as those of `botocore`, which is no OSError."""


class ConnectorError(OSError):
    """An OSError of a library, as one of `aiohttp`, which takes other arguments."""

    def __init__(self, key, reason):
        super().__init__(reason.errno, reason.strerror)


USES = {
    "isfile": lambda folder: folder.is_file(),
    "ls": lambda folder: folder.files(),
    "info": lambda folder: folder.look("a.txt"),
    "open": lambda folder: folder.open("a.txt"),
    "cat_file": lambda folder: folder.read("a.txt"),
    "rm": lambda folder: folder.remove("a.txt"),
    "pipe_file": lambda folder: folder.create("b.txt", b"x"),
    "makedirs": lambda folder: write(folder, "b.txt", b"x"),
    "mv": lambda folder: write(folder, "b.txt", b"x"),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize(
    ("raised", "error", "said"),
    [
        (ConnectTimeoutError("no answer"), UnreachableFolderError, "found no answer; check"),
        (ConnectTimeoutError(), UnreachableFolderError, "found ConnectTimeoutError; check"),
        (ConnectorError("x", OSError(111, "refused")), UnreachableFolderError, "refused; check"),
        (PermissionError("Forbidden"), PermissionError, "Forbidden: 'memory://odd"),
        (OSError(5, "slow down"), OSError, "slow down: 'memory://odd"),
    ],
)
def test_errors_of_another_file_system_name_the_file(monkeypatch, name, raised, error, said):
    folder = Folder("memory://odd")
    write(folder, "a.txt", b"first")

    def fail(*_, **__):
        raise raised

    monkeypatch.setattr(folder._fs, name, fail)
    with pytest.raises(error) as caught:
        USES[name](folder)
    assert said in str(caught.value)
    assert "memory://odd" in str(caught.value)
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    monkeypatch.undo()
    folder.remove("b.txt")
    assert [each.path for each in folder.files()] == ["a.txt"]


class _Failing(http.server.BaseHTTPRequestHandler):
    """Answers with a code; with 0, it ends the connection instead."""

    def do_GET(self):
        if self.server.code:
            self.send_error(self.server.code)
        else:
            self.close_connection = True

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def failing(code, handler=_Failing):
    """The address of a server that answers with a code, or ends connections (0); None is one that refuses them."""
    if code is None:
        with socket.socket() as bound:  # As nobody listens, connections are refused.
            bound.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        return
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.code = code
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("use", [Folder.files, lambda x: x.look(""), lambda x: x.open("")])
@pytest.mark.parametrize(
    ("code", "said"),
    [(None, "Cannot connect to host"), (0, "disconnected"), (403, "Forbidden"), (503, "503")],
)
def test_a_server_that_is_away_or_refuses_is_no_missing_file(use, code, said):
    with failing(code) as address:
        where = re.escape(f"{address}/a.jsonl: expected an answer of the file system, found ")
        with pytest.raises(UnreachableFolderError, match=f"{where}.*{said}.*; check the address"):
            use(Folder(f"{address}/a.jsonl"))


@pytest.mark.parametrize("use", [Folder.files, lambda x: x.look(""), lambda x: x.open("")])
def test_what_a_server_does_not_have_is_a_missing_file(use):
    with failing(404) as address, pytest.raises(FileNotFoundError) as caught:
        use(Folder(f"{address}/a.jsonl"))
    assert str(caught.value) == f"[Errno 2] no such file or folder: '{address}/a.jsonl'"


class _Whole(_Failing):
    """Answers with whole files alone, as the server of Python does."""

    def do_GET(self):
        data = b"x" * 100
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


def test_a_server_that_gives_no_parts_of_files_is_no_fault_of_the_program():
    with (
        failing(200, _Whole) as address,
        Folder(f"{address}/a.jsonl").open("") as stream,
    ):
        stream.seek(50)
        with pytest.raises(UnreachableFolderError, match="support range requests"):
            stream.read(10)


@pytest.mark.parametrize("name", ["read", "write", "close"])
def test_errors_of_a_file_that_is_open_elsewhere_name_it(monkeypatch, name):
    folder = Folder("memory://odd")
    write(folder, "a.txt", b"first")
    stream_type = type(folder._fs.open(folder.full("a.txt")))

    def fail(*_, **__):
        raise ConnectTimeoutError("gone")

    stream = folder.open("a.txt") if name == "read" else folder.writing("a.txt")
    monkeypatch.setattr(stream_type, name, fail, raising=False)
    with (
        pytest.raises(UnreachableFolderError, match=r"memory://odd/a.txt: .* found gone"),
        stream as opened,
    ):
        opened.read() if name == "read" else opened.write(b"other")
    monkeypatch.undo()
    assert folder.read("a.txt") == b"first"


def test_what_goes_wrong_between_is_not_of_the_file_system():
    folder = Folder("memory://odd")
    with contextlib.suppress(ConnectTimeoutError), folder.writing("c.txt"):
        raise ConnectTimeoutError("of who writes")
    assert folder.read("c.txt") is None


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
