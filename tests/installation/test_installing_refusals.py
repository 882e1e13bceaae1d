"""Everything that an installer refuses: each with its own code, and nothing is changed."""

import contextlib
import datetime as dt
import re
import shutil
import sqlite3

import msgspec
import pytest
from losing import lose_manifest
from sites import Site

from trundle.channels import (
    Hold,
    RefusalCode,
    RefusedError,
    Request,
    read_all,
    write_all,
    write_latest,
)
from trundle.channels.publishing import export, packed
from trundle.channels.reading import open_channel
from trundle.database import DamagedError, NewerSchemaError
from trundle.installation import (
    check_root,
    forget_channels,
    forget_clock,
    forget_digest,
    roll_back,
    upgrade,
)
from trundle.registry import OCI_MANIFEST, copy, describe, encode
from trundle.version import SemVer

v = SemVer.parse
CRM = "acme/crm"


class Folder(Site):
    """A site whose installation follows a folder with the channel's files, which a test can falsify."""

    @property
    def static(self):
        return self.folder / "static"

    def export(self, name=CRM, word="stable"):
        export(open_channel(word, self.reference(name)), self.static)

    def follow(self, **further):
        self.export()
        return self.install(channel=str(self.static), **further)

    def read(self):
        return read_all((self.static / "all").read_bytes(), "all").channel

    def falsify(self, **fields):
        changed = msgspec.structs.replace(self.read(), **fields)
        (self.static / "all").write_bytes(write_all(changed))
        (self.static / "latest").write_bytes(write_latest(changed))
        return changed

    def falsify_newest(self, **fields):
        versions = self.read().versions
        newest = msgspec.structs.replace(versions[0], **fields)
        self.falsify(versions=(newest, *versions[1:]))


@pytest.fixture
def site(tmp_path):
    made = Folder(tmp_path)
    made.publish("1.0.0")
    made.follow()
    made.publish("1.0.1")
    made.export()
    return made


@pytest.fixture
def signed(tmp_path):
    made = Folder(tmp_path, signed=True)
    made.publish("1.0.0")
    made.follow()
    return made


def refused(site, *codes, request=None):
    """Upgrades, and makes sure that it is refused with these codes and nothing is changed."""
    before = site.snapshot()
    with site.installation() as installation:
        result = upgrade(installation, None, request or Request())
    assert [each.code for each in result.all_refusals] == list(codes), result.all_refusals
    assert all(each.where and each.expected and each.found for each in result.all_refusals)
    assert result.events == ()
    assert site.snapshot() == before
    assert site.text() == "acme/crm 1.0.0"


def install_refused(site, code, **further):
    before = site.snapshot()
    with pytest.raises(RefusedError) as caught:
        site.install(**further)
    assert code in {each.code for each in caught.value.refusals}, str(caught.value)
    assert site.snapshot() == before


# The channel


def test_no_channel_at_all(tmp_path):
    site = Site(tmp_path)
    install_refused(site, RefusalCode.CHANNEL_NOT_FOUND)
    site.publish("1.0.0")
    install_refused(site, RefusalCode.CHANNEL_NOT_FOUND, channel="beta")
    install_refused(site, RefusalCode.INVALID_CHANNEL_WORD, channel="latest")


def test_no_latest_version_from_scratch(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.unpublish("1.0.0")
    install_refused(site, RefusalCode.NO_LATEST)


def test_a_channel_behind_what_is_installed(site):
    versions = site.read().versions
    older = msgspec.structs.replace(versions[1], version=v("0.9.0"), tag="0.9.0")
    site.falsify(versions=(older,), latest=v("0.9.0"), serial=9)
    before = site.snapshot()
    with site.installation() as installation:
        known = installation.memory.state(installation.package(CRM)).known
    assert v("0.9.0") not in known
    refused(site, RefusalCode.CHANNEL_BEHIND)
    assert site.snapshot() == before


def test_a_latest_version_that_does_not_fit_the_channel(site):
    newest = site.read().versions[0]
    pre = msgspec.structs.replace(newest, version=v("1.0.1-beta.1"), tag="1.0.1-beta.1")
    site.falsify(versions=(pre, *site.read().versions[1:]), latest=pre.version)
    refused(site, RefusalCode.LATEST_NOT_IN_CHANNEL)


def test_the_file_of_another_package(site):
    site.falsify(package="acme/other")
    refused(site, RefusalCode.WRONG_PACKAGE)


def test_the_file_of_another_channel(site):
    site.publish("1.0.2-beta.1", word="beta")
    site.export(word="beta")
    refused(site, RefusalCode.WRONG_CHANNEL)


def test_a_file_that_is_none(site):
    (site.static / "all").write_text("[]")
    refused(site, RefusalCode.INVALID_FILE)


def test_a_file_of_a_later_format(site):
    text = (site.static / "latest").read_text().replace('"schemaVersion": 1', '"schemaVersion": 2')
    (site.static / "latest").write_text(text)
    refused(site, RefusalCode.NEWER_FORMAT)


@pytest.mark.full
def test_files_that_contradict_each_other(site):
    latest = (site.static / "latest").read_bytes()
    site.publish("1.0.2")
    site.export()
    (site.static / "latest").write_bytes(latest)
    refused(site, RefusalCode.INCONSISTENT_FILE)


def test_another_digest_for_a_version_that_is_known(site):
    versions = site.read().versions
    changed = msgspec.structs.replace(versions[1], digest="sha256:" + "a" * 64, id="a" * 12)
    site.falsify(versions=(versions[0], changed))
    refused(site, RefusalCode.DIGEST_CHANGED)


def test_an_older_state_than_one_that_was_seen(site):
    files = {name: (site.static / name).read_bytes() for name in ("latest", "all")}
    site.publish("1.0.2")
    site.export()
    with site.installation() as installation:
        installation.look(installation.package(CRM))
    for name, content in files.items():
        (site.static / name).write_bytes(content)
    refused(site, RefusalCode.STALE_METADATA)


def test_other_content_with_the_serial_that_was_seen(site):
    with site.installation() as installation:
        installation.look(installation.package(CRM))
    site.falsify_newest(critical=True)
    refused(site, RefusalCode.INCONSISTENT_FILE)


def test_an_unsigned_channel_that_expired(site):
    site.falsify(expires=site.clock() + dt.timedelta(hours=1), serial=9)
    site.clock.go(hours=2)
    refused(site, RefusalCode.EXPIRED_METADATA)


def test_a_clock_that_went_back(site):
    site.clock.go(hours=2)
    with site.installation() as installation:
        installation.look(installation.package(CRM))
    site.clock.go(hours=-1)
    refused(site, RefusalCode.CLOCK_WENT_BACK)


@pytest.mark.parametrize("kind", ["unsigned", "signed"])
def test_a_time_that_was_wrong_is_forgotten_when_that_is_asked_for(tmp_path, kind):
    site = Folder(tmp_path, signed=kind == "signed")
    site.publish("1.0.0")
    site.install()
    site.clock.go(days=5)
    wrong = site.clock.now
    with site.installation() as installation:
        installation.look(installation.package(CRM))
    site.clock.go(days=-5)
    site.publish("1.0.1")
    refused(site, RefusalCode.CLOCK_WENT_BACK)
    with site.installation() as installation:
        assert forget_clock(installation, dry_run=True) == wrong
        assert forget_clock(installation) == wrong
        assert forget_clock(installation) is None
        assert [each.after for each in upgrade(installation).events] == ["1.0.1"]


def test_a_digest_that_is_known_is_forgotten_when_that_is_asked_for(site):
    with site.installation() as installation:
        installation.look(installation.package(CRM))
        known = installation.memory.state_before(CRM, "").known
        assert forget_digest(installation, CRM, v("1.0.1"), dry_run=True) == known[v("1.0.1")]
        assert installation.memory.state_before(CRM, "").known == known
        forget_digest(installation, CRM, v("1.0.1"))
        assert set(installation.memory.state_before(CRM, "").known) == {v("1.0.0")}
        for version, code in (("1.0.0", "already-installed"), ("1.0.1", "version-not-found")):
            with pytest.raises(RefusedError) as caught:
                forget_digest(installation, CRM, v(version))
            assert caught.value.code == code


@pytest.mark.parametrize("kind", ["signed", "unsigned"])
def test_a_channel_that_began_anew_is_followed_when_that_is_asked_for(tmp_path, kind):
    site = Folder(tmp_path, signed=kind == "signed")
    site.publish("1.0.0")
    shutil.copytree(site.folder / "registry", site.folder / "old")
    site.install()
    site.publish("1.0.1")
    with site.installation() as installation:
        installation.look(installation.package(CRM))
    shutil.rmtree(site.folder / "registry")
    (site.folder / "old").rename(site.folder / "registry")
    refused(site, RefusalCode.STALE_METADATA)
    with site.installation() as installation:
        serial = forget_channels(installation, CRM, dry_run=True)
        assert serial > 0
    refused(site, RefusalCode.STALE_METADATA)
    with site.installation() as installation:
        assert forget_channels(installation, CRM) == serial
        assert forget_channels(installation, CRM) == 0
        assert not upgrade(installation).all_refusals


def test_what_is_held(site):
    with site.installation() as installation:
        assert upgrade(installation).events
        installation.hold(CRM, Hold("audit", site.clock.now, v("1.0.0")))
        with pytest.raises(RefusedError) as caught:
            roll_back(installation, CRM)
        assert caught.value.code == "held"
        assert "1.0.0: expected what is not held, found it is held: audit" in str(caught.value)
    site.publish("1.0.2")
    site.export()
    with site.installation() as installation:
        installation.hold(CRM, Hold("audit", site.clock.now))
        asked = upgrade(installation, None, Request(to=v("1.0.2")))
        assert [each.code for each in asked.all_refusals] == ["held"]
        assert upgrade(installation).events == ()
    install_refused(site, RefusalCode.HELD, pin=":1.0.2")
    assert site.text() == "acme/crm 1.0.1"


def test_an_unsigned_channel_unless_that_is_said(tmp_path):
    site = Folder(tmp_path, signed=True)
    site.signed = False
    site.publish("1.0.0")
    site.signed = True
    install_refused(site, RefusalCode.UNSIGNED_CHANNEL)
    install_refused(site, RefusalCode.UNSIGNED_CHANNEL, root=None)
    with site.installation() as installation:
        assert installation.memory.trusted() == ()
    site.install(unsigned=True)


def test_a_root_of_another_publisher(tmp_path):
    site, other = Site(tmp_path / "a", signed=True), Site(tmp_path / "b", signed=True)
    site.publish("1.0.0")
    install_refused(site, RefusalCode.BAD_SIGNATURE, root=other.root)
    site.install()
    assert site.text() == "acme/crm 1.0.0"


@pytest.mark.full
def test_changed_bytes_of_a_signed_channel(signed):
    signed.publish("1.0.1")
    signed.export()
    text = (signed.static / "all").read_text()
    (signed.static / "all").write_text(text.replace("1.0.1", "1.0.9"))
    refused(signed, RefusalCode.CONTENT_MISMATCH)


def test_forged_signatures(signed):
    signed.publish("1.0.1")
    signed.export()
    text = (signed.static / "timestamp.json").read_text()
    (signed.static / "timestamp.json").write_text(
        re.sub(r'"sig": ?"[0-9a-f]{8}', '"sig":"00000000', text)
    )
    refused(signed, RefusalCode.BAD_SIGNATURE)


def test_signed_metadata_that_expired(signed):
    signed.clock.go(days=400)
    refused(signed, RefusalCode.EXPIRED_METADATA)


@pytest.mark.parametrize("kind", ["signed", "unsigned"])
def test_a_channel_that_is_about_to_expire_is_reported(tmp_path, kind):
    site = Folder(tmp_path, signed=kind == "signed")
    site.publish("1.0.0", expires=dt.timedelta(days=7))
    site.install()
    for days, noted in ((5, False), (1.5, True), (1, True)):
        site.clock.go(days=days)
        with site.installation() as installation:
            outlook = installation.look(installation.package(CRM))
        found = [each for each in outlook.plan.notes if "the channel stable expires at" in each]
        assert bool(found) == (noted and not outlook.plan.refusals)
    assert [each.code for each in outlook.plan.refusals] == [RefusalCode.EXPIRED_METADATA]


def test_signed_metadata_older_than_what_was_seen(signed):
    files = {path: path.read_bytes() for path in signed.static.iterdir()}
    signed.publish("1.0.1")
    signed.export()
    with signed.installation() as installation:
        installation.look(installation.package(CRM))
    for path, content in files.items():
        path.write_bytes(content)
    refused(signed, RefusalCode.STALE_METADATA)


def test_a_signed_channel_that_lost_its_signatures(signed):
    signed.publish("1.0.1")
    signed.export()
    (signed.static / "timestamp.json").unlink()
    refused(signed, RefusalCode.UNSIGNED_CHANNEL)


# The content


def test_a_manifest_that_is_not_what_the_entry_says(site):
    site.falsify_newest(min_upgrade_from=v("0.5.0"))
    refused(site, RefusalCode.MANIFEST_MISMATCH)


def test_a_size_that_is_not_what_the_entry_says(site):
    site.falsify_newest(size=7)
    refused(site, RefusalCode.MANIFEST_MISMATCH)


def test_content_that_is_not_what_the_digest_says(site):
    repository = site.channel().repository
    manifest = repository.get_manifest("1.0.1")
    repository.blob_file(manifest.descriptor).write_bytes(
        manifest.content.replace(b"1.0.1", b"1.0.9")
    )
    refused(site, RefusalCode.CONTENT_MISMATCH)


def test_a_configuration_that_is_not_what_the_digest_says(site):
    repository = site.channel().repository
    config = repository.get_manifest("1.0.1").document.config
    assert config == describe(repository.read_blob(config, limit=10**6), config.media_type)
    repository.blob_file(config).write_bytes(b"{" + b" " * (config.size - 1))
    refused(site, RefusalCode.CONTENT_MISMATCH)


def test_content_that_is_missing(site):
    repository = site.channel().repository
    layer = repository.get_manifest("1.0.1").document.layers[0]
    repository.blob_file(layer).unlink()
    refused(site, RefusalCode.CONTENT_MISSING)


def test_a_manifest_that_is_missing(site):
    repository = site.channel().repository
    lose_manifest(repository, repository.resolve("1.0.1").digest)
    refused(site, RefusalCode.CONTENT_MISSING)


def test_dependencies_that_no_repository_provides(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0", dependsOn='{acme/core: "1"}')
    install_refused(site, RefusalCode.PACKAGE_MISSING)


def test_dependencies_in_conflict_name_both_sides(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0", "acme/core")
    site.publish("1.0.0", dependsOn='{acme/core: "1"}')
    site.publish("1.0.0", "acme/other", dependsOn='{acme/core: "2"}')
    site.install("acme/core")
    site.install()
    with pytest.raises(RefusedError) as caught:
        site.install("acme/other")
    assert caught.value.code is RefusalCode.DEPENDENCY_CONFLICT
    assert "acme/other 1.0.0 (2)" in str(caught.value)
    assert "1.0.0" in str(caught.value)


# What is asked for


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("1.0.0", RefusalCode.ALREADY_INSTALLED),
        ("7.0.0", RefusalCode.VERSION_NOT_FOUND),
        ("0.9.0", RefusalCode.VERSION_UNPUBLISHED),
        ("0.8.0", RefusalCode.DOWNGRADE),
        ("1.5.0", RefusalCode.UPGRADE_PATH),
    ],
)
def test_a_version_that_cannot_be_asked_for(tmp_path, version, code):
    site = Folder(tmp_path)
    for number in ("0.8.0", "0.9.0", "1.0.0"):
        site.publish(number)
    site.follow()
    site.publish("1.1.0")
    site.publish("1.5.0", minUpgradeFrom="1.1.0")
    site.unpublish("0.9.0")
    site.export()
    refused(site, code, request=Request(to=v(version)))


def test_a_version_above_the_latest(site):
    channel = site.read()
    site.falsify(latest=channel.versions[1].version)
    refused(site, RefusalCode.ABOVE_LATEST, request=Request(to=v("1.0.1")))


def test_a_lower_version_is_taken_when_that_is_asked_for(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.publish("1.0.1")
    site.install()
    with site.installation() as installation:
        result = upgrade(installation, None, Request(to=v("1.0.0"), allow_downgrade=True))
    assert [each.action for each in result.events] == ["downgrade"]
    assert site.text() == "acme/crm 1.0.0"


def test_what_is_installed_already_and_what_is_not(site):
    install_refused(site, RefusalCode.ALREADY_INSTALLED, channel=str(site.static))
    with site.installation() as installation:
        for action in (installation.package, lambda name: roll_back(installation, name)):
            with pytest.raises(RefusedError) as caught:
                action("acme/nothing")
            assert caught.value.code is RefusalCode.NOT_INSTALLED


def test_a_pinned_tag_that_lies(tmp_path):
    site = Site(tmp_path)
    digest = site.publish("1.0.0").entry.digest
    site.channel().repository.set_tag("2.0.0", digest)
    install_refused(site, RefusalCode.MANIFEST_MISMATCH, pin=":2.0.0")
    install_refused(site, RefusalCode.CONTENT_MISSING, pin=":3.0.0")


def test_a_pinned_tag_that_moved(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install(pin=":1.0.0")
    other = Site(tmp_path / "other")
    digest = other.publish("1.0.0", content="forged").entry.digest
    target = site.channel().repository
    target.remove_tag("1.0.0")
    copy(other.channel().repository, target, digest, tag="1.0.0")
    install_refused(site, RefusalCode.DIGEST_CHANGED, pin=":1.0.0")


# The state


def test_a_damaged_database_is_one_clear_error(site):
    (site.state / "state.db").write_bytes(b"nonsense" * 1000)
    for path in site.state.glob("state.db-*"):
        path.unlink()
    with pytest.raises(DamagedError, match=r"state\.db: expected a database.*restore it"):
        site.installation()


def test_a_database_of_a_later_release_is_one_clear_error(site):
    with contextlib.closing(sqlite3.connect(site.state / "state.db")) as connection, connection:
        connection.execute("UPDATE installation_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(NewerSchemaError, match="revision 9999; use the newer release"):
        site.installation()


def test_damaged_content_in_the_local_store_is_one_clear_error(site):
    with site.installation() as installation:
        upgrade(installation)
        package = installation.packages()[0]
        previous = installation.history()[0].before_digest
        store = installation.content
        layer = store.look(None, previous, "it").layer
        file = store._store.blob_file(layer)
        content = file.read_bytes()
        file.write_bytes(b"x" * len(content))
        shutil.rmtree(installation.folders.unpacked(CRM, "1.0.0", previous))
        before = site.snapshot()
        with pytest.raises(
            RefusedError, match=f"the local store is damaged: remove {file}"
        ) as caught:
            roll_back(installation, package.name)
        assert caught.value.code is RefusalCode.CONTENT_MISMATCH
        assert site.snapshot() == before
        file.write_bytes(content)
        roll_back(installation, package.name)
    assert site.text() == "acme/crm 1.0.0"


def test_files_of_other_tools_are_followed_by_their_ids(site):
    versions = site.read().versions
    bare = [msgspec.structs.replace(e, digest=None, tag=None, size=None) for e in versions]
    site.falsify(versions=tuple(bare), serial=0)
    refused(site, RefusalCode.STALE_METADATA)
    with site.installation() as installation, installation.memory.changing():
        installation.memory.forget_channels(CRM)
    forged = msgspec.structs.replace(bare[0], id="a" * 12)
    site.falsify(versions=(forged, bare[1]))
    refused(site, RefusalCode.CONTENT_MISMATCH)
    site.falsify(versions=tuple(bare))
    refused(site, RefusalCode.DIGEST_CHANGED)


def test_files_of_other_tools_install_what_their_ids_say(tmp_path):
    made = Folder(tmp_path)
    made.publish("1.0.0")
    made.export()
    bare = [
        msgspec.structs.replace(each, digest=None, tag=None, size=None)
        for each in made.read().versions
    ]
    made.falsify(versions=tuple(bare), serial=0)
    made.install(channel=str(made.static))
    with made.installation() as installation:
        assert installation.packages()[0].digest.startswith(f"sha256:{bare[0].id}")


def test_a_packed_manifest_that_contradicts_the_artifact(site, tmp_path):
    """An archive of one package cannot pass for another, whatever its artifact says."""
    repository = site.channel().repository
    document = repository.get_manifest("1.0.1").document
    other = site.write("9.9.9", "other/thing")
    with packed(other) as forged:
        repository.put_blob(forged.archive, forged.artifact.layer)
        document = msgspec.structs.replace(document, layers=(forged.artifact.layer,))
    stored = repository.put_manifest(encode(document), OCI_MANIFEST)
    size = stored.size + sum(each.size for each in document.blobs())
    site.falsify_newest(digest=stored.digest, id=stored.digest[7:19], size=size)
    refused(site, RefusalCode.MANIFEST_MISMATCH)
    assert not list(site.state.glob("**/9.9.9*"))


def test_a_root_that_is_given_again_has_to_be_of_the_same_publisher(tmp_path):
    site = Site(tmp_path / "one", signed=True)
    site.publish("1.0.0")
    site.install()
    other = Site(tmp_path / "other", signed=True)
    before = site.snapshot()
    with site.installation() as installation:
        package = installation.package(CRM)
        check_root(installation, package, site.root)
        for root, found in ((other.root, "another root"), (b"{}", "")):
            with pytest.raises(RefusedError) as caught:
                check_root(installation, package, root)
            assert caught.value.code is RefusalCode.BAD_SIGNATURE
            assert found in str(caught.value)
            assert "uninstall the package" in str(caught.value)
    assert site.snapshot() == before
