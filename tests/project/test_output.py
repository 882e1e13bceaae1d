import contextlib
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from trundle.project._freshness import PartRecord
from trundle.project._output_places import MANIFEST
from trundle.project._output_tree import (
    TreeComparison,
    compare_tree,
    digests_below,
    read_manifest,
)
from trundle.project.errors import OutputBusyError, OutputError, OutputRefusedError
from trundle.project.output import TreeChange, write_tree

OLD = {"__init__.py": b"old", "v1.py": b"same", "hub/a.py": b"a", "hub/b.py": b"b"}
NEW = {"__init__.py": b"new", "v1.py": b"same", "hub/a.py": b"a2", "v2/c.py": b"c"}


def tree(root):
    found = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name != MANIFEST}


def write(root, files, **options):
    return write_tree(root, files, marker="crm", **options)


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "crm", OLD)
    return tmp_path / "crm"


def only_the_root_is_left(root):
    return [path.name for path in root.parent.iterdir()] == [root.name]


def test_a_new_tree_is_written_with_its_parents(tmp_path):
    root = tmp_path / "a" / "b" / "crm"
    assert write(root, OLD) == TreeChange(written=tuple(sorted(OLD)))
    assert tree(root) == OLD
    assert only_the_root_is_left(root)


def test_the_manifest_lists_what_was_written(root):
    manifest = json.loads((root / MANIFEST).read_text())
    assert manifest["marker"] == "crm"
    assert list(manifest["files"]) == sorted(OLD)
    assert "Do not edit" in manifest["note"]


def test_a_tree_is_replaced_by_just_the_given_files(root):
    assert write(root, NEW) == TreeChange(
        written=("__init__.py", "hub/a.py", "v2/c.py"),
        removed=("hub/b.py",),
        unchanged=("v1.py",),
    )
    assert tree(root) == NEW
    assert only_the_root_is_left(root)


def test_unchanged_files_keep_their_times(root):
    os.utime(root / "v1.py", ns=(1, 1_000_000_000))
    write(root, NEW)
    assert (root / "v1.py").stat().st_mtime_ns == 1_000_000_000


def test_nothing_is_touched_when_nothing_changed(root):
    before = {path: path.stat() for path in (root, *root.rglob("*"))}
    parent = root.parent.stat().st_mtime_ns
    steps = []
    assert write(root, OLD, checkpoint=steps.append) == TreeChange(unchanged=tuple(sorted(OLD)))
    after = {path: path.stat() for path in (root, *root.rglob("*"))}
    assert [(stat.st_ino, stat.st_mtime_ns) for stat in after.values()] == [
        (stat.st_ino, stat.st_mtime_ns) for stat in before.values()
    ]
    assert root.parent.stat().st_mtime_ns == parent
    assert not steps


def test_the_order_of_the_files_does_not_matter(tmp_path):
    write(tmp_path / "a", OLD)
    write(tmp_path / "b", dict(reversed(OLD.items())))
    assert (tmp_path / "a" / MANIFEST).read_bytes() == (tmp_path / "b" / MANIFEST).read_bytes()


def test_an_empty_folder_is_free_to_take(tmp_path):
    (tmp_path / "crm").mkdir()
    write(tmp_path / "crm", OLD)
    assert tree(tmp_path / "crm") == OLD


def test_the_mode_of_the_folder_is_kept(root):
    root.chmod(0o750)
    write(root, NEW)
    assert root.stat().st_mode & 0o777 == 0o750


def test_a_link_to_the_folder_stays_a_link(root):
    link = root.with_name("link")
    link.symlink_to(root)
    write(link, NEW)
    assert link.is_symlink()
    assert tree(root) == NEW


def test_python_caches_are_left_alone(root):
    cache = root / "hub" / "__pycache__"
    cache.mkdir()
    (cache / "a.pyc").write_bytes(b"x")
    assert compare_tree(root, OLD).same
    write(root, NEW)
    assert not list(root.rglob("__pycache__"))


def test_edits_and_foreign_files_are_refused_by_name(root):
    (root / "v1.py").write_text("edited")
    (root / "hub" / "mine.py").write_text("mine")
    (root / "hub" / "b.py").unlink()
    (root / "hub" / "b.py").symlink_to("a.py")
    (root / "linked").symlink_to(root / "hub")
    before = tree(root)
    with pytest.raises(OutputRefusedError) as caught:
        write(root, NEW)
    b, mine, linked, v1 = map(str, caught.value.findings)
    assert b.startswith(
        f"{root / 'hub/b.py'}: expected only generated content, found an edit by hand"
    )
    assert mine.startswith(
        f"{root / 'hub/mine.py'}: expected only generated content, found a file that"
    )
    assert linked.startswith(f"{root / 'linked'}: ")
    assert v1.startswith(f"{root / 'v1.py'}: ")
    assert tree(root) == before
    assert only_the_root_is_left(root)


def test_an_edit_is_refused_even_where_nothing_else_would_change(root):
    (root / "v1.py").write_text("edited")
    with pytest.raises(OutputRefusedError, match="an edit by hand"):
        write(root, OLD)


def test_a_file_that_is_gone_comes_back(root):
    (root / "v1.py").unlink()
    assert write(root, OLD).written == ("v1.py",)


def test_force_replaces_edits_and_foreign_files(root):
    (root / "v1.py").write_text("edited")
    (root / "mine.py").write_text("mine")
    assert write(root, OLD, force=True) == TreeChange(
        written=("v1.py",), removed=("mine.py",), unchanged=("__init__.py", "hub/a.py", "hub/b.py")
    )
    assert tree(root) == OLD


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_of_others_is_never_replaced(tmp_path, force):
    root = tmp_path / "crm"
    root.mkdir()
    (root / "mine.py").write_text("mine")
    with pytest.raises(OutputRefusedError, match=r"found mine\.py; move the folder away"):
        write(root, OLD, force=force)
    assert tree(root) == {"mine.py": b"mine"}


@pytest.mark.parametrize("manifest", ["", "<<<<<<< ours", '{"marker": 1}'])
def test_a_damaged_manifest_is_refused_unless_forced(root, manifest):
    (root / MANIFEST).write_text(manifest)
    with pytest.raises(OutputRefusedError, match="found a damaged one; restore it, or use --force"):
        write(root, NEW)
    assert tree(root) == OLD
    assert write(root, NEW, force=True).unchanged == ("v1.py",)


def test_a_lost_manifest_comes_back_where_all_files_are_as_generated(root):
    (root / MANIFEST).unlink()
    assert write(root, OLD | {"x.py": b""}).written == ("x.py",)
    assert (root / MANIFEST).exists()


@pytest.mark.parametrize("force", [False, True])
def test_the_folder_of_another_project_is_never_replaced(root, force):
    with pytest.raises(
        OutputRefusedError, match="expected a folder of 'other', found one of 'crm'"
    ):
        write_tree(root, NEW, marker="other", force=force)
    assert tree(root) == OLD


def test_a_file_is_never_replaced(tmp_path):
    (tmp_path / "crm").write_text("mine")
    with pytest.raises(OutputRefusedError, match="expected a folder, found a file"):
        write(tmp_path / "crm", OLD, force=True)


@pytest.mark.parametrize(
    "name", ["/a", "../a", "a/../b", "./a", "a//b", "", ".", MANIFEST, "__pycache__/a"]
)
def test_a_path_that_leaves_the_folder_is_refused(tmp_path, name):
    with pytest.raises(OutputError, match="expected the relative path of a file"):
        write(tmp_path / "crm", {name: b""})


def test_a_file_cannot_be_a_folder_too(tmp_path):
    with pytest.raises(OutputError, match="found 'a/b'"):
        write(tmp_path / "crm", {"a": b"", "a/b": b""})


def test_a_comparison_names_every_difference(root):
    (root / "mine.py").write_text("mine")
    assert compare_tree(root, NEW) == TreeComparison(
        missing=("v2/c.py",), changed=("__init__.py", "hub/a.py"), extra=("hub/b.py", "mine.py")
    )
    assert compare_tree(root.with_name("none"), OLD) == TreeComparison(missing=tuple(sorted(OLD)))
    assert not compare_tree(root, NEW).same


def steps_of_a_write(tmp_path):
    steps = []
    write(tmp_path / "count" / "crm", OLD)
    write(tmp_path / "count" / "crm", NEW, checkpoint=steps.append)
    shutil.rmtree(tmp_path / "count")
    return steps


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
def test_a_failure_at_any_step_leaves_the_old_tree_or_the_new(tmp_path, raised):
    steps = steps_of_a_write(tmp_path)
    assert steps == [
        "compare",
        *(f"stage {name}" for name in sorted(NEW)),
        "set aside",
        "put in place",
        "clean up",
    ]
    for at in steps:
        root = tmp_path / at.replace("/", "-") / "crm"
        write(root, OLD)

        def fail(step, at=at):
            if step == at:
                raise raised

        with pytest.raises((KeyboardInterrupt, OutputError)):
            write(root, NEW, checkpoint=fail)
        assert tree(root) == (NEW if at == "clean up" else OLD)
        assert only_the_root_is_left(root)
        write(root, NEW)
        assert tree(root) == NEW


DRIVER = """
    import os, shutil, signal, sys
    from pathlib import Path
    from test_output import NEW, OLD, tree, write
    from trundle.project import compare_tree

    home = Path(sys.argv[1])
    start = {"first": {}, "next": OLD}[sys.argv[2]]
    DEADLY = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "shutil.rmtree", "os.scandir")

    def child(root, number):
        seen = 0

        def kill(event, arguments):
            nonlocal seen
            if event in DEADLY and any(str(home) in str(each) for each in arguments):
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        write(root, NEW)

    number, killed, gone = 0, True, 0
    while killed:
        number += 1
        root = home / str(number) / "crm"
        if start:
            write(root, start)
        pid = os.fork()
        if not pid:
            try:
                child(root, number)
            finally:
                os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        state = tree(root)
        if not root.exists():
            gone += 1
        else:
            assert state in (start, NEW), (number, state)
        if not killed:
            assert state == NEW
        # The next start completes or undoes, whatever it is about to write.
        write(root, OLD, wait=0)
        assert tree(root) == OLD, number
        assert [path.name for path in root.parent.iterdir()] == ["crm"], number
    print(number, gone)
"""


@pytest.mark.parametrize("start", [pytest.param("first", marks=pytest.mark.full), "next"])
def test_a_process_killed_at_any_system_call_leaves_the_old_tree_or_the_new(tmp_path, start):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRIVER), str(tmp_path), start],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moments, gone = map(int, done.stdout.split())
    assert moments > 20
    if start == "next":
        assert gone == 1  # between the two renames; the next start puts the old tree back


def test_a_tree_set_aside_is_put_back_where_its_place_is_free(root):
    backup = root.with_name(".crm.trundle-old")
    root.rename(backup)
    root.mkdir()
    assert write(root, OLD).unchanged == tuple(sorted(OLD))
    assert only_the_root_is_left(root)


def test_a_tree_set_aside_is_kept_where_its_place_was_taken(root):
    backup = root.with_name(".crm.trundle-old")
    root.rename(backup)
    root.mkdir()
    (root / "mine.py").write_text("mine")
    with pytest.raises(OutputRefusedError):
        write(root, NEW)
    assert tree(backup) == OLD
    assert tree(root) == {"mine.py": b"mine"}


def test_a_second_writer_waits_its_turn(root):
    entered, release = threading.Event(), threading.Event()

    def hold(step):
        if step == "compare":
            entered.set()
            assert release.wait(120)

    first = threading.Thread(target=write, args=(root, NEW), kwargs={"checkpoint": hold})
    first.start()
    assert entered.wait(120)
    with pytest.raises(OutputBusyError, match="found another process writing it; try again later"):
        write(root, OLD | {"x.py": b""}, wait=0)
    second = threading.Thread(target=write, args=(root, OLD | {"x.py": b""}))
    second.start()
    release.set()
    first.join()
    second.join()
    assert tree(root) == OLD | {"x.py": b""}
    assert only_the_root_is_left(root)


def test_many_writers_at_once_never_mix_their_trees(root):
    trees = [{f"{number}.py": b"x", "__init__.py": str(number).encode()} for number in range(8)]
    threads = [threading.Thread(target=write, args=(root, files)) for files in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tree(root) in trees
    assert only_the_root_is_left(root)


def test_a_folder_is_replaced_before_any_read_of_a_file_in_it(root, monkeypatch):
    """What a reader finds is in the old tree or in the new one, or gone."""
    read, step, interrupted = Path.read_bytes, 0, True
    while interrupted:
        step += 1
        write(root, OLD)
        reads = []

        def reading(path, reads=reads, step=step):
            reads.append(path)
            if len(reads) == step:
                monkeypatch.setattr(Path, "read_bytes", read)
                write(root, NEW)
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", reading)
        found = digests_below(root)
        monkeypatch.setattr(Path, "read_bytes", read)
        interrupted = len(reads) >= step
        digests = {
            name: {hashlib.sha256(files[name]).hexdigest() for files in (OLD, NEW) if name in files}
            for name in OLD | NEW
        }
        assert all(digest is None or digest in digests[name] for name, digest in found.items())
    assert step == len(OLD) + 1


def test_a_reader_waits_while_the_folder_is_put_in_place(root, monkeypatch):
    backup = root.with_name(f".{root.name}.trundle-old")
    root.rename(backup)
    monkeypatch.setattr("time.sleep", lambda _: backup.rename(root))
    assert set(digests_below(root)) == set(OLD)


def test_a_reader_does_not_wait_for_a_dead_writer(root, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    root.rename(root.with_name(f".{root.name}.trundle-old"))
    assert read_manifest(root) is None
    assert 0 < sum(pauses) <= 0.1 + 1e-9


LIMITED = """
    import resource, sys
    from pathlib import Path
    from test_output import NEW, write
    from trundle.project.errors import OutputError

    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        write(Path(sys.argv[1]), NEW | {"z.py": b"x" * 10000})
    except OutputError as error:
        print(error)
"""


@pytest.mark.full
def test_a_write_that_stops_half_way_leaves_the_old_tree(root):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), str(root)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large" in done.stdout
    assert tree(root) == OLD
    assert only_the_root_is_left(root)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if not mount or not unmount or os.geteuid():
        pytest.skip("only root can mount a file system")
    command = [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this machine does not allow mounts")
    yield folder, mount
    subprocess.run([unmount, str(folder)], check=True)


def test_a_full_disk_leaves_the_old_tree(small_disk):
    root = small_disk[0] / "crm"
    write(root, OLD)
    with pytest.raises(OutputError, match="found No space left on device; check"):
        write(root, NEW | {"z.py": b"x" * 1_000_000})
    assert tree(root) == OLD
    assert only_the_root_is_left(root)


def test_a_read_only_disk_is_an_error_unless_nothing_changed(small_disk):
    folder, mount = small_disk
    root = folder / "crm"
    write(root, OLD)
    subprocess.run([mount, "-o", "remount,ro", str(folder)], check=True)
    with pytest.raises(OutputError, match="found Read-only file system"):
        write(root, NEW)
    assert write(root, OLD).unchanged == tuple(sorted(OLD))
    assert tree(root) == OLD


def test_a_folder_without_permission_is_an_error(root, monkeypatch):
    def refuse(self, *arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", refuse)
        with pytest.raises(OutputError, match="Permission denied; check its permissions"):
            write(root, NEW)
    assert tree(root) == OLD
    with contextlib.suppress(OutputError):
        write(root, OLD)
    assert only_the_root_is_left(root)


def test_files_are_copied_where_there_are_no_hard_links(root, monkeypatch):
    def refuse(self, target):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert write(root, NEW).unchanged == ("v1.py",)
    assert tree(root) == NEW


def digests(files):
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_files_that_are_kept_need_no_content(root, monkeypatch):
    kept = digests({name: OLD[name] for name in ("hub/a.py", "v1.py")})
    times = {name: (root / name).stat().st_mtime_ns for name in kept}
    for _ in range(2):
        change = write(root, {"__init__.py": b"next"}, kept=kept, made={"from": 1})
        assert tree(root) == {"__init__.py": b"next", "hub/a.py": b"a", "v1.py": b"same"}
        assert {name: (root / name).stat().st_mtime_ns for name in kept} == times
    assert change.unchanged == ("__init__.py", "hub/a.py", "v1.py")
    assert read_manifest(root).made == {"from": 1}
    monkeypatch.setattr(Path, "hardlink_to", lambda *_: (_ for _ in ()).throw(OSError))
    write(root, {"__init__.py": b"last"}, kept=kept)
    assert tree(root) == {"__init__.py": b"last", "hub/a.py": b"a", "v1.py": b"same"}


def test_what_a_tree_was_made_from_can_change_alone(root):
    change = write(root, OLD, made={"from": 2})
    assert (change.written, change.removed) == ((), ())
    assert read_manifest(root).made == {"from": 2}


@pytest.mark.parametrize("damage", ["remove", "rewrite"])
def test_kept_files_that_are_not_there_any_more_are_not_guessed(root, damage):
    kept = digests(OLD)
    if damage == "remove":
        (root / "v1.py").unlink()
    else:
        write(root, {**OLD, "v1.py": b"by another process"})
    before = tree(root)
    with pytest.raises(OutputBusyError, match="other files than a moment ago"):
        write(root, {}, kept=kept)
    assert tree(root) == before
    assert compare_tree(root, {}, kept=kept).same is False


def test_a_manifest_that_says_the_same_in_another_layout_is_not_written_again(root):
    made = PartRecord("key", {"a": "1"}, {}, (("rule", "place"),), ("Person",), ("v1",))
    assert not write(root, OLD, made=made).written
    path = root / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text())))
    laid_out = path.read_bytes()
    assert write(root, OLD, made=made).unchanged == tuple(sorted(OLD))
    assert path.read_bytes() == laid_out
