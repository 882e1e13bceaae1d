import hashlib
import io
import os
import socket
import tarfile

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.packages import (
    ArchiveLimits,
    ManifestError,
    ManifestMissingError,
    PackError,
    pack,
    unpack,
)
from trundle.packages import _pack as module

APP = "name: app\nversion: 1.0.0\n"


def make(folder, files, app=APP):
    for name, content in {"app.yaml": app, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def packed(folder, **options):
    target = io.BytesIO()
    result = pack(folder, target, **options)
    assert result.size == len(target.getvalue())
    assert result.digest == f"sha256:{hashlib.sha256(target.getvalue()).hexdigest()}"
    return result, target.getvalue()


def findings(folder, **options):
    with pytest.raises(PackError) as caught:
        pack(folder, io.BytesIO(), **options)
    return tuple(map(str, caught.value.findings))


FILES = {
    "schemas/v1.yaml": "a",
    "schemas/v2.yaml": "b",
    "b.txt": "",
    "a/b/c": b"\x00" * 5000,
    "ä": "x",
}


def test_the_digest_is_the_same_on_every_machine_and_in_every_release(tmp_path):
    """The digest is part of what is published: if it changes, packages that are installed look forged."""
    folder = make(
        tmp_path, {**FILES, "bin/run": "#!/bin/sh\n", "d" * 120 + "/" + "f" * 150: "long"}
    )
    (folder / "bin/run").chmod(0o755)
    result, _ = packed(folder)
    assert (
        result.digest == "sha256:cb657b6cd2f2883043996cf4fcf56c587f86bce17a1d4d57eb8fe5818bfb8a64"
    )


def test_the_digest_depends_on_content_names_and_the_right_to_run_alone(tmp_path):
    first = make(tmp_path / "first", FILES)
    expected, data = packed(first)
    old = os.umask(0o077)
    try:
        second = make(tmp_path / "second", dict(reversed(FILES.items())))
    finally:
        os.umask(old)
    for path in second.rglob("*"):
        os.utime(path, (1, 1))
    (second / "empty/folder").mkdir(parents=True)
    assert packed(second) == (expected, data)
    (second / "b.txt").chmod(0o640)
    assert packed(second)[1] == data
    (second / "b.txt").chmod(0o700)
    assert packed(second)[1] != data


NAMES = st.text(st.sampled_from("abcé-_. "), min_size=1, max_size=5).filter(
    lambda name: name not in (".", "..")
)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.tuples(st.binary(max_size=600), st.booleans()),
    max_size=6,
)  # fmt: skip


@settings(max_examples=amount(60), deadline=None)  # the disk takes its time
@given(TREES, st.randoms(use_true_random=False))
def test_a_package_survives_packing_and_unpacking(tmp_path_factory, tree, chance):
    names = [name for name in tree if not any(other.startswith(f"{name}/") for other in tree)]
    root = tmp_path_factory.mktemp("tree")
    results = set()
    for place in ("one", "two"):
        make(root / place, {name: tree[name][0] for name in chance.sample(names, len(names))})
        for name in names:
            (root / place / name).chmod(0o755 if tree[name][1] else 0o644)
            os.utime(root / place / name, (chance.randrange(10**9),) * 2)
        results.add(packed(root / place))
    ((result, data),) = results
    assert unpack(io.BytesIO(data), root / "three") == result.files
    for name in names:
        path = root / "three" / name
        assert path.read_bytes() == tree[name][0]
        assert path.stat().st_mode & 0o777 == (0o755 if tree[name][1] else 0o644)
    assert packed(root / "three") == (result, data)


def test_the_archive_is_a_plain_tar_that_others_read(tmp_path):
    result, data = packed(make(tmp_path, FILES))
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        members = archive.getmembers()
    assert tuple(each.name for each in members) == result.files
    assert list(result.files) == sorted(["app.yaml", *FILES], key=str.encode)
    assert {
        (each.uid, each.gid, each.uname, each.gname, each.mtime, each.mode) for each in members
    } == {(0, 0, "", "", 0, 0o644)}
    assert result.manifest.name == "app"


def test_what_a_user_expects_is_left_out(tmp_path):
    junk = [
        ".git/config",
        "x/__pycache__/a.pyc",
        "x/a.pyc",
        ".venv/x",
        "a.swp",
        "b~",
        ".DS_Store",
        ".mypy_cache/x",
    ]
    kept = {"x/a.py": "", ".hidden": "", "git/config": "", ".gitignore": "x"}
    folder = make(tmp_path, dict.fromkeys(junk, "") | kept)
    assert set(packed(folder)[0].files) == {"app.yaml", *kept}


def test_an_ignore_file_leaves_out_more_and_takes_back_in(tmp_path):
    ignore = "# notes\n*.log\n/build/\n!keep.log\n!.vscode/\napp.yaml\ndeep/**/x\n"
    files = [
        "a.log",
        "keep.log",
        "sub/b.log",
        "build/out",
        "sub/build/out",
        ".vscode/settings.json",
        "deep/a/b/x",
    ]
    folder = make(tmp_path, dict.fromkeys(files, "") | {".trundleignore": ignore})
    result, data = packed(folder)
    assert result.files == (
        ".trundleignore", ".vscode/settings.json", "app.yaml", "keep.log", "sub/build/out",
    )  # fmt: skip
    unpack(io.BytesIO(data), tmp_path / "build/again")
    assert packed(tmp_path / "build/again")[1] == data


KEY = "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n"
LOCKED = KEY.replace("PRIVATE", "ENCRYPTED PRIVATE")
LAYOUT = {"registry/oci-layout": "{}", "registry/index.json": "{}", "registry/blobs/sha256/0": ""}


def test_private_keys_and_registries_are_not_packed_by_mistake(tmp_path):
    files = {"keys/online.pem": KEY, "keys/root": LOCKED, "keys/root.json": "{}"} | LAYOUT
    folder = make(tmp_path, files)
    found = findings(folder)
    assert [each.partition(":")[0] for each in found] == [
        str(folder / name) for name in ("keys/online.pem", "keys/root", "registry")
    ]
    assert "a line into" in found[0]
    assert "keys/online.pem leaves it out, and !keys/online.pem packs it" in found[0]
    (folder / ".trundleignore").write_text("keys/*.pem\n!keys/root\nregistry/\n")
    names = packed(folder)[0].files
    assert names == (".trundleignore", "app.yaml", "keys/root", "keys/root.json")
    (folder / ".trundleignore").write_text("keys/\n!registry/\n")
    assert "registry/oci-layout" in packed(folder)[0].files


def test_a_link_in_the_package_is_packed_as_what_it_leads_to(tmp_path):
    folder = make(tmp_path / "p", {"v1/a": "content"})
    (folder / "latest").symlink_to("v1/a")
    _, data = packed(folder)
    unpack(io.BytesIO(data), tmp_path / "out")
    assert (tmp_path / "out/latest").read_text() == "content"
    assert not (tmp_path / "out/latest").is_symlink()


def test_everything_that_cannot_be_packed_is_listed(tmp_path):
    folder = make(
        tmp_path / "p", {"File": "", "file": "", "dir/x": "", "Dir/y": "", "a\nb": "", "c\\d": ""}
    )
    (tmp_path / "secret").write_text("")
    (folder / "outside").symlink_to("../secret")
    (folder / "absolute").symlink_to("/etc/passwd")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").symlink_to("dir")
    os.mkfifo(folder / "pipe")
    found = findings(folder)
    for name, text in {
        "outside": "expected links that stay in the package, found a link to ../secret, outside it",
        "absolute": "found a link to /etc/passwd, outside it",
        "dangling": "found one to nowhere, which is not there",
        "loop": "expected a link to a file, found one to loop",
        "folder": "found one to dir, a folder",
        "pipe": "expected files and folders only, found a named pipe",
        "file": "expected names that differ by more than letter case and accents, found also File",
        "dir/x": "found also Dir",
        "a\nb": "U+000A in it",
        "c\\d": "U+005C in it",
    }.items():
        (one,) = (each for each in found if each.startswith(f"{folder}/{name}: "))
        assert text in one
    assert len(found) == 10


def test_names_that_differ_by_accents_alone_are_refused(tmp_path):
    folder = make(tmp_path, {"\u00e9": "", "e\u0301": ""})
    assert "letter case and accents" in findings(folder)[0]


def test_a_name_that_is_not_utf_8_is_refused(tmp_path):
    make(tmp_path, {})
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff", os.O_CREAT))
    (one,) = findings(tmp_path)
    assert (
        one == f"{tmp_path}/bad\\xff: expected a name in UTF-8, found other bytes; rename the file"
    )


def test_a_path_that_is_too_long_is_refused(tmp_path):
    make(tmp_path, {"/".join(["d" * 200] * 5 + ["f"]): ""})
    assert "expected a path of at most 1000 bytes, found 1006" in findings(tmp_path)[0]


def test_a_socket_is_refused(tmp_path, monkeypatch):
    make(tmp_path, {})
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("sock")
        assert "found a socket" in findings(tmp_path)[0]


def test_what_cannot_be_read_is_refused(tmp_path, monkeypatch):
    folder = make(tmp_path, {"a": "", "b/c": ""})
    monkeypatch.setattr(os, "access", lambda path, _mode: path.name != "a")
    assert findings(folder)[0].startswith(f"{folder}/a: expected a readable file")
    scandir = os.scandir

    def denied(path):
        if str(path).endswith("/b"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    assert any(
        each.startswith(f"{folder}/b: ") and "Permission denied" in each
        for each in findings(folder)
    )


def test_too_much_is_refused(tmp_path):
    folder = make(tmp_path, {"a": "x" * 100, "b": ""})
    assert "at most 2 files, found 3" in findings(folder, limits=ArchiveLimits(files=2))[0]
    assert "at most 100 bytes, found 125" in findings(folder, limits=ArchiveLimits(size=100))[0]


def test_a_file_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    folder = make(tmp_path, {"a": "x" * 100})
    add = tarfile.TarFile.addfile

    def slow(self, member, content):
        add(self, member, content)
        if member.name == "a":
            (folder / "a").write_text("y" * 101)

    monkeypatch.setattr(tarfile.TarFile, "addfile", slow)
    assert (
        "expected a file that stays as it is while it is packed, found other content"
        in findings(folder)[0]
    )


def test_a_file_that_shrinks_vanishes_or_becomes_a_link_is_refused(tmp_path, monkeypatch):
    folder = make(tmp_path, {"a": "x" * 100})
    tree = module.package_files(folder)
    monkeypatch.setattr(module, "package_files", lambda _: tree)
    (folder / "a").unlink()
    assert "No such file" in findings(folder)[0]
    (folder / "a").symlink_to("app.yaml")
    assert "found this: " in findings(folder)[0]
    (folder / "a").unlink()
    os.mkfifo(folder / "a")
    assert "found something else" in findings(folder)[0]


def test_a_manifest_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    folder = make(tmp_path, {})
    monkeypatch.setattr(
        module, "manifest_text", lambda _: (b"name: b\nversion: 1.0.0\n", "app.yaml")
    )
    assert "found other content" in findings(folder)[0]


def test_a_folder_without_or_with_a_bad_manifest_is_refused(tmp_path):
    with pytest.raises(ManifestMissingError):
        pack(tmp_path, io.BytesIO())
    make(tmp_path, {"pipe~": "", "A": "", "a": ""}, app="name: app\n")
    with pytest.raises(ManifestError) as caught:
        pack(tmp_path, io.BytesIO())
    assert len(caught.value.findings) == 2


def test_files_that_the_manifest_names_must_be_there(tmp_path):
    app = APP + "classes: {a.B: b.yaml, a.C: c.yaml, a.D: d.yaml}\nui: form.yaml\n"
    folder = make(tmp_path, {"b.yaml": "", "Classes/c.yaml": ""}, app)
    found = findings(folder)
    assert len(found) == 2
    assert "expected the file d.yaml or Classes/d.yaml in the package, found neither" in found[0]
    assert "form.yaml or UI/form.yaml" in found[1]


@pytest.mark.parametrize(
    ("ignore", "text"), [(b"\xff", "expected UTF-8 text"), (b"a\n!\n", "patterns as in .gitignore")]
)
def test_a_bad_ignore_file_is_refused(tmp_path, ignore, text):
    assert text in findings(make(tmp_path, {".trundleignore": ignore}))[0]
