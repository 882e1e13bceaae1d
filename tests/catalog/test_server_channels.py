"""Channels of a catalog at a server are those in the database, and clients verify their bytes themselves."""

import pytest
from followed_channels import PACKAGE, Publisher
from listening_apps import listening
from publishing_support import WORD, now
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from test_catalog_server import kept, remote  # noqa: F401 - fixtures

from trundle.catalog import CatalogServer, KeptFiles, NoSuchChannelError, ServerError
from trundle.channels import RefusedError
from trundle.channels.reading import read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.errors import Kind

THERE = (PACKAGE, WORD)


@pytest.fixture
def publisher(tmp_path, kept):  # noqa: F811 - the fixture
    found = Publisher(tmp_path / "publisher")
    found.publish("1.0.0", "1.1.0")
    kept.channels.follow(found.subscription, found.root, tenant="acme", public=True)
    return found


def without_source(channel):
    return {name: each for name, each in channel.to_plain().items() if name != "source"}


def verified(source, publisher, folder):
    store = TrustFolder(folder)
    store.trust_first(source.location, trust(publisher.root))
    channel = read_channel(source, store, clock=now, package=PACKAGE, word=WORD).channel
    return [str(each.version) for each in channel.versions]


def test_channels_at_a_server_are_those_in_the_database(kept, remote, publisher):  # noqa: F811
    for tenant in ("acme", "other"):
        (there,), (here,) = remote.channels.followed(tenant), kept.channels.followed(tenant)
        assert there.to_plain() == without_source(here)
        there, here = (each.channels.channel(*THERE, tenant=tenant) for each in (remote, kept))
        assert there.to_plain() == without_source(here)
        assert [each.version for each in there.versions] == ["1.1.0", "1.0.0"]
        for each in there.files:
            content = remote.channels.file(*THERE, each.name, tenant=tenant)
            assert content == (publisher.files / each.name).read_bytes()


def test_what_a_server_refuses_is_said(kept, remote, publisher):  # noqa: F811
    for ask in (
        lambda: remote.channels.channel("no.App", "beta", tenant="acme"),
        lambda: remote.channels.file(*THERE, "2.root.json", tenant="acme"),
    ):
        with pytest.raises(ServerError, match="status 404") as raised:
            ask()
        assert raised.value.kind is Kind.NOT_FOUND
    with pytest.raises(ServerError, match="status 400"):
        remote.channels.followed("-")
    routes = [Route("/v2/tenants/acme/channels", lambda _: JSONResponse({"channels": [{}]}))]
    expected = "expected the answer of a server of a catalog"
    with (
        listening(Starlette(routes=routes)) as url,
        pytest.raises(ServerError, match=expected),
    ):
        CatalogServer(url).channels.followed("acme")


@pytest.mark.parametrize("place", ["database", "server"])
def test_clients_verify_bytes_themselves(kept, remote, publisher, tmp_path, place):  # noqa: F811
    channels = (kept if place == "database" else remote).channels
    source = KeptFiles(channels, *THERE, tenant="acme")
    assert verified(source, publisher, tmp_path / "seen") == ["1.1.0", "1.0.0"]
    publisher.renew_root()
    publisher.publish("1.2.0")
    (key,) = kept.channels.due()
    kept.channels.refresh(key)
    assert verified(source, publisher, tmp_path / "seen") == ["1.2.0", "1.1.0", "1.0.0"]
    other = Publisher(tmp_path / "other")
    with pytest.raises(RefusedError, match="bad-signature"):
        verified(source, other, tmp_path / "new")


def test_a_server_that_changes_what_is_signed_is_noticed(remote, publisher, tmp_path):  # noqa: F811
    honest = remote.channels.file

    class Liar:
        location = staticmethod(remote.channels.location)

        def file(self, package, name, file, *, tenant):
            content = honest(package, name, file, tenant=tenant)
            return content.replace(b"1.1.0", b"6.6.6") if file in {"latest", "all"} else content

    with pytest.raises(RefusedError, match="content-mismatch"):
        verified(KeptFiles(Liar(), *THERE, tenant="acme"), publisher, tmp_path / "seen")


def test_where_no_such_channel_is_there_is_nothing_to_verify(kept, remote, tmp_path):  # noqa: F811
    for channels in (kept.channels, remote.channels):
        source = KeptFiles(channels, *THERE, tenant="acme")
        with pytest.raises(RefusedError, match="channel-not-found"):
            read_channel(source, clock=now, unsigned=True)
    with pytest.raises(NoSuchChannelError):
        kept.channels.unfollow(*THERE, tenant="acme")
