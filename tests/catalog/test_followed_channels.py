"""Channels that tenants follow: what is kept of them is what was verified, byte for byte as it is signed."""

import datetime as dt
import hashlib
import json
import shutil
import threading

import pytest
from followed_channels import PACKAGE, Publisher, check_from_outside
from listening_apps import listening
from publishing_support import WORD, channel_of, now, package, release
from sqlalchemy import Engine, event
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from trundle.catalog import Catalog, ChannelFollowedError, InvalidTenantError, NoSuchChannelError
from trundle.channels import RefusedError
from trundle.channels.publishing import refresh, unpublish
from trundle.channels.reading import Subscription
from trundle.version import SemVer

DAY = dt.timedelta(days=1)
THERE = (PACKAGE, WORD)


@pytest.fixture
def publisher(tmp_path):
    return Publisher(tmp_path / "publisher")


@pytest.fixture
def clock():
    class Clock:
        later = dt.timedelta()

        def __call__(self):
            return now() + self.later

    return Clock()


@pytest.fixture
def channels(url, clock):
    with Catalog(url, clock=clock) as opened:
        yield opened.channels


def follow(channels, publisher, tenant="acme", **further):
    return channels.follow(publisher.subscription, publisher.root, tenant=tenant, **further)


def again(channels):
    (key,) = channels.due()
    return channels.refresh(key)


def versions(channel):
    return [each.version for each in channel.versions]


def shown(channels, tenant="acme"):
    found = channels.channel(*THERE, tenant=tenant)
    return found.state, found.problem and found.problem.code, versions(found)


def kept(channels, tenant="acme"):
    files = channels.channel(*THERE, tenant=tenant).files
    return {each.name: channels.file(*THERE, each.name, tenant=tenant) for each in files}


def spoil(path):
    """Changes one byte of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_followed_channel_is_shown_with_all_its_versions_and_its_signed_bytes(
    channels, publisher
):
    publisher.publish("1.0.0", "1.1.0")
    followed = follow(channels, publisher)
    found = channels.channel(*THERE, tenant="acme")
    assert found == followed
    assert (found.state, found.problem, versions(found)) == ("valid", None, ["1.1.0", "1.0.0"])
    assert found.latest.version == "1.1.0"
    (listed,) = channels.followed("acme")
    assert (listed.latest, listed.versions, listed.files) == (found.latest, None, found.files)
    names = ["1.root.json", "all", "latest", "snapshot.json", "targets.json", "timestamp.json"]
    assert [each.name for each in found.files] == names
    for each in found.files:
        content = channels.file(*THERE, each.name, tenant="acme")
        assert content == (publisher.files / each.name).read_bytes()
        assert each.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert each.size == len(content)
    check_from_outside(publisher.root, kept(channels).__getitem__)


def test_what_is_read_again_takes_the_place_of_what_was_there(channels, publisher):
    publisher.publish("1.0.0")
    before = follow(channels, publisher)
    publisher.publish("1.1.0")
    channel = channel_of(publisher.repository, keys=publisher.keys)
    unpublish(channel, SemVer.parse("1.0.0"), "it loses data")
    publisher.export()
    after = again(channels)
    assert after.serial > before.serial
    found = channels.channel(*THERE, tenant="acme")
    assert versions(found) == ["1.1.0"]
    assert [(each.version, each.reason) for each in found.unpublished] == [
        ("1.0.0", "it loses data")
    ]
    check_from_outside(publisher.root, kept(channels).__getitem__)


@pytest.mark.parametrize(
    "name", ["all", "latest", "timestamp.json", "snapshot.json", "targets.json"]
)
def test_a_tampered_channel_is_refused_and_what_was_verified_stays(channels, publisher, name):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    before = kept(channels)
    publisher.publish("1.1.0")
    spoil(publisher.files / name)
    assert again(channels).state == "refused"
    state, code, found = shown(channels)
    assert (state, found) == ("refused", ["1.0.0"])
    assert code in {"bad-signature", "content-mismatch"}
    assert kept(channels) == before
    publisher.export()
    assert again(channels).state == "valid"
    assert shown(channels) == ("valid", None, ["1.1.0", "1.0.0"])


def test_signatures_of_other_keys_are_refused(channels, publisher, tmp_path):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    other = Publisher(tmp_path / "other")
    other.publish("1.0.0", "6.6.6")
    for name in ("all", "latest", "timestamp.json", "snapshot.json", "targets.json"):
        shutil.copy(other.files / name, publisher.files / name)
    again(channels)
    assert shown(channels) == ("refused", "bad-signature", ["1.0.0"])
    with pytest.raises(RefusedError, match="bad-signature"):
        channels.follow(publisher.subscription, publisher.root, tenant="new")
    assert channels.followed("new") == ()


def test_an_older_state_is_refused_as_is_one_without_signatures(channels, publisher, tmp_path):
    publisher.publish("1.0.0")
    shutil.copytree(publisher.files, tmp_path / "old")
    publisher.publish("1.1.0")
    follow(channels, publisher)
    for each in (tmp_path / "old").iterdir():
        shutil.copy(each, publisher.files)
    again(channels)
    assert shown(channels) == ("refused", "stale-metadata", ["1.1.0", "1.0.0"])
    (publisher.files / "timestamp.json").unlink()
    again(channels)
    assert shown(channels) == ("refused", "unsigned-channel", ["1.1.0", "1.0.0"])


def test_a_channel_expires_though_it_is_not_read_and_is_valid_once_it_is_refreshed(
    channels, publisher, clock
):
    publisher.publish("1.0.0")
    expires = follow(channels, publisher).expires
    clock.later = expires - now() - DAY
    assert shown(channels)[0] == "valid"
    clock.later = expires - now() + DAY
    assert shown(channels) == ("expired", None, ["1.0.0"])
    again(channels)
    assert shown(channels) == ("expired", "expired-metadata", ["1.0.0"])
    refresh(channel_of(publisher.repository, keys=publisher.keys, clock=clock))
    publisher.export()
    again(channels)
    assert shown(channels) == ("valid", None, ["1.0.0"])
    clock.later = (
        dt.timedelta()
    )  # It went back: what was verified later has not become young again.
    again(channels)
    assert shown(channels) == ("valid", "clock-went-back", ["1.0.0"])  # A fault of this machine.
    message = channels.channel(*THERE, tenant="acme").problem.message
    assert message.endswith("unfollow the channel and follow it again")


def test_a_place_that_does_not_answer_speaks_against_nothing(channels, publisher, clock):
    publisher.publish("1.0.0")
    expires = follow(channels, publisher).expires
    shutil.move(publisher.files, publisher.files.with_name("away"))
    again(channels)
    assert shown(channels) == ("valid", "channel-not-found", ["1.0.0"])
    clock.later = expires - now() + DAY
    assert shown(channels) == ("expired", "channel-not-found", ["1.0.0"])


def test_a_place_that_does_not_answer_acquits_nothing(channels, publisher, clock):
    publisher.publish("1.0.0")
    expires = follow(channels, publisher).expires
    spoil(publisher.files / "timestamp.json")
    again(channels)
    refused = shown(channels)
    assert refused[0] == "refused"
    shutil.move(publisher.files, publisher.files.with_name("away"))
    again(channels)
    assert shown(channels) == refused
    shutil.move(publisher.files.with_name("away"), publisher.files)
    clock.later = -DAY  # What this machine has for the time says nothing of the channel either.
    again(channels)
    assert shown(channels) == refused
    publisher.export()
    clock.later = expires - now() + DAY
    again(channels)
    shutil.move(publisher.files, publisher.files.with_name("gone"))
    again(channels)
    assert shown(channels) == ("expired", "expired-metadata", ["1.0.0"])
    shutil.move(publisher.files.with_name("gone"), publisher.files)
    clock.later = dt.timedelta()
    again(channels)
    refresh(channel_of(publisher.repository, keys=publisher.keys, clock=clock))
    publisher.export()
    again(channels)
    assert shown(channels) == ("valid", None, ["1.0.0"])


def test_a_host_that_does_not_answer_is_asked_once_in_a_round(channels, publisher):
    publisher.publish("1.0.0")
    asked = []

    async def answer(scope, receive, send):
        asked.append(scope["path"])
        await (Response(status_code=503) if is_away else files)(scope, receive, send)

    is_away, files = False, Starlette(routes=[Mount("/", StaticFiles(directory=publisher.files))])
    with listening(answer) as where:
        place = Subscription(repository="", channel=f"{where}/")
        for tenant in ("one", "two", "three"):
            channels.follow(place, publisher.root, tenant=tenant)
        is_away = True
        channels.begin_round()
        one, *others = channels.due()
        channels.refresh(one)
        asked.clear()
        for key in others:
            assert channels.refresh(key).problem.code == "registry-unreachable"
        assert asked == []
        is_away = False
        channels.begin_round()
        for key in channels.due():
            assert channels.refresh(key).problem is None


def test_a_web_server_that_is_gone_speaks_against_nothing(channels, publisher):
    publisher.publish("1.0.0")
    files = Mount("/", StaticFiles(directory=publisher.files))
    with listening(Starlette(routes=[files])) as where:
        place = Subscription(repository="", channel=f"{where}/")
        followed = channels.follow(place, publisher.root, tenant="acme")
        assert followed.source == where
        publisher.publish("1.1.0")
        assert again(channels).latest.version == "1.1.0"
    again(channels)
    assert shown(channels) == ("valid", "registry-unreachable", ["1.1.0", "1.0.0"])


def test_all_roots_since_the_first_are_kept(channels, publisher):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    for version in ("1.1.0", "1.2.0"):
        publisher.renew_root()
        publisher.publish(version)
        assert again(channels).state == "valid"
    found = kept(channels)
    assert {"1.root.json", "2.root.json", "3.root.json"} < found.keys()
    for name in ("1.root.json", "2.root.json", "3.root.json"):
        assert found[name] == (publisher.keys / name).read_bytes()
    check_from_outside(found["3.root.json"], found.__getitem__)


def test_only_a_signed_channel_with_its_root_is_followed(channels, publisher, tmp_path):
    publisher.publish("1.0.0")
    with pytest.raises(RefusedError, match="bad-signature"):
        channels.follow(publisher.subscription, b"{}", tenant="acme")
    other = Publisher(tmp_path / "other")
    with pytest.raises(RefusedError, match="bad-signature"):
        channels.follow(publisher.subscription, other.root, tenant="acme")
    (publisher.files / "timestamp.json").unlink()
    with pytest.raises(RefusedError, match="unsigned-channel") as refused:
        follow(channels, publisher)
    assert "a catalog follows signed channels only" in str(refused.value)
    assert "--" not in str(refused.value)
    assert channels.due() == ()


def test_a_tenant_sees_its_own_channels_and_public_ones(channels, publisher, tmp_path):
    publisher.publish("1.0.0")
    follow(channels, publisher, "acme")
    with pytest.raises(ChannelFollowedError, match="acme does not follow yet"):
        follow(channels, publisher, "acme")
    assert channels.followed("other") == ()
    with pytest.raises(NoSuchChannelError, match="among those that other sees"):
        channels.channel(*THERE, tenant="other")
    follow(channels, publisher, "shared", public=True)
    assert [each.tenant for each in channels.followed("other")] == ["shared"]
    assert [each.tenant for each in channels.followed("acme")] == ["acme"]
    assert channels.channel(*THERE, tenant="acme").tenant == "acme"
    with pytest.raises(ChannelFollowedError, match="that of shared"):
        follow(channels, publisher, "third", public=True)
    with pytest.raises(NoSuchChannelError, match="among those that other follows"):
        channels.unfollow(*THERE, tenant="other")
    channels.unfollow(*THERE, tenant="shared")
    assert [each.tenant for each in channels.followed("acme")] == ["acme"]
    assert channels.followed("other") == ()
    for call in (channels.followed, lambda tenant: follow(channels, publisher, tenant)):
        with pytest.raises(InvalidTenantError):
            call("-")


def test_a_dry_run_changes_nothing(channels, publisher):
    publisher.publish("1.0.0")
    tried = follow(channels, publisher, dry_run=True)
    assert (channels.followed("acme"), versions(tried)) == ((), ["1.0.0"])
    follow(channels, publisher)
    before = kept(channels)
    publisher.publish("1.1.0")
    (key,) = channels.due()
    assert channels.refresh(key, dry_run=True).latest.version == "1.1.0"
    spoil(publisher.files / "all")
    assert channels.refresh(key, dry_run=True).state == "refused"
    channels.unfollow(*THERE, tenant="acme", dry_run=True)
    assert shown(channels) == ("valid", None, ["1.0.0"])
    assert kept(channels) == before


def test_a_channel_in_a_registry_is_followed_wherever_the_command_stands(
    channels, publisher, tmp_path, monkeypatch
):
    publisher.publish("1.0.0")
    monkeypatch.chdir(publisher.folder)
    place = Subscription(repository=f"oci:packages//{PACKAGE}", channel=WORD)
    channels.follow(place, publisher.root, tenant="acme")
    monkeypatch.chdir(tmp_path)
    publisher.publish("1.1.0")
    assert again(channels).latest.version == "1.1.0"


def test_those_who_read_at_the_same_time_keep_one_whole_state(channels, publisher):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    (key,) = channels.due()
    for version in ("1.1.0", "1.2.0"):
        publisher.publish(version)
        readers = [threading.Thread(target=channels.refresh, args=(key,)) for _ in range(4)]
        for each in readers:
            each.start()
        for each in readers:
            each.join()
        assert shown(channels)[0] == "valid"
        found = kept(channels)
        check_from_outside(publisher.root, found.__getitem__)
        assert json.loads(found["latest"])["latest"]["version"] == version


def test_what_another_reader_found_meanwhile_is_not_lost(channels, publisher, monkeypatch):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    (key,) = channels.due()
    slow = channels._read_again

    def overtaken(row):
        read = slow(row)
        monkeypatch.undo()
        publisher.publish("1.1.0")
        assert channels.refresh(key).latest.version == "1.1.0"
        return read

    monkeypatch.setattr(channels, "_read_again", overtaken)
    assert channels.refresh(key).latest.version == "1.1.0"
    assert shown(channels) == ("valid", None, ["1.1.0", "1.0.0"])


def test_what_another_server_reads_or_has_read_is_not_read_again(url, publisher, clock):
    publisher.publish("1.0.0")
    with Catalog(url, clock=clock) as one, Catalog(url, clock=clock) as two:
        follow(one.channels, publisher)
        (key,) = one.channels.due()
        publisher.publish("1.1.0")
        clock.later = DAY
        before = clock() - DAY / 2
        read, readings = one.channels._read_again, []

        def slowly(row):
            readings.append(row)
            assert two.channels.refresh_due(key, before).latest.version == "1.0.0"
            return read(row)

        two.channels._read_again = readings.append
        one.channels._read_again = slowly
        assert one.channels.refresh_due(key, before).latest.version == "1.1.0"
        assert two.channels.refresh_due(key, before).latest.version == "1.1.0"
        assert len(readings) == 1


def test_who_loses_a_race_does_not_read_again_on_behalf_of_a_turn(channels, publisher, clock):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    (key,) = channels.due()
    read, readings = channels._read_again, []
    clock.later = DAY

    def overtaken(row):
        readings.append(row)
        if len(readings) == 1:
            publisher.publish("1.1.0")
            channels.refresh(key)
        return read(row)

    channels._read_again = overtaken
    assert channels.refresh_due(key, clock() - DAY / 2).latest.version == "1.1.0"
    assert len(readings) == 2


def test_a_list_of_channels_takes_the_same_queries_however_many_there_are(channels, publisher):
    publisher.publish("1.0.0")
    queries = []

    def listed():
        queries.clear()
        event.listen(Engine, "before_cursor_execute", count)
        found = channels.followed("acme")
        event.remove(Engine, "before_cursor_execute", count)
        return found, len(queries)

    def count(connection, cursor, statement, *further):
        queries.append(statement)

    follow(channels, publisher)
    (one,), before = listed()
    for word in ("beta", "edge"):
        place = package(publisher.folder / word, "2.0.0", content=word)
        release(publisher.repository, place, keys=publisher.keys, word=word, suffix=word)
        where = Subscription(
            repository=f"oci:{publisher.folder / 'packages'}//{PACKAGE}", channel=word
        )
        channels.follow(where, publisher.root, tenant="other", public=True)
    found, after = listed()
    assert [each.channel for each in found] == ["beta", "edge", "stable"]
    assert found[-1] == one
    for each in found:
        whole = channels.channel(PACKAGE, each.channel, tenant="acme")
        assert (each.latest, each.files, each.tenant) == (whole.latest, whole.files, whole.tenant)
    assert after == before


def test_what_was_read_while_the_clock_was_far_ahead_is_due(channels, publisher, clock):
    """It was not looked at before that time had come again, and nothing said so."""
    publisher.publish("1.0.0")
    follow(channels, publisher)
    (key,) = channels.due()
    clock.later = DAY
    channels.refresh(key)
    clock.later = 0 * DAY
    assert channels.due(before=clock() - DAY) == (key,)
    found = channels.refresh_due(key, clock() - DAY)
    assert "clock" in str(found.problem)
    assert channels.due(before=clock() - DAY) == ()


def test_only_what_was_not_looked_at_for_a_while_is_due(channels, publisher, clock):
    publisher.publish("1.0.0")
    follow(channels, publisher)
    (key,) = channels.due()
    assert channels.due(before=now() - DAY) == ()
    clock.later = 2 * DAY
    assert channels.due(before=clock() - DAY) == (key,)
    channels.refresh(key)
    assert channels.due(before=clock() - DAY) == ()
    channels.unfollow(*THERE, tenant="acme")
    assert channels.refresh(key) is None
