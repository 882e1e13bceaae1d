"""Channels read from all the places where they live, and attacked there."""

import contextlib
import datetime as dt
import functools
import http.server
import shutil
import threading

import pytest
from publishing_support import WORD, channel_of, keys_in, now, package, release
from serving import refusing

from trundle.channels import ChannelFileError, RefusalCode, RefusedError
from trundle.channels.publishing import export, refresh
from trundle.channels.reading import RepositorySource, open_channel, read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.registry import (
    HttpSettings,
    InvalidManifestError,
    InvalidServerUrlError,
    NotFoundError,
    UnreachableError,
)

LATER = dt.timedelta(days=8)


@pytest.fixture
def keys(tmp_path):
    return keys_in(tmp_path / "keys")


@pytest.fixture
def store(tmp_path, keys):
    return TrustFolder(tmp_path / "trust")


@pytest.fixture
def signed(repository, tmp_path, keys):
    release(repository, package(tmp_path / "a", "1.0.0"), keys=keys)
    return repository


def believe(source, store, keys, clock=now, **further):
    if store.state(source.location) is None:
        store.trust(source.location, trust((keys / "root.json").read_bytes()))
    return read_channel(source, store, clock=clock, **further)


def refused(code, source, store, keys, **further):
    with pytest.raises(RefusedError) as caught:
        believe(source, store, keys, **further)
    assert caught.value.code is code, caught.value


class Quiet(http.server.SimpleHTTPRequestHandler):
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def web(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_a_channel_is_the_same_wherever_it_is_read(signed, tmp_path, store, keys):
    source = open_channel(WORD, signed)
    export(source, tmp_path / "www" / WORD)
    first = believe(source, store, keys)
    assert first.signed
    assert first.channel.package == "acme/db"
    folder = open_channel(str(tmp_path / "www" / WORD))
    assert believe(folder, store, keys) == first
    with web(tmp_path / "www") as url:
        assert believe(open_channel(f"{url}/{WORD}/"), store, keys) == first
        with pytest.raises(RefusedError, match="channel-not-found"):
            read_channel(open_channel(f"{url}/beta"), clock=now, unsigned=True)
    settings = HttpSettings(retries=1, first_pause=0.01)
    with refusing() as address:
        source = open_channel(f"http://{address}/{WORD}", settings=settings)
        with pytest.raises(UnreachableError):
            read_channel(source, clock=now, unsigned=True)


def test_a_name_that_is_a_folder_and_no_channel_of_the_repository_leads_to_the_folder(
    layout, signed, tmp_path, monkeypatch, keys, store
):
    export(open_channel(WORD, signed), tmp_path / "beta")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RefusedError) as caught:
        open_channel("beta", layout)
    assert caught.value.code is RefusalCode.CHANNEL_NOT_FOUND
    assert "write ./beta for the folder of that name" in str(caught.value)
    assert believe(open_channel("./beta", layout), store, keys).channel.package == "acme/db"
    with pytest.raises(RefusedError) as caught:
        open_channel("gamma", layout)
    assert "./" not in str(caught.value)


@pytest.mark.full
def test_a_reader_sees_one_state_from_its_first_look_on(signed, tmp_path, store, keys):
    source = open_channel(WORD, signed)
    release(signed, package(tmp_path / "b", "1.1.0"), keys=keys)
    assert len(believe(source, store, keys).channel.versions) == 1
    assert len(believe(open_channel(WORD, signed), store, keys).channel.versions) == 2


def test_an_unsigned_channel_is_read_only_where_that_is_said(layout, tmp_path, store, keys):
    release(layout, package(tmp_path / "a", "1.0.0"))
    source = open_channel(WORD, layout)
    with pytest.raises(RefusedError) as caught:
        read_channel(source, clock=now)
    assert caught.value.code is RefusalCode.UNSIGNED_CHANNEL
    refused(RefusalCode.UNSIGNED_CHANNEL, source, store, keys)
    assert not read_channel(source, clock=now, unsigned=True).signed


def test_a_channel_of_another_name_or_package_is_refused(layout, tmp_path, keys, store):
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    source = open_channel(WORD, layout)
    refused(RefusalCode.CONTENT_MISMATCH, source, store, keys, package="acme/other")
    with pytest.raises(ChannelFileError, match="acme/other"):
        read_channel(source, clock=now, unsigned=True, package="acme/other")


def test_an_old_state_served_again_is_refused(layout, tmp_path, store, keys):
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    old = layout.resolve(f"channel.{WORD}").digest
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    believe(open_channel(WORD, layout), store, keys)
    layout.set_tag(f"channel.{WORD}", old)
    refused(RefusalCode.STALE_METADATA, open_channel(WORD, layout), store, keys)


def test_a_state_that_is_not_refreshed_expires(signed, store, keys):
    believe(open_channel(WORD, signed), store, keys)
    later = lambda: now() + LATER  # noqa: E731
    source = open_channel(WORD, signed)
    refused(RefusalCode.EXPIRED_METADATA, source, store, keys, clock=later)
    refresh(channel_of(signed, keys=keys, clock=later))
    believe(open_channel(WORD, signed), store, keys, clock=later)
    refused(RefusalCode.CLOCK_WENT_BACK, open_channel(WORD, signed), store, keys)


@pytest.mark.full
def test_the_files_of_two_states_are_not_mixed(layout, tmp_path, store, keys):
    release(layout, package(tmp_path / "a", "1.0.0"), keys=keys)
    export(open_channel(WORD, layout), tmp_path / "one")
    release(layout, package(tmp_path / "b", "1.1.0"), keys=keys)
    export(open_channel(WORD, layout), tmp_path / "two")
    for name in ("latest", "all", "snapshot.json", "targets.json"):
        mixed = tmp_path / f"mixed-{name}"
        shutil.copytree(tmp_path / "two", mixed)
        shutil.copy(tmp_path / "one" / name, mixed / name)
        with pytest.raises(RefusedError):
            believe(open_channel(str(mixed)), store, keys)
    endless = tmp_path / "two" / "all"
    endless.write_bytes(endless.read_bytes() + b" " * 1024**2)
    with pytest.raises(RefusedError):
        believe(open_channel(str(tmp_path / "two")), store, keys)


@pytest.mark.full
def test_unsigned_files_of_two_states_are_not_mixed(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    export(open_channel(WORD, layout), tmp_path / "one")
    release(layout, package(tmp_path / "b", "1.1.0"))
    export(open_channel(WORD, layout), tmp_path / "two")
    shutil.copy(tmp_path / "one" / "latest", tmp_path / "two" / "latest")
    with pytest.raises(RefusedError) as caught:
        read_channel(open_channel(str(tmp_path / "two")), clock=now, unsigned=True)
    assert caught.value.code is RefusalCode.INCONSISTENT_FILE


def test_a_tag_on_something_else_is_no_channel(layout, tmp_path):
    release(layout, package(tmp_path / "a", "1.0.0"))
    layout.set_tag("channel.beta", layout.resolve("1.0.0").digest)
    with pytest.raises(InvalidManifestError):
        RepositorySource(layout, "beta")


def test_where_nothing_is_there_is_no_channel(layout, tmp_path):
    for name, repository in (("beta", layout), ("beta", None), (str(tmp_path / "no"), None)):
        with pytest.raises(RefusedError) as caught:
            open_channel(name, repository)
        assert caught.value.code is RefusalCode.CHANNEL_NOT_FOUND
    with pytest.raises(RefusedError) as caught:
        open_channel("Beta", layout)
    assert caught.value.code is RefusalCode.INVALID_CHANNEL_WORD
    with pytest.raises(NotFoundError):
        layout.resolve("channel.beta")


@pytest.mark.parametrize("url", ["http://[::1/stable", "https://a..b/stable", "http://"])
def test_what_begins_like_a_url_and_is_none_is_refused_at_once(url):
    with pytest.raises(InvalidServerUrlError) as refused:
        open_channel(url)
    assert str(refused.value).startswith(f"{url}: expected a URL")


def test_a_channel_with_latest_alone_offers_that_version(tmp_path):
    """As the two hosted artifacts are described: an installer needs no more than `latest`."""
    folder = tmp_path / "channel"
    folder.mkdir()
    entry = '{"version": "1.2.3", "id": "461324714c7d", "createTime": "2019-09-12T17:39:04Z"}'
    (folder / "latest").write_text(
        f'{{"name": "stable", "type": "channel", "package": "crossplane/aws-stack", "latest": {entry}}}'
    )
    served = read_channel(open_channel(str(folder)), clock=now, unsigned=True)
    assert [str(each.version) for each in served.channel.versions] == ["1.2.3"]
    assert str(served.channel.latest) == "1.2.3"
    assert "only the latest version" in str(served.warnings[-1])
