"""What holds for a repository of either kind, in a folder and at a real registry."""

import hashlib
import os

import pytest
from artifacts import LAYER, manifest, push, push_index
from losing import lose_manifest

from trundle.registry import (
    OCI_MANIFEST,
    ConflictError,
    Descriptor,
    DigestMismatchError,
    InvalidManifestError,
    InvalidReferenceError,
    NotFoundError,
    TooLargeError,
    describe,
    digest_of,
)

ABSENT = digest_of(b"absent")


def test_a_blob_is_read_as_it_was_put(repository):
    descriptor = describe(b"hello", LAYER)
    assert not repository.has_blob(descriptor)
    repository.put_blob(b"hello", descriptor)
    repository.put_blob(b"hello", descriptor)
    assert repository.has_blob(descriptor)
    assert repository.read_blob(descriptor, limit=5) == b"hello"


def test_an_empty_blob_is_content_like_any_other(repository, tmp_path):
    descriptor = describe(b"", LAYER)
    repository.put_blob(b"", descriptor)
    repository.fetch_blob(descriptor, tmp_path / "blob")
    assert (tmp_path / "blob").read_bytes() == b""


def test_a_large_blob_streams_through_files(repository, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    content = os.urandom(1 << 20) * 5 + b"end"
    source.write_bytes(content)
    descriptor = describe(content, LAYER)
    sent, received = [], []
    repository.put_blob(source, descriptor, progress=sent.append)
    repository.fetch_blob(descriptor, target, progress=received.append)
    assert hashlib.sha256(target.read_bytes()).hexdigest() == descriptor.digest[7:]
    assert sum(sent) == sum(received) == len(content)
    assert len(received) > 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
        "source",
        "target",
    ]


def test_a_blob_that_is_not_what_it_says_is_not_stored(repository, tmp_path):
    descriptor = describe(b"hello", LAYER)
    with pytest.raises(DigestMismatchError, match=descriptor.digest):
        repository.put_blob(b"hallo", descriptor)
    file = tmp_path / "blob"
    for content in (b"hallo", b"hello!", b"hell"):
        file.write_bytes(content)
        with pytest.raises(DigestMismatchError, match=descriptor.digest):
            repository.put_blob(file, descriptor)
    assert not repository.has_blob(descriptor)
    repository.put_blob(b"hello", descriptor)
    assert repository.read_blob(descriptor, limit=5) == b"hello"


def test_an_absent_blob_is_not_found(repository, tmp_path):
    descriptor = Descriptor(media_type=LAYER, digest=ABSENT, size=6)
    with pytest.raises(NotFoundError, match=ABSENT):
        repository.read_blob(descriptor, limit=6)
    with pytest.raises(NotFoundError, match=ABSENT):
        repository.fetch_blob(descriptor, tmp_path / "blob")
    assert not list(tmp_path.glob("*blob*"))


def test_a_blob_beyond_the_limit_is_not_read(repository):
    descriptor = describe(b"hello", LAYER)
    repository.put_blob(b"hello", descriptor)
    with pytest.raises(TooLargeError, match="at most 4"):
        repository.read_blob(descriptor, limit=4)


def test_a_descriptor_that_lies_about_the_size_is_found_out(repository, tmp_path):
    descriptor = describe(b"hello", LAYER)
    repository.put_blob(b"hello", descriptor)
    for size in (4, 6):
        wrong = Descriptor(media_type=LAYER, digest=descriptor.digest, size=size)
        with pytest.raises((DigestMismatchError, TooLargeError)):
            repository.read_blob(wrong, limit=100)
    short = Descriptor(media_type=LAYER, digest=descriptor.digest, size=4)
    with pytest.raises(DigestMismatchError):
        repository.fetch_blob(short, tmp_path / "blob")
    assert not list(tmp_path.glob("*blob*"))


def test_inline_data_is_verified_and_not_asked_for(repository):
    wanted = digest_of(b"hello")
    inline = Descriptor(media_type=LAYER, digest=wanted, size=5, data="aGVsbG8=")
    assert repository.read_blob(inline, limit=5) == b"hello"
    forged = Descriptor(media_type=LAYER, digest=wanted, size=5, data="aGFsbG8=")
    with pytest.raises(DigestMismatchError):
        repository.read_blob(forged, limit=5)


def test_a_download_goes_on_where_it_stopped(repository, tmp_path):
    content = os.urandom(3_000_000)
    descriptor = describe(content, LAYER)
    repository.put_blob(content, descriptor)
    partial, seen = tmp_path / "partial", []
    partial.write_bytes(content[:2_000_000])
    repository.fetch_blob(descriptor, tmp_path / "blob", partial=partial, progress=seen.append)
    assert (tmp_path / "blob").read_bytes() == content
    assert sum(seen) == len(content)
    assert not partial.exists()


@pytest.mark.parametrize("length", [2_000_000, 3_000_000, 3_000_001])
def test_rubbish_of_an_earlier_download_is_fetched_again(repository, tmp_path, length):
    content = os.urandom(3_000_000)
    descriptor = describe(content, LAYER)
    repository.put_blob(content, descriptor)
    partial = tmp_path / "partial"
    partial.write_bytes(b"x" * length)
    repository.fetch_blob(descriptor, tmp_path / "blob", partial=partial)
    assert (tmp_path / "blob").read_bytes() == content


def test_a_manifest_is_read_by_tag_and_by_digest(repository):
    descriptor = push(repository, b"layer", tag="1.0.0", annotations={"a": "b"})
    for reference in ("1.0.0", descriptor.digest):
        stored = repository.get_manifest(reference)
        assert stored.content == manifest(b"layer", annotations={"a": "b"})
        assert stored.descriptor == descriptor
        assert stored.document.annotations == {"a": "b"}
    assert repository.resolve("1.0.0").digest == descriptor.digest
    assert repository.has_manifest(descriptor.digest)
    assert not repository.has_manifest(ABSENT)


def test_an_absent_manifest_is_not_found(repository):
    for reference in ("1.0.0", ABSENT):
        with pytest.raises(NotFoundError, match=reference):
            repository.get_manifest(reference)
    with pytest.raises(NotFoundError, match=r"1\.0\.0"):
        repository.resolve("1.0.0")
    push(repository, tag="2.0.0")
    with pytest.raises(NotFoundError):
        repository.get_manifest("1.0.0")


def test_a_manifest_without_its_parts_is_refused(repository):
    push(repository, b"other")
    with pytest.raises(NotFoundError):
        repository.put_manifest(manifest(b"never put"), OCI_MANIFEST, tag="1.0.0")
    assert repository.tags() == []


def test_a_damaged_manifest_in_a_folder_is_found_by_its_digest(layout, tmp_path):
    descriptor = push(layout, b"1")
    path = next(tmp_path.rglob(descriptor.digest[7:]))
    path.write_bytes(b"no JSON at all")
    with pytest.raises(DigestMismatchError, match=descriptor.digest):
        layout.get_manifest(descriptor.digest)


def test_what_is_no_manifest_is_refused(repository):
    for content in (b"", b"[]", b'{"schemaVersion": 2}', b'{"schemaVersion": 1, "layers": []}'):
        with pytest.raises(InvalidManifestError):
            repository.put_manifest(content, OCI_MANIFEST)
    with pytest.raises(TooLargeError):
        repository.put_manifest(b" " * (4 * 1024 * 1024 + 1), OCI_MANIFEST)


def test_tags_are_sorted_and_point_to_the_last_one_set(repository):
    assert repository.tags() == []
    first, second = push(repository, b"1", tag="b"), push(repository, b"2", tag="a")
    push(repository, b"3", tag="_trundle.own")
    assert repository.tags() == ["a", "b"]
    assert repository.tags(internal=True) == ["_trundle.own"]
    repository.set_tag("b", second.digest)
    assert repository.resolve("b").digest == second.digest
    assert repository.get_manifest(first.digest).descriptor == first


def test_a_tag_is_set_only_if_it_is_as_expected(repository):
    first, second = push(repository, b"1"), push(repository, b"2")
    with pytest.raises(ConflictError, match="no such tag"):
        repository.set_tag("stable", first.digest, expected=second.digest)
    repository.set_tag("stable", first.digest, expected=None)
    with pytest.raises(ConflictError, match=first.digest):
        repository.set_tag("stable", second.digest, expected=None)
    with pytest.raises(ConflictError, match=first.digest):
        repository.set_tag("stable", second.digest, expected=second.digest)
    assert repository.resolve("stable").digest == first.digest
    repository.set_tag("stable", second.digest, expected=first.digest)
    assert repository.resolve("stable").digest == second.digest


def test_a_manifest_is_put_only_if_its_tag_is_as_expected(repository):
    first = push(repository, b"1", tag="stable")
    push(repository, b"2")
    with pytest.raises(ConflictError):
        repository.put_manifest(manifest(b"2"), OCI_MANIFEST, tag="stable", expected=None)
    assert repository.resolve("stable").digest == first.digest
    new = repository.put_manifest(manifest(b"2"), OCI_MANIFEST, tag="stable", expected=first.digest)
    assert repository.resolve("stable").digest == new.digest


def test_a_tag_for_an_absent_manifest_is_refused(repository):
    push(repository, b"1")
    with pytest.raises(NotFoundError):
        repository.set_tag("stable", ABSENT)


@pytest.mark.parametrize("tag", ["", "1.0+2", "a/b", "-a", "a" * 129, "a b", "../x"])
def test_what_cannot_be_a_tag_is_refused(repository, tag):
    digest = push(repository, b"1").digest
    with pytest.raises(InvalidReferenceError):
        repository.set_tag(tag, digest)
    with pytest.raises(InvalidReferenceError):
        repository.resolve(tag)


@pytest.mark.parametrize("digest", ["sha256:../../index.json", "sha256:" + "A" * 64, "md5:0"])
def test_what_cannot_be_a_digest_is_refused(repository, digest):
    with pytest.raises(InvalidReferenceError):
        repository.has_manifest(digest)
    with pytest.raises(InvalidReferenceError):
        repository.has_blob(Descriptor(media_type=LAYER, digest=digest, size=1))


def test_a_tag_is_removed(repository):
    push(repository, b"1", tag="1.0.0")
    push(repository, b"2", tag="2.0.0")
    repository.remove_tag("1.0.0")
    assert repository.tags() == ["2.0.0"]
    with pytest.raises(NotFoundError):
        repository.remove_tag("1.0.0")
    repository.remove_unique_tag("1.0.0")


def test_a_manifest_that_went_with_its_tag_comes_back(repository):
    descriptor = push(repository, b"1", tag="1.0.0")
    assert repository.restore_manifest(descriptor.digest)
    repository.remove_tag("1.0.0")
    assert repository.restore_manifest(descriptor.digest)
    assert repository.get_manifest(descriptor.digest).descriptor == descriptor
    assert repository.tags() == []
    assert not repository.restore_manifest(ABSENT)


def test_an_index_has_members(repository):
    first, second = push(repository, b"1"), push(repository, b"2")
    index = push_index(repository, first, second, tag="both")
    document = repository.get_manifest("both").document
    assert [each.digest for each in document.children()] == [first.digest, second.digest]
    assert repository.resolve("both").digest == index.digest


def test_referrers_are_listed_by_their_subject(repository):
    subject = push(repository, b"1", tag="1.0.0")
    assert repository.referrers(subject.digest) == ()
    kinds = ["application/signature", "application/sbom"]
    pushed = {
        push(repository, kind.encode(), subject=subject, artifact_type=kind).digest: kind
        for kind in kinds
    }
    push(repository, kinds[0].encode(), subject=subject, artifact_type=kinds[0])
    found = repository.referrers(subject.digest)
    assert {each.digest: each.artifact_type for each in found} == pushed
    assert repository.tags() == ["1.0.0"]


def test_a_deleted_referrer_does_not_hinder_the_next(repository):
    subject = push(repository, b"1", tag="1.0.0")
    first = push(repository, b"a", subject=subject)
    lose_manifest(repository, first.digest)
    second = push(repository, b"b", subject=subject)
    assert [each.digest for each in repository.referrers(subject.digest)] == [second.digest]
