"""Documents and files in a folder."""

import os
import stat

import pytest
import yaml
from dying_deploys import PACKAGE

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal
from trundle.providers import FolderProvider


@pytest.fixture
def root(tmp_path):
    return tmp_path / "a" / "out"


@pytest.fixture
def journal():
    return MemoryJournal()


def deploy(root, journal, *, dry_run=False, secrets=None, **model):
    engine = Engine([PACKAGE], providers={"folder": FolderProvider(root)})
    with engine.session(journal=journal, dry_run=dry_run, secrets=secrets) as session:
        session.call(session.load({"?": {"type": "a.Deploying"}, **model}), "deploy")
        session.settle()
        return session.changes


def files(root):
    return sorted(str(each.relative_to(root)) for each in root.rglob("*") if each.is_file())


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../x",
        "a/../../x",
        "/etc/passwd",
        "a//b",
        "a/",
        "./a",
        "a/./b",
        "a\\b",
        "a\nb",
        "a\0b",
        "a\u2028b",
        ".trundle-0123456789abcdef",
        "a/.trundle-x/b",
        "x" * 256,
        "é" * 128,
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_paths_that_are_refused(root, journal, path, dry_run):
    with pytest.raises(EngineError, match="expected a path within the folder") as caught:
        deploy(root, journal, files={path: "x"}, dry_run=dry_run)
    assert caught.value.code == "effect"
    assert caught.value.kind == "refused"
    assert not root.exists()
    assert journal.records() == ()


@pytest.mark.parametrize(
    "path", ["a", "...", "..a", "a b", ".env", "x" * 255, "é/ü", "a/b/c/d", "-rf"]
)
def test_paths_that_are_taken(root, journal, path):
    deploy(root, journal, files={path: "x"})
    assert files(root) == [path]
    deploy(root, journal)
    assert list(root.iterdir()) == []


def test_no_link_leads_out(root, journal, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    root.mkdir(parents=True)
    (root / "link").symlink_to(outside)
    (root / "kept").symlink_to(outside / "kept")
    for path in ("link/new", "link/kept", "link", "kept"):
        with pytest.raises(EngineError, match="remove it, or choose another path"):
            deploy(root, journal, files={path: "y"})
    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("kept", "x")]
    assert journal.records() == ()


def test_a_folder_that_becomes_a_link_is_not_followed_when_files_are_removed(
    root, journal, tmp_path
):
    deploy(root, journal, files={"in/kept": "x"})
    (root / "in").rename(tmp_path / "moved")
    (root / "in").symlink_to(tmp_path / "moved")
    with pytest.raises(EngineError, match="in: expected a folder, found"):
        deploy(root, journal)
    assert (tmp_path / "moved" / "kept").read_text() == "x"
    (root / "in").unlink()
    deploy(root, journal)
    assert journal.records() == ()


def test_a_file_that_no_run_wrote_stays(root, journal):
    (root / "folder").mkdir(parents=True)
    (root / "mine").write_text("mine")
    for path in ("mine", "folder", "mine/below"):
        with pytest.raises(EngineError) as caught:
            deploy(root, journal, files={path: "other"})
        assert caught.value.kind == "conflict"
    assert (root / "mine").read_text() == "mine"
    deploy(root, journal, files={"mine": "mine"})
    deploy(root, journal)
    assert files(root) == []


def test_folders_go_when_they_are_empty(root, journal):
    deploy(root, journal, files={"a/b/c": "x", "a/d": "y"})
    (root / "a" / "mine").touch()
    deploy(root, journal, files={"a/d": "y"})
    assert not (root / "a" / "b").exists()
    deploy(root, journal)
    assert files(root) == ["a/mine"]


def test_what_is_gone_already_is_removed_without_an_error(root, journal):
    deploy(root, journal, files={"a/b": "x", "c": "y"})
    (root / "a" / "b").unlink()
    (root / "a").rmdir()
    deploy(root, journal, files={"c": "y"})
    (root / "c").unlink()
    root.rmdir()
    deploy(root, journal)
    assert journal.records() == ()


def test_documents_are_yaml_or_json_and_texts_as_they_are(root, journal):
    content = {
        "kind": "Pod",
        "metadata": {"name": "Web", "namespace": "shop"},
        "x": ["1.10", 1.5, "no"],
    }
    documents = {"a": content, "b.json": content, "sub/c.yml": content, "d": "as: it is"}
    deploy(root, journal, documents=documents)
    assert files(root) == ["a.yaml", "b.json", "d.yaml", "sub/c.yml"]
    for each in ("a.yaml", "b.json", "sub/c.yml"):
        assert yaml.safe_load((root / each).read_text()) == content
    assert (root / "b.json").read_text().startswith("{\n")
    assert (root / "d.yaml").read_text() == "as: it is"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"kind": "Pod", "metadata": {"name": "web"}}, "pod-web.yaml"),
        ({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}}, "pod-shop-web.yaml"),
    ],
)
def test_documents_without_a_name_are_named_after_what_they_are(content, name):
    assert FolderProvider(None).place("document", {"content": content}) == name


@pytest.mark.parametrize(
    "content", [None, [], "x", {}, {"kind": "Pod"}, {"kind": "Pod", "metadata": 1}]
)
def test_documents_without_a_name_that_are_nothing(content):
    with pytest.raises(Exception, match=r"with a name, or with kind and metadata.name"):
        FolderProvider(None).place("document", {"content": content})


def test_a_document_and_a_file_at_one_place_are_one_thing(root, journal):
    with pytest.raises(EngineError, match="one thing that a run wants there"):
        deploy(root, journal, documents={"a": "x"}, files={"a.yaml": "x"})


def test_a_file_with_a_secret_is_its_owners(root, journal):
    before = os.umask(0o022)
    try:
        deploy(root, journal, files={"a": "{{secret:pw}}", "b": "x"}, secrets={"pw": "hush"})
        modes = [stat.S_IMODE((root / each).stat().st_mode) for each in "ab"]
        assert modes == [0o600, 0o644]
        assert (root / "a").read_text() == "hush"
        deploy(root, journal, files={"a": "public", "b": "x"})
        assert stat.S_IMODE((root / "a").stat().st_mode) == 0o644
    finally:
        os.umask(before)


def test_a_disk_that_fails_leaves_what_was_there(root, journal, monkeypatch):
    deploy(root, journal, files={"a": "old"})

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("trundle.providers._folder.write_all", full)
        with pytest.raises(EngineError, match=r"folder/a: .*No space left"):
            deploy(root, journal, files={"a": "new"})
    assert (root / "a").read_text() == "old"
    deploy(root, journal, files={"a": "new"})
    assert files(root) == ["a"]
    assert (root / "a").read_text() == "new"


def test_a_file_is_on_disk_before_it_has_its_name_and_the_name_before_it_is_done(
    root, journal, monkeypatch
):
    deploy(root, journal, files={"a": "x"})
    calls = []
    replace, fsync = os.replace, os.fsync

    def renaming(*names, **more):
        calls.append("name")
        replace(*names, **more)

    def syncing(descriptor):
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "replace", renaming)
    monkeypatch.setattr(os, "fsync", syncing)
    deploy(root, journal, files={"a": "y"})
    assert calls == ["file", "name", "folder"]
