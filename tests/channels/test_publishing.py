"""Publishing, withdrawing and mirroring in a folder and at a real registry, with what the two do differently."""

import pytest
import serving
from losing import lose_manifest
from publishing_support import QUICK, WORD, channel_of, keys_in, now, package, release

from trundle.channels import ChannelError, RefusalCode, RefusedError, Unpublish, operation_to_json
from trundle.channels.publishing import (
    PublishedChannel,
    PublishRequest,
    _repair,
    events,
    mirror,
    packed,
    publish,
    repair,
    restore,
    unpublish,
)
from trundle.channels.reading import open_channel, read_channel
from trundle.channels.reading.signatures import KeyFileError
from trundle.registry import (
    REMOVED_ARTIFACT,
    DirectoryRegistry,
    RegistryRefusedError,
    copy,
    open_registry,
)
from trundle.registry._markers import put_marker
from trundle.version import SemVer

V100, V110 = SemVer.parse("1.0.0"), SemVer.parse("1.1.0")


def served(repository, word=WORD):
    return read_channel(open_channel(word, repository), clock=now, unsigned=True).channel


def test_what_is_published_is_an_artifact_of_that_package(repository, tmp_path):
    folder = package(tmp_path / "a", "1.0.0", changes=["first"], minUpgradeFrom="0.9.0")
    done = release(repository, folder, critical=True)
    entry = served(repository).versions[0]
    assert entry == done.entry
    stored = repository.get_manifest(entry.tag_name)
    assert stored.descriptor.digest == entry.digest
    assert stored.document.artifact_type == "application/vnd.trundle.package.v1"
    parts = (stored.descriptor, *stored.document.blobs())
    assert entry.size == sum(each.size for each in parts)
    assert entry.changes == ("first",)
    assert entry.critical
    assert str(entry.min_upgrade_from) == "0.9.0"


def test_keys_that_a_manifest_has_in_vain_are_noted(repository, tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "FullName: acme.crm\nVersion: 1.0.0\nRequires: {a.B: 1}\n"
    )
    for dry_run in (True, False):
        done = release(repository, folder, dry_run=dry_run)
        assert any("did you mean Require?" in each for each in done.notes)


@pytest.mark.full
def test_unpublishing_spares_what_another_tag_needs(repository, tmp_path):
    folder = package(tmp_path / "a", "1.0.0")
    release(repository, folder, word="beta", suffix="beta.1+7")
    release(repository, folder)
    release(repository, package(tmp_path / "b", "1.1.0"))
    digest = repository.resolve("1.0.0").digest
    assert repository.resolve("1.0.0-beta.1_7").digest == digest
    done = unpublish(channel_of(repository), V100, "a flaw")
    assert repository.resolve("1.0.0-beta.1_7").digest == digest
    assert repository.resolve("1.1.0")
    assert repository.has_manifest(digest)
    assert "1.0.0" not in repository.tags()
    assert done.notes == ()
    channel = channel_of(repository)
    restore(channel, V100)
    assert repository.resolve("1.0.0").digest == digest
    assert repair(channel_of(repository)) == ()


@pytest.mark.full
@pytest.mark.parametrize("undo", [False, True])
def test_a_tag_that_was_left_half_removed_is_in_no_publishers_way(remote, tmp_path, undo):
    folder = package(tmp_path / "a", "1.0.0")
    release(remote, folder, word="beta", suffix="beta.1")
    release(remote, folder)
    release(remote, package(tmp_path / "b", "1.1.0"))
    digest = remote.resolve("1.0.0").digest
    unpublish(channel_of(remote), V100, "a flaw")
    put_marker(remote, "1.0.0", REMOVED_ARTIFACT)  # The first half of removing a shared tag.
    if undo:
        restore(channel_of(remote), V100)
        assert remote.resolve("1.0.0").digest == digest
    else:
        assert [each.kind for each in repair(channel_of(remote))] == ["unpublished-tag"]
        assert "1.0.0" not in remote.tags()
    assert remote.resolve("1.0.0-beta.1").digest == digest
    assert repair(channel_of(remote)) == ()


@pytest.mark.full
def test_what_is_unpublished_comes_back_until_garbage_is_collected(repository, tmp_path):
    release(repository, package(tmp_path / "a", "1.0.0"))
    release(repository, package(tmp_path / "b", "1.1.0"))
    digest = repository.resolve("1.0.0").digest
    unpublish(channel_of(repository), V100, "a flaw")
    assert repository.tags() == ["1.1.0", f"channel.{WORD}"]
    restore(channel_of(repository), V100, dry_run=True)
    assert repository.tags() == ["1.1.0", f"channel.{WORD}"]
    restore(channel_of(repository), V100)
    assert repository.resolve("1.0.0").digest == digest
    assert served(repository).entry(V100)
    assert repair(channel_of(repository)) == ()


@pytest.mark.full
def test_what_was_collected_as_garbage_comes_back_from_its_folder(tmp_path):
    folder = package(tmp_path / "a", "1.0.0")
    with serving.registry(tmp_path / "registry") as address:
        repository = open_registry(address, settings=QUICK).repository("acme/db")
        release(repository, folder)
        release(repository, package(tmp_path / "b", "1.1.0"))
        digest = repository.resolve("1.0.0").digest
        unpublish(channel_of(repository), V100, "a flaw")
        serving.collect_garbage(tmp_path / "registry")
        for dry_run in (True, False):
            with pytest.raises(RefusedError) as caught:
                restore(channel_of(repository), V100, dry_run=dry_run)
            assert caught.value.code is RefusalCode.CONTENT_MISSING
        with packed(folder) as content:
            restore(channel_of(repository), V100, content=content)
        assert repository.resolve("1.0.0").digest == digest
        assert served(repository).entry(V100)


@pytest.mark.full
def test_a_mirror_goes_either_way_and_only_forward(layout, remote, tmp_path):
    keys = keys_in(tmp_path / "keys")
    for source, target in ((layout, remote),):
        release(source, package(tmp_path / "a", "1.0.0"), keys=keys)
        release(source, package(tmp_path / "b", "1.1.0"), keys=keys)
        done = mirror(source, target)
        assert done.copied == ("1.0.0", "1.1.0", f"channel.{WORD}")
        assert [target.resolve(tag) for tag in done.copied] == [
            source.resolve(tag) for tag in done.copied
        ]
        assert mirror(source, target).copied == ()
        unpublish(channel_of(source, keys=keys), V100, "a flaw")
        done = mirror(source, target)
        assert done.removed == ("1.0.0",)
        assert "1.0.0" not in target.tags()
        with pytest.raises(RefusedError) as caught:
            release(target, package(tmp_path / "c", "1.2.0"), keys=keys)
        assert caught.value.code is RefusalCode.STALE_METADATA
        release(source, package(tmp_path / "c", "1.2.0"), keys=keys)
        with pytest.raises(RefusedError) as caught:
            mirror(target, source)
        assert caught.value.code is RefusalCode.STALE_METADATA


@pytest.mark.full
def test_a_registry_is_mirrored_to_a_folder(layout, remote, tmp_path):
    release(remote, package(tmp_path / "a", "1.0.0"))
    release(remote, package(tmp_path / "a", "1.0.1"), word=WORD)
    mirror(remote, layout)
    assert served(layout) == served(remote)
    assert layout.resolve("1.0.1") == remote.resolve("1.0.1")


def test_a_mirror_never_moves_a_version(layout, tmp_path, remote):
    release(layout, package(tmp_path / "a", "1.0.0"))
    release(layout, package(tmp_path / "b", "1.1.0", content="b"))
    copy(layout, remote, "1.1.0", tag="1.0.0")
    with pytest.raises(RefusedError) as caught:
        mirror(layout, remote)
    assert caught.value.code is RefusalCode.TAG_EXISTS


def test_a_key_that_is_missing_is_noticed_before_anything_is_written(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    (keys / "targets.pem").unlink()
    with pytest.raises(KeyFileError, match="targets"):
        release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    assert layout.tags() == []


def test_a_channel_can_be_signed_later(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    keys = keys_in(tmp_path / "keys")
    done = release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    assert any("not signed so far" in note for note in done.notes)
    assert len(release(layout, package(tmp_path / "c", "1.2.0"), keys=keys).channel.versions) == 3


def test_an_operation_that_is_removed_is_missed(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        release(layout, package(tmp_path / version, version), keys=keys)
    unpublish(channel_of(layout, keys=keys), V100, "a flaw")
    ledger = channel_of(layout, keys=keys).ledger
    layout.remove_unique_tag(ledger.tags.tag_of(ledger.entries()[-1]))
    with pytest.raises(RefusedError) as caught:
        release(layout, package(tmp_path / "d", "1.3.0"), keys=keys)
    assert caught.value.code is RefusalCode.STALE_METADATA


def test_an_operation_that_was_recorded_and_is_not_shown_is_shown_by_a_repair(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    release(layout, package(tmp_path / "b", "1.1.0"))
    channel = channel_of(layout)
    operation = Unpublish(version=V100, reason="a flaw", at=now(), seen=2)
    with channel.ledger.turn() as turn:
        turn.append(operation_to_json(operation))
    assert repair(channel, dry_run=True)[0].kind == "head"
    assert served(layout).entry(V100)
    assert {each.kind for each in repair(channel)} == {"head", "unpublished-tag"}
    assert served(layout).entry(V100) is None
    assert "1.0.0" not in layout.tags()


def test_the_log_shows_what_happened_also_without_the_ledger(layout, remote, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0", changes=["first"]))
    release(layout, package(tmp_path / "b", "1.1.0"))
    unpublish(channel_of(layout), V100, "a flaw", keep_content=True)
    kinds = [(each.kind, str(each.version)) for each in events(layout, WORD, clock=now)]
    assert kinds == [("publish", "1.0.0"), ("publish", "1.1.0"), ("unpublish", "1.0.0")]
    mirror(layout, remote)
    assert [(each.kind, str(each.version)) for each in events(remote, WORD, clock=now)] == kinds


@pytest.mark.full
def test_a_repository_is_of_one_package(repository, tmp_path):
    release(repository, package(tmp_path / "a", "1.0.0"))
    folder = package(tmp_path / "b", "1.0.0", name="acme/other")
    before = repository.tags(internal=True)
    for dry_run in (True, False):
        channel = PublishedChannel(repository, "beta", clock=now, package="acme/other")
        with pytest.raises(RefusedError) as caught:
            publish(channel, PublishRequest(folder, suffix="-beta.1", dry_run=dry_run))
        assert caught.value.code is RefusalCode.WRONG_PACKAGE
        assert "expected the package acme/other, found acme/db" in str(caught.value)
    assert repository.tags(internal=True) == before
    release(repository, package(tmp_path / "c", "1.1.0"), word="beta", suffix="-beta.1")


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("acme/db", False),
        ("other/db", False),
        ("db", False),
        ("io.acme.db", False),
        ("acme/other", True),
        ("acme/b", True),
        ("acme/xdb", True),
    ],
)
def test_a_repository_of_another_name_is_noted_once(tmp_path, name, noted):
    registry = DirectoryRegistry(tmp_path / "registry")
    repository = registry.repository("acme/db")
    notes = []
    for version in ("1.0.0", "1.1.0"):
        folder = package(tmp_path / version, version, name=name)
        channel = PublishedChannel(repository, WORD, clock=now, package=name)
        notes.append(publish(channel, PublishRequest(folder)).notes)
    said = f"{repository.location} is not named after the package {name}"
    assert notes == [(said,) if noted else (), ()]


def test_a_channel_of_a_long_word(layout, tmp_path):
    word = "a" * 60
    release(layout, package(tmp_path / "a", "1.0.0"), word=word, suffix=f"{word}.1")
    assert str(served(layout, word).latest) == f"1.0.0-{word}.1"
    assert PublishedChannel(layout, word, clock=now).is_shown()


def test_what_is_no_operation_is_an_error_without_signatures_and_ignored_with_them(
    layout, tmp_path
):
    keys = keys_in(tmp_path / "keys")
    for word, signing in (("beta", None), ("gamma", keys)):
        folder = package(tmp_path / word, "1.0.0")
        release(layout, folder, word=word, suffix=f"{word}.1", keys=signing)
        for payload in (b"nonsense", b'{"payloadType": 1}', b'{"operation": "explode"}'):
            with channel_of(layout, word=word, keys=signing).ledger.turn() as turn:
                turn.append(payload)
    with pytest.raises(ChannelError, match="expected an operation"):
        release(layout, folder, word="beta", suffix="beta.2")
    done = release(layout, folder, word="gamma", suffix="gamma.2", keys=keys)
    assert len(done.channel.versions) == 2
    assert len(done.notes) == 3


def remove_layer(layout, stored):
    layout.blob_file(stored.document.layers[0]).unlink()


def damage_layer(layout, stored):
    layout.blob_file(stored.document.layers[0]).write_bytes(b"x" * stored.document.layers[0].size)


def remove_manifest(layout, stored):
    layout.blob_file(stored.descriptor).unlink()


def damage_manifest(layout, stored):
    layout.blob_file(stored.descriptor).write_bytes(b"{}")


def lengthen_layer(layout, stored):
    with layout.blob_file(stored.document.layers[0]).open("ab") as file:
        file.write(b"x")


FOUND = {
    remove_layer: "found none",
    damage_layer: "found other content",
    lengthen_layer: "found other content",
    remove_manifest: "found none",
    damage_manifest: "found sha256:",
}


@pytest.mark.parametrize("damage", FOUND)
def test_content_that_is_damaged_is_named_and_restored(layout, tmp_path, damage):
    folder = package(tmp_path / "a", "1.0.0")
    release(layout, folder)
    release(layout, package(tmp_path / "b", "1.1.0", content="b"))
    damage(layout, layout.get_manifest("1.0.0"))
    for _ in range(2):  # naming it changes nothing
        (found,) = repair(channel_of(layout))
        assert found.kind == "damaged-content"
        assert ":1.0.0: expected the" in found.what
        assert FOUND[damage] in found.what
        assert "--skip-existing" in found.what
        assert not found.done
    done = release(layout, folder, skip_existing=True)
    assert "restored" in done.notes[0]
    assert repair(channel_of(layout), read_content=True) == ()
    again = release(layout, folder, skip_existing=True)
    assert again.notes == ("1.0.0: published already",)


@pytest.mark.full
def test_content_that_a_registry_lost_is_restored(remote, tmp_path):
    folder = package(tmp_path / "a", "1.0.0")
    release(remote, folder)
    lose_manifest(remote, remote.resolve("1.0.0").digest)
    assert [each.kind for each in repair(channel_of(remote))] == ["damaged-content"]
    release(remote, folder, skip_existing=True)
    assert repair(channel_of(remote)) == ()


@pytest.mark.full
def test_content_of_which_a_registry_lost_a_part_is_named_and_restored_once_the_rest_is_gone(
    tmp_path,
):
    """docker-registry keeps the file of a blob, whatever is in it, however often the blob is pushed."""
    with serving.registry(tmp_path / "registry") as address:
        remote = open_registry(address, settings=QUICK).repository("acme/db")
        folder = package(tmp_path / "a", "1.0.0")
        release(remote, folder)
        digest = remote.get_manifest("1.0.0").document.layers[0].digest
        hexadecimal = digest.removeprefix("sha256:")
        blobs = tmp_path / "registry" / "data/docker/registry/v2/blobs/sha256"
        file = blobs / hexadecimal[:2] / hexadecimal / "data"
        content = file.read_bytes()
        said = f"expected the blob {digest} of 10,240 bytes, found none of this length"
        for length in (0, 100):
            file.write_bytes(content[:length])
            (found,) = repair(channel_of(remote))
            assert (found.kind, said in found.what) == ("damaged-content", True)
        with pytest.raises(RegistryRefusedError, match=r"same as before .*delete the files"):
            release(remote, folder, skip_existing=True)
        file.unlink()
        release(remote, folder, skip_existing=True)
        assert repair(channel_of(remote)) == ()


def change_one_byte(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


class Replacing:
    """A repository of a registry that stores what is pushed also where it has a blob of that digest."""

    def __init__(self, remote, file_of):
        self.remote, self.file_of, self.replaced = remote, file_of, []

    def __getattr__(self, name):
        return getattr(self.remote, name)

    def replace_blob(self, content, descriptor):
        self.replaced.append(descriptor.digest)
        self.file_of(descriptor.digest).unlink()
        self.remote.replace_blob(content, descriptor)


def test_damage_that_keeps_the_length_is_found_by_reading_and_restored(tmp_path):
    with serving.registry(tmp_path / "registry") as address:
        remote = open_registry(address, settings=QUICK).repository("acme/db")
        folder = package(tmp_path / "a", "1.0.0")
        release(remote, folder)
        release(remote, package(tmp_path / "b", "1.1.0", content="b"))
        blobs = tmp_path / "registry" / "data/docker/registry/v2/blobs/sha256"

        def file_of(digest):
            hexadecimal = digest.removeprefix("sha256:")
            return blobs / hexadecimal[:2] / hexadecimal / "data"

        found = remote.get_manifest("1.0.0")
        layer, config = found.document.layers[0].digest, found.document.config.digest
        for digest in (layer, config):
            change_one_byte(file_of(digest))
        assert repair(channel_of(remote)) == ()
        for dry_run in (True, False):
            (found,) = repair(channel_of(remote), dry_run=dry_run, read_content=True)
            assert found.kind == "damaged-content"
            for digest in (layer, config):
                assert f"expected the blob {digest}, found other content" in found.what
            assert not found.done
        # docker-registry keeps what it has.
        with pytest.raises(RegistryRefusedError, match=r"same as before .*delete the files"):
            release(remote, folder, skip_existing=True)
        replacing = Replacing(remote, file_of)
        done = release(replacing, folder, skip_existing=True)
        assert "restored" in done.notes[0]
        assert sorted(replacing.replaced) == sorted([layer, config])
        assert repair(channel_of(remote), read_content=True) == ()
        again = release(replacing, folder, skip_existing=True)
        assert again.notes == ("1.0.0: published already",)


def test_a_manifest_whose_damage_keeps_the_length_is_found_at_a_registry(tmp_path):
    with serving.registry(tmp_path / "registry") as address:
        remote = open_registry(address, settings=QUICK).repository("acme/db")
        release(remote, package(tmp_path / "a", "1.0.0"))
        digest = remote.resolve("1.0.0").digest
        hexadecimal = digest.removeprefix("sha256:")
        blobs = tmp_path / "registry" / "data/docker/registry/v2/blobs/sha256"
        change_one_byte(blobs / hexadecimal[:2] / hexadecimal / "data")
        (found,) = repair(channel_of(remote), read_content=True)
        assert found.kind == "damaged-content"
        assert f"expected the manifest {digest}, found" in found.what


def test_content_that_another_publisher_takes_out_meanwhile_is_not_damaged(
    remote, tmp_path, monkeypatch
):
    release(remote, package(tmp_path / "a", "1.0.0"))
    release(remote, package(tmp_path / "b", "1.1.0", content="b"))

    def unpublished(repository, digest):
        if digest == repository.resolve("1.1.0").digest:
            return
        unpublish(channel_of(repository), V100, "wrong", confirmed=True)
        yield "expected the blob, found other content"

    monkeypatch.setattr(_repair, "content_delivered_otherwise", unpublished)
    assert repair(channel_of(remote), read_content=True) == ()
