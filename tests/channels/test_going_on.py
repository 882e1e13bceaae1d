"""Publishing goes on from what a channel shows, and comes to the same as all operations together."""

import msgspec
import pytest
from publishing_support import WORD, channel_of, keys_in, package, release

from trundle.channels import RefusedError, read_all, write_all
from trundle.channels.files import reopen_all
from trundle.channels.publishing import deprecate, promote, repair, restore, unpublish
from trundle.registry import OCI_MANIFEST, describe, encode
from trundle.version import SemVer

HEAD = f"channel.{WORD}"
V = SemVer.parse


@pytest.fixture(params=[False, True], ids=["unsigned", "signed"])
def keys(request, tmp_path):
    return keys_in(tmp_path / "keys") if request.param else None


def change_in_every_way(layout, keys, tmp_path):
    for minor in (0, 2, 1):
        release(layout, package(tmp_path / f"v{minor}", f"1.{minor}.0"), keys=keys)
    deprecate(channel_of(layout, keys=keys), V("1.1.0"), "use 1.2.0\n,  ]")
    unpublish(channel_of(layout, keys=keys), V("1.2.0"), "broken", confirmed=True)
    promote(channel_of(layout, keys=keys), V("1.1.0"))
    restore(channel_of(layout, keys=keys), V("1.2.0"))
    unpublish(channel_of(layout, keys=keys), V("1.0.0"), "old")
    release(layout, package(tmp_path / "v3", "1.3.0"), keys=keys)


def test_each_change_comes_to_what_all_operations_come_to(layout, keys, tmp_path):
    change_in_every_way(layout, keys, tmp_path)
    shown = channel_of(layout, keys=keys).shown()
    folded = channel_of(layout, keys=keys).folded()
    assert len(folded.outcomes) == 9
    assert write_all(folded.channel) == shown.files["all"]
    assert repair(channel_of(layout, keys=keys)) == ()


def test_no_checkpoint_is_read_to_publish(layout, keys, tmp_path):
    change_in_every_way(layout, keys, tmp_path)
    with channel_of(layout, keys=keys).ledger.turn() as turn:
        assert turn.compact()
    (checkpoint,) = (
        layout.get_manifest(tag).document.layers[0].digest
        for tag in layout.tags(internal=True)
        if ".c-" in tag
    )
    read, reading = [], layout.read_blob
    layout.read_blob = lambda each, *, limit: read.append(each.digest) or reading(each, limit=limit)
    release(layout, package(tmp_path / "v4", "1.4.0"), keys=keys)
    assert checkpoint not in read
    assert repair(channel_of(layout, keys=keys)) == ()
    assert checkpoint in read


def test_no_checkpoint_of_the_stable_channel_is_read_for_a_pre_release(layout, keys, tmp_path):
    change_in_every_way(layout, keys, tmp_path)
    with channel_of(layout, keys=keys).ledger.turn() as turn:
        assert turn.compact()
    (checkpoint,) = (
        layout.get_manifest(tag).document.layers[0].digest
        for tag in layout.tags(internal=True)
        if ".c-" in tag
    )
    read, reading = [], layout.read_blob
    layout.read_blob = lambda each, *, limit: read.append(each.digest) or reading(each, limit=limit)
    late = ("1.0.0", "1.3.0")  # The first one is unpublished by now.
    for version in late:
        beta = package(tmp_path / f"late-{version}", version)
        with pytest.raises(RefusedError, match="is released"):
            release(layout, beta, word="beta", suffix="-beta.1", keys=keys)
    beta = package(tmp_path / "early", "1.4.0")
    release(layout, beta, word="beta", suffix="-beta.1", keys=keys)
    assert checkpoint not in read


def with_annotations(layout, change):
    document = layout.get_manifest(HEAD).document
    annotations = change(dict(document.annotations))
    changed = msgspec.structs.replace(document, annotations=annotations)
    layout.set_tag(HEAD, layout.put_manifest(encode(changed), OCI_MANIFEST).digest)


def test_a_head_of_an_earlier_release_is_gone_on_from(layout, keys, tmp_path):
    """Such a head has a mark of another kind and does not say what the authors of its operations had seen."""
    change_in_every_way(layout, keys, tmp_path)
    with_annotations(layout, lambda _: {"dev.trundle.ledger.mark": "0" * 64})
    done = release(layout, package(tmp_path / "v4", "1.4.0"), keys=keys)
    assert [str(each.version) for each in done.channel.versions] == [
        "1.4.0",
        "1.3.0",
        "1.2.0",
        "1.1.0",
    ]
    assert repair(channel_of(layout, keys=keys)) == ()


def test_an_old_state_under_a_new_mark_loses_nothing(layout, keys, tmp_path):
    """An attacker who writes to the registry cannot make a publisher without memory omit operations."""
    for minor in range(3):
        release(layout, package(tmp_path / f"v{minor}", f"1.{minor}.0"), keys=keys)
        if minor == 1:
            old = layout.resolve(HEAD).digest
    mark = layout.get_manifest(HEAD).document.annotations
    layout.set_tag(HEAD, old)
    with_annotations(layout, lambda _: mark)
    fresh = channel_of(layout, keys=keys, seen=tmp_path / "fresh")
    assert [str(each.version) for each in fresh.current().versions] == ["1.2.0", "1.1.0", "1.0.0"]


def test_repair_finds_a_state_that_is_not_what_its_operations_come_to(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    release(layout, package(tmp_path / "b", "1.1.0"))
    head = layout.get_manifest(HEAD).document
    files = {each.annotations["org.opencontainers.image.title"]: each for each in head.layers}
    forged = layout.read_blob(files["all"], limit=10**6).replace(b'"1.0.0"', b'"1.0.9"')
    blob = msgspec.structs.replace(files["all"], digest=_stored(layout, forged))
    layers = tuple(blob if each == files["all"] else each for each in head.layers)
    changed = msgspec.structs.replace(head, layers=layers)
    layout.set_tag(HEAD, layout.put_manifest(encode(changed), OCI_MANIFEST).digest)
    kinds = [each.kind for each in repair(channel_of(layout))]
    assert kinds == ["damaged-head"]
    assert repair(channel_of(layout)) == ()
    assert [str(each.version) for each in channel_of(layout).folded().channel.versions] == [
        "1.1.0",
        "1.0.0",
    ]


def _stored(layout, content):

    descriptor = describe(content, "application/json")
    layout.put_blob(content, descriptor)
    return descriptor.digest


def test_a_file_that_is_opened_line_by_line_says_what_it_says_as_a_whole(layout, tmp_path):
    change_in_every_way(layout, None, tmp_path)
    data = channel_of(layout).shown().files["all"]
    whole, lines = read_all(data).channel, reopen_all(data)
    assert lines == whole
    assert write_all(lines) == data
    for version in (*(each.version for each in whole.versions), V("0.0.1"), V("1.2.5"), V("9.0.0")):
        assert lines.entry(version) == whole.entry(version)
        assert lines.tombstone(version) == whole.tombstone(version)
    assert reopen_all(data.replace(b"\n", b" ")) is None
