"""Copies between registries of both kinds keep every digest."""

import os
from pathlib import Path

import pytest
import serving
from artifacts import LAYER, QUICK, push, push_index
from simulating import Simulator

from trundle.registry import (
    Descriptor,
    DigestMismatchError,
    DirectoryRegistry,
    NotFoundError,
    UnreachableError,
    copy,
    describe,
    open_registry,
)


@pytest.fixture(
    params=["directory to http", "http to directory", "directory to directory", "http to http"]
)
def ends(request, tmp_path, server, remote):
    """A source and a target."""
    source, _, target = request.param.partition(" to ")

    def end(kind, name):
        if kind == "directory":
            return DirectoryRegistry(tmp_path / name).repository("acme/crm")
        return open_registry(server, settings=QUICK).repository(f"{remote.name}/{name}")

    return end(source, "source"), end(target, "target")


def check_same(source, target, digest):
    one, two = source.get_manifest(digest), target.get_manifest(digest)
    assert one.content == two.content
    for blob in one.document.blobs():
        limit = 10_000_000
        assert source.read_blob(blob, limit=limit) == target.read_blob(blob, limit=limit)
    for child in one.document.children():
        check_same(source, target, child.digest)


@pytest.mark.full
def test_a_copy_has_the_whole_closure(ends):
    source, target = ends
    first = push(source, b"one", os.urandom(2_000_000))
    second = push(source, b"one", b"two")
    root = push_index(source, first, second, tag="1.0.0")
    signature = push(source, b"signature", subject=root, artifact_type="application/signature")
    countersignature = push(source, b"countersignature", subject=signature)
    sizes = []
    copied = copy(source, target, "1.0.0", progress=sizes.append)
    assert copied.descriptor.digest == root.digest
    assert copied.manifests == (
        first.digest,
        second.digest,
        root.digest,
        signature.digest,
        countersignature.digest,
    )
    assert len(copied.blobs) == 6
    for each in copied.manifests:
        check_same(source, target, each)
    assert target.resolve("1.0.0").digest == root.digest
    assert [each.digest for each in target.referrers(root.digest)] == [signature.digest]
    assert copy(source, target, "1.0.0") == copied


def test_a_copy_by_digest_sets_the_tag_that_is_asked_for(ends):
    source, target = ends
    root = push(source, b"one")
    copy(source, target, root.digest)
    assert target.tags() == []
    copy(source, target, root.digest, tag="1.0.0")
    assert target.resolve("1.0.0").digest == root.digest


def test_a_copy_without_referrers_leaves_them(ends):
    source, target = ends
    root = push(source, b"one", tag="1.0.0")
    push(source, b"signature", subject=root)
    copy(source, target, "1.0.0", referrers=False)
    assert target.referrers(root.digest) == ()


def test_a_copy_of_what_is_absent_changes_nothing(ends):
    source, target = ends
    with pytest.raises(NotFoundError):
        copy(source, target, "1.0.0")
    assert target.tags() == []


def damage(source, descriptor, content):
    path = source.blob_file(descriptor)
    if path is not None:
        path.write_bytes(content)


@pytest.mark.parametrize("target_kind", ["directory", "http"])
def test_a_damaged_source_is_not_copied(layout, tmp_path, remote, target_kind):
    target = (
        remote if target_kind == "http" else DirectoryRegistry(tmp_path / "target").repository("x")
    )
    push(layout, b"one", tag="1.0.0")
    damage(layout, describe(b"one", LAYER), b"two")
    with pytest.raises(DigestMismatchError):
        copy(layout, target, "1.0.0")
    assert target.tags() == []
    assert not target.has_blob(describe(b"one", LAYER))


def test_a_member_that_is_not_as_its_index_says_is_refused(layout, tmp_path):
    member = push(layout, b"one")
    other = Descriptor(media_type=member.media_type, digest=member.digest, size=member.size + 1)
    with pytest.raises(NotFoundError):
        push_index(layout, other, tag="1.0.0")
    with Simulator() as simulator:
        source = open_registry(simulator.address, settings=QUICK).repository("acme/crm")
        push(source, b"one")
        push_index(source, other, tag="1.0.0")
        with pytest.raises(DigestMismatchError):
            copy(source, DirectoryRegistry(tmp_path / "target").repository("x"), "1.0.0")


def test_an_interrupted_copy_shows_nothing_and_goes_on(tmp_path):
    content = os.urandom(1_000_000)
    target = DirectoryRegistry(tmp_path).repository("acme/crm")
    with Simulator() as simulator:
        source = open_registry(simulator.address, settings=QUICK).repository("acme/crm")
        push(source, b"first", content, tag="1.0.0")

        def cut(_handler, _method, path):
            simulator.cut_after = 100_000 if describe(content, LAYER).digest in path else None
            return False

        simulator.faults.append(cut)
        with pytest.raises(UnreachableError):
            copy(source, target, "1.0.0")
        assert target.tags() == []
        simulator.faults.clear()
        simulator.cut_after = None
        simulator.requests.clear()
        copy(source, target, "1.0.0")
        assert target.read_blob(describe(content, LAYER), limit=1_000_000) == content
        assert simulator.asked("GET", "/blobs/") == 1
        ranges = [each["Range"] for each in simulator.headers if "Range" in each]
        assert ranges[-1] == "bytes=400000-"


def test_a_blob_is_mounted_within_one_registry(server, remote, monkeypatch):
    other = open_registry(server, settings=QUICK).repository(f"{remote.name}/other")
    descriptor = describe(b"one", LAYER)
    other.put_blob(b"one", descriptor)
    monkeypatch.setattr(
        type(other), "fetch_blob", lambda *_arguments, **_further: pytest.fail("fetched")
    )
    remote.pull_blob(other, descriptor)
    assert remote.read_blob(descriptor, limit=3) == b"one"


def test_what_was_copied_into_a_folder_is_read_by_skopeo(remote, tmp_path):
    import subprocess

    push(remote, b"one", tag="1.0.0")
    copy(remote, DirectoryRegistry(tmp_path).repository("acme/crm"), "1.0.0")
    name = f"oci:{tmp_path}/acme/crm:1.0.0"
    done = subprocess.run(
        [serving.program("skopeo"), "inspect", "--raw", name], capture_output=True, check=True
    )
    assert done.stdout == remote.get_manifest("1.0.0").content
    assert Path(tmp_path, "acme", "crm", "oci-layout").exists()
