"""A head that is gone, damaged, forged or rolled back is rebuilt from the ledger, and clients follow it."""

import shutil

import msgspec
import pytest
from publishing_support import WORD, channel_of, keys_in, now, package, release

from trundle.channels import RefusalCode, RefusedError
from trundle.channels.publishing import PublishRequest, publish, refresh, repair
from trundle.channels.reading import RepositorySource, read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.registry import OCI_MANIFEST, encode

HEAD = f"channel.{WORD}"


class Client:
    """A client that remembers what it saw, and so never goes back."""

    def __init__(self, folder, repository, keys):
        self.store = TrustFolder(folder)
        self.repository = repository
        where = RepositorySource(repository, WORD).location
        self.store.trust(where, trust((keys / "1.root.json").read_bytes()))

    def versions(self):
        served = read_channel(
            RepositorySource(self.repository, WORD),
            self.store,
            clock=now,
            package="acme/db",
            word=WORD,
        )
        return [str(each.version) for each in served.channel.versions]


def delete(repository, earlier):
    repository.remove_tag(HEAD)


def roll_back(repository, earlier):
    repository.set_tag(HEAD, earlier)


def forge(repository, earlier):
    """Shows another file than the one that was signed."""
    document = repository.get_manifest(HEAD).document
    plain = [each for each in document.layers if "title" in str(each.annotations)]
    others = (plain[1], plain[0], *document.layers[2:])
    swapped = tuple(
        msgspec.structs.replace(other, annotations=each.annotations)
        for each, other in zip(document.layers, others, strict=True)
    )
    forged = msgspec.structs.replace(document, layers=swapped)
    digest = repository.put_manifest(encode(forged), OCI_MANIFEST).digest
    repository.set_tag(HEAD, digest)


def set_to_a_package(repository, earlier):
    repository.set_tag(HEAD, repository.resolve("1.0.0").digest)


def followed(layout, tmp_path):
    """A channel of two versions that a client has seen: the keys, the digest of its first head, and the client."""
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    earlier = layout.resolve(HEAD).digest
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    client = Client(tmp_path / "seen", layout, keys)
    assert client.versions() == ["1.1.0", "1.0.0"]
    return keys, earlier, client


DAMAGES = [delete, roll_back, forge, set_to_a_package]


@pytest.mark.parametrize("damage", DAMAGES)
def test_clients_follow_a_channel_that_was_rebuilt(layout, tmp_path, damage):
    keys, earlier, client = followed(layout, tmp_path)
    damage(layout, earlier)
    with pytest.raises(Exception, match="expected"):
        release(layout, package(tmp_path / "c", "1.2.0"), keys=keys)
    channel = channel_of(layout, keys=keys)
    assert [each.kind for each in repair(channel, dry_run=True)] == ["damaged-head"]
    assert [each.kind for each in repair(channel_of(layout, keys=keys))] == ["damaged-head"]
    assert client.versions() == ["1.1.0", "1.0.0"]
    assert repair(channel_of(layout, keys=keys)) == ()
    release(layout, package(tmp_path / "c", "1.2.0"), keys=keys)
    assert client.versions() == ["1.2.0", "1.1.0", "1.0.0"]


@pytest.mark.full
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_publisher_that_has_seen_nothing_rebuilds_a_channel_too(layout, tmp_path, damage):
    keys = keys_in(tmp_path / "keys")
    for name in "abcd":
        release(layout, package(tmp_path / name, f"1.{ord(name) - 97}.0"), keys=keys)
    earlier = layout.resolve(HEAD).digest
    release(layout, package(tmp_path / "e", "1.4.0"), keys=keys)
    client = Client(tmp_path / "seen", layout, keys)
    assert len(client.versions()) == 5
    damage(layout, earlier)
    kinds = [each.kind for each in repair(channel_of(layout, keys=keys, seen=tmp_path / "other"))]
    assert kinds in (["damaged-head"], ["head"])
    assert len(client.versions()) == 5


def test_a_publisher_that_has_seen_nothing_publishes_to_a_head_that_was_rolled_back(
    layout, tmp_path
):
    keys, earlier, client = followed(layout, tmp_path)
    roll_back(layout, earlier)
    channel = channel_of(layout, keys=keys, seen=tmp_path / "other")
    publish(channel, PublishRequest(package(tmp_path / "c", "1.2.0")))
    assert client.versions() == ["1.2.0", "1.1.0", "1.0.0"]


def test_a_refresh_of_a_head_that_was_rolled_back_names_the_repair(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    earlier = layout.resolve(HEAD).digest
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    assert refresh(channel_of(layout, keys=keys)).notes == ()
    roll_back(layout, earlier)
    (note,) = refresh(channel_of(layout, keys=keys, seen=tmp_path / "other")).notes
    assert "does not show all operations that are recorded" in note
    assert f"trundle channel repair {layout.location} --channel stable --keys {keys}" in note


@pytest.mark.full
def test_a_channel_without_signatures_is_rebuilt_as_well(repository, tmp_path):
    release(repository, package(tmp_path / "a", "1.0.0"))
    release(repository, package(tmp_path / "b", "1.1.0"))
    set_to_a_package(repository, None)
    assert [each.kind for each in repair(channel_of(repository))] == ["damaged-head"]
    assert repair(channel_of(repository)) == ()


def test_unknown_entries_of_the_ledger_are_reported(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    for payload in (b"junk", b'{"operation":"bless","at":"2026-01-01T00:00:00Z","seen":1}'):
        with channel_of(layout).ledger.turn() as turn:
            turn.append(payload)
    found = repair(channel_of(layout))
    assert [(each.kind, each.done) for each in found] == [("unknown", "")] * 2
    assert "expected an operation" in found[0].what
    assert "'bless'" in found[1].what


@pytest.mark.parametrize("signed", [False, True])
def test_a_tag_of_the_ledger_on_something_else_is_reported(layout, tmp_path, signed):
    keys = keys_in(tmp_path / "keys") if signed else None
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    tag = "_trundle.ledger-stable.e-0000000007-0123456789abcdef"
    layout.set_tag(tag, layout.resolve("1.0.0").digest)
    (found,) = repair(channel_of(layout, keys=keys))
    assert (found.kind, found.done) == ("unknown", "")
    assert tag in found.what
    layout.remove_tag(tag)
    assert repair(channel_of(layout, keys=keys)) == ()


@pytest.mark.full
@pytest.mark.parametrize("signed", [False, True])
def test_a_tag_beside_the_ledger_is_reported_and_does_not_count(repository, tmp_path, signed):
    keys = keys_in(tmp_path / "keys") if signed else None
    release(repository, package(tmp_path / "a", "1.0.0"), keys=keys)
    tag = "_trundle.ledger-stable.zzz"
    repository.set_tag(tag, repository.resolve("1.0.0").digest)
    (found,) = repair(channel_of(repository, keys=keys))
    assert (found.kind, found.done) == ("ignored", "")
    assert tag in found.what
    release(repository, package(tmp_path / "b", "1.1.0"), keys=keys)
    repository.remove_tag(tag)
    assert repair(channel_of(repository, keys=keys)) == ()


def lose_the_manifest(repository):
    repository.blob_file(repository.resolve(HEAD)).unlink()


def lose_a_file(repository):
    (everything,) = (
        each
        for each in repository.get_manifest(HEAD).document.layers
        if "all" in each.annotations.values()
    )
    repository.blob_file(everything).unlink()


def lengthen_a_file(repository):
    layer = repository.get_manifest(HEAD).document.layers[0]
    with repository.blob_file(layer).open("ab") as file:
        file.write(b" ")


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("damage", [lose_the_manifest, lose_a_file, lengthen_a_file])
def test_a_head_whose_content_is_damaged_is_refused_with_the_way_out(
    layout, tmp_path, damage, signed
):
    keys = keys_in(tmp_path / "keys") if signed else None
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    damage(layout)
    with pytest.raises(RefusedError, match="run: trundle channel repair") as caught:
        release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    assert len(caught.value.refusals) == 1
    (found,) = repair(channel_of(layout, keys=keys), dry_run=True)
    assert found.what.count("expected") == found.what.count(layout.location) == 1
    assert "run:" not in found.what
    assert [each.kind for each in repair(channel_of(layout, keys=keys))] == ["damaged-head"]
    assert repair(channel_of(layout, keys=keys)) == ()
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)


def test_other_keys_do_not_rebuild_a_channel(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    delete(layout, None)
    others = keys_in(tmp_path / "others")
    for found in (None, others):
        with pytest.raises(RefusedError) as caught:
            repair(channel_of(layout, keys=found))
        assert caught.value.code is RefusalCode.BAD_SIGNATURE
    assert HEAD not in layout.tags()


def test_a_ledger_that_lacks_what_was_seen_is_not_rebuilt_from(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    ledger = channel_of(layout, keys=keys).ledger
    layout.remove_unique_tag(ledger.tags.tag_of(ledger.entries()[-1]))
    delete(layout, None)
    with pytest.raises(RefusedError) as caught:
        repair(channel_of(layout, keys=keys))
    assert caught.value.code is RefusalCode.STALE_METADATA
    assert HEAD not in layout.tags()


def test_a_repository_that_was_set_back_as_a_whole_is_not_rebuilt_from(layout, tmp_path):
    """As from a backup: head, ledger and content are those of before, and nothing of what was seen later is there."""
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    backup = tmp_path / "backup"
    shutil.copytree(layout.folder, backup)
    release(layout, package(tmp_path / "c", "1.2.0"), keys=keys)
    restored = tmp_path / "newer"
    layout.folder.rename(restored)
    shutil.copytree(backup, layout.folder)
    with pytest.raises(RefusedError, match="all operations that the channel shows") as caught:
        repair(channel_of(layout, keys=keys))
    assert caught.value.code is RefusalCode.STALE_METADATA
    shutil.rmtree(layout.folder)
    restored.rename(layout.folder)
    assert repair(channel_of(layout, keys=keys)) == ()


def test_a_repository_that_was_set_back_and_published_to_is_not_rebuilt_from(layout, tmp_path):
    """It has as many operations as were seen, but not those."""
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    backup = tmp_path / "backup"
    shutil.copytree(layout.folder, backup)
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    shutil.rmtree(layout.folder)
    shutil.copytree(backup, layout.folder)
    other = channel_of(layout, keys=keys, seen=tmp_path / "other")
    publish(other, PublishRequest(package(tmp_path / "c", "1.2.0")))
    with pytest.raises(RefusedError, match="all operations that the channel shows") as caught:
        repair(channel_of(layout, keys=keys))
    assert caught.value.code is RefusalCode.STALE_METADATA


def test_a_channel_is_rebuilt_whose_head_is_gone_with_all_of_its_content(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    head = layout.get_manifest(HEAD)
    client = Client(tmp_path / "seen", layout, keys)
    assert client.versions() == ["1.1.0", "1.0.0"]
    delete(layout, None)
    for layer in head.document.layers:
        layout.blob_file(layer).unlink()
    assert [each.kind for each in repair(channel_of(layout, keys=keys))] == ["damaged-head"]
    assert client.versions() == ["1.1.0", "1.0.0"]
