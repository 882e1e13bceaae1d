"""The pages about the channels of a catalog in a real Chromium, of a real server."""

import browsers
import pytest
from apis import CONFIG, SCHEMAS
from followed_channels import PACKAGE, Publisher
from playwright.sync_api import expect
from projects import Installer
from publishing_support import WORD, channel_of, package, release
from served import Served

from trundle.catalog import Catalog, ChannelKey
from trundle.channels.publishing import unpublish
from trundle.version import SemVer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of a catalog with a channel that is valid, and one that is refused."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "clubs").mkdir()
    project = Installer(folder / "clubs")(SCHEMAS, config=CONFIG).project.folder
    good, bad = Publisher(folder / "good"), Publisher(folder / "bad")
    for each in (good, bad):
        each.publish("1.0.0")
        release(
            each.repository,
            package(each.folder / "1.1.0", "1.1.0", changes=["It is faster."]),
            keys=each.keys,
        )
        each.export()
    unpublish(channel_of(good.repository, keys=good.keys), SemVer.parse("1.0.0"), "it loses data")
    good.export()
    with Catalog(folder / "catalog.db") as catalog:
        for publisher, tenant in ((good, "default"), (bad, "other")):
            catalog.channels.follow(publisher.subscription, publisher.root, tenant=tenant)
        latest = bad.files / "latest"
        latest.write_bytes(latest.read_bytes().replace(b"1.1.0", b"6.6.6"))
        catalog.channels.refresh(ChannelKey("other", PACKAGE, WORD))
    where = folder / "catalog.db"
    found = Served(project, "--store", folder / "store.sqlite", "--catalog", where)
    yield found
    found.kill()


@pytest.mark.full
def test_from_the_packages_to_the_channels_and_the_releases_of_one(browser, server):
    with browsers.tab(browser, server.url) as page:
        page.goto("/ui/packages")
        page.get_by_role("navigation", name="Catalog").get_by_role("link", name="Channels").click()
        page.get_by_role("link", name=f"{PACKAGE} {WORD}").click()
        expect(page.locator(".life > li")).to_have_count(3)
        expect(page.locator(".life > li").first).to_contain_text("unpublished: it loses data")
        page.get_by_role("link", name="Channels").click()
        page.get_by_label("Tenant").fill("other")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator(".badge.bad", has_text="refused")).to_be_visible()
        page.get_by_role("link", name=f"{PACKAGE} {WORD}").click()
        expect(page.get_by_role("alert")).to_contain_text("The channel is refused: ")
        expect(page.locator(".life")).not_to_contain_text("6.6.6")


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_with_the_pages_at_any_width(browser, server, width, scheme):
    size = {"width": width, "height": 900}
    with browsers.tab(browser, server.url, viewport=size, color_scheme=scheme) as page:
        for tenant in ("default", "other"):
            page.goto(f"/ui/packages/channels?tenant={tenant}")
            assert browsers.flaws(page) == []
            page.goto(f"/ui/packages/channel?tenant={tenant}&package={PACKAGE}&channel={WORD}")
            expect(page.get_by_role("heading", name="Timeline of the channel")).to_be_visible()
            assert browsers.flaws(page) == []
