"""Image layouts in folders: what other tools see, what is left of a crash, and what is collected."""

import concurrent.futures
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import serving
from amounts import full
from artifacts import LAYER, push, push_index
from losing import lose_manifest

from trundle._locking import locked
from trundle.registry import (
    BusyError,
    DigestMismatchError,
    DirectoryRegistry,
    DirectoryRepository,
    InvalidManifestError,
    InvalidReferenceError,
    NotFoundError,
    StorageError,
    _collect,
    _layout,
    describe,
    open_repository,
)
from trundle.registry._files import Download

SCRIPT = Path(__file__).with_name("changing.py")
HOUR = 3600.0


def blobs(repository):
    return {path.name for path in (repository.folder / "blobs" / "sha256").iterdir()}


def skopeo(*arguments):
    program = serving.program("skopeo")
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_layout_has_the_files_of_the_specification(layout):
    push(layout, b"1", tag="1.0.0")
    assert json.loads((layout.folder / "oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads((layout.folder / "index.json").read_text())
    assert index["schemaVersion"] == 2
    [entry] = index["manifests"]
    assert entry["annotations"] == {"org.opencontainers.image.ref.name": "1.0.0"}
    assert entry["digest"][7:] in blobs(layout)


def test_skopeo_reads_a_layout(layout):
    descriptor = push(layout, b"1", tag="1.2.3-beta_123")
    # The root of a registry and a repository, as references have them: a double slash is one for others.
    for name in (f"oci:{layout.folder}:1.2.3-beta_123", f"{layout.location}:1.2.3-beta_123"):
        raw = skopeo("inspect", "--raw", name)
        assert raw.encode() == layout.get_manifest(descriptor.digest).content


def test_skopeo_copies_a_layout_and_what_it_writes_is_read(layout, tmp_path):
    descriptor = push(layout, b"1", b"2", tag="1.0.0")
    target = tmp_path / "copy"
    skopeo("copy", "--preserve-digests", f"oci:{layout.folder}:1.0.0", f"oci:{target}:1.0.0")
    copied = open_repository(f"oci:{target}")
    assert copied.resolve("1.0.0").digest == descriptor.digest
    assert copied.read_blob(describe(b"2", LAYER), limit=1) == b"2"
    push(copied, b"3", tag="2.0.0")
    assert copied.tags() == ["1.0.0", "2.0.0"]


def test_the_layout_in_a_folder_itself_is_the_repository_without_a_name(layout):
    push(layout, b"1", tag="1.0.0")
    assert open_repository(f"oci:{layout.folder}").tags() == ["1.0.0"]
    assert open_repository(layout.location).tags() == ["1.0.0"]


def test_repositories_below_each_other_are_apart(tmp_path):
    registry = DirectoryRegistry(tmp_path)
    push(registry.repository("acme"), b"1", tag="a")
    push(registry.repository("acme/crm"), b"2", tag="b")
    assert registry.repository("acme").tags() == ["a"]
    assert registry.repository("acme/crm").tags() == ["b"]


@pytest.mark.parametrize(
    "name", ["acme/blobs", "blobs", "../x", "Acme", "a//b", "/a", "a/", "a" * 256]
)
def test_what_cannot_be_a_repository_is_refused(tmp_path, name):
    with pytest.raises(InvalidReferenceError):
        DirectoryRegistry(tmp_path).repository(name)


def test_reading_makes_nothing(layout):
    assert layout.tags() == []
    with pytest.raises(NotFoundError):
        layout.get_manifest("1.0.0")
    assert not layout.folder.exists()


def test_damaged_content_is_found_when_it_is_read(layout, tmp_path):
    descriptor = push(layout, b"layer", tag="1.0.0")
    layer = describe(b"layer", LAYER)
    for each in (layer, descriptor):
        path = layout.blob_file(each)
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(DigestMismatchError):
        layout.read_blob(layer, limit=5)
    with pytest.raises(DigestMismatchError):
        layout.fetch_blob(layer, tmp_path / "blob")
    for reference in ("1.0.0", descriptor.digest):
        with pytest.raises((DigestMismatchError, InvalidManifestError)):
            layout.get_manifest(reference)


def test_a_blob_of_the_wrong_size_is_put_anew(layout):
    layer = describe(b"layer", LAYER)
    layout.put_blob(b"layer", layer)
    layout.blob_file(layer).write_bytes(b"")
    layout.put_blob(b"layer", layer)
    assert layout.read_blob(layer, limit=5) == b"layer"


@pytest.mark.parametrize("content", ["", "[]", '{"manifests": 1}', '{"manifests": [1]}', "{}"])
def test_an_index_that_is_none_is_named(layout, content):
    push(layout, b"1", tag="1.0.0")
    (layout.folder / "index.json").write_text(content)
    with pytest.raises(InvalidManifestError, match=r"index\.json.*restore"):
        layout.tags()


def test_what_other_tools_wrote_into_the_index_stays(layout):
    descriptor = push(layout, b"1", tag="1.0.0")
    path = layout.folder / "index.json"
    index = json.loads(path.read_text())
    index["annotations"] = {"a": "b"}
    index["manifests"][0]["platform"] = {"os": "linux", "architecture": "any"}
    index["manifests"].append(
        {"mediaType": descriptor.media_type, "digest": descriptor.digest, "size": descriptor.size}
    )
    path.write_text(json.dumps(index))
    push(layout, b"2", tag="2.0.0")
    after = json.loads(path.read_text())
    assert after["annotations"] == {"a": "b"}
    assert after["manifests"][:2] == index["manifests"]


def test_repositories_that_are_open_see_what_others_and_other_tools_change(layout):
    """Each keeps the index that it read; it is read anew as soon as its bytes are others."""
    one, other = layout, type(layout)(layout.folder, layout.location)
    digest = push(one, tag="a").digest
    assert other.tags() == ["a"]
    other.set_tag("c", digest)
    one.set_tag("b", digest)
    assert (one.tags(), other.tags()) == (["a", "b", "c"], ["a", "b", "c"])
    path = layout.folder / "index.json"
    index = json.loads(path.read_text())
    index["manifests"] += index["manifests"]
    path.write_text(json.dumps(index))
    one.remove_tag("b")
    assert (one.tags(), other.tags()) == (["a", "c"], ["a", "c"])
    assert "b" not in [
        each["annotations"]["org.opencontainers.image.ref.name"]
        for each in json.loads(path.read_text())["manifests"]
    ]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        push(DirectoryRegistry(tmp_path / "file").repository("acme/crm"), b"1")


def test_a_layout_that_is_changed_all_the_time_is_busy(layout, monkeypatch):
    push(layout, b"1", tag="1.0.0")
    monkeypatch.setattr(_layout, "_LOCK_WAIT", 0.05)
    with locked(layout.folder / ".trundle" / "index.lock", 0), pytest.raises(BusyError):
        layout.remove_tag("1.0.0")


def test_many_writers_lose_no_tag(layout):
    def write(number):
        for turn in range(10):
            push(layout, b"%d" % number, tag=f"{number}.{turn}")

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        list(pool.map(write, range(10)))
    assert len(layout.tags()) == 100


def test_a_file_that_two_collect_at_once_is_whole_for_both(layout, tmp_path):
    content = os.urandom(4_000_000)
    descriptor = describe(content, LAYER)
    layout.put_blob(content, descriptor)
    meet = threading.Barrier(4)

    def fetch(number):
        meet.wait()
        layout.fetch_blob(descriptor, tmp_path / f"blob{number % 2}", partial=tmp_path / "partial")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(fetch, range(4)))
    for number in (0, 1):
        assert (tmp_path / f"blob{number}").read_bytes() == content


# Crashes


def changed(template, folder, how):
    """The copies of a layout, each with the exit code and the message of the process that changed it."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, SCRIPT, template, folder, how],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for each in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        repository = DirectoryRegistry(each / "packages").repository("acme/crm")
        yield repository, int((each / "code").read_text()), (each / "message").read_text()


def check_whole(repository):
    """Everything that a tag leads to is there and right."""
    for tag in repository.tags() + repository.tags(internal=True):
        document = repository.get_manifest(tag).document
        for blob in document.blobs():
            repository.read_blob(blob, limit=1000)
        for child in document.children():
            repository.get_manifest(child.digest)


def check_usable(repository):
    """What a dead process left over blocks no other process, and is collected."""
    push(repository, b"later", tag="3.0.0")
    repository.collect_garbage(0, now=time.time() + 1)
    check_whole(repository)
    assert list((repository.folder / ".trundle" / "staging").iterdir()) == []


@pytest.mark.full
@pytest.mark.parametrize("how", ["kill", full(str(errno.ENOSPC))])
def test_a_change_that_ends_at_any_system_call_leaves_a_layout_that_reads(tmp_path, how):
    template = tmp_path / "template"
    original = DirectoryRegistry(template).repository("acme/crm")
    old = push(original, b"old", tag="stable")
    original.set_tag("1.0.0", old.digest)
    codes, found = [], set()
    for repository, code, message in changed(template, tmp_path / "copies", how):
        codes.append(code)
        assert code != 1 or "make room on the disk" in message
        check_whole(repository)
        stable = repository.resolve("stable").digest
        found.add((stable == old.digest, *repository.tags()))
        check_usable(repository)
    assert set(codes[:-1]) <= ({9} if how == "kill" else {1, 3})
    assert len(codes) > 50
    assert found == {
        (True, "1.0.0", "stable"),
        (False, "1.0.0", "stable"),
        (False, "1.0.0", "2.0.0", "stable"),
        (False, "2.0.0", "stable"),
    }


@pytest.mark.full
@pytest.mark.parametrize("how", ["kill", full(str(errno.ENOSPC))])
def test_a_layout_whose_maker_ended_anywhere_is_made_whole_by_the_next(tmp_path, how):
    for repository, _, _ in changed("-", tmp_path / "copies", how):
        assert repository.tags() in ([], ["stable"], ["2.0.0", "stable"])
        check_whole(repository)
        check_usable(repository)
        assert (repository.folder / "oci-layout").exists()


# Garbage


def test_what_no_tag_leads_to_is_collected_after_the_grace(layout):
    kept, moved = push(layout, b"1", tag="1.0.0"), push(layout, b"2", tag="latest")
    layout.set_tag("latest", kept.digest)
    now = time.time()
    assert layout.collect_garbage(HOUR, now=now).digests == ()
    later = now + HOUR + 5
    planned = layout.collect_garbage(HOUR, now=later, dry_run=True)
    assert moved.digest in planned.digests
    assert layout.has_manifest(moved.digest)
    done = layout.collect_garbage(HOUR, now=later)
    assert done == planned
    assert set(done.digests) == {moved.digest, describe(b"2", LAYER).digest}
    assert done.size == moved.size + 1
    check_whole(layout)
    assert layout.collect_garbage(HOUR, now=later).digests == ()


def test_what_is_put_again_has_its_grace_again(layout):
    layer = describe(b"2", LAYER)
    layout.put_blob(b"2", layer)
    os.utime(layout.blob_file(layer), (0, 0))
    layout.put_blob(b"2", layer)
    assert layout.collect_garbage(HOUR, now=time.time()).digests == ()


def test_members_and_referrers_of_what_is_tagged_are_kept(layout):
    member = push(layout, b"1")
    index = push_index(layout, member, tag="all")
    signature = push(layout, b"signature", subject=index)
    push(layout, b"of the signature", subject=signature)
    assert layout.collect_garbage(0, now=time.time() + HOUR).digests == ()
    layout.remove_tag("all")
    layout.collect_garbage(0, now=time.time() + HOUR)
    assert blobs(layout) == set()
    assert layout.tags(internal=True) == []


def test_nothing_is_collected_when_a_manifest_cannot_be_read(layout):
    descriptor = push(layout, b"1", tag="1.0.0")
    layout.blob_file(descriptor).write_bytes(b"x" * descriptor.size)
    before = blobs(layout)
    with pytest.raises((InvalidManifestError, DigestMismatchError)):
        layout.collect_garbage(0, now=time.time() + HOUR)
    assert blobs(layout) == before


def test_a_tag_is_not_set_to_what_was_collected_in_part(layout):
    descriptor = push(layout, b"1")
    layout.blob_file(describe(b"1", LAYER)).unlink()
    with pytest.raises(NotFoundError):
        layout.set_tag("1.0.0", descriptor.digest)


def test_what_lost_its_tag_is_kept_for_a_reader_that_looked_it_up(layout):
    other = push(layout, b"other", tag="other")
    for lose in (
        lambda: push(layout, b"new", tag="stable"),
        lambda: layout.set_tag("stable", other.digest),
        lambda: layout.remove_tag("stable"),
    ):
        read = push(layout, b"read", tag="stable")
        for path in (layout.folder / "blobs" / "sha256").iterdir():
            os.utime(path, (0, 0))
        lose()
        layout.collect_garbage(HOUR, now=time.time())
        assert (
            layout.read_blob(layout.get_manifest(read.digest).document.layers[0], limit=10)
            == b"read"
        )


def test_a_tag_that_moves_before_what_it_named_is_read_is_looked_up_again(layout, monkeypatch):
    old = push(layout, b"1", tag="stable")
    read = DirectoryRepository._read

    def read_after_another(*arguments):
        monkeypatch.setattr(DirectoryRepository, "_read", read)
        push(layout, b"2", tag="stable")
        lose_manifest(layout, old.digest)
        return read(*arguments)

    monkeypatch.setattr(DirectoryRepository, "_read", read_after_another)
    assert layout.get_manifest("stable").descriptor == push(layout, b"2")
    layout.blob_file(push(layout, b"2")).unlink()
    with pytest.raises(NotFoundError):
        layout.get_manifest("stable")


def test_a_blob_that_is_put_while_garbage_is_collected_stays(layout, monkeypatch):
    """The one who puts it asks for it after the collector has found that it is old, and before it goes."""
    layer = describe(b"1", LAYER)
    layout.put_blob(b"1", layer)
    os.utime(layout.blob_file(layer), (0, 0))
    again = open_repository(layout.location)
    is_older, putting = _collect._is_older, []

    def is_older_then_put(path, before):
        older = is_older(path, before)
        if path == layout.blob_file(layer) and not putting:
            putting.append(threading.Thread(target=again.put_blob, args=(b"1", layer)))
            putting[0].start()
            putting[0].join(0.2)  # It waits until the collector is done, or is done already.
        return older

    monkeypatch.setattr(_collect, "_is_older", is_older_then_put)
    layout.collect_garbage(HOUR, now=time.time())
    putting[0].join()
    assert layout.has_blob(layer)


def test_a_file_that_another_is_collecting_is_no_garbage(layout, tmp_path):
    content = b"x" * 10
    layer = describe(content, LAYER)
    staged, target = layout.folder / ".trundle" / "staging", tmp_path / "done"
    push(layout, b"1")
    abandoned = staged / "abandoned"
    abandoned.write_bytes(b"x")
    os.utime(abandoned, (0, 0))
    with Download(layer, target, "here", partial=staged / "partial") as download:
        download.write(content)
        os.utime(staged / "partial", (0, 0))
        assert layout.collect_garbage(HOUR, now=time.time()).unfinished == ("abandoned",)
        download.finish()
    assert target.read_bytes() == content


def test_a_process_that_is_forked_meanwhile_holds_no_lock(tmp_path):
    path = tmp_path / "lock"
    with locked(path, 0, shared=True):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    try:
        with locked(path, 0):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
