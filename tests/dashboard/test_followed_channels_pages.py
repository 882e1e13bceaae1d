"""The pages about the channels of a catalog: states, releases, what is not there, and who sees what."""

import datetime as dt
import html

import asgi
import pytest
from access import TOKENS
from catalog_pages import pages_over, shown, words
from followed_channels import PACKAGE, Publisher
from publishing_support import WORD, channel_of, now, package, release

from trundle.api.access import Access
from trundle.catalog import Catalog, ChannelKey
from trundle.catalog._channel_rows import ChannelRows
from trundle.channels.publishing import deprecate, unpublish
from trundle.version import SemVer

HERE = {"package": PACKAGE, "channel": WORD}
KEY = ChannelKey("default", PACKAGE, WORD)
EVIL = "<script>alert(1)</script>"


class Clock:
    later = dt.timedelta()

    def __call__(self):
        return now() + self.later


@pytest.fixture
def publisher(tmp_path):
    found = Publisher(tmp_path / "publisher")
    found.publish("1.0.0", "1.1.0")
    return found


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def catalog(tmp_path, publisher, clock):
    with Catalog(tmp_path / "catalog.db", clock=clock) as opened:
        opened.channels.follow(publisher.subscription, publisher.root, tenant="default")
        yield opened


@pytest.fixture
def page(catalog, tmp_path):
    with pages_over(catalog, tmp_path) as make:
        yield make


def test_a_list_has_the_channels_of_a_tenant_with_their_states(page, catalog, publisher):
    found = words(shown(page(), "channels"))
    assert (
        "1 channel Channel Latest State Valid until Verified acme/ db stable 1.1.0 valid" in found
    )
    assert "sees no channel with “zz” in its name" in words(shown(page(), "channels", q="zz"))
    assert "1 channel with “ACME/DB st”" in words(shown(page(), "channels", q="ACME/DB st"))
    assert "The tenant other sees no channel." in words(shown(page(), "channels", tenant="other"))
    catalog.channels.unfollow(*KEY[1:], tenant="default")
    catalog.channels.follow(publisher.subscription, publisher.root, tenant="acme", public=True)
    assert "stable public of acme 1.1.0 valid" in words(shown(page(), "channels"))
    assert 'href="/ui/packages/channels?tenant=t1"' in shown(page(), "", tenant="t1")


def test_a_long_list_is_cut_and_shown_whole_when_asked_for(page, catalog):
    with catalog.database.writing() as connection:
        rows = ChannelRows(connection)
        row = rows.one(KEY)
        files = {"latest": rows.content(KEY, "latest")}
        for number in range(100):
            rows.add(row._replace(name=f"a{number}"), files)
    counts = [
        shown(page(), "channels", **query).count('<th scope="row">') for query in ({}, {"all": "1"})
    ]
    assert counts == [100, 101]
    assert "Show all 101" in shown(page(), "channels")


def test_the_releases_of_a_channel_stand_in_a_timeline(page, catalog, publisher):
    folder = package(publisher.folder / "1.2.0", "1.2.0", changes=[f"faster {EVIL}"])
    release(publisher.repository, folder, keys=publisher.keys, critical=True)
    channel = channel_of(publisher.repository, keys=publisher.keys)
    unpublish(channel, SemVer.parse("1.0.0"), f"it loses data {EVIL}")
    deprecate(channel, SemVer.parse("1.1.0"), "use 1.2")
    publisher.export()
    catalog.channels.refresh(KEY)
    text = shown(page(), "channel", **HERE)
    found = words(text)
    assert "1.2.0 is the latest." in found
    order = ["1.0.0 unpublished", "1.2.0 published", "1.1.0 published", "1.0.0 published"]
    places = [found.index(each) for each in order]
    assert places == sorted(places)
    assert f"1.0.0 unpublished: it loses data {EVIL}" in found
    assert f"1.2.0 published latest critical faster {EVIL}" in found
    assert "1.1.0 published deprecated use 1.2" in found
    assert "1.0.0 published unpublished later" in found
    assert EVIL not in text
    assert "6 signed files" in found


def test_a_channel_that_is_not_as_it_should_be_says_why(page, catalog, publisher, clock):
    def read():
        catalog.channels.refresh(KEY)
        return words(shown(page(), "channels")), words(shown(page(), "channel", **HERE))

    assert "; its validity period ends 2" in read()[1]
    publisher.files.rename(publisher.files.with_name("away"))
    listed, one = read()
    assert "1.1.0 valid not read channel-not-found " in listed
    assert "The channel cannot be read at present: " in one
    assert "[channel-not-found]" in one
    publisher.files.with_name("away").rename(publisher.files)
    content = (publisher.files / "all").read_bytes()
    (publisher.files / "all").write_bytes(content.replace(b"1.1.0", b"6.6.6"))
    listed, one = read()
    assert "1.1.0 refused content-mismatch " in listed
    assert "The channel is refused: " in one
    assert "[content-mismatch]" in one
    assert "6.6.6" not in listed + one
    publisher.export()
    catalog.channels.refresh(KEY)
    clock.later = dt.timedelta(days=999)
    listed, one = words(shown(page(), "channels")), words(shown(page(), "channel", **HERE))
    assert "1.1.0 expired not renewed in time " in listed
    assert "The channel is expired: not renewed in time " in one
    assert "; its validity period ended 2" in one


@pytest.mark.parametrize(
    ("query", "code", "text"),
    [
        ({"package": "no.App"}, 404, "sees no channel no.App"),
        ({"channel": "stable"}, 404, "sees no channel  stable"),
        ({"package": PACKAGE, "channel": "beta"}, 404, f"{PACKAGE} beta"),
        ({"package": f"{PACKAGE}/{WORD}/files", "channel": "all"}, 404, "sees no channel"),
        ({"package": f"{PACKAGE}/{WORD}/files", "channel": "targets.json"}, 404, "no channel"),
        ({"package": PACKAGE, "channel": f"{WORD}/files/all"}, 404, "sees no channel"),
        ({"package": "../packages", "channel": "x"}, 404, "../packages"),
        ({"package": PACKAGE, "channel": WORD, "tenant": "a/b"}, 400, "a/b"),
        ({"package": PACKAGE, "channel": WORD, "tenant": "-"}, 400, "-"),
        ({"package": PACKAGE, "channel": WORD, "tenant": "other"}, 404, "that other sees"),
    ],
)
def test_what_is_not_there_is_said(page, query, code, text):
    assert text in html.unescape(shown(page(), "channel", code=code, **query))


def test_a_user_sees_the_channels_that_rules_admit(page, tmp_path):
    role = (
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: Role\n"
        "metadata: {{name: {user}, namespace: default}}\n"
        "rules: [{{apiGroups: [catalog.trundle.dev], resources: [channels], verbs: [{verbs}]}}]\n"
        "---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: RoleBinding\n"
        "metadata: {{name: {user}, namespace: default}}\n"
        "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {user}}}\n"
        "subjects: [{{kind: User, name: {user}, apiGroup: rbac.authorization.k8s.io}}]\n"
    )
    rules = [
        role.format(user=user, verbs=verbs) for user, verbs in (("ben", "list"), ("ann", "get"))
    ]
    (tmp_path / "tokens.csv").write_text(TOKENS)
    (tmp_path / "rules.yaml").write_text("---\n".join(rules))
    application = page(Access(tmp_path / "tokens.csv", tmp_path / "rules.yaml"))
    codes = {
        user: [
            asgi.call(
                application,
                "GET",
                f"/ui/packages/{path}",
                headers={"authorization": f"Bearer {user}-token"},
                **HERE,
            ).status
            for path in ("channels", "channel")
        ]
        for user in ("root", "ben", "ann")
    }
    assert codes == {"root": [200, 200], "ben": [200, 403], "ann": [403, 200]}
